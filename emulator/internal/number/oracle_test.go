package number

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// samples is how many random numbers each comparison sends to the server.
const samples = 5000

// oracle is a connection to a real server.
type oracle struct {
	t    *testing.T
	conn redis.Conn
}

func startOracle(t *testing.T) oracle {
	t.Helper()
	conn, err := redis.Dial("tcp", redisserver.Start(t).Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return oracle{t, conn}
}

// script is a series of commands of which the last one's reply counts.
type script [][]any

// ask runs one script per input and returns the texts of the replies; an error
// reply reads as its text.
func (o oracle) ask(inputs int, scriptOf func(i int) script) []string {
	o.t.Helper()
	var replies []string
	const batch = 200
	for from := 0; from < inputs; from += batch {
		var lengths []int
		for i := from; i < min(inputs, from+batch); i++ {
			commands := scriptOf(i)
			for _, c := range commands {
				if err := o.conn.Send(c[0].(string), c[1:]...); err != nil {
					o.t.Fatal(err)
				}
			}
			lengths = append(lengths, len(commands))
		}
		if err := o.conn.Flush(); err != nil {
			o.t.Fatal(err)
		}
		for _, n := range lengths {
			var last string
			for range n {
				last = o.receive()
			}
			replies = append(replies, last)
		}
	}
	return replies
}

func (o oracle) receive() string {
	reply, err := o.conn.Receive()
	if e, ok := err.(redis.Error); ok {
		return string(e)
	}
	if err != nil {
		o.t.Fatal(err)
	}
	switch v := reply.(type) {
	case []byte:
		return string(v)
	case []any: // the cursor and keys of SCAN, or the one reply of EXEC
		if len(v) == 2 {
			return "array"
		}
	}
	return fmt.Sprint(reply)
}

// oddNumbers are spellings at the edge of what C accepts.
var oddNumbers = []string{
	"", "0", "-0", "+0", "00", "01", "-01", "+1", "1", "-1", " 1", "1 ", "\t1", "\v1", "1\x00", "\x001", "-", "+", "--1", "+-1",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"18446744073709551615", "18446744073709551616", "-18446744073709551615", "-18446744073709551616",
	"00000000000000000000000000000001", "99999999999999999999", "1e3", "0x10", "0X10", "0x", "0xg", "x", "1_000", "0x1_0",
	"1.", ".1", ".", "-.", "+.5", "1.5.5", "1e", "1e+", "1e-", "1e+1", "1E-1", "1e 1", "e1", ".e1", "1e5000", "1e-5000",
	"1e308", "1.7976931348623157e308", "1.7976931348623159e308", "1.8e308", "-1.8e308", "1e309", "4.9e-324", "2.5e-324",
	"2.4703282292062327e-324", "2.4703282292062328e-324", "1e-324", "0e5000", "0e-5000", "0.0e99999999999999999999",
	"1e99999999999999999999", "1e-99999999999999999999", "0x1p1024", "0x1p-1074", "0x1p-1075", "0x1.8p-1075", "0x1p-1076",
	"0x1.", "0x.1", "0x.", "0x1.8", "0x1p", "0x1p+", "0x1p+4", "0x1P-4", "0x1p4.5", "0x1e5", "0xabcdef.ABCDEF", "0x1.fffffffffffff8p0",
	"0x1.fffffffffffff7p0", "0x1.ffffffffffffffffffp1023", "0x1.fffffffffffff7fp1023", "0b1", "0o7",
	"inf", "-inf", "+inf", "INF", "Inf", "infinity", "-Infinity", "+INFINITY", "infi", "infinit", "infinityx", "in", "i",
	"nan", "-nan", "NaN", "nan()", "nan(1)", "nan(abc_1)", "nanx", "3.0e3", "17179869184", "0.1", "0.30000000000000004",
	"1e4932", "1.18973149535723176502e4932", "1.18973149535723176506e4932", "1.2e4932", "1e4933", "-1e4933",
	"3.6451995318824746025e-4951", "3.64519953188247460252e-4951", "1.82259976594123730126e-4951", "1.82259976594123730127e-4951", "1e-4951", "1e-4952", "0x1p16383",
	"0x1p16384", "0x1.fffffffffffffffep16383", "0x1.ffffffffffffffffp16383", "0x1p-16445", "0x1p-16446", "0x1.1p-16446", "0x1p-16447",
	"123456789012345678901234567890", "0.000000000000000004", "0.000000000000000005", "0.000000000000000006", "0.00000000000000001",
	"-0.000000000000000001", strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1", strings.Repeat("0", 6000) + "1",
	"1." + strings.Repeat("0", 5117), "1." + strings.Repeat("0", 5118), "1" + strings.Repeat("0", 4932), "1" + strings.Repeat("0", 4933),
	"1" + strings.Repeat("0", 400) + "e-400", "0." + strings.Repeat("0", 4960) + "1e4960",
}

// randomNumber spells a number in one of many ways, now and then with a byte
// wrong.
func randomNumber(rnd *rand.Rand) string {
	var s string
	switch rnd.IntN(9) {
	case 0:
		s = strconv.FormatInt(rnd.Int64()>>rnd.IntN(64), 10)
	case 1:
		s = strconv.FormatFloat(math.Float64frombits(rnd.Uint64()), 'g', -1, 64)
	case 2:
		s = strconv.FormatFloat(rnd.NormFloat64()*100, 'f', rnd.IntN(20), 64)
	case 3:
		s = strconv.FormatFloat(float64(rnd.IntN(100000))/1000, 'f', -1, 64)
	case 4:
		s = strconv.FormatFloat(math.Ldexp(rnd.Float64(), rnd.IntN(200)-100), 'x', -1, 64)
	case 5:
		s = fmt.Sprintf("%d.%de%d", rnd.Int64N(1000), rnd.Int64(), rnd.IntN(80)-40)
	case 6:
		s = fmt.Sprintf("0x%x.%xp%d", rnd.IntN(1000), rnd.Uint64(), rnd.IntN(140)-70)
	case 7:
		s = fmt.Sprintf("%d%d.%d%d", rnd.Int64(), rnd.Int64(), rnd.Int64(), rnd.Int64())
	default:
		s = fmt.Sprintf("%d.%de%d", rnd.IntN(10), rnd.Int64(), rnd.IntN(10400)-5200)
	}
	if rnd.IntN(8) == 0 {
		s = "-" + strings.TrimPrefix(s, "-")
	}
	if rnd.IntN(20) == 0 {
		const odd = "+-. _xXeEpPfF\x00\t09in"
		i := rnd.IntN(len(s) + 1)
		s = s[:i] + string(odd[rnd.IntN(len(odd))]) + s[i:]
	}
	return s
}

func numbers(seed uint64) []string {
	rnd := rand.New(rand.NewPCG(seed, 1))
	all := append([]string(nil), oddNumbers...)
	for range samples {
		all = append(all, randomNumber(rnd))
	}
	return all
}

const notAFloat = "ERR value is not a valid float"

func TestFloatAgainstRedis(t *testing.T) {
	o, in := startOracle(t), numbers(1)
	replies := o.ask(len(in), func(i int) script {
		return script{{"DEL", "z"}, {"ZADD", "z", "INCR", in[i], "m"}}
	})
	for i, s := range in {
		got := notAFloat
		if f, ok := ParseFloat(s); ok {
			got = FormatFloat(f)
		}
		if got != replies[i] {
			t.Errorf("%q: got %s, Redis says %s", s, got, replies[i])
		}
	}
}

// TestFloatCAgainstRedis asks whether a score lies between a bound and itself.
func TestFloatCAgainstRedis(t *testing.T) {
	o := startOracle(t)
	in := append(numbers(12), "  1", "\n-2.5", " ", "  ", " -", " inf", " 1 ", "\x00", " 1\x00x")
	replies := o.ask(len(in), func(i int) script {
		f, _ := ParseFloatC(in[i])
		return script{{"DEL", "z"}, {"ZADD", "z", FormatFloat(f), "m"}, {"ZCOUNT", "z", in[i], in[i]}}
	})
	for i, s := range in {
		got := "ERR min or max is not a float"
		if _, ok := ParseFloatC(s); ok {
			got = "1"
		}
		if got != replies[i] {
			t.Errorf("%q: got %s, Redis says %s", s, got, replies[i])
		}
	}
}

func TestIntAgainstRedis(t *testing.T) {
	o, in := startOracle(t), numbers(2)
	replies := o.ask(len(in), func(i int) script {
		return script{{"DEL", "n"}, {"INCRBY", "n", in[i]}}
	})
	for i, s := range in {
		got := "ERR value is not an integer or out of range"
		if n, ok := ParseInt(s); ok {
			got = string(AppendInt(nil, n))
		}
		if got != replies[i] {
			t.Errorf("%q: got %s, Redis says %s", s, got, replies[i])
		}
	}
}

func TestUintAgainstRedis(t *testing.T) {
	o, in := startOracle(t), numbers(3)
	// A stream ID is read up to its first dash and at most 127 bytes long.
	var ids []string
	for _, s := range in {
		if len(s) < 100 && s != "*" {
			ids = append(ids, s)
		}
	}
	replies := o.ask(len(ids), func(i int) script {
		return script{{"DEL", "s"}, {"XADD", "s", "1-" + ids[i], "f", "v"}}
	})
	for i, s := range ids {
		got := "ERR Invalid stream ID specified as stream command argument"
		if n, ok := ParseUint(s); ok {
			got = fmt.Sprintf("1-%d", n)
		}
		if got != replies[i] {
			t.Errorf("%q: got %s, Redis says %s", s, got, replies[i])
		}
	}
}

func TestUintCAgainstRedis(t *testing.T) {
	o, in := startOracle(t), numbers(4)
	replies := o.ask(len(in), func(i int) script { return script{{"SCAN", in[i]}} })
	for i, s := range in {
		got := "ERR invalid cursor"
		// SCAN refuses a leading blank before it calls strtoul.
		if _, ok := ParseUintC(s); ok && !(s != "" && IsSpace(s[0])) {
			got = "array"
		}
		if got != replies[i] {
			t.Errorf("%q: got %s, Redis says %s", s, got, replies[i])
		}
	}
}

const producesNaN = "ERR increment would produce NaN or Infinity"

func TestIncrByFloatAgainstRedis(t *testing.T) {
	o, values, increments := startOracle(t), numbers(5), numbers(6)
	rand.New(rand.NewPCG(7, 7)).Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	replies := o.ask(len(values), func(i int) script {
		return script{{"SET", "k", values[i]}, {"INCRBYFLOAT", "k", increments[i]}}
	})
	for i := range values {
		if got := incrByFloat(values[i], increments[i]); got != replies[i] {
			t.Errorf("%q + %q: got %s, Redis says %s", values[i], increments[i], got, replies[i])
		}
	}
}

func incrByFloat(value, increment string) string {
	v, ok := ParseLongDouble(value)
	if !ok {
		return notAFloat
	}
	incr, ok := ParseLongDouble(increment)
	if !ok {
		return notAFloat
	}
	sum, ok := v.Add(incr)
	if !ok {
		return producesNaN
	}
	return sum.String()
}

func TestHIncrByFloatAgainstRedis(t *testing.T) {
	o, values, increments := startOracle(t), numbers(8), numbers(9)
	rand.New(rand.NewPCG(8, 8)).Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	replies := o.ask(len(values), func(i int) script {
		return script{{"HSET", "h", "f", values[i]}, {"HINCRBYFLOAT", "h", "f", increments[i]}}
	})
	for i := range values {
		if got := hincrByFloat(values[i], increments[i]); got != replies[i] {
			t.Errorf("%q + %q: got %s, Redis says %s", values[i], increments[i], got, replies[i])
		}
	}
}

func hincrByFloat(value, increment string) string {
	incr, ok := ParseLongDouble(increment)
	if !ok {
		return notAFloat
	}
	if incr.IsInf() {
		return "ERR value is NaN or Infinity"
	}
	v, ok := ParseLongDouble(value)
	if !ok {
		return "ERR hash value is not a float"
	}
	sum, ok := v.Add(incr)
	if !ok {
		return producesNaN
	}
	return sum.String()
}

// TestSumsAgainstRedis adds up many increments, as a counter of money would.
func TestSumsAgainstRedis(t *testing.T) {
	o, rnd := startOracle(t), rand.New(rand.NewPCG(10, 10))
	var increments []string
	for range samples {
		increments = append(increments, strconv.FormatFloat(float64(rnd.IntN(20001)-10000)/float64([]int{1, 10, 100, 1000, 3, 7}[rnd.IntN(6)]), 'f', -1, 64))
	}
	replies := o.ask(len(increments), func(i int) script { return script{{"INCRBYFLOAT", "sum", increments[i]}} })
	sum := LongDoubleFromInt(0)
	for i, s := range increments {
		incr, ok := ParseLongDouble(s)
		if !ok {
			t.Fatalf("%q is not read", s)
		}
		if sum, ok = sum.Add(incr); !ok || sum.String() != replies[i] {
			t.Fatalf("after adding %s: got %v, Redis says %s", s, sum, replies[i])
		}
		// Redis keeps the printed digits, not the long double.
		if sum, ok = ParseLongDouble(sum.String()); !ok {
			t.Fatalf("own digits of %s are not read", replies[i])
		}
	}
}

// TestTimeoutsAgainstRedis asks inside MULTI, where nothing blocks.
func TestTimeoutsAgainstRedis(t *testing.T) {
	o, in := startOracle(t), numbers(11)
	in = append(in, "-0.0001", "-0.001", "-0.002", "-0.003", "9223372036854775", "9223372036854775.807", "9223372036854775.808",
		"9223372036854775.8075", "9223372036854776", "-9223372036854776", "1e16")
	replies := o.ask(len(in), func(i int) script { return script{{"MULTI"}, {"BLPOP", "nolist", in[i]}, {"EXEC"}} })
	for i, s := range in {
		if got := "[" + timeoutReply(s) + "]"; got != replies[i] {
			t.Errorf("%q: got %s, Redis says %s", s, got, replies[i])
		}
	}
}

// timeoutReply is what Redis 7.0 answers to a blocking command that must not
// block. The largest timeouts turn negative in its conversion to an integer.
func timeoutReply(s string) string {
	d, ok := ParseLongDouble(s)
	if !ok {
		return "ERR timeout is not a float or out of range"
	}
	if ms, ok := d.MulCeil(1000); !ok || ms < 0 {
		return "ERR timeout is negative"
	}
	return "<nil>"
}
