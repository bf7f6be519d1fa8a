// Package glob matches the patterns of KEYS, SCAN, PSUBSCRIBE, CONFIG GET and
// ACLs. It accepts malformed patterns and treats bytes exactly as Redis does,
// which no general glob library would: an unclosed class ends with the pattern,
// ranges compare bytes as signed numbers, and nothing but the empty pattern
// matches the empty string.
package glob

// maxStars bounds the recursion for patterns made to be slow; beyond it nothing
// matches.
const maxStars = 1000

// Match reports whether the whole of s matches pattern: ? is any byte, * any
// number of them, [a-z] and [^a-z] classes, \ quotes.
func Match[P, S []byte | string](pattern P, s S) bool {
	return matcher[P, S]{}.match(pattern, s)
}

// MatchFold is Match without regard to the case of ASCII letters.
func MatchFold[P, S []byte | string](pattern P, s S) bool {
	return matcher[P, S]{fold: true}.match(pattern, s)
}

type matcher[P, S []byte | string] struct{ fold bool }

func (m matcher[P, S]) match(p P, s S) bool {
	hopeless := false
	return m.matchFrom(p, s, &hopeless, 0)
}

// matchFrom matches a rest of the pattern. It sets hopeless when trying an
// earlier star with more bytes cannot help.
func (m matcher[P, S]) matchFrom(p P, s S, hopeless *bool, stars int) bool {
	if stars > maxStars {
		return false
	}
	for len(p) > 0 && len(s) > 0 {
		ok := true
		switch p[0] {
		case '*':
			return m.matchStar(p, s, hopeless, stars)
		case '?':
			p = p[1:]
		case '[':
			ok, p = m.matchClass(p[1:], s[0])
		default:
			if p[0] == '\\' && len(p) >= 2 {
				p = p[1:]
			}
			ok, p = m.equal(p[0], s[0]), p[1:]
		}
		if !ok {
			return false
		}
		if s = s[1:]; len(s) == 0 {
			for len(p) > 0 && p[0] == '*' {
				p = p[1:]
			}
		}
	}
	return len(p) == 0 && len(s) == 0
}

// matchStar matches from a star on.
func (m matcher[P, S]) matchStar(p P, s S, hopeless *bool, stars int) bool {
	for len(p) > 1 && p[1] == '*' {
		p = p[1:]
	}
	if len(p) == 1 {
		return true
	}
	for ; len(s) > 0; s = s[1:] {
		if m.matchFrom(p[1:], s, hopeless, stars+1) {
			return true
		}
		if *hopeless {
			return false
		}
	}
	*hopeless = true
	return false
}

// matchClass matches c against the class whose inside p begins with, and
// returns the pattern behind the class.
func (m matcher[P, S]) matchClass(p P, c byte) (ok bool, rest P) {
	negated := len(p) > 0 && p[0] == '^'
	if negated {
		p = p[1:]
	}
	found := false
	for len(p) > 0 {
		switch {
		case p[0] == '\\' && len(p) >= 2:
			found = found || p[1] == c // also when folding
			p = p[2:]
		case p[0] == ']':
			return found != negated, p[1:]
		case len(p) >= 3 && p[1] == '-':
			found = found || m.inRange(p[0], p[2], c)
			p = p[3:]
		default:
			found = found || m.equal(p[0], c)
			p = p[1:]
		}
	}
	return found != negated, p
}

func (m matcher[P, S]) inRange(first, last, c byte) bool {
	if int8(first) > int8(last) {
		first, last = last, first
	}
	if m.fold {
		first, last, c = lower(first), lower(last), lower(c)
	}
	return int8(first) <= int8(c) && int8(c) <= int8(last)
}

func (m matcher[P, S]) equal(a, b byte) bool {
	return a == b || m.fold && lower(a) == lower(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
