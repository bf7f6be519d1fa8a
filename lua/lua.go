// Package lua is the Redis scripting runtime: EVAL scripts and functions
// libraries as Redis runs them, down to the words of its errors.
//
// The one idea: the interpreter is the reference implementation's design written
// again in Go (internal/compile, internal/vm, internal/lib), not another Lua
// made to look like it. What Redis adds — the redis library, the sandbox, the
// conversions between replies and values — lives here. A running script calls
// back through Server; nothing here knows a keyspace or a socket.
//
// What cannot be the same, or is not meant to be:
//   - Addresses: the text of tables and functions, and the order of tables whose
//     keys are tables or functions. Redis' own differ from run to run.
//   - What Redis bounds by the machine's memory ends here with "not enough
//     memory" at Limits.
//   - An uncaught error table without a message crashes Redis 7.0; here it is an
//     error reply.
//   - The last of seventeen digits of sin, cos, tan, their inverses and their
//     hyperbolic kin may differ.
package lua

import (
	"crypto/sha1"
	"encoding/hex"
)

// Server is what a running script calls back.
type Server interface {
	// Call executes one command for the running script and writes its single
	// reply, an error by reply.Error. args are raw; the first is the command.
	Call(args [][]byte, reply *Builder)
	// Log writes to the server's log; level is that of redis.log, 0 (debug) to
	// 3 (warning).
	Log(level int, message string)
	// ACLCheck tells whether the client's user may run a command, and whether
	// the command exists at all.
	ACLCheck(args [][]byte) (allowed, known bool)
	// SetRepl says where effects go from here on: ReplAOF and ReplReplica, or
	// neither.
	SetRepl(flags int)
}

// Where effects of a script go: redis.set_repl.
const (
	ReplNone    = 0
	ReplAOF     = 1
	ReplReplica = 2
	ReplAll     = ReplAOF | ReplReplica
)

// Sink receives the reply of a script, written left to right. It has the shape
// of the emulator's reply sink.
type Sink interface {
	Status(s string)
	Error(msg string)
	Int(n int64)
	Bulk(b []byte)
	BulkString(s string)
	Null()
	NullArray()
	Array(n int)
	Map(n int)
	Set(n int)
	Push(n int)
	Double(f float64)
	Bool(b bool)
	BigNumber(digits string)
	Verbatim(format, text string)
	Proto() int
}

// Flags are what a script or function declares about itself.
type Flags uint8

// The flags of a shebang line or of redis.register_function.
const (
	NoWrites Flags = 1 << iota
	AllowOOM
	AllowStale
	NoCluster
	AllowCrossSlotKeys
)

var flagNames = []struct {
	flag Flags
	name string
}{
	{NoWrites, "no-writes"},
	{AllowOOM, "allow-oom"},
	{AllowStale, "allow-stale"},
	{NoCluster, "no-cluster"},
	{AllowCrossSlotKeys, "allow-cross-slot-keys"},
}

// Names returns the flags as Redis spells them, in its order.
func (f Flags) Names() []string {
	var names []string
	for _, d := range flagNames {
		if f&d.flag != 0 {
			names = append(names, d.name)
		}
	}
	return names
}

func parseFlag(name string) (Flags, bool) {
	for _, d := range flagNames {
		if d.name == name {
			return d.flag, true
		}
	}
	return 0, false
}

// Error is an error of this package: its text is the error reply, code first.
type Error struct{ Reply string }

func (e *Error) Error() string { return e.Reply }

// SHA1Hex names a script.
func SHA1Hex(source []byte) string {
	sum := sha1.Sum(source)
	return hex.EncodeToString(sum[:])
}
