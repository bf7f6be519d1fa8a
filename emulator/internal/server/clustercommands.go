package server

import (
	"errors"
	"fmt"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/slots"
)

// clusterCommands are CLUSTER's subcommands. The topology decides; what stands
// here puts its answers into replies.
var clusterCommands = map[string]command.Handler{
	"cluster|myid":          inCluster(func(n *Node, c *command.Call) { c.Reply.BulkString(n.topo.ID()) }),
	"cluster|myshardid":     inCluster(func(n *Node, c *command.Call) { c.Reply.BulkString(n.topo.ShardID()) }),
	"cluster|nodes":         inCluster(func(n *Node, c *command.Call) { c.Reply.Verbatim("txt", n.topo.Nodes()) }),
	"cluster|info":          inCluster(func(n *Node, c *command.Call) { c.Reply.Verbatim("txt", n.topo.Info()) }),
	"cluster|slots":         inCluster(clusterSlots),
	"cluster|shards":        inCluster(clusterShards),
	"cluster|links":         inCluster(clusterLinks),
	"cluster|replicas":      inCluster(clusterReplicas),
	"cluster|slaves":        inCluster(clusterReplicas),
	"cluster|saveconfig":    inCluster(func(_ *Node, c *command.Call) { c.Reply.Status("OK") }),
	"cluster|keyslot":       inCluster(clusterKeySlot),
	"cluster|help":          inCluster(func(_ *Node, c *command.Call) { help(c) }),
	"cluster|bumpepoch":     inCluster(clusterBumpEpoch),
	"cluster|addslots":      changing(func(t *topology.Node, a [][]byte, now int64) error { return t.AddSlots(a, now) }),
	"cluster|delslots":      changing(func(t *topology.Node, a [][]byte, now int64) error { return t.DelSlots(a, now) }),
	"cluster|setslot":       changing(func(t *topology.Node, a [][]byte, now int64) error { return t.SetSlot(a, now) }),
	"cluster|flushslots":    changing(func(t *topology.Node, _ [][]byte, now int64) error { return t.FlushSlots(now) }),
	"cluster|forget":        changing(func(t *topology.Node, a [][]byte, now int64) error { return t.Forget(string(a[0]), now) }),
	"cluster|replicate":     changing(func(t *topology.Node, a [][]byte, now int64) error { return t.Replicate(string(a[0]), now) }),
	"cluster|meet":          changing(meet),
	"cluster|reset":         changing(func(t *topology.Node, a [][]byte, now int64) error { return t.Reset(optional(a), now) }),
	"cluster|failover":      changing(func(t *topology.Node, a [][]byte, now int64) error { return t.Failover(optional(a), now) }),
	"cluster|addslotsrange": changing(func(t *topology.Node, a [][]byte, now int64) error { return t.AddSlotsRange(a, now) }),
	"cluster|delslotsrange": changing(func(t *topology.Node, a [][]byte, now int64) error { return t.DelSlotsRange(a, now) }),
	"cluster|set-config-epoch": changing(func(t *topology.Node, a [][]byte, now int64) error {
		return t.SetConfigEpoch(a[0], now)
	}),
	"cluster|countkeysinslot":       inCluster(clusterCountKeysInSlot),
	"cluster|getkeysinslot":         inCluster(clusterGetKeysInSlot),
	"cluster|count-failure-reports": inCluster(clusterCountFailureReports),
}

// inCluster refuses a command on a server that is not in a cluster.
func inCluster(handle func(n *Node, c *command.Call)) command.Handler {
	return func(c *command.Call) {
		if n := c.Client.(*session).node; n.topo != nil {
			n.topo.Refresh(n.now.UnixMilli())
			handle(n, c)
		} else {
			c.Reply.Error(errNoCluster)
		}
	}
}

// changing makes a handler of what changes the topology and has nothing to say
// but OK.
func changing(change func(t *topology.Node, args [][]byte, now int64) error) command.Handler {
	return inCluster(func(n *Node, c *command.Call) {
		err := change(n.topo, c.Args[2:], n.now.UnixMilli())
		switch {
		case errors.Is(err, topology.ErrArity):
			c.Reply.Error(c.Table.ArityError(c.Spec))
		case err != nil:
			c.Reply.Error(err.Error())
		case c.Client.(*session).tx.executing:
			n.unsettledSoon()
			c.Reply.Status("OK")
		default:
			n.unsettled()
			c.Reply.Status("OK")
		}
	})
}

func optional(args [][]byte) string {
	if len(args) == 0 {
		return ""
	}
	return string(args[0])
}

func meet(t *topology.Node, args [][]byte, now int64) error {
	var busPort []byte
	if len(args) == 3 {
		busPort = args[2]
	}
	return t.Meet(string(args[0]), args[1], busPort, now)
}

func clusterBumpEpoch(n *Node, c *command.Call) {
	bumped, epoch := n.topo.BumpEpoch(n.now.UnixMilli())
	n.unsettledSoon()
	if bumped {
		c.Reply.Status(fmt.Sprintf("BUMPED %d", epoch))
	} else {
		c.Reply.Status(fmt.Sprintf("STILL %d", epoch))
	}
}

func clusterKeySlot(_ *Node, c *command.Call) {
	c.Reply.Int(int64(slots.Of(c.Args[2])))
}

func clusterCountKeysInSlot(n *Node, c *command.Call) {
	slot, ok := number.ParseInt(c.Args[2])
	switch {
	case !ok:
		c.Reply.Error(errNotInteger)
	case slot < 0 || slot >= slots.Count:
		c.Reply.Error("ERR Invalid slot")
	default:
		c.Reply.Int(int64(n.ks.DB(0).CountInSlot(slots.Slot(slot))))
	}
}

func clusterGetKeysInSlot(n *Node, c *command.Call) {
	slot, ok := number.ParseInt(c.Args[2])
	limit, limitOK := number.ParseInt(c.Args[3])
	switch {
	case !ok || !limitOK:
		c.Reply.Error(errNotInteger)
	case slot < 0 || slot >= slots.Count || limit < 0:
		c.Reply.Error("ERR Invalid slot or number of keys")
	default:
		keys := n.ks.DB(0).KeysInSlot(slots.Slot(slot), int(min(limit, math.MaxInt32)))
		c.Reply.Array(len(keys))
		for _, key := range keys {
			c.Reply.BulkString(key)
		}
	}
}

func clusterCountFailureReports(n *Node, c *command.Call) {
	count, err := n.topo.CountFailureReports(string(c.Args[2]), n.now.UnixMilli())
	if err != nil {
		c.Reply.Error(err.Error())
		return
	}
	c.Reply.Int(int64(count))
}

func clusterReplicas(n *Node, c *command.Call) {
	lines, err := n.topo.Replicas(string(c.Args[2]))
	if err != nil {
		c.Reply.Error(err.Error())
		return
	}
	c.Reply.Array(len(lines))
	for _, line := range lines {
		c.Reply.BulkString(line)
	}
}

func clusterSlots(n *Node, c *command.Call) {
	ranges := n.topo.SlotRanges()
	c.Reply.Array(len(ranges))
	for _, r := range ranges {
		c.Reply.Array(2 + len(r.Nodes))
		c.Reply.Int(int64(r.First))
		c.Reply.Int(int64(r.Last))
		for _, e := range r.Nodes {
			writeEndpoint(c, e)
		}
	}
}

func writeEndpoint(c *command.Call, e topology.Endpoint) {
	fields := 3
	if c.Version().AtLeast(7, 0) {
		fields = 4
	}
	c.Reply.Array(fields)
	if e.Unknown {
		c.Reply.Null()
	} else {
		c.Reply.BulkString(e.Preferred)
	}
	c.Reply.Int(int64(e.Port))
	c.Reply.BulkString(e.ID)
	if fields == 3 {
		return
	}
	if c.Reply.Proto() == 3 {
		c.Reply.Map(len(e.Metadata))
	} else {
		c.Reply.Array(2 * len(e.Metadata))
	}
	for _, pair := range e.Metadata {
		c.Reply.BulkString(pair[0])
		c.Reply.BulkString(pair[1])
	}
}

func clusterShards(n *Node, c *command.Call) {
	shards := n.topo.Shards()
	c.Reply.Array(len(shards))
	for _, shard := range shards {
		c.Reply.Map(2)
		c.Reply.BulkString("slots")
		c.Reply.Array(2 * len(shard.Slots))
		for _, r := range shard.Slots {
			c.Reply.Int(int64(r.First))
			c.Reply.Int(int64(r.Last))
		}
		c.Reply.BulkString("nodes")
		c.Reply.Array(len(shard.Nodes))
		for _, node := range shard.Nodes {
			writeShardNode(c.Reply, node)
		}
	}
}

func writeShardNode(reply resp.Sink, node topology.ShardNode) {
	text := [][2]string{{"id", node.ID}, {"ip", node.IP}, {"endpoint", node.Endpoint}}
	if node.Hostname != "" {
		text = append(text, [2]string{"hostname", node.Hostname})
	}
	text = append(text, [2]string{"role", node.Role}, [2]string{"health", node.Health})
	reply.Map(len(text) + 2)
	for _, pair := range text {
		switch pair[0] {
		case "ip":
			reply.BulkString("port")
			reply.Int(int64(node.Port))
		case "health":
			reply.BulkString("replication-offset")
			reply.Int(node.Offset)
		}
		reply.BulkString(pair[0])
		reply.BulkString(pair[1])
	}
}

func clusterLinks(n *Node, c *command.Call) {
	links := n.topo.Links()
	c.Reply.Array(len(links))
	for _, l := range links {
		c.Reply.Map(6)
		for _, pair := range [][2]string{{"direction", l.Direction}, {"node", l.Node}} {
			c.Reply.BulkString(pair[0])
			c.Reply.BulkString(pair[1])
		}
		c.Reply.BulkString("create-time")
		c.Reply.Int(l.Created)
		c.Reply.BulkString("events")
		c.Reply.BulkString(l.Events)
		for _, name := range []string{"send-buffer-allocated", "send-buffer-used"} {
			c.Reply.BulkString(name)
			c.Reply.Int(0)
		}
	}
}
