package oracle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// quote writes an argument the way redis-cli reads one: bare where it can be,
// else in double quotes with \n \r \t \a \b \\ \" and \xHH.
func quote(s string) string {
	if len(s) >= 30 && strings.Count(s, s[:1]) == len(s) {
		return doubleQuote(s[:1]) + "*" + strconv.Itoa(len(s))
	}
	bare := s != ""
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\'' || c == '\\' || c == '#' {
			bare = false
			break
		}
	}
	if bare && !strings.ContainsAny(s[:1], "!@%") {
		return s
	}
	return doubleQuote(s)
}

func doubleQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			if c < ' ' || c >= 0x7f {
				fmt.Fprintf(&b, `\x%02x`, c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

var errQuote = errors.New("unbalanced quotes")

// splitArgs splits a line into arguments: words between blanks, 'single
// quoted' with no escapes but \', or "double quoted" with the escapes quote
// writes. A repetition "text"*1000 stands for a long argument.
func splitArgs(line string) ([]string, error) {
	var args []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" || line[0] == '#' {
			return args, nil
		}
		arg, rest, err := nextArg(line)
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, line)
		}
		args = append(args, arg)
		line = rest
	}
}

func nextArg(line string) (arg, rest string, err error) {
	switch line[0] {
	case '"':
		arg, rest, err = doubleQuoted(line[1:])
	case '\'':
		arg, rest, err = singleQuoted(line[1:])
	default:
		if end := strings.IndexAny(line, " \t"); end >= 0 {
			return line[:end], line[end:], nil
		}
		return line, "", nil
	}
	if err != nil {
		return "", "", err
	}
	if count, found := strings.CutPrefix(rest, "*"); found {
		digits := len(count) - len(strings.TrimLeft(count, "0123456789"))
		n, err := strconv.Atoi(count[:digits])
		if err != nil {
			return "", "", fmt.Errorf("repetition: %w", err)
		}
		arg, rest = strings.Repeat(arg, n), count[digits:]
	}
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", errQuote
	}
	return arg, rest, nil
}

func singleQuoted(s string) (arg, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			return b.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '\'':
			i++
			b.WriteByte('\'')
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errQuote
}

func doubleQuoted(s string) (arg, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], nil
		case s[i] != '\\':
			b.WriteByte(s[i])
		case i+3 < len(s) && s[i+1] == 'x':
			n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				return "", "", fmt.Errorf("escape: %w", err)
			}
			b.WriteByte(byte(n))
			i += 3
		case i+1 < len(s):
			i++
			b.WriteByte(escaped(s[i]))
		}
	}
	return "", "", errQuote
}

func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'a':
		return '\a'
	case 'b':
		return '\b'
	}
	return c
}
