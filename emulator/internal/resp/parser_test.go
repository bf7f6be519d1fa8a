package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
)

// drain returns all requests that are ready, joined for comparison.
func drain(p *Parser) ([]string, error) {
	var requests []string
	for {
		args, err := p.Next()
		if args == nil {
			return requests, err
		}
		requests = append(requests, fmt.Sprintf("%q", args))
	}
}

func TestReadFromReaders(t *testing.T) {
	const sent = "*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\nPING 'a b'\r\n*1\r\n$4\r\nQUIT\r\n"
	want := []string{`["ECHO" "hello"]`, `["PING" "a b"]`, `["QUIT"]`}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole":              func(r io.Reader) io.Reader { return r },
		"byte by byte":       iotest.OneByteReader,
		"data with an error": iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			p, r := NewParser(), wrap(strings.NewReader(sent))
			var got []string
			for {
				_, err := p.Read(r)
				requests, protocolErr := drain(p)
				got = append(got, requests...)
				if protocolErr != nil {
					t.Fatal(protocolErr)
				}
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestErrorStays(t *testing.T) {
	p := NewParser()
	if err := p.Feed([]byte("PING\r\n*1\r\n+\r\n")); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		requests, err := drain(p)
		var protocolErr *ProtocolError
		if !errors.As(err, &protocolErr) || protocolErr.Reason != "expected '$', got '+'" {
			t.Fatalf("got %v", err)
		}
		if i == 0 && len(requests) != 1 || i > 0 && len(requests) != 0 {
			t.Errorf("%d requests", len(requests))
		}
		if err := p.Feed([]byte("PING\r\n")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOnEmpty(t *testing.T) {
	p, empty := NewParser(), 0
	p.OnEmpty = func() { empty++ }
	if err := p.Feed([]byte("\r\n*0\r\n*-5\r\n \nPING\r\n\n")); err != nil {
		t.Fatal(err)
	}
	if requests, err := drain(p); len(requests) != 1 || err != nil || empty != 5 {
		t.Errorf("%v, %v, %d empty requests", requests, err, empty)
	}
}

func TestConfigurableLimits(t *testing.T) {
	cases := []struct {
		name, sent, reason string
		set                func(*Parser)
	}{
		{"MaxBulk reached", "*1\r\n$100\r\n", "", func(p *Parser) { p.MaxBulk = 100 }},
		{"MaxBulk exceeded", "*1\r\n$101\r\n", "invalid bulk length", func(p *Parser) { p.MaxBulk = 100 }},
		{"MaxBulk lifted", "*1\r\n$9000000000\r\n", "", func(p *Parser) { p.MaxBulk = math.MaxInt64 / 2 }},
		{"MaxArgs of Redis 6 reached", "*1048576\r\n", "", func(p *Parser) { p.MaxArgs = 1 << 20 }},
		{"MaxArgs of Redis 6 exceeded", "*1048577\r\n", "invalid multibulk length", func(p *Parser) { p.MaxArgs = 1 << 20 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := NewParser()
			c.set(p)
			if err := p.Feed([]byte(c.sent)); err != nil {
				t.Fatal(err)
			}
			_, err := p.Next()
			if got, ok := errors.AsType[*ProtocolError](err); ok != (c.reason != "") || ok && got.Reason != c.reason {
				t.Errorf("got %v, want %q", err, c.reason)
			}
		})
	}
}

// TestClaimsReserveNothing holds the buffer to what has really arrived.
func TestClaimsReserveNothing(t *testing.T) {
	p := NewParser()
	fed := 0
	feed := func(s string) {
		t.Helper()
		if err := p.Feed([]byte(s)); err != nil {
			t.Fatal(err)
		}
		if requests, err := drain(p); requests != nil || err != nil {
			t.Fatal(requests, err)
		}
		fed += len(s)
		if c := cap(p.buf); c > max(bufferStart, 2*fed) {
			t.Fatalf("%d bytes reserved after %d came", c, fed)
		}
		if c := cap(p.spans); c > 100 {
			t.Fatalf("%d arguments reserved after 1 came", c)
		}
	}
	feed("*2000000000\r\n$3\r\nSET\r\n$500000000\r\n")
	for range 100 {
		feed(strings.Repeat("x", 1000))
	}
}

// TestLargeBulkIsNotDoubled sees the buffer end where the argument does.
func TestLargeBulkIsNotDoubled(t *testing.T) {
	const size = 5_000_000
	p := NewParser()
	r := io.MultiReader(strings.NewReader(fmt.Sprintf("*1\r\n$%d\r\n", size)), io.LimitReader(zeros{}, size), strings.NewReader("\r\n"))
	for {
		if _, err := p.Read(r); err != nil {
			t.Fatal(err)
		}
		args, err := p.Next()
		if err != nil {
			t.Fatal(err)
		}
		if args != nil {
			if len(args) != 1 || len(args[0]) != size {
				t.Fatal("wrong argument")
			}
			break
		}
	}
	if c := cap(p.buf); c > size+2*bufferStart {
		t.Errorf("%d bytes reserved for %d", c, size)
	}
	if err := p.Feed([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	if c := cap(p.buf); c > bufferStart {
		t.Errorf("%d bytes kept after a large request", c)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestManyArgumentsAreLetGo sees that argument slices shrink, too.
func TestManyArgumentsAreLetGo(t *testing.T) {
	p := NewParser()
	if err := p.Feed([]byte("*10000\r\n" + strings.Repeat("$1\r\na\r\n", 10000))); err != nil {
		t.Fatal(err)
	}
	if args, err := p.Next(); len(args) != 10000 || err != nil {
		t.Fatal(len(args), err)
	}
	if err := p.Feed([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	if cap(p.args) > argsKeep || cap(p.spans) > argsKeep {
		t.Errorf("%d and %d arguments kept", cap(p.args), cap(p.spans))
	}
}

// TestOneByteReadsAreLinear sees that no byte is looked at twice and that the
// buffer moves seldom, which is all the work there is.
func TestOneByteReadsAreLinear(t *testing.T) {
	const bytes = 60_000
	for name, head := range map[string]string{"bulk": "*1\r\n$100000000\r\n", "inline": "a", "count": "*", "length": "*1\r\n$"} {
		t.Run(name, func(t *testing.T) {
			p := NewParser()
			sent, moves := head+strings.Repeat("x", bytes), 0
			for i := range len(sent) {
				size := cap(p.buf)
				if err := p.Feed([]byte{sent[i]}); err != nil {
					t.Fatal(err)
				}
				if cap(p.buf) != size {
					moves++
				}
				if args, err := p.Next(); args != nil || err != nil {
					t.Fatal(args, err)
				}
				if p.bulk < 0 && p.pos < len(p.buf) && p.scan < len(p.buf)-1 {
					t.Fatalf("%d of %d bytes would be looked at again", len(p.buf)-p.scan, len(p.buf))
				}
			}
			if moves > 4 {
				t.Errorf("the buffer grew %d times", moves)
			}
		})
	}
}

func TestParsingAllocatesNothing(t *testing.T) {
	p := NewParser()
	batch := []byte("*3\r\n$3\r\nSET\r\n$10\r\nkey:000001\r\n$5\r\nhello\r\nECHO 'a b'\r\n*2\r\n$3\r\nGET\r\n$10\r\nkey:00")
	rest := []byte("0001\r\n")
	allocs := testing.AllocsPerRun(1000, func() {
		for _, piece := range [][]byte{batch, rest} {
			if err := p.Feed(piece); err != nil {
				t.Fatal(err)
			}
			for {
				args, err := p.Next()
				if err != nil {
					t.Fatal(err)
				}
				if args == nil {
					break
				}
			}
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations per batch", allocs)
	}
}

func TestArgumentsDoNotRunIntoEachOther(t *testing.T) {
	p := NewParser()
	for _, sent := range []string{"*2\r\n$1\r\na\r\n$1\r\nb\r\n", "a b\r\n", "\"a\" 'b'\r\n"} {
		if err := p.Feed([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		args, err := p.Next()
		if err != nil || len(args) != 2 {
			t.Fatal(args, err)
		}
		_ = append(args[0], "overwritten"...)
		if !bytes.Equal(args[1], []byte("b")) {
			t.Errorf("%q: appending to the first argument changed the second to %q", sent, args[1])
		}
	}
}

func BenchmarkParser(b *testing.B) {
	get := []byte("*2\r\n$3\r\nGET\r\n$10\r\nkey:000001\r\n")
	for name, batch := range map[string][]byte{
		"get":        get,
		"set":        []byte("*3\r\n$3\r\nSET\r\n$10\r\nkey:000001\r\n$32\r\n" + strings.Repeat("v", 32) + "\r\n"),
		"inline":     []byte("GET key:000001\r\n"),
		"pipeline":   bytes.Repeat(get, 100),
		"set 100 KB": []byte("*3\r\n$3\r\nSET\r\n$10\r\nkey:000001\r\n$102400\r\n" + strings.Repeat("v", 102400) + "\r\n"),
	} {
		b.Run(name, func(b *testing.B) {
			p, commands := NewParser(), 0
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Feed(batch); err != nil {
					b.Fatal(err)
				}
				for {
					args, err := p.Next()
					if err != nil {
						b.Fatal(err)
					}
					if args == nil {
						break
					}
					commands++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(commands), "ns/command")
		})
	}
}
