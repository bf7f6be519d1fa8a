package server

import (
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/slots"
)

// pubsub is who listens to what on a node. Channels keep their subscribers in
// the order they came, patterns theirs in the order they were first used: that
// is the order in which messages go out.
type pubsub struct {
	channels map[string][]*session
	shards   map[string][]*session
	patterns []*pattern

	// shardOwners names the node that owned a sharded channel's slot when the
	// first of its subscribers came.
	shardOwners map[string]string
}

// anybody reports whether somebody listens to channels other than a shard's.
func (p *pubsub) anybody() bool { return len(p.channels)+len(p.patterns) > 0 }

type pattern struct {
	glob        string
	subscribers []*session
}

// subscriptions is what one client listens to, in the order it asked.
type subscriptions struct {
	channels, patterns, shards []string
}

// count is what SUBSCRIBE and PSUBSCRIBE answer with.
func (s *subscriptions) count() int { return len(s.channels) + len(s.patterns) }

func (s *subscriptions) any() bool { return s.count()+len(s.shards) > 0 }

var pubsubCommands = map[string]command.Handler{
	"subscribe":            subscribe,
	"unsubscribe":          unsubscribe,
	"psubscribe":           psubscribe,
	"punsubscribe":         punsubscribe,
	"ssubscribe":           ssubscribe,
	"sunsubscribe":         sunsubscribe,
	"publish":              publish,
	"spublish":             spublish,
	"pubsub|help":          help,
	"pubsub|channels":      pubsubChannels,
	"pubsub|numsub":        pubsubNumSub,
	"pubsub|numpat":        pubsubNumPat,
	"pubsub|shardchannels": pubsubShardChannels,
	"pubsub|shardnumsub":   pubsubShardNumSub,
}

func subscribe(c *command.Call) {
	s := c.Client.(*session)
	if c.DenyBlocking && !s.tx.executing {
		c.Reply.Error("ERR SUBSCRIBE isn't allowed for a DENY BLOCKING client")
		return
	}
	p := &s.node.pubsub
	for _, arg := range c.Args[1:] {
		name := string(arg)
		if !slices.Contains(s.subs.channels, name) {
			s.subs.channels = append(s.subs.channels, name)
			p.channels = join(p.channels, name, s)
		}
		subscribed(s.always(c.Reply), "subscribe", arg, s.subs.count())
	}
}

func psubscribe(c *command.Call) {
	s := c.Client.(*session)
	p := &s.node.pubsub
	for _, arg := range c.Args[1:] {
		name := string(arg)
		if !slices.Contains(s.subs.patterns, name) {
			s.subs.patterns = append(s.subs.patterns, name)
			p.joinPattern(name, s)
		}
		subscribed(s.always(c.Reply), "psubscribe", arg, s.subs.count())
	}
}

func ssubscribe(c *command.Call) {
	s := c.Client.(*session)
	p := &s.node.pubsub
	for _, arg := range c.Args[1:] {
		name := string(arg)
		if !slices.Contains(s.subs.shards, name) {
			s.subs.shards = append(s.subs.shards, name)
			p.shards = join(p.shards, name, s)
			s.node.noteShardOwner(name)
		}
		subscribed(s.always(c.Reply), "ssubscribe", arg, len(s.subs.shards))
	}
}

func unsubscribe(c *command.Call) {
	s := c.Client.(*session)
	names := namesOr(c.Args[1:], s.subs.channels)
	for _, name := range names {
		s.leaveChannel(name)
		subscribed(s.always(c.Reply), "unsubscribe", []byte(name), s.subs.count())
	}
	if len(names) == 0 {
		subscribed(s.always(c.Reply), "unsubscribe", nil, s.subs.count())
	}
}

func punsubscribe(c *command.Call) {
	s := c.Client.(*session)
	names := namesOr(c.Args[1:], s.subs.patterns)
	for _, name := range names {
		s.leavePattern(name)
		subscribed(s.always(c.Reply), "punsubscribe", []byte(name), s.subs.count())
	}
	if len(names) == 0 {
		subscribed(s.always(c.Reply), "punsubscribe", nil, s.subs.count())
	}
}

func sunsubscribe(c *command.Call) {
	s := c.Client.(*session)
	names := namesOr(c.Args[1:], s.subs.shards)
	for _, name := range names {
		s.leaveShard(name)
		subscribed(s.always(c.Reply), "sunsubscribe", []byte(name), len(s.subs.shards))
	}
	if len(names) == 0 {
		subscribed(s.always(c.Reply), "sunsubscribe", nil, len(s.subs.shards))
	}
}

// always is a sink that pushed messages go through: CLIENT REPLY does not hold
// them back.
func (s *session) always(reply resp.Sink) resp.Sink {
	if reply == resp.Sink(&s.silent) {
		return &s.enc
	}
	return reply
}

// subscribed confirms one channel; a nil name says that there was none.
func subscribed(reply resp.Sink, kind string, name []byte, count int) {
	reply.Push(3)
	reply.BulkString(kind)
	if name == nil {
		reply.Null()
	} else {
		reply.Bulk(name)
	}
	reply.Int(int64(count))
}

func namesOr(args [][]byte, all []string) []string {
	if len(args) == 0 {
		return slices.Clone(all)
	}
	names := make([]string, len(args))
	for i, arg := range args {
		names[i] = string(arg)
	}
	return names
}

func join(subscribers map[string][]*session, name string, s *session) map[string][]*session {
	if subscribers == nil {
		subscribers = map[string][]*session{}
	}
	subscribers[name] = append(subscribers[name], s)
	return subscribers
}

func leave(subscribers map[string][]*session, name string, s *session) {
	if left := without(subscribers[name], s); len(left) > 0 {
		subscribers[name] = left
	} else {
		delete(subscribers, name)
	}
}

// without returns list without its first item equal to item; it reuses list.
func without[T comparable](list []T, item T) []T {
	if i := slices.Index(list, item); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

func (p *pubsub) joinPattern(name string, s *session) {
	for _, pat := range p.patterns {
		if pat.glob == name {
			pat.subscribers = append(pat.subscribers, s)
			return
		}
	}
	p.patterns = append(p.patterns, &pattern{name, []*session{s}})
}

func (s *session) leaveChannel(name string) {
	if i := slices.Index(s.subs.channels, name); i >= 0 {
		s.subs.channels = slices.Delete(s.subs.channels, i, i+1)
		leave(s.node.pubsub.channels, name, s)
	}
}

func (s *session) leaveShard(name string) {
	if i := slices.Index(s.subs.shards, name); i >= 0 {
		s.subs.shards = slices.Delete(s.subs.shards, i, i+1)
		leave(s.node.pubsub.shards, name, s)
		if len(s.node.pubsub.shards[name]) == 0 {
			delete(s.node.pubsub.shardOwners, name)
		}
	}
}

func (s *session) leavePattern(name string) {
	i := slices.Index(s.subs.patterns, name)
	if i < 0 {
		return
	}
	s.subs.patterns = slices.Delete(s.subs.patterns, i, i+1)
	p := &s.node.pubsub
	at := slices.IndexFunc(p.patterns, func(pat *pattern) bool { return pat.glob == name })
	pat := p.patterns[at]
	if pat.subscribers = without(pat.subscribers, s); len(pat.subscribers) == 0 {
		p.patterns = slices.Delete(p.patterns, at, at+1)
	}
}

// unsubscribeAll forgets what s listens to, without telling it.
func (s *session) unsubscribeAll() {
	for _, name := range slices.Clone(s.subs.channels) {
		s.leaveChannel(name)
	}
	for _, name := range slices.Clone(s.subs.patterns) {
		s.leavePattern(name)
	}
	for _, name := range slices.Clone(s.subs.shards) {
		s.leaveShard(name)
	}
}

// publish delivers to this node's subscribers at once and to every other node
// of the cluster once the lock is released; it counts the former only, as
// Redis does.
func publish(c *command.Call) {
	s := c.Client.(*session)
	n := s.node
	receivers := n.deliver(c.Args[1], c.Args[2])
	n.spread(c.Args[1], c.Args[2])
	n.propagateAlways(c)
	c.Reply.Int(int64(receivers))
}

// deliver hands a message to the subscribers of channel and of the patterns it
// matches, and returns how many there are.
func (n *Node) deliver(channel, message []byte) int {
	receivers := 0
	for _, s := range n.pubsub.channels[string(channel)] {
		n.pushTo(s, func(e *resp.Encoder) {
			e.Push(3)
			e.BulkString("message")
			e.Bulk(channel)
			e.Bulk(message)
		})
		receivers++
	}
	for _, pat := range n.pubsub.patterns {
		if !glob.Match(pat.glob, string(channel)) {
			continue
		}
		for _, s := range pat.subscribers {
			n.pushTo(s, func(e *resp.Encoder) {
				e.Push(4)
				e.BulkString("pmessage")
				e.BulkString(pat.glob)
				e.Bulk(channel)
				e.Bulk(message)
			})
			receivers++
		}
	}
	return receivers
}

// spublish reaches the subscribers of the slot's owner and of its replicas.
func spublish(c *command.Call) {
	n := c.Client.(*session).node
	receivers := n.deliverShard(c.Args[1], c.Args[2])
	n.propagateAlways(c)
	n.spreadShard(c.Args[1], c.Args[2])
	c.Reply.Int(int64(receivers))
}

func (n *Node) deliverShard(channel, message []byte) int {
	subscribers := n.pubsub.shards[string(channel)]
	for _, s := range subscribers {
		n.pushTo(s, func(e *resp.Encoder) {
			e.Push(3)
			e.BulkString("smessage")
			e.Bulk(channel)
			e.Bulk(message)
		})
	}
	return len(subscribers)
}

func (n *Node) noteShardOwner(name string) {
	p := &n.pubsub
	if n.cluster == nil || len(p.shards[name]) > 1 {
		return
	}
	if p.shardOwners == nil {
		p.shardOwners = map[string]string{}
	}
	p.shardOwners[name] = n.topo.Owner(slots.OfString(name))
}

// dropShardSubscribers ends the subscriptions to a channel of a slot that this
// node no longer serves, and tells the subscribers.
func (n *Node) dropShardSubscribers(name string) {
	for _, s := range slices.Clone(n.pubsub.shards[name]) {
		s.leaveShard(name)
		n.pushTo(s, func(e *resp.Encoder) {
			subscribed(e, "sunsubscribe", []byte(name), len(s.subs.shards))
		})
	}
}

// pushTo writes an out-of-band message to another client, or to the running
// one, for which it takes its place among the replies.
func (n *Node) pushTo(s *session, write func(*resp.Encoder)) {
	if s == n.running {
		s.pushToSelf(write)
		return
	}
	n.push.Reset()
	n.push.ShortDoubles = s.enc.ShortDoubles
	n.push.SetProto(s.enc.Proto())
	write(&n.push)
	s.out.append(n.push.Bytes())
	n.toFlush = append(n.toFlush, s)
}

// pushToSelf writes at once before Redis 7.2, which puts off what a client
// pushes to itself until its command has been answered.
func (s *session) pushToSelf(write func(*resp.Encoder)) {
	if !s.node.version.AtLeast(7, 2) {
		write(&s.enc)
		return
	}
	s.deferred.SetProto(s.enc.Proto())
	write(&s.deferred)
}

func pubsubChannels(c *command.Call) {
	listChannels(c, c.Client.(*session).node.pubsub.channels)
}

func pubsubShardChannels(c *command.Call) {
	listChannels(c, c.Client.(*session).node.pubsub.shards)
}

func listChannels(c *command.Call, channels map[string][]*session) {
	if len(c.Args) > 3 {
		badSubcommand(c)
		return
	}
	var names []string
	for name := range channels {
		if len(c.Args) < 3 || glob.Match(string(c.Args[2]), name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	c.Reply.Array(len(names))
	for _, name := range names {
		c.Reply.BulkString(name)
	}
}

func pubsubNumSub(c *command.Call) {
	countSubscribers(c, c.Client.(*session).node.pubsub.channels)
}

func pubsubShardNumSub(c *command.Call) {
	countSubscribers(c, c.Client.(*session).node.pubsub.shards)
}

func countSubscribers(c *command.Call, channels map[string][]*session) {
	c.Reply.Array(2 * len(c.Args[2:]))
	for _, name := range c.Args[2:] {
		c.Reply.Bulk(name)
		c.Reply.Int(int64(len(channels[string(name)])))
	}
}

func pubsubNumPat(c *command.Call) {
	c.Reply.Int(int64(len(c.Client.(*session).node.pubsub.patterns)))
}
