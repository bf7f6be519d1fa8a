package vm

import (
	"unsafe"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
)

// The runtime counts what it allocates. When the count has grown enough, it
// walks everything reachable to learn what is still in use, and ends the script
// if that is more than allowed. This needs no help from Go's collector and gives
// the same answer whatever else the process does.

const (
	stringBytes   = int(unsafe.Sizeof(String{}))
	functionBytes = int(unsafe.Sizeof(Function{}))
	upvalueBytes  = int(unsafe.Sizeof(upvalue{}))
	protoBytes    = int(unsafe.Sizeof(Proto{}) + unsafe.Sizeof(compile.Proto{}))
	// smallString is the size up to which each reference to a string counts as
	// one; larger strings are counted once.
	smallString = 256
)

func (g *Global) firstThreshold() int { return min(32<<20, g.limits.Memory/4) }

// charge accounts for n bytes about to be allocated.
func (g *Global) charge(n int) {
	g.allocated += n
	if g.allocated > g.threshold {
		g.checkMemory(n)
	}
}

func (g *Global) checkMemory(n int) {
	if n > g.limits.Memory {
		g.allocated -= n
		g.outOfMemory()
	}
	g.live = g.measure()
	g.allocated = n
	if g.live+n > g.limits.Memory {
		g.allocated = 0
		g.threshold = g.firstThreshold()
		g.outOfMemory()
	}
	g.threshold = max(min(g.live, g.limits.Memory-g.live), g.firstThreshold())
}

func (g *Global) outOfMemory() { panic(&Error{Value: Str("not enough memory"), unhandled: true}) }

// Room returns how many bytes the runtime's values may take.
func (g *Global) Room() int { return g.limits.Memory }

// Memory returns how many bytes the runtime's values took at the last
// measurement, plus what was allocated since.
func (g *Global) Memory() int { return g.live + g.allocated }

// Collect measures the memory in use.
func (g *Global) Collect() {
	g.live = g.measure()
	g.allocated = 0
}

// marker walks the reachable objects.
type marker struct {
	seen  map[unsafe.Pointer]struct{}
	queue []Value
	bytes int
}

func (g *Global) measure() int {
	m := marker{seen: map[unsafe.Pointer]struct{}{}}
	m.table(g.Globals)
	m.mark(threadValue(g.Main))
	for t := g.Current; t != nil; t = t.resumer {
		m.mark(threadValue(t))
	}
	for _, t := range g.TypeMeta {
		m.table(t)
	}
	if r, ok := g.Data.(interface{ Roots() []Value }); ok {
		for _, v := range r.Roots() {
			m.mark(v)
		}
	}
	for len(m.queue) > 0 {
		v := m.queue[len(m.queue)-1]
		m.queue = m.queue[:len(m.queue)-1]
		m.scan(v)
	}
	return m.bytes
}

func (m *marker) table(t *Table) {
	if t != nil {
		m.mark(TableValue(t))
	}
}

// proto counts a function's code, once for all its closures.
func (m *marker) proto(p *Proto) {
	if p == nil {
		return
	}
	if _, ok := m.seen[unsafe.Pointer(p)]; !ok {
		m.seen[unsafe.Pointer(p)] = struct{}{}
		m.bytes += p.size
	}
}

func (m *marker) mark(v Value) {
	switch v.Kind() {
	case StringKind:
		if n := len(v.Str()); n <= smallString {
			m.bytes += stringBytes + n
			return
		}
	case TableKind, FunctionKind, ThreadKind:
	default:
		return
	}
	if _, ok := m.seen[v.ref]; !ok {
		m.seen[v.ref] = struct{}{}
		m.queue = append(m.queue, v)
	}
}

func (m *marker) scan(v Value) {
	switch v.Kind() {
	case StringKind:
		m.bytes += stringBytes + len(v.Str())
	case TableKind:
		t := v.Table()
		m.bytes += tableBytes + cap(t.array)*valueBytes + len(t.nodes)*nodeBytes
		m.table(t.meta)
		for _, v := range t.array {
			m.mark(v)
		}
		for i := range t.nodes {
			m.mark(t.nodes[i].key)
			m.mark(t.nodes[i].value)
		}
	case FunctionKind:
		f := v.Function()
		m.bytes += functionBytes
		m.proto(f.proto)
		m.table(f.env)
		for _, u := range f.upvalues {
			m.bytes += upvalueBytes
			m.mark(*u.v)
		}
		for _, v := range f.captured {
			m.mark(v)
		}
	case ThreadKind:
		t := v.Thread()
		m.bytes += len(t.stack) * valueBytes
		m.table(t.globals)
		for _, v := range t.stack[:t.extent()] {
			m.mark(v)
		}
	}
}

// NewString makes a string value charged to the runtime.
func (g *Global) NewString(s string) Value {
	g.charge(stringBytes + len(s))
	return Value{ref: unsafe.Pointer(&String{header{StringKind}, hashString(s), s})}
}

// CheckStringSize ends the script when a string of n bytes would be too long.
// It is asked before the bytes are gathered.
func (g *Global) CheckStringSize(n int) {
	if n < 0 || n > g.limits.StringSize {
		g.outOfMemory()
	}
	if n > smallString {
		g.charge(0)
		if g.allocated+n > g.threshold {
			g.checkMemory(n)
			g.allocated -= n
		}
	}
}
