package resp

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// replies pairs what makes a real server send a reply with writing the same
// one to a Sink.
var replies = []struct {
	command []string
	write   func(Sink)
	resp3   bool // RESP2 refuses the command
}{
	{command: []string{"DEBUG", "PROTOCOL", "string"}, write: func(s Sink) { s.BulkString("Hello World") }},
	{command: []string{"DEBUG", "PROTOCOL", "integer"}, write: func(s Sink) { s.Int(12345) }},
	{command: []string{"DEBUG", "PROTOCOL", "double"}, write: func(s Sink) { s.Double(3.141) }},
	{command: []string{"DEBUG", "PROTOCOL", "null"}, write: func(s Sink) { s.Null() }},
	{command: []string{"DEBUG", "PROTOCOL", "bignum"}, write: func(s Sink) { s.BigNumber("1234567999999999999999999999999999999") }},
	{command: []string{"DEBUG", "PROTOCOL", "true"}, write: func(s Sink) { s.Bool(true) }},
	{command: []string{"DEBUG", "PROTOCOL", "false"}, write: func(s Sink) { s.Bool(false) }},
	{command: []string{"DEBUG", "PROTOCOL", "verbatim"}, write: func(s Sink) { s.Verbatim("txt", "This is a verbatim\nstring") }},
	{command: []string{"DEBUG", "PROTOCOL", "array"}, write: func(s Sink) { s.Array(3); s.Int(0); s.Int(1); s.Int(2) }},
	{command: []string{"DEBUG", "PROTOCOL", "set"}, write: func(s Sink) { s.Set(3); s.Int(0); s.Int(1); s.Int(2) }},
	{command: []string{"DEBUG", "PROTOCOL", "map"}, write: func(s Sink) {
		s.Map(3)
		for i := range int64(3) {
			s.Int(i)
			s.Bool(i == 1)
		}
	}},
	{command: []string{"DEBUG", "PROTOCOL", "attrib"}, resp3: true, write: func(s Sink) {
		s.(*Encoder).Attribute(1)
		s.BulkString("key-popularity")
		s.Array(2)
		s.BulkString("key:123")
		s.Int(90)
		s.BulkString("Some real reply following the attribute")
	}},
	{command: []string{"DEBUG", "PROTOCOL", "push"}, resp3: true, write: func(s Sink) {
		s.Push(2)
		s.BulkString("server-cpu-usage")
		s.Int(42)
		s.BulkString("Some real reply following the push reply")
	}},
	{command: []string{"PING"}, write: func(s Sink) { s.Status("PONG") }},
	{command: []string{"SET", "k", "v"}, write: func(s Sink) { s.Status("OK") }},
	{command: []string{"GET", "nokey"}, write: func(s Sink) { s.Null() }},
	{command: []string{"ECHO", "a\r\nb\x00"}, write: func(s Sink) { s.Bulk([]byte("a\r\nb\x00")) }},
	{command: []string{"ECHO", ""}, write: func(s Sink) { s.Bulk(nil) }},
	{command: []string{"ECHO", strings.Repeat("x", 1234)}, write: func(s Sink) { s.BulkString(strings.Repeat("x", 1234)) }},
	{command: []string{"BLPOP", "nolist", "0.001"}, write: func(s Sink) { s.NullArray() }},
	{command: []string{"LRANGE", "nolist", "0", "-1"}, write: func(s Sink) { s.Array(0) }},
	{command: []string{"SMEMBERS", "noset"}, write: func(s Sink) { s.Set(0) }},
	{command: []string{"HGETALL", "nohash"}, write: func(s Sink) { s.Map(0) }},
	{command: []string{"MGET", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}, write: func(s Sink) {
		s.Array(10)
		for range 10 {
			s.Null()
		}
	}},
	{command: []string{"DECR", "n"}, write: func(s Sink) { s.Int(-1) }},
	{command: []string{"INCRBY", "n", "10"}, write: func(s Sink) { s.Int(9) }},
	{command: []string{"INCR", "n"}, write: func(s Sink) { s.Int(10) }},
	{command: []string{"INCRBY", "n", "-9223372036854775808"}, write: func(s Sink) { s.Int(math.MinInt64 + 10) }},
	{command: []string{"DEBUG", "ERROR", "ERR a\rb\nc"}, write: func(s Sink) { s.Error("ERR a\rb\nc") }},
	{command: []string{"EVAL", "return {err='ERR a\\r\\nb\\n'}", "0"}, write: func(s Sink) { s.Error("ERR a\r\nb\n") }},
	{command: []string{"EVAL", "return {ok='a\\r\\nb'}", "0"}, write: func(s Sink) { s.Status("a\r\nb") }},
	{command: []string{"EVAL", "return {double=1/0}", "0"}, write: func(s Sink) { s.Double(math.Inf(1)) }},
	{command: []string{"EVAL", "return {double=-1/0}", "0"}, write: func(s Sink) { s.Double(math.Inf(-1)) }},
	{command: []string{"EVAL", "return {double=0/0}", "0"}, write: func(s Sink) { s.Double(math.Copysign(math.NaN(), -1)) }},
	{command: []string{"EVAL", "return {double=-(0/0)}", "0"}, write: func(s Sink) { s.Double(math.NaN()) }},
	{command: []string{"EVAL", "return {double=-0.1}", "0"}, write: func(s Sink) { s.Double(-0.1) }},
	{command: []string{"EVAL", "return {double=1e100}", "0"}, write: func(s Sink) { s.Double(1e100) }},
	{command: []string{"EVAL", "return {double=1e17}", "0"}, write: func(s Sink) { s.Double(1e17) }},
	{command: []string{"EVAL", "return {double=12345678901234567}", "0"}, write: func(s Sink) { s.Double(12345678901234567) }},
	{command: []string{"EVAL", "return {double=tonumber('-0')}", "0"}, write: func(s Sink) { s.Double(math.Copysign(0, -1)) }},
	{command: []string{"EVAL", "return {double=0.00001}", "0"}, write: func(s Sink) { s.Double(0.00001) }},
}

func TestEncoderAgainstRedis(t *testing.T) {
	server := redisserver.Start(t)
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			conn, err := net.Dial("tcp", server.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			const end = "+the end\r\n" // of HELLO's reply and of every other
			ask := func(command []string) string {
				request := NewEncoder(2)
				for _, args := range [][]string{command, {"EVAL", "return {ok='the end'}", "0"}} {
					request.Array(len(args))
					for _, arg := range args {
						request.BulkString(arg)
					}
				}
				if _, err := conn.Write(request.Bytes()); err != nil {
					t.Fatal(err)
				}
				var reply strings.Builder
				for !strings.HasSuffix(reply.String(), end) {
					b, err := in.ReadByte()
					if err != nil {
						t.Fatalf("%v after %q", err, reply.String())
					}
					reply.WriteByte(b)
				}
				return strings.TrimSuffix(reply.String(), end)
			}
			ask([]string{"FLUSHALL"})
			ask([]string{"HELLO", fmt.Sprint(proto)})
			e := NewEncoder(proto)
			for _, r := range replies {
				if r.resp3 && proto == 2 {
					continue
				}
				e.Reset()
				r.write(e)
				if want := ask(r.command); string(e.Bytes()) != want {
					t.Errorf("%q: got %q, want %q", r.command, e.Bytes(), want)
				}
			}
		})
	}
}

func TestShortDoubles(t *testing.T) {
	e := Encoder{ShortDoubles: true}
	e.Double(0.1)
	e.SetProto(3)
	e.Double(0.1)
	e.Double(math.Inf(-1))
	if got, want := string(e.Bytes()), "$3\r\n0.1\r\n,0.1\r\n,-inf\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOutcome(t *testing.T) {
	for name, sink := range map[string]interface {
		Sink
		ClearOutcome()
	}{"encoder": NewEncoder(3), "discard": new(Discard)} {
		t.Run(name, func(t *testing.T) {
			outcome := func() *Outcome {
				if e, ok := sink.(*Encoder); ok {
					return &e.Outcome
				}
				return &sink.(*Discard).Outcome
			}()
			sink.Array(3)
			sink.Error("ERR one")
			sink.Status("OK")
			sink.Error("WRONGTYPE two")
			if outcome.Errors != 2 || outcome.LastError != "WRONGTYPE two" {
				t.Errorf("got %+v", *outcome)
			}
			sink.ClearOutcome()
			if *outcome != (Outcome{}) {
				t.Errorf("got %+v after clearing", *outcome)
			}
		})
	}
}

func TestEncoderBuffers(t *testing.T) {
	e := NewEncoder(2)
	e.Int(1)
	taken := e.Take()
	e.Int(22)
	if string(taken) != ":1\r\n" || string(e.Bytes()) != ":22\r\n" {
		t.Errorf("took %q, then wrote %q", taken, e.Bytes())
	}
	lent := append(make([]byte, 0, 64), "before"...)
	e.Lend(lent)
	e.Bool(true)
	e.Raw([]byte("+raw\r\n"))
	if string(e.Bytes()) != "before:1\r\n+raw\r\n" || &e.Bytes()[0] != &lent[0] {
		t.Errorf("got %q", e.Bytes())
	}
	e.Truncate(len("before"))
	if e.Len() != len("before") {
		t.Errorf("%d bytes left", e.Len())
	}
	if e.Proto() != 2 || NewEncoder(3).Proto() != 3 || new(Discard).Proto() != 2 || (&Discard{Version: 3}).Proto() != 3 {
		t.Error("wrong protocol version")
	}
}

func TestDiscardWritesNothing(t *testing.T) {
	// Every reply of the table goes through; there is nothing to see but that.
	d := new(Discard)
	for _, r := range replies {
		if !r.resp3 {
			r.write(d)
		}
	}
	if d.Errors != 2 {
		t.Errorf("%d errors recorded, want 2", d.Errors)
	}
}

func BenchmarkEncoder(b *testing.B) {
	e := NewEncoder(3)
	value := []byte("some value of a key")
	b.ReportAllocs()
	for b.Loop() {
		e.Reset()
		e.Bulk(value)
		e.Status("OK")
		e.Int(12345)
		e.Map(1)
		e.BulkString("member")
		e.Double(1.5)
	}
	if _, err := io.Discard.Write(e.Bytes()); err != nil {
		b.Fatal(err)
	}
}
