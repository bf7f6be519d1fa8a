// Package glob matches Redis' glob-style patterns: *, ?, [a-z], [^a] and \ to
// take a character literally. KEYS, SCAN, PSUBSCRIBE, CONFIG GET and others
// share them, and their peculiarities: bytes of a range compare as signed, a
// class that is not closed ends with the pattern, and nothing but the empty
// pattern matches the empty string.
package glob

// Match reports whether s matches pattern.
func Match[P, S ~string | ~[]byte](pattern P, s S) bool {
	m := matcher[P, S]{}
	return m.match(pattern, s)
}

// MatchFold is Match where ASCII letters match in any case.
func MatchFold[P, S ~string | ~[]byte](pattern P, s S) bool {
	m := matcher[P, S]{fold: true}
	return m.match(pattern, s)
}

type matcher[P, S ~string | ~[]byte] struct {
	fold bool
	// hopeless is set once the rest behind some * matched nowhere: then no
	// longer match of an earlier * can help. It keeps a*a*a*… from taking
	// exponential time.
	hopeless bool
}

func (m *matcher[P, S]) match(pattern P, s S) bool {
	for len(pattern) > 0 && len(s) > 0 {
		switch pattern[0] {
		case '*':
			return m.star(pattern[1:], s)
		case '?':
			pattern = pattern[1:]
		case '[':
			matched, rest := m.class(pattern[1:], s[0])
			if !matched {
				return false
			}
			pattern = rest
		default:
			if pattern[0] == '\\' && len(pattern) >= 2 {
				pattern = pattern[1:]
			}
			if m.lower(pattern[0]) != m.lower(s[0]) {
				return false
			}
			pattern = pattern[1:]
		}
		s = s[1:]
		if len(s) == 0 {
			for len(pattern) > 0 && pattern[0] == '*' {
				pattern = pattern[1:]
			}
		}
	}
	return len(pattern) == 0 && len(s) == 0
}

// star matches what follows a *.
func (m *matcher[P, S]) star(rest P, s S) bool {
	for len(rest) > 0 && rest[0] == '*' {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return true
	}
	for ; len(s) > 0; s = s[1:] {
		if m.match(rest, s) {
			return true
		}
		if m.hopeless {
			return false
		}
	}
	m.hopeless = true
	return false
}

// class matches c against what follows a [, and returns what follows the ].
func (m *matcher[P, S]) class(pattern P, c byte) (matched bool, rest P) {
	not := len(pattern) > 0 && pattern[0] == '^'
	if not {
		pattern = pattern[1:]
	}
	for {
		switch {
		case len(pattern) == 0:
			return matched != not, pattern
		case pattern[0] == '\\' && len(pattern) >= 2:
			matched = matched || pattern[1] == c // in this case only
			pattern = pattern[2:]
		case pattern[0] == ']':
			return matched != not, pattern[1:]
		case len(pattern) >= 3 && pattern[1] == '-':
			from, to := int8(pattern[0]), int8(pattern[2])
			if from > to {
				from, to = to, from
			}
			from, to = int8(m.lower(byte(from))), int8(m.lower(byte(to)))
			at := int8(m.lower(c))
			matched = matched || from <= at && at <= to
			pattern = pattern[3:]
		default:
			matched = matched || m.lower(pattern[0]) == m.lower(c)
			pattern = pattern[1:]
		}
	}
}

func (m *matcher[P, S]) lower(c byte) byte {
	if m.fold && 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
