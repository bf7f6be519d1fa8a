package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// responder is the smallest server: PING, ECHO and AUTH, built from a Parser
// and an Encoder.
type responder struct {
	parser   *Parser
	out      Encoder
	password string
	closed   bool
}

func newResponder(password string) *responder {
	r := &responder{parser: NewParser(), password: password}
	r.parser.Authenticated = password == ""
	return r
}

// feed takes bytes from the client and executes what is complete.
func (r *responder) feed(b []byte) {
	if r.closed {
		return
	}
	if err := r.parser.Feed(b); err != nil {
		r.closed = true
		return
	}
	for {
		args, err := r.parser.Next()
		if err != nil {
			r.out.Error("ERR " + err.Error())
			r.closed = true
			return
		}
		if args == nil {
			return
		}
		r.execute(args)
	}
}

// execute follows the order of Redis' checks: command, arity, login.
func (r *responder) execute(args [][]byte) {
	name := strings.ToLower(string(args[0]))
	arity, known := map[string][2]int{"ping": {1, 2}, "echo": {2, 2}, "auth": {2, 3}}[name]
	switch {
	case !known:
		r.out.Error(unknownCommand(args))
	case len(args) < arity[0] || name == "echo" && len(args) > arity[1]:
		r.out.Error("ERR wrong number of arguments for '" + name + "' command")
	case name == "auth":
		r.auth(args[1:])
	case !r.parser.Authenticated:
		r.out.Error("NOAUTH Authentication required.")
	case len(args) > arity[1]:
		r.out.Error("ERR wrong number of arguments for '" + name + "' command")
	case len(args) == 1:
		r.out.Status("PONG")
	default:
		r.out.Bulk(args[1])
	}
}

func (r *responder) auth(args [][]byte) {
	switch {
	case len(args) > 2:
		r.out.Error("ERR syntax error")
	case len(args) == 1 && r.password == "":
		r.out.Error("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	case len(args) == 1 && string(args[0]) == r.password:
		r.parser.Authenticated = true
		r.out.Status("OK")
	default:
		r.out.Error("WRONGPASS invalid username-password pair or user is disabled.")
	}
}

// unknownCommand quotes the command and the start of its arguments as C
// strings.
func unknownCommand(args [][]byte) string {
	cString := func(b []byte, limit int) string {
		b, _, _ = bytes.Cut(b, []byte{0})
		return string(b[:min(len(b), limit)])
	}
	var quoted strings.Builder
	for _, arg := range args[1:] {
		if quoted.Len() >= 128 {
			break
		}
		fmt.Fprintf(&quoted, "'%s' ", cString(arg, 128-quoted.Len()))
	}
	return fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", cString(args[0], 128), quoted.String())
}

// observation is what a client can see of a server after it sent its bytes.
type observation struct {
	replies  string
	closed   bool // by the server
	buffered int  // bytes of an unfinished request, if not closed
}

// emulated feeds the pieces to our responder.
func emulated(password string, pieces [][]byte) observation {
	r := newResponder(password)
	for _, piece := range pieces {
		r.feed(piece)
	}
	o := observation{replies: string(r.out.Bytes()), closed: r.closed}
	if !o.closed {
		o.buffered = r.parser.Buffered()
	}
	return o
}

// real feeds the pieces to a real server. A second connection, which the server
// serves in turn with the first, tells when all has been looked at.
type real struct {
	t       *testing.T
	addr    string
	control net.Conn
}

func startReal(t *testing.T, password string, args ...string) *real {
	t.Helper()
	s := redisserver.Start(t, args...)
	if password != "" {
		if _, err := s.Do("CONFIG", "SET", "requirepass", password); err != nil {
			t.Fatal(err)
		}
		// Starting and stopping go on without a password.
		if _, err := s.Do("PING"); err == nil {
			t.Fatal("password is not in force")
		}
	}
	r := &real{t: t, addr: s.Addr()}
	r.control = r.dial()
	if password != "" {
		r.ask("AUTH " + password)
	}
	return r
}

func (r *real) dial() net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

// ask sends an inline command on the control connection and returns what comes
// in one read, enough for a status and a short CLIENT LIST.
func (r *real) ask(command string) string {
	r.t.Helper()
	if _, err := r.control.Write([]byte(command + "\r\n")); err != nil {
		r.t.Fatal(err)
	}
	buf := make([]byte, 16<<10)
	n, err := r.control.Read(buf)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(buf[:n])
}

func (r *real) observe(pieces [][]byte) observation {
	r.t.Helper()
	c := r.dial()
	defer c.Close()
	total := 0
	for _, piece := range pieces {
		// The server may have closed already; what it said is read below.
		if _, err := c.Write(piece); err != nil {
			break
		}
		total += len(piece)
	}
	// The server reads at least 16 KB of a client each time around its loop.
	for range total/(16<<10) + 3 {
		r.ask("PING")
	}
	o := observation{closed: true}
	list := r.ask("CLIENT LIST")
	for line := range strings.Lines(list) {
		if strings.Contains(line, " addr="+c.LocalAddr().String()+" ") {
			o.closed = false
			if _, err := fmt.Sscanf(line[strings.Index(line, " qbuf="):], " qbuf=%d", &o.buffered); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil && !o.closed {
		r.t.Fatal(err)
	}
	replies, err := io.ReadAll(c)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		r.t.Fatal(err)
	}
	o.replies = string(replies)
	return o
}

func compare(t *testing.T, r *real, password string, pieces [][]byte) bool {
	t.Helper()
	want, got := r.observe(pieces), emulated(password, pieces)
	if got == want {
		return true
	}
	t.Errorf("sent %s\n got %s\nwant %s", short(string(bytes.Join(pieces, nil))), got, want)
	return false
}

func (o observation) String() string {
	return fmt.Sprintf("%s closed=%v buffered=%d", short(o.replies), o.closed, o.buffered)
}

func short(s string) string {
	if len(s) > 600 {
		return fmt.Sprintf("%q... (%d bytes)", s[:600], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// limits are requests at the edge of what the protocol allows.
func limits() map[string]string {
	bulk := func(n int) string { return fmt.Sprintf("$%d\r\n%s\r\n", n, strings.Repeat("x", n)) }
	many := func(n int) string {
		return fmt.Sprintf("*%d\r\n$4\r\nPING\r\n", n) + strings.Repeat("$1\r\na\r\n", n-1)
	}
	const maxLine = 64 << 10
	return map[string]string{
		"bulk of nothing":              "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n",
		"bulk of a megabyte":           "*2\r\n$4\r\nECHO\r\n" + bulk(1<<20),
		"bulk of 16384":                "*2\r\n$4\r\nECHO\r\n" + bulk(16384),
		"bulk of 16385":                "*2\r\n$4\r\nECHO\r\n" + bulk(16385),
		"bulk too long":                "*2\r\n$4\r\nECHO\r\n$536870913\r\n",
		"longest bulk":                 "*2\r\n$4\r\nECHO\r\n$536870912\r\nx",
		"bulk beyond int64":            "*1\r\n$9223372036854775808\r\nx\r\n",
		"bulk of max int64":            "*1\r\n$9223372036854775807\r\nx\r\n",
		"bulk of -1":                   "*1\r\n$-1\r\n",
		"bulk without a length":        "*1\r\n$\r\n",
		"bulk with a plus":             "*1\r\n$+4\r\nPING\r\n",
		"bulk with a zero":             "*1\r\n$04\r\nPING\r\n",
		"bulk with a blank":            "*1\r\n$ 4\r\nPING\r\n",
		"bulk with wrong line ends":    "*1\r\n$4\r\nPINGab*1\r\n$4\r\nPING\r\n",
		"length line without LF":       "*1\rx$4\rxPING\r\n",
		"ten arguments":                many(10),
		"eleven arguments":             many(11),
		"2000 arguments":               many(2000),
		"most arguments":               "*2147483647\r\n$4\r\nPING\r\n",
		"too many arguments":           "*2147483648\r\n$4\r\nPING\r\n",
		"more than int64":              "*9223372036854775808\r\n$4\r\nPING\r\n",
		"minus two arguments":          "*-2\r\nPING\r\n",
		"fewest arguments":             "*-9223372036854775808\r\nPING\r\n",
		"fewer arguments than fewest":  "*-9223372036854775809\r\nPING\r\n",
		"no number of arguments":       "*\r\n",
		"not a number of arguments":    "*x\r\n",
		"inline instead of bulk":       "*1\r\nPING\r\n",
		"integer instead of bulk":      "*1\r\n:1\r\n",
		"empty line instead of bulk":   "*1\r\n\r\n",
		"CR instead of bulk":           "*1\r\n\r1\r\n",
		"high byte instead of bulk":    "*1\r\n\xff\r\n",
		"NUL instead of bulk":          "*1\r\n\x001\r\nPING\r\n",
		"NUL in a count":               "*1\x00\r\n$4\r\nPING\r\n",
		"NUL in a length":              "*1\r\n$4\x00\r\nPING\r\n",
		"NUL in a line":                "PI\x00NG\r\nPING\r\n",
		"good ones before a bad one":   "PING\r\n*1\r\n$4\r\nPING\r\n*x\r\nPING\r\n",
		"nothing after a bad one":      "\"\r\nPING\r\n",
		"empty requests":               "\r\n\n*0\r\n*-1\r\n   \r\nPING\r\n",
		"line of 64 KB, open":          strings.Repeat("a", maxLine),
		"line beyond 64 KB, open":      strings.Repeat("a", maxLine+1),
		"NUL and 64 KB":                "PING\r\n\x00\n" + strings.Repeat("a", maxLine-1),
		"count of 64 KB, open":         "*" + strings.Repeat("1", maxLine-1),
		"count beyond 64 KB, open":     "*" + strings.Repeat("1", maxLine),
		"length of 64 KB, open":        "*1\r\n$" + strings.Repeat("1", maxLine-1),
		"length beyond 64 KB, open":    "*1\r\n$" + strings.Repeat("1", maxLine),
		"no bulk, 64 KB, open":         "*1\r\n" + strings.Repeat("1", maxLine),
		"no bulk, beyond 64 KB, open":  "*1\r\n" + strings.Repeat("1", maxLine+1),
		"login, then eleven arguments": "AUTH secret\r\n" + many(11),
		"login, then a long bulk":      "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n*2\r\n$4\r\nECHO\r\n" + bulk(20000),
		"wrong password, then eleven":  "AUTH wrong\r\n" + many(11),
	}
}

func TestLimitsAgainstRedis(t *testing.T) {
	for _, password := range []string{"", "secret"} {
		t.Run("password="+password, func(t *testing.T) {
			r := startReal(t, password)
			for name, sent := range limits() {
				t.Run(name, func(t *testing.T) {
					r.t = t
					compare(t, r, password, [][]byte{[]byte(sent)})
				})
			}
			r.t = t
		})
	}
}

// fragments are what random requests are made of.
var fragments = []string{
	"*1\r\n", "*2\r\n", "*3\r\n", "*0\r\n", "*-1\r\n", "*11\r\n", "*", "$", "\r\n", "\r", "\n", "\x00", " ", "\t", "\v", "\f", "-", "+", "1", "01",
	"$4\r\nPING\r\n", "$4\r\necho\r\n", "$3\r\nabc\r\n", "$0\r\n\r\n", "$2\r\n\r\n\r\n", "$-1\r\n", "$16385\r\n", "$99999999999\r\n", "$4\r\nAUTH\r\n", "$6\r\nsecret\r\n",
	"PING\r\n", "PING\n", "ping x\r\n", "ECHO ", "AUTH secret\n", "\"", "'", "\"a b\"", "'a b'", "\\", "\\x41", "\\xg1", "\\n", "\\\"", "\\'", "\"\\x00\\r\\n\\t\\b\\a\\q\"",
	"*1\r\n$4\r\nPING\r\n", "*2\r\n$4\r\nECHO\r\n$5\r\nhowdy\r\n", "\xff", "\xc3\xa9", "NOSUCH a b\r\n", "*2\r\n$3\r\na\rb\r\n$1\r\nx\r\n",
}

func randomRequests(rnd *rand.Rand) []byte {
	var b []byte
	for range 1 + rnd.IntN(12) {
		b = append(b, fragments[rnd.IntN(len(fragments))]...)
	}
	for range rnd.IntN(3) {
		switch i := rnd.IntN(len(b) + 1); {
		case i == len(b):
			b = append(b, byte(rnd.Uint32()))
		case rnd.IntN(2) == 0:
			b[i] = byte(rnd.Uint32())
		default:
			b = append(b[:i], b[i+1:]...)
		}
	}
	return b
}

// split cuts b into pieces of random sizes.
func split(rnd *rand.Rand, b []byte) [][]byte {
	var pieces [][]byte
	for len(b) > 0 {
		n := min(len(b), 1+rnd.IntN(1+rnd.IntN(20)))
		pieces = append(pieces, b[:n])
		b = b[n:]
	}
	return pieces
}

func TestRandomRequestsAgainstRedis(t *testing.T) {
	for _, password := range []string{"", "secret"} {
		t.Run("password="+password, func(t *testing.T) {
			r := startReal(t, password)
			rnd := rand.New(rand.NewPCG(1, uint64(len(password))))
			for i := range 3000 {
				if !compare(t, r, password, split(rnd, randomRequests(rnd))) {
					t.Fatalf("case %d", i)
				}
			}
		})
	}
}

// TestQueryBufferLimitAgainstRedis overruns the smallest client-query-buffer-limit.
func TestQueryBufferLimitAgainstRedis(t *testing.T) {
	const limit = 1 << 20
	r := startReal(t, "", "--client-query-buffer-limit", fmt.Sprint(limit))
	const head = "PING\r\n*2\r\n$4\r\nECHO\r\n$2000000\r\n"
	for _, waiting := range []int{limit, limit + 1} {
		sent := [][]byte{[]byte(head), bytes.Repeat([]byte("x"), waiting)}
		want := r.observe(sent)
		o := newResponder("")
		o.parser.QueryBufferLimit = limit
		for _, piece := range sent {
			o.feed(piece)
		}
		if want.closed != (waiting > limit) {
			t.Fatalf("%d bytes waiting: Redis itself closed=%v", waiting, want.closed)
		}
		if o.closed != want.closed || string(o.out.Bytes()) != want.replies {
			t.Errorf("%d bytes waiting: closed=%v after %q, want closed=%v after %q", waiting, o.closed, o.out.Bytes(), want.closed, want.replies)
		}
	}
}
