package lib

import (
	"strings"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// OpenTable registers table.
func OpenTable(g *vm.Global) {
	newLibrary(g, "table", []entry{
		{"concat", tableConcat}, {"foreach", tableForEach}, {"foreachi", tableForEachI},
		{"getn", tableGetN}, {"maxn", tableMaxN}, {"insert", tableInsert},
		{"remove", tableRemove}, {"setn", tableSetN}, {"sort", tableSort},
	})
}

func tableForEachI(t *vm.Thread) int {
	table := t.CheckTable(1)
	n := table.Len()
	t.CheckKind(2, vm.FunctionKind)
	fn := t.Arg(2)
	for i := 1; i <= n; i++ {
		t.Push(fn)
		t.Push(vm.Int(i))
		t.Push(table.GetInt(i))
		t.Call(2, 1)
		if v := t.Pop(); !v.IsNil() {
			t.Push(v)
			return 1
		}
	}
	return 0
}

func tableForEach(t *vm.Thread) int {
	table := t.CheckTable(1)
	t.CheckKind(2, vm.FunctionKind)
	fn := t.Arg(2)
	key := vm.Value{}
	for {
		k, v, ok := table.Next(key)
		if !ok {
			t.Errorf("invalid key to 'next'")
		}
		if k.IsNil() {
			return 0
		}
		t.Push(fn)
		t.Push(k)
		t.Push(v)
		t.Call(2, 1)
		if v := t.Pop(); !v.IsNil() {
			t.Push(v)
			return 1
		}
		key = k
	}
}

func tableMaxN(t *vm.Thread) int {
	table := t.CheckTable(1)
	m := 0.0
	for k, _, _ := table.Next(vm.Value{}); !k.IsNil(); k, _, _ = table.Next(k) {
		if k.IsNumber() && k.Float() > m {
			m = k.Float()
		}
	}
	t.Push(vm.Num(m))
	return 1
}

func tableGetN(t *vm.Thread) int {
	t.Push(vm.Int(t.CheckTable(1).Len()))
	return 1
}

func tableSetN(t *vm.Thread) int {
	t.CheckTable(1)
	t.Fail("'setn' is obsolete")
	return 0
}

// setInt is lua_rawseti.
func setInt(t *vm.Thread, table *vm.Table, i int, v vm.Value) {
	if table.ReadOnly() {
		t.Errorf("Attempt to modify a readonly table")
	}
	table.SetInt(i, v)
}

func tableInsert(t *vm.Thread) int {
	table := t.CheckTable(1)
	e := table.Len() + 1
	pos := e
	switch t.NArgs() {
	case 2:
	case 3:
		pos = t.CheckInt(2)
		if pos > e {
			e = pos
		}
		for i := e; i > pos; i-- {
			t.Global().Poll()
			setInt(t, table, i, table.GetInt(i-1))
		}
	default:
		t.Fail("wrong number of arguments to 'insert'")
	}
	setInt(t, table, pos, t.Arg(t.NArgs()))
	return 0
}

func tableRemove(t *vm.Thread) int {
	table := t.CheckTable(1)
	e := table.Len()
	pos := t.OptInt(2, e)
	if pos < 1 || pos > e {
		return 0
	}
	t.Push(table.GetInt(pos))
	for ; pos < e; pos++ {
		t.Global().Poll()
		setInt(t, table, pos, table.GetInt(pos+1))
	}
	setInt(t, table, e, vm.Value{})
	return 1
}

func tableConcat(t *vm.Thread) int {
	separator := t.OptString(2, "")
	table := t.CheckTable(1)
	i := t.OptInt(3, 1)
	last := table.Len()
	if !t.Arg(4).IsNil() {
		last = t.CheckInt(4)
	}
	var b strings.Builder
	add := func(i int) {
		v := table.GetInt(i)
		if !isStringOrNumber(v) {
			t.Fail("invalid value (", v.Kind().String(), ") at index ", itoa(i), " in table for 'concat'")
		}
		s := text2(v)
		if need := b.Len() + len(s); need > b.Cap() {
			t.Global().CheckStringSize(need)
		}
		b.WriteString(s)
	}
	for ; i < last; i++ {
		add(i)
		b.WriteString(separator)
		if i&0xffff == 0 {
			t.Global().Poll()
		}
	}
	if i == last {
		add(i)
	}
	t.PushString(b.String())
	return 1
}

func tableSort(t *vm.Thread) int {
	table := t.CheckTable(1)
	n := table.Len()
	var less vm.Value
	if !t.Arg(2).IsNil() {
		t.CheckKind(2, vm.FunctionKind)
		less = t.Arg(2)
	}
	t.SetTop(2)
	s := sorter{t: t, table: table, compare: less}
	s.sort(1, n)
	return 0
}

// sorter is the quicksort of the reference implementation: with an inconsistent
// comparison its result, and its error, depend on the exact algorithm.
type sorter struct {
	t       *vm.Thread
	table   *vm.Table
	compare vm.Value
}

func (s *sorter) less(a, b vm.Value) bool {
	s.t.Global().Poll()
	if s.compare.IsNil() {
		return s.t.LessThan(a, b)
	}
	s.t.Push(s.compare)
	s.t.Push(a)
	s.t.Push(b)
	s.t.Call(2, 1)
	return s.t.Pop().Truthy()
}

func (s *sorter) set(i int, v vm.Value) { setInt(s.t, s.table, i, v) }

func (s *sorter) sort(l, u int) {
	for l < u {
		if a, b := s.table.GetInt(l), s.table.GetInt(u); s.less(b, a) {
			s.set(l, b)
			s.set(u, a)
		}
		if u-l == 1 {
			return
		}
		i := (l + u) / 2
		if m, a := s.table.GetInt(i), s.table.GetInt(l); s.less(m, a) {
			s.set(i, a)
			s.set(l, m)
		} else if b := s.table.GetInt(u); s.less(b, m) {
			s.set(i, b)
			s.set(u, m)
		}
		if u-l == 2 {
			return
		}
		pivot := s.table.GetInt(i)
		b := s.table.GetInt(u - 1)
		s.set(i, b)
		s.set(u-1, pivot)
		i = s.partition(l, u, pivot)
		if i-l < u-i {
			s.sort(l, i-1)
			l = i + 1
		} else {
			s.sort(i+1, u)
			u = i - 1
		}
	}
}

func (s *sorter) partition(l, u int, pivot vm.Value) int {
	i, j := l, u-1
	for {
		i++
		for s.less(s.table.GetInt(i), pivot) {
			if i > u {
				s.t.Fail("invalid order function for sorting")
			}
			i++
		}
		j--
		for s.less(pivot, s.table.GetInt(j)) {
			if j < l {
				s.t.Fail("invalid order function for sorting")
			}
			j--
		}
		if j < i {
			break
		}
		a, b := s.table.GetInt(i), s.table.GetInt(j)
		s.set(i, b)
		s.set(j, a)
	}
	a, b := s.table.GetInt(u-1), s.table.GetInt(i)
	s.set(u-1, b)
	s.set(i, a)
	return i
}
