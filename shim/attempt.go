package shim

import (
	"github.com/redis/go-redis/v9"
)

// attempt is a command for the time it is sent once. go-redis sees the caller's
// own command through it, with three differences: it does not send it again by
// itself, the attempt notices when the first byte is written, and a reply that
// was read is not covered by the error of a later command in the same pipeline.
type attempt struct {
	redis.Cmder
	args    []any
	written bool
	replied bool
	err     error
}

// newAttempt makes an attempt of cmd with the given arguments, whose first is
// the name of the command. What an earlier attempt left in cmd is cleared.
func newAttempt(cmd redis.Cmder, args []any) *attempt {
	cmd.SetErr(nil)
	a := &attempt{Cmder: cmd}
	a.args = append([]any{&commandName{a, argText(args[0])}}, args[1:]...)
	return a
}

// NoRetry keeps go-redis from sending the command again, whatever the options of
// the client: the shim decides that.
func (a *attempt) NoRetry() bool { return true }

func (a *attempt) Args() []any { return a.args }

func (a *attempt) Err() error { return a.err }

func (a *attempt) SetErr(err error) {
	if a.replied {
		return
	}
	a.replied = a.written && (err == nil || isServerError(err))
	a.err = err
	a.Cmder.SetErr(err)
}

// commandName is the first argument of an attempt. go-redis asks it for its bytes
// at the moment it writes the command: after a connection was found and greeted,
// and never before.
type commandName struct {
	attempt *attempt
	name    string
}

func (n *commandName) MarshalBinary() ([]byte, error) {
	n.attempt.written = true
	return []byte(n.name), nil
}

func (n *commandName) String() string { return n.name }
