package lib

import (
	"strings"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

const (
	maxCaptures     = 32
	captureOpen     = -1
	capturePosition = -2
	// maxMatchDepth bounds the recursion of the matcher.
	maxMatchDepth = 200_000
	// pollEvery is how many steps of the matcher pass between polls.
	pollEvery = 1 << 14
)

// matcher matches a pattern against a subject by backtracking, as Lua does.
type matcher struct {
	t        *vm.Thread
	src, pat string
	level    int
	depth    int
	steps    int
	captures [maxCaptures]struct{ start, length int }
}

func (m *matcher) fail(parts ...string) { m.t.Fail(parts...) }

func (m *matcher) step() {
	m.steps++
	if m.steps%pollEvery == 0 {
		m.t.Global().Poll()
	}
}

// newMatcher makes a matcher. Patterns end at a zero byte.
func newMatcher(t *vm.Thread, src, pat string) *matcher {
	return &matcher{t: t, src: src, pat: cString(pat)}
}

func isSpecial(pattern string) bool { return strings.ContainsAny(cString(pattern), "^$*+?.([%-") }

// classEnd returns the index after the single-character class at p.
func (m *matcher) classEnd(p int) int {
	c := m.pat[p]
	p++
	switch c {
	case '%':
		if p == len(m.pat) {
			m.fail("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		if p < len(m.pat) && m.pat[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.pat) || m.pat[p] != ']'; first = false {
			if p >= len(m.pat) {
				m.fail("malformed pattern (missing ']')")
			}
			c := m.pat[p]
			p++
			if c == '%' && p < len(m.pat) {
				p++
			}
		}
		return p + 1
	}
	return p
}

func inClass(c, class byte) bool {
	var in bool
	switch class | 0x20 {
	case 'a':
		in = isAlpha(c)
	case 'c':
		in = c < 32 || c == 127
	case 'd':
		in = c >= '0' && c <= '9'
	case 'l':
		in = c >= 'a' && c <= 'z'
	case 'p':
		in = c > 32 && c < 127 && !isAlpha(c) && !(c >= '0' && c <= '9')
	case 's':
		in = c == ' ' || c >= '\t' && c <= '\r'
	case 'u':
		in = c >= 'A' && c <= 'Z'
	case 'w':
		in = isAlpha(c) || c >= '0' && c <= '9'
	case 'x':
		in = digitValue(c) < 16
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	if !isAlpha(class) {
		return class == c
	}
	if class >= 'A' && class <= 'Z' {
		return !in
	}
	return in
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// inSet matches c against the set that starts at p and whose ']' is at end.
func (m *matcher) inSet(c byte, p, end int) bool {
	result := true
	p++
	if m.pat[p] == '^' {
		result = false
		p++
	}
	for ; p < end; p++ {
		switch {
		case m.pat[p] == '%':
			p++
			if inClass(c, m.pat[p]) {
				return result
			}
		case m.pat[p+1] == '-' && p+2 < end:
			if m.pat[p] <= c && c <= m.pat[p+2] {
				return result
			}
			p += 2
		case m.pat[p] == c:
			return result
		}
	}
	return !result
}

func (m *matcher) single(s, p, ep int) bool {
	if s >= len(m.src) {
		return false
	}
	c := m.src[s]
	switch m.pat[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pat[p+1])
	case '[':
		return m.inSet(c, p, ep-1)
	default:
		return m.pat[p] == c
	}
}

// match returns the end of the match of the pattern from p at s, -1 for none.
func (m *matcher) match(s, p int) int {
	m.depth++
	if m.depth > maxMatchDepth {
		m.fail("pattern too complex")
	}
	end := m.matchHere(s, p)
	m.depth--
	return end
}

func (m *matcher) matchHere(s, p int) int {
	for {
		m.step()
		if p == len(m.pat) {
			return s
		}
		switch m.pat[p] {
		case '(':
			if p+1 < len(m.pat) && m.pat[p+1] == ')' {
				return m.startCapture(s, p+2, capturePosition)
			}
			return m.startCapture(s, p+1, captureOpen)
		case ')':
			return m.endCapture(s, p+1)
		case '$':
			if p+1 == len(m.pat) {
				if s == len(m.src) {
					return s
				}
				return -1
			}
		case '%':
			if p+1 == len(m.pat) {
				break
			}
			switch c := m.pat[p+1]; {
			case c == 'b':
				if s = m.balance(s, p+2); s < 0 {
					return -1
				}
				p += 4
				continue
			case c == 'f':
				if p = m.frontier(s, p+2); p < 0 {
					return -1
				}
				continue
			case c >= '0' && c <= '9':
				if s = m.backReference(s, c); s < 0 {
					return -1
				}
				p += 2
				continue
			}
		}
		ep := m.classEnd(p)
		matches := m.single(s, p, ep)
		suffix := byte(0)
		if ep < len(m.pat) {
			suffix = m.pat[ep]
		}
		switch suffix {
		case '?':
			if matches {
				if r := m.match(s+1, ep+1); r >= 0 {
					return r
				}
			}
			p = ep + 1
		case '*':
			return m.maxExpand(s, p, ep)
		case '+':
			if !matches {
				return -1
			}
			return m.maxExpand(s+1, p, ep)
		case '-':
			return m.minExpand(s, p, ep)
		default:
			if !matches {
				return -1
			}
			s++
			p = ep
		}
	}
}

func (m *matcher) maxExpand(s, p, ep int) int {
	n := 0
	for m.single(s+n, p, ep) {
		n++
	}
	for ; n >= 0; n-- {
		m.step()
		if r := m.match(s+n, ep+1); r >= 0 {
			return r
		}
	}
	return -1
}

func (m *matcher) minExpand(s, p, ep int) int {
	for {
		if r := m.match(s, ep+1); r >= 0 {
			return r
		}
		if !m.single(s, p, ep) {
			return -1
		}
		s++
	}
}

func (m *matcher) startCapture(s, p, what int) int {
	if m.level >= maxCaptures {
		m.fail("too many captures")
	}
	m.captures[m.level].start = s
	m.captures[m.level].length = what
	m.level++
	r := m.match(s, p)
	if r < 0 {
		m.level--
	}
	return r
}

func (m *matcher) endCapture(s, p int) int {
	l := m.level - 1
	for ; l >= 0 && m.captures[l].length != captureOpen; l-- {
	}
	if l < 0 {
		m.fail("invalid pattern capture")
	}
	m.captures[l].length = s - m.captures[l].start
	r := m.match(s, p)
	if r < 0 {
		m.captures[l].length = captureOpen
	}
	return r
}

func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		m.fail("unbalanced pattern")
	}
	if s >= len(m.src) || m.src[s] != m.pat[p] {
		return -1
	}
	open, closing := m.pat[p], m.pat[p+1]
	depth := 1
	for i := s + 1; i < len(m.src); i++ {
		switch m.src[i] {
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		case open:
			depth++
		}
	}
	return -1
}

func (m *matcher) frontier(s, p int) int {
	if p >= len(m.pat) || m.pat[p] != '[' {
		m.fail("missing '[' after '%f' in pattern")
	}
	ep := m.classEnd(p)
	var before, after byte
	if s > 0 {
		before = m.src[s-1]
	}
	if s < len(m.src) {
		after = m.src[s]
	}
	if m.inSet(before, p, ep-1) || !m.inSet(after, p, ep-1) {
		return -1
	}
	return ep
}

func (m *matcher) backReference(s int, digit byte) int {
	l := int(digit) - '1'
	if l < 0 || l >= m.level || m.captures[l].length == captureOpen {
		m.fail("invalid capture index")
	}
	text := m.src[m.captures[l].start:][:max(m.captures[l].length, 0)]
	if m.captures[l].length == capturePosition || !strings.HasPrefix(m.src[s:], text) {
		return -1
	}
	return s + len(text)
}

// capture returns capture l of a match of src[s:e]; without captures, capture 0
// is the whole match.
func (m *matcher) capture(l, s, e int) vm.Value {
	if l >= m.level {
		if l != 0 {
			m.fail("invalid capture index")
		}
		return m.t.Global().NewString(m.src[s:e])
	}
	c := m.captures[l]
	switch c.length {
	case captureOpen:
		m.fail("unfinished capture")
	case capturePosition:
		return vm.Int(c.start + 1)
	}
	return m.t.Global().NewString(m.src[c.start : c.start+c.length])
}

// pushCaptures pushes all captures, or the whole match if whole is set and there
// are none.
func (m *matcher) pushCaptures(s, e int, whole bool) int {
	n := m.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		m.t.Push(m.capture(i, s, e))
	}
	return n
}

func relative(pos, length int) int {
	if pos < 0 {
		pos += length + 1
	}
	return max(pos, 0)
}

func strFind(t *vm.Thread) int  { return findOrMatch(t, true) }
func strMatch(t *vm.Thread) int { return findOrMatch(t, false) }

func findOrMatch(t *vm.Thread, find bool) int {
	src, pat := t.CheckString(1), t.CheckString(2)
	init := relative(t.OptInteger(3, 1), len(src)) - 1
	init = min(max(init, 0), len(src))
	if find && (t.Arg(4).Truthy() || !isSpecial(pat)) {
		if i := strings.Index(src[init:], pat); i >= 0 {
			t.Push(vm.Int(init + i + 1))
			t.Push(vm.Int(init + i + len(pat)))
			return 2
		}
		t.Push(vm.Value{})
		return 1
	}
	m := newMatcher(t, src, pat)
	p := 0
	if strings.HasPrefix(pat, "^") {
		p = 1
	}
	for s := init; ; s++ {
		m.level = 0
		if e := m.match(s, p); e >= 0 {
			if find {
				t.Push(vm.Int(s + 1))
				t.Push(vm.Int(e))
				return m.pushCaptures(s, e, false) + 2
			}
			return m.pushCaptures(s, e, true)
		}
		if s >= len(src) || p == 1 {
			break
		}
	}
	t.Push(vm.Value{})
	return 1
}

func strGMatch(t *vm.Thread) int {
	src, pat := t.CheckString(1), t.CheckString(2)
	pos := 0
	t.Push(t.Global().NewFunction(func(t *vm.Thread) int {
		m := newMatcher(t, src, pat)
		for s := pos; s <= len(src); s++ {
			m.level = 0
			if e := m.match(s, 0); e >= 0 {
				pos = e
				if e == s {
					pos++
				}
				return m.pushCaptures(s, e, true)
			}
		}
		return 0
	}, t.Arg(1), t.Arg(2)))
	return 1
}

func strGFind(t *vm.Thread) int {
	t.Fail("'string.gfind' was renamed to 'string.gmatch'")
	return 0
}

func strGSub(t *vm.Thread) int {
	src, pat := t.CheckString(1), t.CheckString(2)
	replacement := t.Arg(3)
	maxN := t.OptInt(4, len(src)+1)
	switch replacement.Kind() {
	case vm.Number, vm.StringKind, vm.FunctionKind, vm.TableKind:
	default:
		t.ArgError(3, "string/function/table expected")
	}
	p := 0
	if strings.HasPrefix(pat, "^") {
		p = 1
	}
	m := newMatcher(t, src, pat)
	var out strings.Builder
	s, n := 0, 0
	for n < maxN {
		m.level = 0
		e := m.match(s, p)
		if e >= 0 {
			n++
			m.substitute(&out, s, e, replacement)
		}
		if e >= 0 && e > s {
			s = e
		} else if s < len(src) {
			out.WriteByte(src[s])
			s++
		} else {
			break
		}
		if p == 1 {
			break
		}
	}
	out.WriteString(src[s:])
	t.PushString(out.String())
	t.Push(vm.Int(n))
	return 2
}

// substitute writes what replaces the match src[s:e].
func (m *matcher) substitute(out *strings.Builder, s, e int, replacement vm.Value) {
	t := m.t
	var v vm.Value
	switch replacement.Kind() {
	case vm.FunctionKind:
		t.Push(replacement)
		n := m.pushCaptures(s, e, true)
		t.Call(n, 1)
		v = t.Pop()
	case vm.TableKind:
		v = t.Index(replacement, m.capture(0, s, e))
	default:
		m.expand(out, text2(replacement), s, e)
		return
	}
	if !v.Truthy() {
		out.WriteString(m.src[s:e])
		return
	}
	if !isStringOrNumber(v) {
		m.fail("invalid replacement value (a ", v.Kind().String(), ")")
	}
	m.write(out, text2(v))
}

func (m *matcher) write(out *strings.Builder, s string) {
	if need := out.Len() + len(s); need > out.Cap() {
		m.t.Global().CheckStringSize(need)
	}
	out.WriteString(s)
}

// expand writes a replacement string, its %n replaced by captures.
func (m *matcher) expand(out *strings.Builder, text string, s, e int) {
	for {
		plain := strings.IndexByte(text, '%')
		if plain < 0 {
			m.write(out, text)
			return
		}
		m.write(out, text[:plain])
		c := byte(0)
		if plain+1 < len(text) {
			c = text[plain+1]
		}
		text = text[min(plain+2, len(text)):]
		switch {
		case c == '0':
			m.write(out, m.src[s:e])
		case c >= '1' && c <= '9':
			m.write(out, text2(m.capture(int(c-'1'), s, e)))
		default:
			out.WriteByte(c)
		}
	}
}
