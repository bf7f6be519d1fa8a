package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// commandReader takes commands from a file, in RESP or one a line, mixed as
// well. Empty lines and those that begin with "#" are comments.
type commandReader struct {
	*bufio.Reader
	line  int // that has been read last
	began int // the one the latest command began at
}

// next is the next command, or io.EOF.
func (r *commandReader) next() ([]string, error) {
	for {
		line, err := r.readLine()
		if err != nil {
			return nil, err
		}
		r.began = r.line
		switch text := strings.TrimSpace(line); {
		case text == "" || text[0] == '#':
		case text[0] == '*':
			args, err := r.array(text)
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			if err != nil || len(args) > 0 {
				return args, err
			}
		default:
			return split(text)
		}
	}
}

// readLine reads a line without its end. The last one need have none.
func (r *commandReader) readLine() (string, error) {
	line, err := r.ReadString('\n')
	if line != "" && errors.Is(err, io.EOF) {
		err = nil
	}
	r.line++
	return strings.TrimRight(line, "\r\n"), err
}

// array reads the rest of a command that begins with "*N".
func (r *commandReader) array(header string) ([]string, error) {
	n, err := strconv.Atoi(header[1:])
	if err != nil {
		return nil, fmt.Errorf("%q is no length of a command", header)
	}
	var args []string
	for range n {
		line, err := r.readLine()
		if err != nil {
			return nil, err
		}
		size, err := strconv.Atoi(strings.TrimPrefix(line, "$"))
		if err != nil || size < 0 || !strings.HasPrefix(line, "$") {
			return nil, fmt.Errorf("%q is no length of an argument", line)
		}
		var arg strings.Builder
		if _, err := io.CopyN(&arg, r, int64(size)); err != nil {
			return nil, err
		}
		args = append(args, arg.String())
		r.line += strings.Count(arg.String(), "\n")
		if end, err := r.readLine(); err != nil || end != "" {
			return nil, fmt.Errorf("an argument is longer than the %d bytes it says", size)
		}
	}
	return args, nil
}

var errQuotes = errors.New("quotes are not balanced")

// split takes a line apart as redis-cli does: words, "…" with escapes and '…'
// without.
func split(line string) ([]string, error) {
	var args []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var arg string
		var err error
		switch line[0] {
		case '"':
			arg, line, err = quoted(line[1:])
		case '\'':
			arg, line, err = literal(line[1:])
		default:
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			arg, line = line[:end], line[end:]
		}
		if err != nil {
			return nil, err
		}
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			return nil, errQuotes
		}
		args = append(args, arg)
	}
	return args, nil
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'a': '\a'}

// quoted reads up to the closing double quote.
func quoted(text string) (arg, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], nil
		case c == '\\' && i+3 < len(text) && text[i+1] == 'x':
			n, err := strconv.ParseUint(text[i+2:i+4], 16, 8)
			if err != nil {
				b.WriteByte('x')
				i++
				continue
			}
			b.WriteByte(byte(n))
			i += 3
		case c == '\\' && i+1 < len(text):
			i++
			if known, ok := escapes[text[i]]; ok {
				b.WriteByte(known)
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errQuotes
}

// literal reads up to the closing single quote.
func literal(text string) (arg, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\'':
			return b.String(), text[i+1:], nil
		case strings.HasPrefix(text[i:], `\'`):
			i++
		}
		b.WriteByte(text[i])
	}
	return "", "", errQuotes
}
