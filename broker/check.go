package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// Refusal is why a service does not start: something that would fail later.
type Refusal struct {
	// Subscription is the name of the one it is about; empty if it is the whole app.
	Subscription string
	// Reason says what is wrong and what to do.
	Reason string
	// Keys and Slots are those that should be together, if it is about slots, and Tag
	// is a hash tag that brings them together, without braces.
	Keys  []string
	Slots []slots.Slot
	Tag   string
	// Err is the cause, or nil.
	Err error
}

func (r *Refusal) Error() string {
	if r.Subscription == "" {
		return r.Reason
	}
	return fmt.Sprintf("subscription %q: %s", r.Subscription, r.Reason)
}

func (r *Refusal) Unwrap() error { return r.Err }

// checker collects refusals.
type checker struct {
	cluster  bool
	versions map[string]version // of the masters, by address
	b        *Broker
	refusals []error
}

type version struct{ major, minor int }

func (v version) before(o version) bool {
	return v.major < o.major || v.major == o.major && v.minor < o.minor
}

// check refuses what could not work, before any message is taken.
func (a *App) check(ctx context.Context, client redis.UniversalClient) error {
	c := &checker{cluster: a.b.cluster, b: a.b, versions: map[string]version{}}
	if err := c.ask(ctx, client); err != nil {
		return fmt.Errorf("asking the masters for their versions: %w", err)
	}
	c.checkClient(client, a.b.capacity)
	if a.transactional && c.cluster {
		c.refuse(&Refusal{Reason: "TransactionalPublish is a MULTI whose keys are not bound to one slot, which a cluster cannot execute: " +
			"publish without it, or from an atomic window to keys with its stream's hash tag"})
	}
	names := map[string]bool{}
	for _, s := range a.subscriptions {
		if names[s.name] {
			c.refuse(&Refusal{Subscription: s.name, Reason: "there are two of that name: give one another by the option Name"})
		}
		names[s.name] = true
		if s.template != nil {
			c.refuse(&Refusal{Subscription: s.name, Reason: s.template.Error(), Err: s.template})
		}
		c.checkModes(s, a.subscriptions)
		s.t.check(c)
	}
	return errors.Join(c.refusals...)
}

func (c *checker) refuse(r *Refusal) { c.refusals = append(c.refusals, r) }

// ask asks every master what it is.
func (c *checker) ask(ctx context.Context, client redis.UniversalClient) error {
	var mu sync.Mutex
	return shim.ForEachMaster(ctx, client, func(ctx context.Context, node *redis.Client) error {
		info, err := node.Info(ctx, "server").Result()
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		fields := infoFields(info)
		if !c.cluster && fields["redis_mode"] == "cluster" {
			c.refuse(&Refusal{Reason: fmt.Sprintf("%s is a node of a cluster: use Cluster(%q)", node.Options().Addr, node.Options().Addr)})
		}
		v := c.versions[node.Options().Addr]
		major, rest, _ := strings.Cut(fields["redis_version"], ".")
		minor, _, _ := strings.Cut(rest, ".")
		if v.major, err = strconv.Atoi(major); err != nil {
			return fmt.Errorf("redis_version %q: %w", fields["redis_version"], err)
		}
		if v.minor, err = strconv.Atoi(minor); err != nil {
			return fmt.Errorf("redis_version %q: %w", fields["redis_version"], err)
		}
		c.versions[node.Options().Addr] = v
		return nil
	})
}

func infoFields(info string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// checkClient refuses a client that was handed in and cannot carry the app.
func (c *checker) checkClient(client redis.UniversalClient, capacity int) {
	var poolSize int
	var readTimeout time.Duration
	switch client := client.(type) {
	case *redis.Client:
		poolSize, readTimeout = client.Options().PoolSize, client.Options().ReadTimeout
	case *redis.ClusterClient:
		o := client.Options()
		poolSize, readTimeout = o.PoolSize, o.ReadTimeout
		if o.ReadOnly {
			c.refuse(&Refusal{Reason: "the client reads from replicas, which may not know yet what is pending: " +
				"use one without ReadOnly, RouteByLatency and RouteRandomly"})
		}
	}
	if block := c.b.o.Block; readTimeout > 0 && readTimeout <= block {
		c.refuse(&Refusal{Reason: fmt.Sprintf("the client waits for replies for %v only, and reads of queues take up to %v: give it a longer ReadTimeout, or Options a shorter Block",
			readTimeout, block)})
	}
	if poolSize <= capacity && c.b.handed == nil {
		c.refuse(&Refusal{Reason: fmt.Sprintf("the broker was used before its app was made, when it could not know that subscriptions hold %d connections: call NewApp first", capacity)})
	} else if poolSize <= capacity {
		c.refuse(&Refusal{Reason: fmt.Sprintf("the subscriptions can hold %d connections and the client has %d for each node: give it a larger PoolSize",
			capacity, poolSize)})
	}
}

// checkModes refuses to publish to a channel in the mode that its subscriber here does
// not have, and a window that publishes to another slot.
func (c *checker) checkModes(s *Subscription, all []*Subscription) {
	for _, to := range s.publishes {
		if err := c.b.checkMode(to); err != nil {
			reason := fmt.Sprintf("it publishes to channel %q, which is subscribed in the other mode here: nobody would get it", to.Name())
			if errors.Is(err, ErrPattern) {
				reason = fmt.Sprintf("it publishes to the pattern %q: name a channel", to.Name())
			}
			c.refuse(&Refusal{Subscription: s.name, Err: err, Reason: reason})
		}
		if channel, ok := to.(PubSubSource); ok && channel.sharded {
			c.atLeast(s, fmt.Sprintf("publishing to the sharded channel %q (SPUBLISH)", channel.name), version{7, 0})
		}
		if s.atomic && to.slotted() {
			c.sameSlot(s, "its window publishes to "+to.kind()+" "+to.Name(), s.source.Name(), to.Name())
		}
	}
	channel, ok := s.source.(PubSubSource)
	if !ok {
		return
	}
	for _, other := range all {
		if source, ok := other.source.(PubSubSource); ok && !source.pattern && !channel.pattern &&
			source.name == channel.name && source.sharded && !channel.sharded {
			c.refuse(&Refusal{Subscription: s.name,
				Reason: fmt.Sprintf("channel %q is subscribed in both modes, so a publisher cannot know its own: use one", channel.name)})
		}
	}
}

// sameSlot refuses keys that one command or script touches and a cluster keeps apart.
func (c *checker) sameSlot(s *Subscription, why string, keys ...string) {
	if !c.cluster {
		return
	}
	var cross *shim.CrossSlotError
	if err := shim.SameSlot(keys...); errors.As(err, &cross) {
		c.refuse(&Refusal{
			Subscription: s.name, Keys: []string{cross.KeyA, cross.KeyB}, Slots: []slots.Slot{cross.SlotA, cross.SlotB}, Tag: cross.Tag, Err: err,
			Reason: fmt.Sprintf("%s, but %q is in slot %d and %q in slot %d, which a cluster keeps apart: use the hash tag {%s} in both names",
				why, cross.KeyA, cross.SlotA, cross.KeyB, cross.SlotB, cross.Tag),
		})
	}
}

// atLeast refuses servers before a version.
func (c *checker) atLeast(s *Subscription, what string, need version) {
	for addr, v := range c.versions {
		if v.before(need) {
			c.refuse(&Refusal{Subscription: s.name, Reason: fmt.Sprintf("%s needs Redis %d.%d or later, and %s has %d.%d",
				what, need.major, need.minor, addr, v.major, v.minor)})
			return
		}
	}
}

func (t *listTransport) check(c *checker) {
	if !t.reliable {
		if t.claims != "" {
			c.refuse(&Refusal{Subscription: t.sub.name, Reason: "Claims are for reliable lists: call Reliable"})
		}
		t.checkDelay(c)
		return
	}
	c.atLeast(t.sub, "a reliable list (LMOVE)", version{6, 2})
	c.sameSlot(t.sub, "a reliable list moves entries from its queue to its processing list by one command", t.name, t.Processing())
	if t.claims != "" {
		c.sameSlot(t.sub, "entries and their claims are written by one script", t.name, t.claims)
		if t.minIdle < time.Millisecond {
			c.refuse(&Refusal{Subscription: t.sub.name, Reason: "Claims needs the time, a millisecond or more, after which an entry counts as left behind"})
		}
	}
	if t.sub.deadLetters != "" {
		c.sameSlot(t.sub, "an entry becomes a dead letter by one script", t.name, t.sub.deadLetters)
	}
	t.checkDelay(c)
}

func (t *listTransport) checkDelay(c *checker) {
	if t.sub.delayQueue != "" {
		c.atLeast(t.sub, "a delay queue (ZRANGE BYSCORE)", version{6, 2})
		c.sameSlot(t.sub, "entries return from the delay queue by one script", t.name, t.sub.delayQueue)
	}
}

func (t *streamTransport) check(c *checker) {
	if t.group == "" {
		c.refuse(&Refusal{Subscription: t.sub.name, Reason: "a stream is read by a consumer group: name it by Group"})
	}
	if t.reclaim {
		c.atLeast(t.sub, "Reclaim (XAUTOCLAIM)", version{6, 2})
		if t.minIdle < time.Millisecond {
			c.refuse(&Refusal{Subscription: t.sub.name, Reason: "Reclaim needs the time, a millisecond or more, after which an entry counts as left behind"})
		}
	}
	if t.sub.delayQueue != "" {
		c.atLeast(t.sub, "a delay queue (ZRANGE BYSCORE)", version{6, 2})
		c.sameSlot(t.sub, "an entry is acknowledged and put into the delay queue by one script", t.name, t.sub.delayQueue)
	}
}

func (t *pubsubTransport) check(c *checker) {
	if t.sharded && t.pattern {
		c.refuse(&Refusal{Subscription: t.sub.name, Reason: fmt.Sprintf("the pattern %q cannot be sharded: Redis matches patterns against classic channels only", t.name)})
	}
	if t.sharded {
		c.atLeast(t.sub, fmt.Sprintf("the sharded channel %q (SSUBSCRIBE)", t.name), version{7, 0})
	}
	if t.sub.delayQueue != "" {
		c.refuse(&Refusal{Subscription: t.sub.name, Reason: "a channel has no delay queue: its retries are handled in the process"})
	}
}
