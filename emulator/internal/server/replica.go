package server

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/replication"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// replicaSide is what a node that is a replica knows of its master.
type replicaSide struct {
	// copying is closed when the copy of the master's data under way has arrived;
	// nil if there is none.
	copying  chan struct{}
	master   *Node
	link     *replication.Link
	reply    resp.Discard
	eager    bool  // what SetEager was called with
	arrival  int64 // for when it has set a timer, Unix ms
	selected int   // the database of the last effect, -1 for none yet
	spoiled  bool  // its data is none that the master ever had, until copied anew
}

// effects gathers what replicas must execute because of the command, the
// transaction or the script that is running.
type effects struct {
	pending []replication.Effect
	apart   bool // they have nothing to do with each other: keys that have expired
}

func (e *effects) add(db int, args [][]byte) {
	copied := make([][]byte, len(args))
	for i, arg := range args {
		copied[i] = bytes.Clone(arg)
	}
	e.pending = append(e.pending, replication.Effect{DB: db, Args: copied})
}

// replicating reports whether anybody wants to know of effects.
func (n *Node) replicating() bool {
	return (n.replog.Active() || len(n.streams.sessions) > 0) && !n.isReplica()
}

// propagateAlways sends a command on though it changes no data, as PUBLISH
// does for the subscribers at replicas. In a cluster the bus reaches them.
func (n *Node) propagateAlways(c *command.Call) {
	if n.cluster == nil && n.replicating() && !c.FromMaster {
		n.effects.add(c.DB.ID(), c.Args)
	}
}

// commitEffects hands the gathered effects to the replicas as one block.
func (n *Node) commitEffects() {
	apart := n.effects.apart
	n.effects.apart = false
	if len(n.effects.pending) == 0 {
		return
	}
	size := len(n.effects.pending)
	if apart {
		size = 1
	}
	wanted := false
	for block := range slices.Chunk(n.effects.pending, size) {
		wanted = n.replog.Append(n.now.UnixMilli(), block) || wanted
		if len(n.streams.sessions) > 0 {
			n.feedStreams(block)
		}
	}
	clear(n.effects.pending)
	n.effects.pending = n.effects.pending[:0]
	if n.running != nil {
		n.running.written = n.replog.Offset()
	}
	if wanted {
		n.later(n.feedReplicas)
	}
}

// feedReplicas makes replicas take what has arrived for them.
func (n *Node) feedReplicas() {
	for _, r := range n.followers() {
		r.look()
	}
}

// isReplica reports whether the node serves a master's data.
func (n *Node) isReplica() bool {
	return n.topo != nil && !n.topo.IsMaster() || n.elsewhere.host != ""
}

// follow makes the node a replica of another, or a master when id is empty.
// The data is copied when the node's lock has been released.
func (n *Node) follow(id string) {
	if n.replica.link != nil {
		n.catchUp() // which may begin to copy anew, by another link
	}
	old := n.replica
	if old.link != nil {
		old.link.Detach()
	}
	n.replica = replicaSide{}
	n.ks.KeepExpired = id != ""
	if id == "" {
		if old.link != nil {
			n.replog.Promote(randomHex(n.rand, 20), old.master.replog.Identity(), n.offsetSeen)
		}
		return
	}
	master := n.cluster.byID(id)
	if master == nil || master == n || master.life.down.Load() {
		return // not a running node of this process: there is nothing to copy
	}
	n.attach(master)
}

// leaveMaster makes a replica forget the link to its master, after what has
// arrived by it.
func (n *Node) leaveMaster() {
	if n.replica.link != nil {
		n.replica.link.Detach()
		n.replica = replicaSide{}
	}
}

// startEmpty declares a new replica equal to its new master: both are empty.
func (n *Node) startEmpty() {
	identity, offset := n.replica.link.Start()
	n.replog.Adopt(identity, offset)
	n.offsetSeen = offset
}

// synchronize copies the master's data if the replica needs it. It holds one
// of the two locks at a time: what the master executes in between waits in the
// link.
func (n *Node) synchronize() {
	n.mu.Lock()
	link, master := n.replica.link, n.replica.master
	needed := link != nil && n.replica.copying == nil && link.NeedsSync() && !link.Paused()
	copying := make(chan struct{})
	if needed {
		n.replica.copying = copying
	}
	n.mu.Unlock()
	if !needed {
		return
	}
	defer close(copying)
	master.lock()
	copied := master.ks.Snapshot()
	identity, offset := link.BeginCopy()
	master.unlock()

	n.lock()
	defer n.unlock()
	if n.replica.link != link {
		return // it was sent to another master meanwhile
	}
	n.ks.Restore(copied)
	n.replog.Adopt(identity, offset)
	n.offsetSeen = offset
	n.replica.copying, n.replica.spoiled = nil, false
	link.EndCopy()
	n.later(master.look)
}

// awaitCopy waits until a replica has the copy of its master's data that it is
// making, if it is.
func (n *Node) awaitCopy() {
	n.lock()
	copying := n.replica.copying
	n.unlock()
	if copying != nil {
		<-copying
	}
}

// catchUp executes the effects that have arrived from the master. The node's
// lock is held.
func (n *Node) catchUp() {
	r := &n.replica
	// The master says when keys are gone; until then its commands find them.
	n.ks.IgnoreExpiry = true
	defer func() { n.ks.IgnoreExpiry = false }()
	for {
		block, ok := r.link.Next(n.now.UnixMilli())
		if !ok {
			return
		}
		transaction := len(block.Effects) > 1
		if transaction {
			n.monitorMaster(block.Effects[0].DB, []byte("MULTI"))
		}
		for _, effect := range block.Effects {
			if n.applyGuarded(effect) {
				n.copyAnew()
				return
			}
		}
		if transaction {
			n.monitorMaster(n.replica.selected, []byte("EXEC"))
		}
		n.offsetSeen = block.End
	}
}

// eager reports whether somebody would notice at once what the master changed.
func (n *Node) eager() bool {
	return len(n.blocked.queues) > 0 || n.set.notify != 0 && n.pubsub.anybody() || n.tracking.active() || len(n.monitors) > 0
}

// awaitArrivals sees to it that the replica takes what its master sends when it
// arrives if somebody waits for that, and else leaves it for when it is asked.
func (n *Node) awaitArrivals() {
	r := &n.replica
	if eager := n.eager(); eager != r.eager {
		r.eager = eager
		r.link.SetEager(eager)
	}
	if !r.eager {
		return
	}
	at, ok := r.link.NextArrival()
	if !ok {
		return
	}
	wait := time.UnixMilli(at).Sub(n.now)
	if wait <= 0 { // it came after the lock was taken
		n.later(n.look)
		return
	}
	if r.arrival == at {
		return
	}
	r.arrival = at
	time.AfterFunc(wait, n.look)
}

// look lets a replica execute what has arrived, and those who wait see whether
// what they wait for has come.
func (n *Node) look() {
	n.lock()
	n.unlock()
}

// monitorMaster shows a command of the master's to those who say MONITOR, after
// the SELECT that stands before it in the stream.
func (n *Node) monitorMaster(db int, args ...[]byte) {
	selected := n.replica.selected == db
	n.replica.selected = db
	if len(n.monitors) == 0 {
		return
	}
	if !selected {
		n.monitorMaster(db, []byte("SELECT"), strconv.AppendInt(nil, int64(db), 10))
	}
	host, port := n.masterAddr()
	n.masterClient.addr = net.JoinHostPort(host, strconv.Itoa(port))
	n.feedMonitors(&command.Call{Args: args, DB: n.ks.DB(db), Client: n.masterClient})
}

// applyGuarded is apply, should that panic too: it reports whether it has.
func (n *Node) applyGuarded(effect replication.Effect) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			n.logPanic(p, "a command of the master panicked; copying its data anew", "command", string(effect.Args[0]))
			panicked = true
		}
	}()
	n.apply(effect)
	return false
}

// copyAnew makes a replica forget what it has, which may be half of a command's
// work, for a copy of the master's data. Until then it is loading, and serves nothing
// that its master had not, unless it is made a master before.
func (n *Node) copyAnew() {
	master := n.replica.master
	n.leaveMaster()
	n.attach(master)
	n.replica.spoiled = true
}

// attach links a replica to its master, whose data is copied when the node's lock
// has been released.
func (n *Node) attach(master *Node) {
	n.replica = replicaSide{master: master, link: master.replog.Attach(n.topo.ID(), n.now.UnixMilli()), selected: -1}
	n.tuneLink()
	n.later(n.synchronize)
}

// apply executes one effect of the master's.
func (n *Node) apply(effect replication.Effect) {
	spec := n.table.Lookup(effect.Args)
	if spec == nil || spec.Handler == nil {
		n.log.Error("the master sent a command this replica does not know", "command", string(effect.Args[0]))
		return
	}
	r := &n.replica
	r.reply.ClearOutcome()
	c := command.Call{
		Args: effect.Args, Spec: spec, Table: n.table, Reply: &r.reply, DB: n.ks.DB(effect.DB),
		Client: n.masterClient, ClusterEnabled: n.clustered, DenyBlocking: true, FromMaster: true,
	}
	spec.Handler(&c)
	n.monitorMaster(effect.DB, effect.Args...)
	if r.reply.Errors > 0 {
		n.log.Error("a command of the master failed at this replica", "command", string(effect.Args[0]), "error", r.reply.LastError)
	}
}

// enoughReplicas is min-replicas-to-write's condition.
func (n *Node) enoughReplicas() bool {
	if n.set.minReplicas == 0 || n.set.minReplicasMaxLag == 0 || n.isReplica() {
		return true
	}
	return n.replog.Good(n.set.minReplicasMaxLag.Milliseconds(), n.now.UnixMilli()) >= n.set.minReplicas
}

// followers are the nodes that replicate this one.
func (n *Node) followers() []*Node {
	if n.cluster == nil {
		return nil
	}
	var nodes []*Node
	for _, link := range n.replog.Links() {
		if r := n.cluster.byID(link.Replica()); r != nil {
			nodes = append(nodes, r)
		}
	}
	return nodes
}

type replicaState struct {
	host   string
	port   int
	offset int64
	lag    time.Duration
}

// replicas describes the nodes that replicate this one, as far as it knows.
func (n *Node) replicas() []replicaState {
	var states []replicaState
	if n.cluster == nil {
		return nil
	}
	now := n.now.UnixMilli()
	for _, link := range n.replog.Links() {
		for _, k := range n.topo.View() {
			if k.ID == link.Replica() {
				states = append(states, replicaState{
					host: k.Addr.Host, port: k.Addr.Port, offset: link.Received(now),
					lag: time.Duration(link.Silence(now)) * time.Millisecond,
				})
			}
		}
	}
	return states
}

// writeOffset is master_repl_offset: what a master has written, or a replica
// has received.
func (n *Node) writeOffset() int64 {
	if n.replica.link != nil {
		return n.replica.link.Received(n.now.UnixMilli())
	}
	return n.replog.Offset()
}

// dataAge is for how many milliseconds a replica has not heard its master.
func (n *Node) dataAge() int64 {
	if n.replica.link == nil {
		return 0
	}
	return n.replica.link.Silence(n.now.UnixMilli())
}

// masterAddr is where the master of a replica is.
func (n *Node) masterAddr() (host string, port int) {
	if n.topo == nil {
		return n.elsewhere.host, n.elsewhere.port
	}
	id := n.topo.Master()
	for _, k := range n.topo.View() {
		if k.ID == id {
			return k.Addr.Host, k.Addr.Port
		}
	}
	return "", 0
}

// wait answers with the number of replicas that have what this client wrote,
// once there are enough or time is up.
func wait(c *command.Call) {
	s := c.Client.(*session)
	n := s.node
	if n.isReplica() {
		c.Reply.Error("ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.")
		return
	}
	wanted, timeout, ok := parseWait(c)
	if !ok {
		return
	}
	offset := s.written
	received := func() int { return n.replog.Received(offset, n.clock.Now().UnixMilli()) }
	if count := received(); int64(count) >= wanted || c.DenyBlocking {
		c.Reply.Int(int64(count))
		return
	}
	n.replog.RequestAcks(n.now.UnixMilli())
	n.wakeAtReceipt(offset)
	s.parkFor(c, timeout,
		func() bool {
			if int64(received()) >= wanted {
				return true
			}
			n.wakeAtReceipt(offset)
			return false
		},
		func(reply resp.Sink) { reply.Int(int64(received())) })
}

// wakeAtReceipt looks at waiting clients again when the next replica will have
// received offset.
func (n *Node) wakeAtReceipt(offset int64) {
	now := n.clock.Now()
	if at, ok := n.replog.NextReceipt(offset, now.UnixMilli()); ok {
		time.AfterFunc(time.UnixMilli(at).Sub(now), func() {
			n.lock()
			n.unlock()
		})
	}
}

// role answers as a master with its replicas, or as a replica with its master.
func role(c *command.Call) {
	n := c.Client.(*session).node
	if !n.isReplica() {
		replicas := n.replicas()
		c.Reply.Array(3)
		c.Reply.BulkString("master")
		c.Reply.Int(n.writeOffset())
		c.Reply.Array(len(replicas))
		for _, r := range replicas {
			c.Reply.Array(3)
			c.Reply.BulkString(r.host)
			c.Reply.BulkString(fmt.Sprint(r.port))
			c.Reply.BulkString(fmt.Sprint(r.offset))
		}
		return
	}
	host, port := n.masterAddr()
	c.Reply.Array(5)
	c.Reply.BulkString("slave")
	c.Reply.BulkString(host)
	c.Reply.Int(int64(port))
	c.Reply.BulkString(n.linkState())
	c.Reply.Int(n.writeOffset())
}

// linkState is the state of a replica's link as ROLE names it.
func (n *Node) linkState() string {
	switch {
	case n.replica.link == nil || n.replica.link.Broken():
		return "connect"
	case n.replica.link.NeedsSync():
		return "sync"
	}
	return "connected"
}

// writeReplication prints INFO's section on replication.
func (n *Node) writeReplication(b *strings.Builder) {
	field := func(name string, value any) { fmt.Fprintf(b, "%s:%v\r\n", name, value) }
	if n.isReplica() {
		host, port := n.masterAddr()
		up := "down"
		if n.linkState() == "connected" {
			up = "up"
		}
		field("role", "slave")
		field("master_host", host)
		field("master_port", port)
		field("master_link_status", up)
		field("master_last_io_seconds_ago", n.dataAge()/1000)
		field("master_sync_in_progress", boolInt(n.linkState() == "sync"))
		field("slave_read_repl_offset", n.writeOffset())
		field("slave_repl_offset", n.writeOffset())
		field("slave_priority", n.config.String("replica-priority"))
		field("slave_read_only", boolInt(n.set.readOnly))
		field("replica_announced", 1)
	} else {
		field("role", "master")
	}
	replicas := n.replicas()
	field("connected_slaves", len(replicas))
	if n.set.minReplicas > 0 && n.set.minReplicasMaxLag > 0 {
		field("min_slaves_good_slaves", n.replog.Good(n.set.minReplicasMaxLag.Milliseconds(), n.now.UnixMilli()))
	}
	for i, r := range replicas {
		field(fmt.Sprint("slave", i), fmt.Sprintf("ip=%s,port=%d,state=online,offset=%d,lag=%d", r.host, r.port, r.offset, int(r.lag.Seconds())))
	}
	identity, offset := n.replog.Identity(), n.writeOffset()
	field("master_failover_state", "no-failover")
	field("master_replid", identity.ID)
	field("master_replid2", identity.Previous)
	field("master_repl_offset", offset)
	field("second_repl_offset", identity.SecondOffset)
	field("repl_backlog_active", boolInt(offset > 0))
	field("repl_backlog_size", n.config.Int("repl-backlog-size"))
	field("repl_backlog_first_byte_offset", min(offset, 1))
	field("repl_backlog_histlen", offset)
}
