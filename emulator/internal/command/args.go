package command

import (
	"bytes"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// The texts most commands share.
const (
	errWrongType  = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errSyntax     = "ERR syntax error"
	errNotInteger = "ERR value is not an integer or out of range"
	errNotFloat   = "ERR value is not a valid float"
	errNoSuchKey  = "ERR no such key"
	errOutOfRange = "ERR index out of range"
)

// fail writes an error and returns false, so that a handler's parsing step can
// end with "return c.fail(…)".
func (c *Call) fail(msg string) bool {
	c.Reply.Error(msg)
	return false
}

// is reports whether argument i is word, in any case.
func (c *Call) is(i int, word string) bool {
	return len(c.Args[i]) == len(word) && strings.EqualFold(string(c.Args[i]), word)
}

// text is argument i as error messages show it, which is up to a NUL.
func (c *Call) text(i int) string { return string(cString(c.Args[i], len(c.Args[i]))) }

// left is the number of arguments behind argument i.
func (c *Call) left(i int) int { return len(c.Args) - 1 - i }

// lookup narrows a value to the type a command works on: nil for a missing key,
// and an error reply and false for a key of another type.
func lookup[V any](c *Call, value keyspace.Value) (v *V, ok bool) {
	if value == nil {
		return nil, true
	}
	if typed, ok := any(value).(*V); ok {
		return typed, true
	}
	return nil, c.fail(errWrongType)
}

// clone copies an argument that is to be kept beyond the call.
func clone(arg []byte) []byte { return bytes.Clone(arg) }

// intArg reads argument i as an integer, or replies with the usual error.
func (c *Call) intArg(i int) (n int64, ok bool) { return c.intArgOr(i, errNotInteger) }

// intArgOr is intArg with another error.
func (c *Call) intArgOr(i int, msg string) (n int64, ok bool) {
	n, ok = number.ParseInt(c.Args[i])
	if !ok {
		return 0, c.fail(msg)
	}
	return n, true
}

// floatArg reads argument i as a double, or replies with the usual error.
func (c *Call) floatArg(i int) (f float64, ok bool) { return c.floatArgOr(i, errNotFloat) }

// floatArgOr is floatArg with another error.
func (c *Call) floatArgOr(i int, msg string) (f float64, ok bool) {
	f, ok = number.ParseFloat(c.Args[i])
	if !ok {
		return 0, c.fail(msg)
	}
	return f, true
}

// failArity is for the commands whose rule for the number of arguments the
// table cannot express.
func (c *Call) failArity() bool {
	return c.fail(c.Table.ArityError(c.Spec))
}

// failExpire rejects a time to live that is not positive or too far away.
func (c *Call) failExpire() bool {
	return c.fail("ERR invalid expire time in '" + c.Spec.Name + "' command")
}

// replyFlag replies with 1 or 0.
func (c *Call) replyFlag(set bool) {
	if set {
		c.Reply.Int(1)
	} else {
		c.Reply.Int(0)
	}
}

// replyHelp writes the reply of a container's HELP subcommand.
func (c *Call) replyHelp(lines ...string) {
	c.Reply.Array(len(lines) + 3)
	c.Reply.Status(strings.ToUpper(c.Spec.Parent.Name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, line := range lines {
		c.Reply.Status(line)
	}
	c.Reply.Status("HELP")
	c.Reply.Status("    Prints this help.")
}
