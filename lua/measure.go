package lua

import "github.com/fakecluster/fakecluster/lua/internal/vm"

// measure is a Sink that counts the bytes of a reply instead of writing it. A few
// tables that share tables and strings can stand for a reply without end, and
// once a reply has begun there is no way back: so it is walked before.
type measure struct {
	g    *vm.Global
	room int // bytes that are left
}

// least is how many bytes the smallest value takes.
const least = 4

// fits reports whether the reply for v stays within what scripts may hold.
func (s *state) fits(v vm.Value) bool {
	if v.Table() == nil {
		return true
	}
	m := &measure{g: s.g, room: s.g.Room()}
	walk := replier{sink: m, resp: s.resp, measure: m}
	walk.write(v, 0)
	return m.room >= 0
}

func (m *measure) goesOn() bool {
	m.g.Poll()
	return m.room >= 0
}

func (m *measure) take(n int)              { m.room -= least + n }
func (m *measure) Status(s string)         { m.take(len(s)) }
func (m *measure) Error(msg string)        { m.take(len(msg)) }
func (m *measure) Int(int64)               { m.take(0) }
func (m *measure) Bulk(b []byte)           { m.take(len(b)) }
func (m *measure) BulkString(s string)     { m.take(len(s)) }
func (m *measure) Null()                   { m.take(0) }
func (m *measure) NullArray()              { m.take(0) }
func (m *measure) Array(int)               { m.take(0) }
func (m *measure) Map(int)                 { m.take(0) }
func (m *measure) Set(int)                 { m.take(0) }
func (m *measure) Push(int)                { m.take(0) }
func (m *measure) Double(float64)          { m.take(0) }
func (m *measure) Bool(bool)               { m.take(0) }
func (m *measure) BigNumber(digits string) { m.take(len(digits)) }
func (m *measure) Verbatim(_, text string) { m.take(len(text)) }
func (m *measure) Proto() int              { return 2 }
