package control

import (
	"fmt"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

// verbs is the language, in the order of its help.
var verbs []verb

func init() {
	verbs = []verb{
		{"help", "", "Say this.", func(*call) (string, error) { return Help(), nil }},
		{"nodes", "", "List the nodes: name, address, role, master, state, slots.", listNodes},
		{"view", "NODE", "Show the cluster as a node sees it.", view},
		{"reset", "", "Make everything as it was at the start; connections stay.", reset},
		{"settle", "", "Let the cluster's bus run until nothing changes: failures are noticed, elections held.", settle},

		{"move", "SLOTS NODE", "Move slots (7,100-199) with their keys to a master.", move},
		{"migrate", "SLOT NODE", "Begin to move a slot: ASK and TRYAGAIN can be seen until its end.", migrate},
		{"migrate-keys", "SLOT [N]", "Carry over N keys of a slot that is being moved, all without N.", migrateKeys},
		{"migrate-finish", "SLOT", "Carry over what is left and give the slot to its new owner.", migrateFinish},
		{"migrate-abort", "SLOT", "Bring the keys back and close the slot.", migrateAbort},

		{"failover", "NODE [force|takeover]", "Let a replica, or a master's best, take over.", failover},
		{"kill", "NODES", "End nodes as a crash does: connections are reset, data is gone.", each((*emulator.Cluster).Kill)},
		{"restart", "NODE [loading TIME] [port PORT]", "Start a node again with empty memory.", restart},
		{"pause", "NODES", "Freeze nodes: they accept connections and answer nothing.", each((*emulator.Cluster).Pause)},
		{"resume", "NODES", "Let paused nodes go on.", each((*emulator.Cluster).Resume)},
		{"add-master", "", "Add a master without slots.", addMaster},
		{"add-replica", "NODE", "Add a replica of a master.", addReplica},
		{"remove", "NODE", "Make the others forget a node that owns no slots, and end it.", remove},

		{"partition", "NODES [| NODES …]", "Cut the ways between groups of nodes; those in none form one.", partition},
		{"way", "NODES > NODES cut|ok|[delay TIME] [loss PROBABILITY]", "Change ways between nodes in one direction.", way},
		{"heal", "", "End all partitions, cuts, delays and losses.", heal},
		{"lag", "NODES TIME|pause|none", "Make replicas receive what their masters do late, or not at all.", lag},

		{"fault", "[on MATCH …] ACTION", "Let something go wrong with commands; says the fault's number. See fault help.", injectFault},
		{"faults", "", "List the faults with their hits.", listFaults},
		{"fault-remove", "NUMBER|*", "End a fault.", removeFault},

		{"trace", "on [N]|off|clear|show [QUERY]|count [QUERY]", "Record the latest N commands; QUERY is redirected N, crossed, verdict V, command C, node NODE.", trace},
		{"clock", "[advance TIME]", "Tell the cluster's time, or move it forward.", clock},
	}
}

func (c *call) wants(least, most int) error {
	if len(c.args) < least || len(c.args) > most {
		return usagef("%d words", len(c.args)+1)
	}
	return nil
}

// each makes a verb of what is done to every node named.
func each(do func(*emulator.Cluster, *emulator.Node)) func(*call) (string, error) {
	return func(c *call) (string, error) {
		if err := c.wants(1, 1); err != nil {
			return "", err
		}
		nodes, err := c.nodes(c.args[0])
		if err != nil {
			return "", err
		}
		for _, n := range nodes {
			do(c.cluster, n)
		}
		return "", nil
	}
}

func listNodes(c *call) (string, error) {
	if err := c.wants(0, 0); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, n := range c.cluster.Nodes() {
		b.WriteString(c.describe(n) + "\n")
	}
	return b.String(), nil
}

// describe is a node as it sees itself.
func (c *call) describe(n *emulator.Node) string {
	words := []string{n.Name(), n.Addr(), n.Role()}
	if master := n.Master(); master != nil {
		words = append(words, "of "+master.Name())
	}
	switch {
	case n.Down():
		words = append(words, "down")
	case n.Paused():
		words = append(words, "paused")
	}
	if n.Role() == "master" {
		for _, r := range n.Slots() {
			words = append(words, r.String())
		}
	}
	return strings.Join(words, " ")
}

func reset(c *call) (string, error) {
	if err := c.wants(0, 0); err != nil {
		return "", err
	}
	if err := c.cluster.Reset(); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.faults)
	clear(c.migrations)
	c.lastFault, c.Controller.trace, c.tracing = 0, nil, false
	return "", nil
}

func settle(c *call) (string, error) {
	if err := c.wants(0, 0); err != nil {
		return "", err
	}
	if !c.cluster.Settle() {
		return "the nodes do not all agree", nil
	}
	return "", nil
}

func failover(c *call) (string, error) {
	if err := c.wants(1, 2); err != nil {
		return "", err
	}
	n, err := c.node(c.args[0])
	if err != nil {
		return "", err
	}
	if len(c.args) == 1 {
		return "", c.cluster.Failover(n)
	}
	switch strings.ToLower(c.args[1]) {
	case "force":
		return "", c.cluster.ForceFailover(n)
	case "takeover":
		return "", c.cluster.Takeover(n)
	}
	return "", usagef("%q is neither force nor takeover", c.args[1])
}

func restart(c *call) (string, error) {
	if err := c.wants(1, 5); err != nil {
		return "", err
	}
	n, err := c.node(c.args[0])
	if err != nil {
		return "", err
	}
	var options []emulator.RestartOption
	words := c.args[1:]
	for ; len(words) >= 2; words = words[2:] {
		switch strings.ToLower(words[0]) {
		case "loading":
			d, err := duration(words[1])
			if err != nil {
				return "", err
			}
			options = append(options, emulator.Loading(d))
		case "port":
			port, err := count(words[1], 0, 65535)
			if err != nil {
				return "", err
			}
			options = append(options, emulator.AtPort(port))
		default:
			return "", usagef("%q is neither loading nor port", words[0])
		}
	}
	if len(words) > 0 {
		return "", usagef("%q lacks a value", words[0])
	}
	return "", c.cluster.Restart(n, options...)
}

func addMaster(c *call) (string, error) {
	if err := c.wants(0, 0); err != nil {
		return "", err
	}
	n, err := c.cluster.AddMaster()
	if err != nil {
		return "", err
	}
	return n.Name(), nil
}

func addReplica(c *call) (string, error) {
	if err := c.wants(1, 1); err != nil {
		return "", err
	}
	master, err := c.node(c.args[0])
	if err != nil {
		return "", err
	}
	n, err := c.cluster.AddReplica(master)
	if err != nil {
		return "", err
	}
	return n.Name(), nil
}

func remove(c *call) (string, error) {
	if err := c.wants(1, 1); err != nil {
		return "", err
	}
	n, err := c.node(c.args[0])
	if err != nil {
		return "", err
	}
	return "", c.cluster.Remove(n)
}

func clock(c *call) (string, error) {
	switch {
	case len(c.args) == 0:
		return c.cluster.Now().UTC().Format(time.RFC3339Nano), nil
	case len(c.args) == 2 && strings.EqualFold(c.args[0], "advance"):
		d, err := duration(c.args[1])
		if err != nil {
			return "", err
		}
		c.cluster.Advance(d)
		return "", nil
	}
	return "", usagef("unknown words %q", strings.Join(c.args, " "))
}

// view prints what a node believes, by the names of nodes.
func view(c *call) (string, error) {
	if err := c.wants(1, 1); err != nil {
		return "", err
	}
	n, err := c.node(c.args[0])
	if err != nil {
		return "", err
	}
	reply, err := n.Do("CLUSTER", "NODES")
	if err != nil {
		return "", err
	}
	return c.byName(fmt.Sprint(reply)), nil
}
