package shim

import "sync/atomic"

// Metrics counts what the shim does behind the back of its callers. The zero
// value is ready, and one may serve several clients. go-redis' own hooks (such as
// redisotel's) count commands; these are the numbers they cannot see.
type Metrics struct {
	retries, redirects, lostReplies, gaps atomic.Int64
}

// Retries is how many commands were sent again after a refusal or a connection
// that could not be made.
func (m *Metrics) Retries() int64 { return m.retries.Load() }

// Redirects is how many commands were sent to the node that a MOVED or ASK named.
func (m *Metrics) Redirects() int64 { return m.redirects.Load() }

// LostReplies is how many commands were sent without a reply coming back.
func (m *Metrics) LostReplies() int64 { return m.lostReplies.Load() }

// Gaps is how often a channel of a sharded subscription may have missed messages.
func (m *Metrics) Gaps() int64 { return m.gaps.Load() }
