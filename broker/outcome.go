package broker

import (
	"fmt"
	"time"
)

// Outcome is what a handler decides about its message. The zero value is Ack().
type Outcome struct {
	kind  kind
	after time.Duration
	err   error
}

type kind int

const (
	ack kind = iota
	retry
	drop
)

// Ack says that the message is done.
func Ack() Outcome { return Outcome{} }

// Retry says that the message shall be delivered again, at once, because of err,
// which is logged and may be nil.
func Retry(err error) Outcome { return Outcome{kind: retry, err: err} }

// RetryAfter says that the message shall be delivered again when d has passed.
func RetryAfter(d time.Duration, err error) Outcome { return Outcome{kind: retry, after: d, err: err} }

// Drop says that the message will never be of use, because of err. It becomes a
// dead letter if the subscription has a place for them.
func Drop(err error) Outcome { return Outcome{kind: drop, err: err} }

// Err is what the handler gave as the reason, or nil.
func (o Outcome) Err() error { return o.err }

// After is how long the message is to wait.
func (o Outcome) After() time.Duration { return o.after }

// IsAck reports whether the message is done.
func (o Outcome) IsAck() bool { return o.kind == ack }

// IsRetry reports whether the message is to come again.
func (o Outcome) IsRetry() bool { return o.kind == retry }

// IsDrop reports whether the message is given up.
func (o Outcome) IsDrop() bool { return o.kind == drop }

func (o Outcome) String() string {
	text := [...]string{ack: "ack", retry: "retry", drop: "drop"}[o.kind]
	if o.after > 0 {
		text += fmt.Sprintf(" after %v", o.after)
	}
	if o.err != nil {
		text += ": " + o.err.Error()
	}
	return text
}

// reason is the text for a dead letter.
func (o Outcome) reason() string {
	if o.err == nil {
		return "dropped by the handler"
	}
	return o.err.Error()
}
