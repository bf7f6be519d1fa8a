package resp

import "github.com/fakecluster/fakecluster/emulator/internal/number"

// appendWords splits an inline request into words as redis-cli and the server
// do: "double quotes" know \n \r \t \b \a \xHH and a backslash before any other
// byte, 'single quotes' know only \', and a closing quote must be followed by a
// blank or the end. It reports false for unbalanced quotes.
//
// Words are unescaped in place, for they never grow; the slices appended to
// words point into line.
func appendWords(words [][]byte, line []byte) ([][]byte, bool) {
	for {
		for len(line) > 0 && number.IsSpace(line[0]) {
			line = line[1:]
		}
		if len(line) == 0 {
			return words, true
		}
		word, rest, ok := cutWord(line)
		if !ok {
			return words, false
		}
		words = append(words, word)
		line = rest
	}
}

// cutWord unescapes the word at the start of line over itself.
func cutWord(line []byte) (word, rest []byte, ok bool) {
	out := line[:0]
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\n', '\r', '\t': // but not \v and \f, which only separate words
			return clip(out), line[i:], true
		case '"', '\'':
			var used int
			out, used = unquote(out, line[i+1:], c)
			if used < 0 {
				return nil, nil, false
			}
			return clip(out), line[i+1+used:], true
		default:
			out = append(out, c)
		}
	}
	return clip(out), nil, true
}

// unquote appends to out what stands in s up to the closing quote, and returns
// how many bytes of s that took, -1 if the quote is not closed or is followed
// by something other than a blank.
func unquote(out, s []byte, quote byte) ([]byte, int) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == quote:
			if i+1 < len(s) && !number.IsSpace(s[i+1]) {
				return out, -1
			}
			return out, i + 1
		case c == '\\' && quote == '\'':
			if i+1 < len(s) && s[i+1] == '\'' {
				i++
				c = '\''
			}
		case c == '\\' && i+3 < len(s) && s[i+1] == 'x' && isHex(s[i+2]) && isHex(s[i+3]):
			c = hexDigit(s[i+2])<<4 | hexDigit(s[i+3])
			i += 3
		case c == '\\' && i+1 < len(s):
			i++
			c = escaped(s[i])
		}
		out = append(out, c)
	}
	return out, -1
}

// escaped is what a backslash and c stand for in double quotes.
func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func isHex(c byte) bool {
	return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func hexDigit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return (c | 0x20) - 'a' + 10
}

// clip keeps an append to a word from running into the next one.
func clip(b []byte) []byte { return b[:len(b):len(b)] }

// Words splits text into words as an inline request is split. It reports false
// for unbalanced quotes.
func Words(text []byte) ([][]byte, bool) {
	return appendWords(nil, append([]byte(nil), text...))
}
