// Package compile turns Lua 5.1 source into Lua 5.1 bytecode.
//
// The one idea: it is a single-pass compiler that allocates registers and folds
// constants exactly as the reference implementation does. Everything Redis
// prints about a script (compile errors, limits, the variable names in runtime
// errors) follows from that code, so it is the code that has to be the same.
package compile

import "strings"

// ConstantKind is the type of a constant.
type ConstantKind uint8

// The kinds of constants.
const (
	ConstNil ConstantKind = iota
	ConstFalse
	ConstTrue
	ConstNumber
	ConstString
)

// Constant is an entry of a function's constant table.
type Constant struct {
	Kind   ConstantKind
	Number float64
	String string
}

// Local is the debug record of a local variable: it lives in [StartPC, EndPC).
type Local struct {
	Name           string
	StartPC, EndPC int
}

// Vararg flags of a function.
const (
	VarargHasArg  = 1
	VarargIs      = 2
	VarargNeedArg = 4
)

// Proto is a compiled function.
type Proto struct {
	Source          string
	LineDefined     int
	LastLineDefined int
	NumUpvalues     int
	NumParams       int
	Vararg          uint8
	MaxStack        int
	Code            []Instruction
	Lines           []int32
	Constants       []Constant
	Protos          []*Proto
	Locals          []Local
	Upvalues        []string
}

// Error is a compile error; its text is the one Lua prints.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// Compile compiles a chunk. source names it the way Lua does: "@name" for a
// file, "=name" for a literal name, else the text itself. depth is the number
// of C levels already in use by the caller; it counts towards the limit on
// nesting. Errors are of type *Error.
func Compile(text, source string, depth int) (proto *Proto, err error) {
	pieces := []string{text}
	return CompilePieces(func() string {
		if len(pieces) == 0 {
			return ""
		}
		text, pieces = pieces[0], pieces[1:]
		return text
	}, source, depth)
}

// CompilePieces is Compile for text that comes in pieces, an empty one at the
// end. It asks for no more than it needs to find an error.
func CompilePieces(next func() string, source string, depth int) (proto *Proto, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			proto, err = nil, e
		}
	}()
	p := &parser{lexer: newLexer(next, source), depth: depth}
	return p.mainFunction(), nil
}

// Room for a chunk's name, terminating zero included: in runtime errors and in
// those of the compiler.
const (
	idSize       = 60
	idSizeSyntax = 80
)

// ChunkID is how runtime errors name a chunk.
func ChunkID(source string) string { return chunkID(source, idSize) }

func chunkID(source string, size int) string {
	if source == "" {
		return `[string ""]`
	}
	switch source[0] {
	case '=':
		return cString(source[1:min(len(source), size)])
	case '@':
		name := cString(source[1:])
		room := size - len(" '...' ") - 1
		if len(name) > room {
			return "..." + name[len(name)-room:]
		}
		return name
	}
	line := cString(source)
	cut := strings.IndexAny(line, "\r\n")
	if cut < 0 {
		cut = len(line)
	}
	room := size - len(` [string "..."] `) - 1
	if shown := min(cut, room); shown < len(line) {
		return `[string "` + line[:shown] + `..."]`
	}
	return `[string "` + line + `"]`
}

// cString cuts s at its first zero byte, as C does when it prints it.
func cString(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return s[:i]
	}
	return s
}
