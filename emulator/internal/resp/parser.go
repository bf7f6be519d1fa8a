package resp

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Defaults of redis.conf, in bytes.
const (
	DefaultMaxBulk          = 512 << 20 // proto-max-bulk-len
	DefaultQueryBufferLimit = 1 << 30   // client-query-buffer-limit
)

// Limits of the protocol that no configuration moves.
const (
	maxLine                 = 64 << 10 // an inline request, or a length line
	maxUnauthenticatedArgs  = 10
	maxUnauthenticatedBytes = 16384
)

// Sizes of the parser's buffer, in bytes.
const (
	bufferStart = 16 << 10 // what a connection starts with and returns to
	bufferSpare = 4 << 10  // less room than this is not worth a read
	bufferKeep  = 1 << 20  // more than this is given back once it is drained
	argsKeep    = 1024     // so is an argument slice longer than this
)

// ErrQueryBufferLimit says that more unparsed bytes are waiting than the
// client-query-buffer-limit allows. Redis closes such a connection without a
// reply and without looking at what just arrived.
var ErrQueryBufferLimit = errors.New("client reached max query buffer length")

// ProtocolError is a request no parser can continue after. The server answers
// "-ERR " and Error(), and closes the connection.
type ProtocolError struct {
	// Reason is what the reply says after "Protocol error: ".
	Reason string
}

func (e *ProtocolError) Error() string { return "Protocol error: " + e.Reason }

// Parser reads requests from bytes that arrive in pieces of any size. It never
// looks at a byte of an argument and looks at every other byte once, however
// small the pieces; it allocates nothing once its buffer has grown to the size
// of the requests; and it reserves at most twice of what has really arrived,
// whatever a header claims.
//
// The fields may be changed between calls of Next.
type Parser struct {
	// Authenticated lifts the limits (10 arguments, 16384 bytes each) on
	// clients that still have to log in.
	Authenticated bool
	// MaxBulk is the longest argument in bytes: proto-max-bulk-len.
	MaxBulk int64
	// MaxArgs is the highest number of arguments of a request: 2147483647
	// since Redis 7.0, 1048576 before.
	MaxArgs int64
	// QueryBufferLimit bounds the bytes waiting to be parsed; see
	// ErrQueryBufferLimit.
	QueryBufferLimit int64
	// OnEmpty, if set, is called for every empty request (an empty line, "*0",
	// "*-1"). Next passes over them, but Redis counts them as the request that
	// uses up CLIENT REPLY SKIP and ASKING.
	OnEmpty func()

	buf   []byte
	start int // first byte of the request being read
	pos   int // first byte not yet parsed
	scan  int // bytes of buf before scan hold no end of the line at pos

	missing int // arguments still to come, 0 between requests
	bulk    int // length of the argument at pos, -1 while unknown
	spans   []span
	args    [][]byte
	peak    int // most bytes waiting since the buffer was last empty
	err     error
}

// span is an argument's place relative to the start of its request, which
// stays true when the buffer moves.
type span struct{ from, to int }

// NewParser returns a parser with Redis' default limits for a client that need
// not log in.
func NewParser() *Parser {
	return &Parser{
		Authenticated:    true,
		MaxBulk:          DefaultMaxBulk,
		MaxArgs:          math.MaxInt32,
		QueryBufferLimit: DefaultQueryBufferLimit,
		bulk:             -1,
	}
}

// Feed adds bytes that arrived. They are copied.
func (p *Parser) Feed(b []byte) error {
	p.makeRoom(len(b))
	p.buf = append(p.buf, b...)
	return p.arrived()
}

// Read adds what one Read of r gives. Commands may be ready even if it returns
// an error of r.
func (p *Parser) Read(r io.Reader) (int, error) {
	p.makeRoom(bufferSpare)
	n, err := r.Read(p.buf[len(p.buf):cap(p.buf)])
	p.buf = p.buf[:len(p.buf)+n]
	if e := p.arrived(); e != nil {
		err = e
	}
	return n, err
}

// arrived accounts for bytes just added.
func (p *Parser) arrived() error {
	p.peak = max(p.peak, len(p.buf))
	if int64(p.Buffered()) > p.QueryBufferLimit {
		return ErrQueryBufferLimit
	}
	return nil
}

// Buffered is the number of bytes not yet parsed (qbuf in CLIENT LIST).
func (p *Parser) Buffered() int { return len(p.buf) - p.pos }

// Held is the number of bytes in the buffer, those of requests parsed since it
// was last filled included.
func (p *Parser) Held() int { return len(p.buf) }

// Room is the number of bytes the buffer takes before it must grow (qbuf-free
// in CLIENT LIST).
func (p *Parser) Room() int { return cap(p.buf) - len(p.buf) }

// Next returns the next complete request, or nil when more bytes are needed.
// The arguments are slices of the parser's buffer and stay valid until the
// next Feed or Read; the slice holding them until the next Next. The only
// error is a *ProtocolError, after which every call returns the same one;
// requests ahead of it are returned first.
func (p *Parser) Next() ([][]byte, error) {
	for p.err == nil && p.pos < len(p.buf) {
		var done bool
		switch {
		case p.missing > 0:
			done = p.arguments()
		case p.buf[p.pos] == '*':
			p.start = p.pos
			done = p.multibulk()
		default:
			p.start = p.pos
			done = p.inline()
		}
		if !done {
			break
		}
		if len(p.args) > 0 {
			return p.args, nil
		}
		if p.OnEmpty != nil {
			p.OnEmpty()
		}
	}
	return nil, p.err
}

// multibulk reads a "*n" line and what has come of its arguments. It reports
// whether the request is complete.
func (p *Parser) multibulk() bool {
	n, valid, complete := p.length("too big mbulk count string")
	switch {
	case !complete:
		return false
	case !valid || n > p.MaxArgs:
		return p.fail("invalid multibulk length")
	case n > maxUnauthenticatedArgs && !p.Authenticated:
		return p.fail("unauthenticated multibulk length")
	}
	p.args = p.args[:0]
	if n <= 0 {
		return true
	}
	p.missing = int(n)
	p.spans = p.spans[:0]
	return p.arguments()
}

// arguments reads what has come of the arguments of a multibulk request. It
// reports whether the request is complete.
func (p *Parser) arguments() bool {
	for p.missing > 0 {
		if p.bulk < 0 && !p.bulkLength() {
			return false
		}
		if len(p.buf)-p.pos < p.bulk+2 {
			return false
		}
		from := p.pos - p.start
		p.spans = append(p.spans, span{from, from + p.bulk})
		p.pos += p.bulk + 2 // Redis does not look at these two bytes either
		p.bulk = -1
		p.missing--
	}
	request := p.buf[p.start:p.pos]
	args := p.args[:0]
	for _, s := range p.spans {
		args = append(args, request[s.from:s.to:s.to])
	}
	p.args = args
	return true
}

// bulkLength reads a "$n" line. It reports whether there was a good one.
func (p *Parser) bulkLength() bool {
	if p.pos == len(p.buf) {
		return false
	}
	first := p.buf[p.pos]
	n, valid, complete := p.length("too big bulk count string")
	switch {
	case !complete:
		return false
	case first != '$':
		return p.fail(fmt.Sprintf("expected '$', got '%s'", []byte{first}))
	case !valid || n < 0 || n > p.MaxBulk:
		return p.fail("invalid bulk length")
	case n > maxUnauthenticatedBytes && !p.Authenticated:
		return p.fail("unauthenticated bulk length")
	}
	p.bulk = int(n)
	return true
}

// length reads the number behind the first byte of the line at pos and moves
// pos past the line if it is complete. Like Redis it ends the line at the
// first CR and does not look at the byte after it.
func (p *Parser) length(tooLong string) (n int64, valid, complete bool) {
	if b := p.buf[p.pos:]; len(b) >= 4 && b[0] != 0 && b[2] == '\r' && b[1]-'0' <= 9 {
		p.pos += 4
		return int64(b[1] - '0'), true, true
	}
	end := p.lineEnd('\r')
	if end < 0 && p.Buffered() > maxLine {
		p.fail(tooLong)
		return 0, false, false
	}
	if end < 0 || end+1 == len(p.buf) {
		return 0, false, false
	}
	n, valid = number.ParseInt(p.buf[min(p.pos+1, end):end])
	p.pos = end + 2
	return n, valid, true
}

// inline reads a request typed as a line. It reports whether it is complete.
func (p *Parser) inline() bool {
	end := p.lineEnd('\n')
	if end < 0 {
		if p.Buffered() > maxLine {
			p.fail("too big inline request")
		}
		return false
	}
	line := p.buf[p.pos:end]
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	args, ok := appendWords(p.args[:0], line)
	if !ok {
		return p.fail("unbalanced quotes in request")
	}
	p.args = args
	p.pos = end + 1
	return true
}

// lineEnd finds delim in the line at pos, or returns -1. A NUL ends the search
// for good, as it does for C's strchr, which Redis uses.
func (p *Parser) lineEnd(delim byte) int {
	for i := max(p.scan, p.pos); i < len(p.buf); i++ {
		switch p.buf[i] {
		case delim:
			p.scan = i
			return i
		case 0:
			p.scan = i
			return -1
		}
	}
	p.scan = len(p.buf)
	return -1
}

// fail ends the conversation. It returns false for the caller to pass on.
func (p *Parser) fail(reason string) bool {
	p.err = &ProtocolError{Reason: reason}
	return false
}

// makeRoom prepares the buffer for n more bytes and drops the requests already
// returned.
func (p *Parser) makeRoom(n int) {
	if p.missing == 0 {
		p.start = p.pos
		if cap(p.args) > argsKeep {
			p.args, p.spans = nil, nil
		}
	}
	if p.start == len(p.buf) {
		p.drained()
	}
	if p.Room() >= n {
		return
	}
	waiting := len(p.buf) - p.start
	if p.start >= waiting && cap(p.buf)-waiting >= n {
		copy(p.buf, p.buf[p.start:])
		p.moved(p.buf[:waiting])
		return
	}
	// Double, but not beyond the argument we are waiting for: what it still
	// lacks may be gigabytes that never come.
	size := 2 * waiting
	if p.bulk >= 0 {
		size = min(size, waiting+p.bulk+2-p.Buffered())
	}
	grown := make([]byte, waiting, max(size, waiting+n, bufferStart))
	copy(grown, p.buf[p.start:])
	p.moved(grown)
}

// drained makes the empty buffer start over, and gives it back to the garbage
// collector if it is larger than recent requests call for.
func (p *Parser) drained() {
	p.moved(p.buf[:0])
	if c := cap(p.buf); c > bufferKeep || c > bufferStart && p.peak < c/4 {
		p.buf = nil
		clear(p.args[:cap(p.args)])
	}
	p.peak = 0
}

// moved accounts for the current request now starting at the front of buf.
func (p *Parser) moved(buf []byte) {
	p.buf = buf
	p.pos -= p.start
	p.scan -= p.start
	p.start = 0
}
