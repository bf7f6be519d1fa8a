package compile

import (
	"fmt"
	"strings"
)

type token int

// Tokens of more than one character; single characters stand for themselves.
const (
	tkAnd token = iota + 257
	tkBreak
	tkDo
	tkElse
	tkElseif
	tkEnd
	tkFalse
	tkFor
	tkFunction
	tkIf
	tkIn
	tkLocal
	tkNil
	tkNot
	tkOr
	tkRepeat
	tkReturn
	tkThen
	tkTrue
	tkUntil
	tkWhile
	tkConcat
	tkDots
	tkEq
	tkGe
	tkLe
	tkNe
	tkNumber
	tkName
	tkString
	tkEOS
)

var tokenNames = [...]string{
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if",
	"in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until",
	"while", "..", "...", "==", ">=", "<=", "~=", "<number>", "<name>", "<string>", "<eof>",
}

var reserved = func() map[string]token {
	m := map[string]token{}
	for t := tkAnd; t <= tkWhile; t++ {
		m[tokenNames[t-tkAnd]] = t
	}
	return m
}()

// endOfText is the current character at the end of the source.
const endOfText = -1

type lexeme struct {
	token  token
	number float64
	text   string
}

// lexer splits a chunk into tokens. buffer holds the raw text of the token being
// read, which is what errors quote.
type lexer struct {
	more      func() string
	text      string
	pos       int
	current   int
	line      int
	lastLine  int
	now       lexeme
	lookahead lexeme
	source    string
	buffer    []byte
}

func newLexer(more func() string, source string) lexer {
	lx := lexer{more: more, line: 1, lastLine: 1, source: source}
	lx.lookahead.token = tkEOS
	lx.advance()
	return lx
}

func (lx *lexer) advance() {
	if lx.pos >= len(lx.text) {
		if lx.current == endOfText {
			return
		}
		if lx.text, lx.pos = lx.more(), 0; lx.text == "" {
			lx.current = endOfText
			return
		}
	}
	lx.current = int(lx.text[lx.pos])
	lx.pos++
}

func (lx *lexer) save(c int)      { lx.buffer = append(lx.buffer, byte(c)) }
func (lx *lexer) saveAndAdvance() { lx.save(lx.current); lx.advance() }

func (lx *lexer) next() {
	lx.lastLine = lx.line
	if lx.lookahead.token != tkEOS {
		lx.now = lx.lookahead
		lx.lookahead.token = tkEOS
		return
	}
	lx.now.token = lx.lex(&lx.now)
}

func (lx *lexer) peek() token {
	lx.lookahead.token = lx.lex(&lx.lookahead)
	return lx.lookahead.token
}

func (t token) String() string {
	if t < tkAnd {
		if t < 32 || t == 127 {
			return fmt.Sprintf("char(%d)", int(t))
		}
		return string([]byte{byte(t)})
	}
	return tokenNames[t-tkAnd]
}

func (lx *lexer) tokenText(t token) string {
	switch t {
	case tkName, tkString, tkNumber:
		return cString(string(lx.buffer))
	}
	return t.String()
}

// fail raises a compile error; near is the token it quotes, 0 for none (a zero
// byte in the text is not quoted either).
func (lx *lexer) fail(message string, near token) {
	message = fmt.Sprintf("%s:%d: %s", chunkID(lx.source, idSizeSyntax), lx.line, message)
	if near != 0 {
		message += " near '" + lx.tokenText(near) + "'"
	}
	panic(&Error{message})
}

func (lx *lexer) syntaxError(message string) { lx.fail(message, lx.now.token) }

func isNewline(c int) bool { return c == '\n' || c == '\r' }
func isDigit(c int) bool   { return c >= '0' && c <= '9' }
func isSpace(c int) bool   { return c == ' ' || c >= '\t' && c <= '\r' }
func isNameByte(c int) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}

func (lx *lexer) newline() {
	old := lx.current
	lx.advance()
	if isNewline(lx.current) && lx.current != old {
		lx.advance()
	}
	lx.line++
}

// accept takes the current character if it is one of set, or a zero byte: the
// reference searches the set's terminator too.
func (lx *lexer) accept(set string) bool {
	if lx.current == endOfText || lx.current != 0 && strings.IndexByte(set, byte(lx.current)) < 0 {
		return false
	}
	lx.saveAndAdvance()
	return true
}

func (lx *lexer) lex(out *lexeme) token {
	lx.buffer = lx.buffer[:0]
	for {
		switch c := lx.current; c {
		case '\n', '\r':
			lx.newline()
		case '-':
			lx.advance()
			if lx.current != '-' {
				return '-'
			}
			lx.advance()
			lx.comment()
		case '[':
			level := lx.bracketLevel()
			if level >= 0 {
				out.text = lx.longString(true, level)
				return tkString
			}
			if level == -1 {
				return '['
			}
			lx.fail("invalid long string delimiter", tkString)
		case '=':
			return lx.oneOrTwo('=', tkEq)
		case '<':
			return lx.oneOrTwo('<', tkLe)
		case '>':
			return lx.oneOrTwo('>', tkGe)
		case '~':
			return lx.oneOrTwo('~', tkNe)
		case '"', '\'':
			out.text = lx.quoted(c)
			return tkString
		case '.':
			lx.saveAndAdvance()
			if lx.accept(".") {
				if lx.accept(".") {
					return tkDots
				}
				return tkConcat
			}
			if !isDigit(lx.current) {
				return '.'
			}
			out.number = lx.numeral()
			return tkNumber
		case endOfText:
			return tkEOS
		default:
			switch {
			case isSpace(c):
				lx.advance()
			case isDigit(c):
				out.number = lx.numeral()
				return tkNumber
			case isNameByte(c):
				for isNameByte(lx.current) {
					lx.saveAndAdvance()
				}
				out.text = string(lx.buffer)
				if t, ok := reserved[out.text]; ok {
					return t
				}
				return tkName
			default:
				lx.advance()
				return token(c)
			}
		}
	}
}

// oneOrTwo reads an operator that may be followed by '='.
func (lx *lexer) oneOrTwo(one, two token) token {
	lx.advance()
	if lx.current != '=' {
		return one
	}
	lx.advance()
	return two
}

func (lx *lexer) comment() {
	if lx.current == '[' {
		level := lx.bracketLevel()
		lx.buffer = lx.buffer[:0]
		if level >= 0 {
			lx.longString(false, level)
			lx.buffer = lx.buffer[:0]
			return
		}
	}
	for !isNewline(lx.current) && lx.current != endOfText {
		lx.advance()
	}
}

// bracketLevel reads "[==" or "]==": the number of equal signs when the same
// bracket follows, else -1 less that number.
func (lx *lexer) bracketLevel() int {
	bracket := lx.current
	count := 0
	lx.saveAndAdvance()
	for lx.current == '=' {
		lx.saveAndAdvance()
		count++
	}
	if lx.current == bracket {
		return count
	}
	return -count - 1
}

func (lx *lexer) longString(keep bool, level int) string {
	lx.saveAndAdvance()
	if isNewline(lx.current) {
		lx.newline()
	}
	for {
		switch lx.current {
		case endOfText:
			if keep {
				lx.fail("unfinished long string", tkEOS)
			}
			lx.fail("unfinished long comment", tkEOS)
		case ']':
			if lx.bracketLevel() == level {
				lx.saveAndAdvance()
				if !keep {
					return ""
				}
				return string(lx.buffer[2+level : len(lx.buffer)-2-level])
			}
		case '\n', '\r':
			lx.save('\n')
			lx.newline()
			if !keep {
				lx.buffer = lx.buffer[:0]
			}
		default:
			if keep {
				lx.save(lx.current)
			}
			lx.advance()
		}
	}
}

func (lx *lexer) quoted(delimiter int) string {
	lx.saveAndAdvance()
	for lx.current != delimiter {
		switch lx.current {
		case endOfText:
			lx.fail("unfinished string", tkEOS)
		case '\n', '\r':
			lx.fail("unfinished string", tkString)
		case '\\':
			lx.escape()
		default:
			lx.saveAndAdvance()
		}
	}
	lx.saveAndAdvance()
	return string(lx.buffer[1 : len(lx.buffer)-1])
}

func (lx *lexer) escape() {
	lx.advance()
	switch c := lx.current; c {
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		lx.save(int("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", byte(c))]))
		lx.advance()
	case '\n', '\r':
		lx.save('\n')
		lx.newline()
	case endOfText:
		// the caller reports the unfinished string
	default:
		if !isDigit(c) {
			lx.saveAndAdvance()
			return
		}
		value := 0
		for i := 0; i < 3 && isDigit(lx.current); i++ {
			value = 10*value + lx.current - '0'
			lx.advance()
		}
		if value > 255 {
			lx.fail("escape sequence too large", tkString)
		}
		lx.save(value)
	}
}

func (lx *lexer) numeral() float64 {
	for isDigit(lx.current) || lx.current == '.' {
		lx.saveAndAdvance()
	}
	if lx.accept("Ee") {
		lx.accept("+-")
	}
	for isNameByte(lx.current) {
		lx.saveAndAdvance()
	}
	n, ok := ParseNumber(string(lx.buffer))
	if !ok {
		lx.fail("malformed number", tkNumber)
	}
	return n
}
