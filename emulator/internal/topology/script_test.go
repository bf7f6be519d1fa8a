package topology

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/slots"
)

// TestScripts runs testdata/*.txt, each a log of what was done to a simulated
// cluster and what it looked like then.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			s.out = &out
			// Further commands may stand on the lines below the first.
			lines := append([]string{d.Cmd + " " + argText(d)}, strings.Split(d.Input, "\n")...)
			for _, line := range lines {
				if words := strings.Fields(line); len(words) > 0 {
					if err := s.run(words); err != nil {
						fmt.Fprintf(&out, "%s: %v\n", strings.Join(words, " "), err)
					}
				}
			}
			if out.Len() == 0 {
				return "ok\n"
			}
			return out.String()
		})
	})
}

func argText(d *datadriven.TestData) string {
	var words []string
	for _, arg := range d.CmdArgs {
		words = append(words, arg.String())
	}
	return strings.Join(words, " ")
}

type script struct {
	*sim
	t   *testing.T
	out *strings.Builder
}

var errUsage = errors.New("no such command")

func (s *script) run(words []string) error {
	args := words[1:]
	if s.sim != nil {
		defer func() { s.Trace = s.sim.Trace }()
	}
	switch words[0] {
	case "form": // form MASTERS REPLICAS: a settled cluster
		masters, replicas := number(args[0]), number(args[1])
		s.sim = newSim(s.t, masters, replicas, version.V7_0, 1)
		s.Run(s.now)
	case "empty": // empty COUNT: nodes that have not met
		s.sim = newEmptySim(number(args[0]), version.V7_0, 1)
		s.Run(s.now)
	case "cluster": // cluster NODE WORDS: a CLUSTER command
		return s.clusterCommand(args)
	case "advance": // advance DURATION
		d, err := time.ParseDuration(args[0])
		if err != nil {
			return err
		}
		s.advance(d.Milliseconds())
	case "exchange":
		s.Exchange(s.now)
	case "settle":
		before := s.ahead
		settled := s.Settle(s.now)
		fmt.Fprintf(s.out, "settled=%v after %v\n", settled, time.Duration(s.ahead-before)*time.Millisecond)
	case "views": // views [NODES]: what nodes believe, those who agree together
		s.printViews(args)
	case "info": // info NODE
		s.printInfo(s.index(args[0]))
	case "server": // server NODE: what the rules did to the server
		s.printServer(s.index(args[0]))
	case "route": // route NODE [write|asking|readonly|pubsub] KEYS
		s.printRoute(args)
	case "trace": // trace on|off: print messages but heartbeats
		s.trace(args[0] == "on")
	default:
		return s.disturb(words[0], args)
	}
	return nil
}

// disturb runs the commands that change what happens to nodes.
func (s *script) disturb(command string, args []string) error {
	switch command {
	case "kill":
		s.Kill(s.id(args[0]))
	case "start":
		s.Start(s.id(args[0]))
	case "pause":
		s.Pause(s.id(args[0]))
	case "resume":
		s.Resume(s.id(args[0]))
	case "remove":
		s.Remove(s.id(args[0]))
	case "partition": // partition n1,n2 n3 ...
		var groups [][]string
		for _, arg := range args {
			var group []string
			for _, name := range strings.Split(arg, ",") {
				group = append(group, s.id(name))
			}
			groups = append(groups, group)
		}
		s.Partition(groups...)
	case "way": // way FROM TO cut|lossy|DURATION: one direction only
		c := Condition{Cut: args[2] == "cut"}
		if d, err := time.ParseDuration(args[2]); err == nil {
			c.Delay = d.Milliseconds()
		}
		s.SetCondition(s.id(args[0]), s.id(args[1]), c)
	case "delay": // delay DURATION: all ways
		d, err := time.ParseDuration(args[0])
		if err != nil {
			return err
		}
		s.SetGeneralCondition(Condition{Delay: d.Milliseconds()})
	case "heal":
		s.Heal()
	case "keys": // keys NODE SLOT COUNT
		s.servers[s.index(args[0])].keys[slots.Slot(number(args[1]))] = number(args[2])
	case "offset": // offset NODE BYTES
		s.servers[s.index(args[0])].offset = int64(number(args[1]))
	case "age": // age NODE DURATION: how old a replica's data is
		d, err := time.ParseDuration(args[1])
		if err != nil {
			return err
		}
		s.servers[s.index(args[0])].dataAge = d.Milliseconds()
	case "port": // port NODE PORT: another address
		n := s.nodes[s.index(args[0])]
		n.SetAddr(Addr{Host: "127.0.0.1", Port: number(args[1]), BusPort: number(args[1]) + busPortOffset})
	case "set": // set NODE|all SETTING VALUE
		return s.set(args)
	default:
		return errUsage
	}
	return nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// index is the position of a node called n1, n2 and so on.
func (s *script) index(name string) int {
	i := number(strings.TrimPrefix(name, "n")) - 1
	if i < 0 || i >= len(s.nodes) {
		s.t.Fatalf("no node %q", name)
	}
	return i
}

func (s *script) id(name string) string { return s.nodes[s.index(name)].ID() }

// name is what a node is called here.
func (s *script) name(id string) string {
	for i, n := range s.nodes {
		if n.ID() == id {
			return fmt.Sprintf("n%d", i+1)
		}
	}
	if name := s.names[id]; name != "" {
		return name + "?"
	}
	return "?"
}

func (s *script) clusterCommand(args []string) error {
	node := s.index(args[0])
	words := slices.Clone(args[1:])
	for i, word := range words[1:] {
		if strings.HasPrefix(word, "n") && number(word[1:]) > 0 {
			words[i+1] = s.id(word)
		}
	}
	words[0] = strings.ToUpper(words[0])
	if words[0] == "MEET" && len(words) == 2 {
		a := s.nodes[s.index(args[2])].Addr()
		words = []string{"MEET", a.Host, strconv.Itoa(a.Port), strconv.Itoa(a.BusPort)}
	}
	err := s.command(node, words...)
	if err != nil {
		text := err.Error()
		for _, n := range s.nodes {
			text = strings.ReplaceAll(text, n.ID(), s.name(n.ID()))
		}
		return errors.New(text)
	}
	s.Run(s.now)
	return nil
}

func (s *script) set(args []string) error {
	for i, n := range s.nodes {
		if args[0] != "all" && i != s.index(args[0]) {
			continue
		}
		yes := args[2] == "yes"
		switch args[1] {
		case "node-timeout":
			n.Settings.NodeTimeout = int64(number(args[2]))
		case "require-full-coverage":
			n.Settings.RequireFullCoverage = yes
		case "allow-replica-migration":
			n.Settings.AllowReplicaMigration = yes
		case "migration-barrier":
			n.Settings.MigrationBarrier = number(args[2])
		case "replica-no-failover":
			n.Settings.ReplicaNoFailover = yes
		case "replica-validity-factor":
			n.Settings.ReplicaValidityFactor = number(args[2])
		default:
			return errUsage
		}
		n.SettingsChanged(s.now)
	}
	return nil
}

func (s *script) printViews(names []string) {
	var texts []string
	holders := map[string][]string{}
	for i, n := range s.nodes {
		name := fmt.Sprintf("n%d", i+1)
		if len(names) > 0 && !slices.Contains(names, name) || len(names) == 0 && s.member(n.ID()) == nil {
			continue
		}
		text := s.view(n)
		if holders[text] == nil {
			texts = append(texts, text)
		}
		holders[text] = append(holders[text], name)
	}
	for _, text := range texts {
		fmt.Fprintf(s.out, "%s:\n%s", strings.Join(holders[text], " "), text)
	}
}

func (s *script) view(n *Node) string {
	var lines []string
	for _, k := range n.View() {
		flags := strings.TrimPrefix(k.Flags, "myself,")
		line := fmt.Sprintf("  %s %s", s.name(k.ID), flags)
		if k.Master != "" {
			line += " of " + s.name(k.Master)
		}
		line += fmt.Sprintf(" epoch=%d", k.Epoch)
		for _, r := range k.Slots {
			line += " " + r.String()
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	text := strings.Join(lines, "\n") + "\n"
	for _, open := range []struct {
		moves map[slots.Slot]*peer
		arrow string
	}{{n.migrating, "->"}, {n.importing, "<-"}} {
		for slot, p := range open.moves {
			text += fmt.Sprintf("  [%d%s%s]\n", slot, open.arrow, s.name(p.id))
		}
	}
	return text
}

func (s *script) printInfo(node int) {
	for line := range strings.Lines(s.nodes[node].Info()) {
		for _, field := range []string{"cluster_state", "cluster_size", "cluster_current_epoch", "cluster_my_epoch", "cluster_known_nodes"} {
			if strings.HasPrefix(line, field+":") {
				fmt.Fprintf(s.out, "%s ", strings.TrimPrefix(strings.TrimSpace(line), "cluster_"))
			}
		}
	}
	fmt.Fprintln(s.out)
}

func (s *script) printServer(node int) {
	h := s.servers[node]
	master := "nobody"
	if h.master != "" {
		master = s.name(h.master)
	}
	fmt.Fprintf(s.out, "follows %s, %d keys", master, h.Keys())
	if h.paused != 0 {
		fmt.Fprintf(s.out, ", writes paused for %d ms", h.paused-s.now)
	}
	fmt.Fprintln(s.out)
}

func (s *script) printRoute(args []string) {
	r := Request{Exists: func([]byte) bool { return false }}
	for _, word := range args[1:] {
		switch word {
		case "write":
			r.Write = true
		case "asking":
			r.Asking = true
		case "readonly":
			r.ReadOnly = true
		case "pubsub":
			r.PubSub = true
		default:
			r.Keys = append(r.Keys, []byte(word))
		}
	}
	v := s.nodes[s.index(args[0])].Route(&r)
	if v.Kind == Serve {
		fmt.Fprintln(s.out, "serve")
		return
	}
	fmt.Fprintln(s.out, v.Error())
}

func (s *script) trace(on bool) {
	s.sim.Trace = nil
	if !on {
		return
	}
	s.sim.Trace = func(m *Message, to string, late bool) {
		if m.Kind == Ping || m.Kind == Pong {
			return
		}
		fate := ""
		if late {
			fate = " (late)"
		}
		about := ""
		if m.About != "" {
			about = " about " + s.name(m.About)
		}
		at := time.Duration(s.Network.now-simStart) * time.Millisecond
		fmt.Fprintf(s.out, "%v %s -> %s %v%s epoch=%d%s\n", at, s.name(m.Sender), s.name(to), m.Kind, about, m.CurrentEpoch, fate)
	}
}
