package broker

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// Source is where a subscription's messages come from: a ListSource, a StreamSource
// or a PubSubSource. Sources are values: their methods return changed copies, so
// one can be kept in a variable for subscribers and publishers alike.
type Source interface {
	Destination
	// open makes the transport of a subscription.
	open(s *Subscription) transport
}

// Destination is where messages go. Every Source is one.
type Destination interface {
	// Name is the key or the channel.
	Name() string
	// record adds the commands that publish m to a pipeline.
	record(ctx context.Context, on redis.Cmdable, m Message)
	// named is the same destination with another name.
	named(name string) Destination
	// slotted reports whether the commands are bound to the slot of the name.
	slotted() bool
	kind() string
}

// ListSource is a list: a queue whose entries go to one consumer each.
type ListSource struct {
	name     string
	reliable bool
	claims   string
	minIdle  time.Duration
	ttl      time.Duration
	readable bool
}

// List is the queue under a key. On a cluster a reliable one needs a hash tag, as in
// "{jobs}", so that the lists that belong to it are in its slot.
func List(key string) ListSource { return ListSource{name: key} }

// Reliable moves each entry to the list Processing() while it is handled, so that it
// is not lost with its consumer. Without it an entry is gone once it is taken.
func (l ListSource) Reliable() ListSource { l.reliable = true; return l }

// Claims keeps in the sorted set key when each entry in work was taken. Entries whose
// claim is older than minIdle, or that have none for as long, go back to the queue:
// their consumer died. minIdle must exceed the time a handler takes.
func (l ListSource) Claims(key string, minIdle time.Duration) ListSource {
	l.claims, l.minIdle = key, minIdle
	return l
}

// TTL makes the queue expire when nothing was published to it for d.
func (l ListSource) TTL(d time.Duration) ListSource { l.ttl = d; return l }

// Readable publishes entries as JSON objects that people can read, instead of the
// compact form. Consumers understand both.
func (l ListSource) Readable() ListSource { l.readable = true; return l }

// Name is the key of the queue.
func (l ListSource) Name() string { return l.name }

// Processing is the key of the list that a reliable queue moves entries to.
func (l ListSource) Processing() string { return l.name + ".processing" }

func (l ListSource) record(ctx context.Context, on redis.Cmdable, m Message) {
	on.LPush(ctx, l.name, m.encode(l.readable))
	if l.ttl > 0 {
		on.PExpire(ctx, l.name, l.ttl)
	}
}

func (l ListSource) named(name string) Destination { l.name = name; return l }
func (l ListSource) slotted() bool                 { return true }
func (l ListSource) kind() string                  { return "list" }

// StreamSource is a stream, read by a consumer group.
type StreamSource struct {
	name     string
	group    string
	consumer string
	reclaim  bool
	minIdle  time.Duration
	fromEnd  bool
	maxLen   int64
}

// Stream is the stream under a key. Subscriptions need a Group.
func Stream(key string) StreamSource { return StreamSource{name: key} }

// Group names the consumer group. It is made if there is none, and begins with the
// oldest entry of the stream.
func (s StreamSource) Group(name string) StreamSource { s.group = name; return s }

// FromEnd makes a group that does not exist begin with entries that are yet to come.
func (s StreamSource) FromEnd() StreamSource { s.fromEnd = true; return s }

// Consumer names the consumer; the default is unique to host, process and
// subscription. Two processes must not use the same name.
func (s StreamSource) Consumer(name string) StreamSource { s.consumer = name; return s }

// Reclaim also takes over entries that some consumer has had for minIdle without
// settling them: it died. minIdle must exceed the time a handler takes, commit
// included, or the entry is handled twice.
func (s StreamSource) Reclaim(minIdle time.Duration) StreamSource {
	s.reclaim, s.minIdle = true, minIdle
	return s
}

// MaxLen trims the stream to about n entries whenever something is published to it.
func (s StreamSource) MaxLen(n int64) StreamSource { s.maxLen = n; return s }

// Name is the key of the stream.
func (s StreamSource) Name() string { return s.name }

func (s StreamSource) record(ctx context.Context, on redis.Cmdable, m Message) {
	on.XAdd(ctx, &redis.XAddArgs{Stream: s.name, MaxLen: s.maxLen, Approx: s.maxLen > 0, Values: m.fields()})
}

func (s StreamSource) named(name string) Destination { s.name = name; return s }
func (s StreamSource) slotted() bool                 { return true }
func (s StreamSource) kind() string                  { return "stream" }

// PubSubSource is a channel: everybody who is subscribed when a message is published
// gets it, nobody else.
type PubSubSource struct {
	name     string
	sharded  bool
	pattern  bool
	readable bool
}

// PubSub is a channel. A cluster sends classic messages to all of its nodes.
func PubSub(channel string) PubSubSource { return PubSubSource{name: channel} }

// PubSubPattern is all classic channels that match a glob. It is no destination.
func PubSubPattern(glob string) PubSubSource { return PubSubSource{name: glob, pattern: true} }

// Sharded uses the channel of the same name that lives on the owner of its slot only.
// It needs Redis 7. The two never meet: what is published to the one is not seen by
// subscribers of the other.
func (p PubSubSource) Sharded() PubSubSource { p.sharded = true; return p }

// Readable publishes messages as JSON objects that people can read, instead of the
// compact form. Subscribers understand both.
func (p PubSubSource) Readable() PubSubSource { p.readable = true; return p }

// Name is the channel or the pattern.
func (p PubSubSource) Name() string { return p.name }

func (p PubSubSource) record(ctx context.Context, on redis.Cmdable, m Message) {
	if p.sharded {
		on.SPublish(ctx, p.name, m.encode(p.readable))
	} else {
		on.Publish(ctx, p.name, m.encode(p.readable))
	}
}

func (p PubSubSource) named(name string) Destination { p.name = name; return p }
func (p PubSubSource) slotted() bool                 { return p.sharded }
func (p PubSubSource) kind() string {
	if p.sharded {
		return "sharded channel"
	}
	return "channel"
}

// GroupName is the consumer group.
func (s StreamSource) GroupName() string { return s.group }

// IsReliable reports whether entries in work are kept in the list Processing().
func (l ListSource) IsReliable() bool { return l.reliable }
