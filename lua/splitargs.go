package lua

// splitArgs splits a line into words as Redis does for its configuration:
// blanks separate, "…" knows escapes, '…' only \'. ok is false when quotes are
// not closed, or not followed by a blank.
func splitArgs(line string) (words []string, ok bool) {
	i := 0
	for {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		if i >= len(line) || line[i] == 0 {
			return words, true
		}
		word, next, ok := readWord(line, i)
		if !ok {
			return nil, false
		}
		words = append(words, word)
		i = next
	}
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func readWord(line string, i int) (word string, next int, ok bool) {
	var b []byte
	for i < len(line) && line[i] != 0 && !isBlank(line[i]) {
		if c := line[i]; c != '"' && c != '\'' {
			b = append(b, c)
			i++
			continue
		}
		if b, i, ok = readQuoted(b, line, i); !ok {
			return "", 0, false
		}
		return string(b), i, true
	}
	return string(b), i, true
}

// readQuoted reads the quoted text that starts at i.
func readQuoted(b []byte, line string, i int) ([]byte, int, bool) {
	quote := line[i]
	for i++; i < len(line) && line[i] != 0; i++ {
		c := line[i]
		switch {
		case c == quote:
			i++
			return b, i, i >= len(line) || line[i] == 0 || isBlank(line[i])
		case c == '\\' && quote == '\'' && i+1 < len(line) && line[i+1] == '\'':
			b = append(b, '\'')
			i++
		case c == '\\' && quote == '"' && i+3 < len(line) && line[i+1] == 'x' && isHex(line[i+2]) && isHex(line[i+3]):
			b = append(b, hexValue(line[i+2])<<4|hexValue(line[i+3]))
			i += 3
		case c == '\\' && quote == '"' && i+1 < len(line):
			i++
			b = append(b, unescape(line[i]))
		default:
			b = append(b, c)
		}
	}
	return nil, 0, false
}

func unescape(c byte) byte {
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
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
