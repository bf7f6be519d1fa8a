package resp

import (
	"strings"

	"github.com/tidwall/redcon"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Outcome remembers which errors a reply contained, so that whoever ran the
// command knows that it failed and how, without looking at the bytes.
type Outcome struct {
	// Errors counts the errors written, LastError is the last one as it was
	// given to Error.
	Errors    int
	LastError string
}

func (o *Outcome) failed(msg string) {
	o.Errors++
	o.LastError = msg
}

// ClearOutcome forgets the errors seen so far.
func (o *Outcome) ClearOutcome() { *o = Outcome{} }

// Encoder is the Sink that makes RESP2 or RESP3 bytes. It appends to a buffer
// that it owns or that Lend gave it. The zero Encoder speaks RESP2.
type Encoder struct {
	Outcome
	// ShortDoubles prints doubles with the fewest digits that read back the
	// same, as Redis 7.2 and later do; before, with 17 digits.
	ShortDoubles bool

	buf   []byte
	resp3 bool
}

// NewEncoder returns an encoder for protocol version 2 or 3.
func NewEncoder(proto int) *Encoder { return &Encoder{resp3: proto == 3} }

// Bytes is what has been written since the last Reset, Take or Lend, after
// what the lent buffer held. It is valid until the next write.
func (e *Encoder) Bytes() []byte { return e.buf }

// Len is the number of bytes of Bytes.
func (e *Encoder) Len() int { return len(e.buf) }

// Reset empties the buffer and keeps its memory.
func (e *Encoder) Reset() { e.buf = e.buf[:0] }

// Take gives the buffer away and leaves the encoder without one.
func (e *Encoder) Take() []byte {
	b := e.buf
	e.buf = nil
	return b
}

// Lend makes the encoder append to buf from now on.
func (e *Encoder) Lend(buf []byte) { e.buf = buf }

// Truncate drops all but the first n bytes, to take a reply back.
func (e *Encoder) Truncate(n int) { e.buf = e.buf[:n] }

// Raw appends bytes that are encoded already.
func (e *Encoder) Raw(b []byte) { e.buf = append(e.buf, b...) }

// Proto is the protocol version in use, 2 or 3.
func (e *Encoder) Proto() int {
	if e.resp3 {
		return 3
	}
	return 2
}

// SetProto changes the protocol version to 2 or 3.
func (e *Encoder) SetProto(proto int) { e.resp3 = proto == 3 }

// Status writes a simple string.
func (e *Encoder) Status(s string) {
	if s == "OK" {
		e.buf = redcon.AppendOK(e.buf)
		return
	}
	e.buf = redcon.AppendString(e.buf, s)
}

// Error writes an error and records it. Line ends around the text are dropped,
// within it they become spaces.
func (e *Encoder) Error(msg string) {
	e.failed(msg)
	e.buf = redcon.AppendError(e.buf, strings.Trim(msg, "\r\n"))
}

// Int writes an integer.
func (e *Encoder) Int(n int64) {
	if 0 <= n && n <= 9 {
		e.buf = append(e.buf, ':', byte('0'+n), '\r', '\n')
		return
	}
	e.buf = redcon.AppendInt(e.buf, n)
}

// Bulk writes a bulk string.
func (e *Encoder) Bulk(b []byte) {
	e.header('$', len(b))
	e.buf = append(e.buf, b...)
	e.buf = append(e.buf, '\r', '\n')
}

// BulkString writes a bulk string.
func (e *Encoder) BulkString(s string) {
	e.header('$', len(s))
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, '\r', '\n')
}

// Null writes the null bulk string, in RESP3 the null.
func (e *Encoder) Null() {
	if e.resp3 {
		e.buf = append(e.buf, "_\r\n"...)
		return
	}
	e.buf = redcon.AppendNull(e.buf)
}

// NullArray writes the null array, in RESP3 the null.
func (e *Encoder) NullArray() {
	if e.resp3 {
		e.buf = append(e.buf, "_\r\n"...)
		return
	}
	e.buf = append(e.buf, "*-1\r\n"...)
}

// Array announces n items.
func (e *Encoder) Array(n int) { e.header('*', n) }

// Map announces n pairs, in RESP2 an array of twice as many items.
func (e *Encoder) Map(n int) {
	if e.resp3 {
		e.header('%', n)
		return
	}
	e.header('*', 2*n)
}

// Set announces n members, in RESP2 an array.
func (e *Encoder) Set(n int) { e.aggregate('~', n) }

// Push announces an out-of-band message of n items, in RESP2 an array.
func (e *Encoder) Push(n int) { e.aggregate('>', n) }

// Attribute announces n pairs that accompany the reply after them. RESP2 knows
// no attributes; the caller must not write one there.
func (e *Encoder) Attribute(n int) { e.header('|', n) }

// Double writes a floating point number, in RESP2 as a bulk string.
func (e *Encoder) Double(f float64) {
	var digits [32]byte
	var d []byte
	if e.ShortDoubles {
		d = number.AppendShortest(digits[:0], f)
	} else {
		d = number.AppendFloat(digits[:0], f)
	}
	if !e.resp3 {
		e.Bulk(d)
		return
	}
	e.buf = append(e.buf, ',')
	e.buf = append(e.buf, d...)
	e.buf = append(e.buf, '\r', '\n')
}

// Decimal writes a floating point number given as text, in RESP2 as a bulk
// string.
func (e *Encoder) Decimal(digits string) {
	if !e.resp3 {
		e.BulkString(digits)
		return
	}
	e.buf = append(e.buf, ',')
	e.buf = append(e.buf, digits...)
	e.buf = append(e.buf, '\r', '\n')
}

// Bool writes a truth value, in RESP2 the integer 1 or 0.
func (e *Encoder) Bool(b bool) {
	switch {
	case e.resp3 && b:
		e.buf = append(e.buf, "#t\r\n"...)
	case e.resp3:
		e.buf = append(e.buf, "#f\r\n"...)
	case b:
		e.Int(1)
	default:
		e.Int(0)
	}
}

// BigNumber writes an integer of any size, in RESP2 as a bulk string.
func (e *Encoder) BigNumber(digits string) {
	if !e.resp3 {
		e.BulkString(digits)
		return
	}
	e.buf = append(e.buf, '(')
	e.buf = append(e.buf, digits...)
	e.buf = append(e.buf, '\r', '\n')
}

// Verbatim writes text of the given three-letter format, in RESP2 as a bulk
// string without the format.
func (e *Encoder) Verbatim(format, text string) {
	if !e.resp3 {
		e.BulkString(text)
		return
	}
	e.header('=', len(format)+1+len(text))
	e.buf = append(e.buf, format...)
	e.buf = append(e.buf, ':')
	e.buf = append(e.buf, text...)
	e.buf = append(e.buf, '\r', '\n')
}

// aggregate announces n items of a kind that RESP2 has no letter for.
func (e *Encoder) aggregate(kind byte, n int) {
	if !e.resp3 {
		kind = '*'
	}
	e.header(kind, n)
}

// header writes a kind letter and a length.
func (e *Encoder) header(kind byte, n int) {
	if n <= 9 {
		e.buf = append(e.buf, kind, byte('0'+n), '\r', '\n')
		return
	}
	e.buf = append(e.buf, kind)
	e.buf = number.AppendInt(e.buf, int64(n))
	e.buf = append(e.buf, '\r', '\n')
}
