// Package scenarios runs what is written in its text files: who said what to a
// cluster, and what came back. A file is read like a log.
//
// Files in emulated/ run against the emulator in a testing/synctest bubble;
// those in both/ also against a cluster of real redis-server processes, which
// must say the same.
//
// Each block begins with who speaks:
//
//	cluster masters=3 replicas=1   start a cluster (before anything else)
//	ctl                            verbs of emulator/control, one a line
//	n1                             commands on a connection to n1, one a line
//	n1/ann                         the same on another connection
//	client                         a client that follows redirections
//	send n1/ann                    commands whose replies nobody reads yet
//	await n1/ann                   the next reply
//	view n1                        CLUSTER NODES by the names of nodes, see steady
//	slots n1                       CLUSTER SLOTS by the names of nodes
//	sleep 1s                       let time pass
//
// In commands "@n1" is the id of n1.
package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

// target is a cluster that scenarios are played to.
type target interface {
	// verb executes words of emulator/control's language.
	verb(words ...string) (string, error)
	// nodes are the addresses of the nodes by name, ids their ids.
	nodes() map[string]string
	ids() map[string]string
	dial(addr string) (net.Conn, error)
	// calm returns when what was sent has been executed.
	calm()
	// patience is how long a reply is waited for.
	patience() time.Duration
}

func TestEmulated(t *testing.T) {
	files := append(scenarios(t, "emulated"), scenarios(t, "both")...)
	const least = 40
	if len(files) < least {
		t.Errorf("%d scenarios, want %d at least", len(files), least)
	}
	for _, file := range files {
		t.Run(name(file), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, file, startEmulated) })
		})
	}
}

func scenarios(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("scenarios in %s: %v, %v", dir, files, err)
	}
	return files
}

func name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txt") }

// play runs the blocks of a file.
func play(t *testing.T, file string, start func(t *testing.T, d *datadriven.TestData) target) {
	p := &player{t: t, connections: map[string]*connection{}}
	defer p.close()
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "cluster" {
			p.target = start(t, d)
			return ""
		}
		if p.target == nil {
			d.Fatalf(t, "no cluster yet")
		}
		return p.block(d)
	})
}

// player holds the connections of a scenario.
type player struct {
	t           *testing.T
	target      target
	connections map[string]*connection
}

func (p *player) close() {
	for _, c := range p.connections {
		c.conn.Close()
	}
}

// block executes one block and returns what came of it.
func (p *player) block(d *datadriven.TestData) string {
	var out strings.Builder
	lines := strings.Split(strings.TrimSpace(d.Input), "\n")
	arg := func() string {
		if len(d.CmdArgs) != 1 {
			d.Fatalf(p.t, "%s takes one word", d.Cmd)
		}
		return d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "ctl":
		for _, line := range lines {
			text, err := p.target.verb(p.words(line)...)
			if err != nil {
				text = "(refused) " + err.Error()
			}
			out.WriteString(p.named(strings.TrimSuffix(text, "\n")) + "\n")
			p.target.calm()
		}
	case "client":
		for _, line := range lines {
			out.WriteString(p.follow(line))
		}
	case "send":
		p.connection(arg()).send(p.commands(lines))
		p.target.calm()
	case "await":
		out.WriteString(p.named(p.connection(arg()).reply()))
	case "view":
		out.WriteString(steady(p.view(arg())))
	case "slots":
		out.WriteString(p.slots(arg()))
	case "sleep":
		pause, err := time.ParseDuration(arg())
		if err != nil {
			d.Fatalf(p.t, "%v", err)
		}
		time.Sleep(pause)
	default:
		for _, line := range lines {
			out.WriteString(p.named(p.say(d.Cmd, line)))
		}
	}
	return out.String()
}

// say sends a command on a connection, which is opened if it is not, and
// returns the reply.
func (p *player) say(who, line string) string {
	c := p.connection(who)
	if c.failure != "" {
		delete(p.connections, who) // the next command gets a new one
		return c.failure + "\n"
	}
	c.send(p.commands([]string{line}))
	reply := c.reply()
	if c.failure != "" {
		c.conn.Close()
		delete(p.connections, who)
	}
	return reply
}

// words splits a line; "@n1" is the id of n1.
func (p *player) words(line string) []string {
	all := words(line)
	ids := p.target.ids()
	for i, word := range all {
		if name, found := strings.CutPrefix(word, "@"); found && ids[name] != "" {
			all[i] = ids[name]
		}
	}
	return all
}

func (p *player) commands(lines []string) [][]string {
	var all [][]string
	for _, line := range lines {
		all = append(all, p.words(line))
	}
	return all
}

func (p *player) connection(who string) *connection {
	if c := p.connections[who]; c != nil {
		return c
	}
	node, _, _ := strings.Cut(who, "/")
	addr := p.target.nodes()[node]
	if addr == "" {
		p.t.Fatalf("there is no node %s", node)
	}
	conn, err := p.target.dial(addr)
	if err != nil {
		conn = closedConn{}
	}
	c := newConnection(conn, p.target.patience())
	if err != nil {
		c.failure = failure(err)
	}
	p.connections[who] = c
	return c
}

// follow executes a command as a client of a cluster does, beginning at n1.
func (p *player) follow(line string) string {
	var hops strings.Builder
	at, asking := "n1", false
	const most = 6
	for range most {
		who := at + "/client"
		if asking {
			p.say(who, "ASKING")
		}
		reply := p.say(who, line)
		code, rest, _ := strings.Cut(strings.TrimPrefix(reply, "(error) "), " ")
		if !strings.HasPrefix(reply, "(error) ") || code != "MOVED" && code != "ASK" {
			return hops.String() + p.named(reply)
		}
		_, addr, _ := strings.Cut(strings.TrimSpace(rest), " ")
		at, asking = p.nameOf(addr), code == "ASK"
		fmt.Fprintf(&hops, "%s %s\n", code, at)
	}
	return hops.String() + "(too many redirections)\n"
}

func (p *player) nameOf(addr string) string {
	for name, at := range p.target.nodes() {
		if at == addr {
			return name
		}
	}
	p.t.Fatalf("nobody is at %s", addr)
	return ""
}

func (p *player) view(node string) string {
	reply, failed := p.ask(node, "CLUSTER NODES")
	if failed != "" {
		return failed + "\n"
	}
	return control.Readable(reply.text, p.namesByID())
}

func (p *player) namesByID() map[string]string {
	names := map[string]string{}
	for name, id := range p.target.ids() {
		names[id] = name
	}
	return names
}

// ask says something to a node on a connection of its own.
func (p *player) ask(node, line string) (reply value, failed string) {
	who := node + "/asked"
	c := p.connection(who)
	c.send([][]string{words(line)})
	if reply, failed = c.next(); failed != "" {
		c.conn.Close()
		delete(p.connections, who)
	}
	return reply, failed
}

// slots writes CLUSTER SLOTS down, a line per range.
func (p *player) slots(node string) string {
	reply, failed := p.ask(node, "CLUSTER SLOTS")
	if failed != "" {
		return failed + "\n"
	}
	names := p.namesByID()
	var b strings.Builder
	for _, r := range reply.items {
		fmt.Fprintf(&b, "%s-%s", r.items[0].text, r.items[1].text)
		for _, endpoint := range r.items[2:] {
			b.WriteString(" " + names[endpoint.items[2].text])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// steady takes out of a view what depends on time: epochs, and whether there is
// a link to a node that is held for failed, which is tried again and again.
func steady(view string) string {
	var b strings.Builder
	for line := range strings.Lines(view) {
		words := strings.Fields(line)
		if i := slices.Index(words, "epoch"); i >= 0 {
			words = slices.Delete(words, i, i+2)
		}
		if i := slices.Index(words, "disconnected"); i >= 0 && strings.Contains(words[1], "fail") {
			words = slices.Delete(words, i, i+1)
		}
		b.WriteString(strings.Join(words, " ") + "\n")
	}
	return b.String()
}

// named puts names for addresses and ids.
func (p *player) named(text string) string {
	addrs, ids := p.target.nodes(), p.target.ids()
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(addrs))) {
		text = strings.ReplaceAll(text, addrs[name], name)
		text = strings.ReplaceAll(text, ids[name], name)
	}
	return text
}

// failure is how the end of a connection is written down.
func failure(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "(connection closed)"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "(connection reset)"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "(connection refused)"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "(no answer)"
	}
	return "(" + err.Error() + ")"
}

// emulated is a cluster of the emulator.
type emulated struct {
	cluster *emulator.Cluster
	control *control.Controller
}

func startEmulated(t *testing.T, d *datadriven.TestData) target {
	options := []emulator.Option{emulator.RedisVersion("7.0.15"), emulator.Replicas(1)}
	for _, arg := range d.CmdArgs {
		option, err := clusterOption(arg)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		options = append(options, option)
	}
	c := emulator.RunT(t, options...)
	return &emulated{c, control.New(c)}
}

// clusterOption reads one argument of the block that starts a cluster.
func clusterOption(arg datadriven.CmdArg) (emulator.Option, error) {
	value := strings.Join(arg.Vals, ",")
	number := 0
	switch arg.Key {
	case "masters", "replicas":
		if _, err := fmt.Sscan(value, &number); err != nil {
			return nil, fmt.Errorf("%s=%s: %w", arg.Key, value, err)
		}
		if arg.Key == "masters" {
			return emulator.Masters(number), nil
		}
		return emulator.Replicas(number), nil
	case "empty":
		return emulator.Empty(), nil
	case "slots":
		return emulator.SlotRanges(arg.Vals...), nil
	case "nodes":
		text, err := os.ReadFile(filepath.Join("testdata", value))
		return emulator.FromNodes(string(text)), err
	case "timeout":
		d, err := time.ParseDuration(value)
		return emulator.NodeTimeout(d), err
	case "hostnames":
		return emulator.Hostnames(value), nil
	case "endpoint":
		return emulator.PreferredEndpoint(value), nil
	case "nat":
		return emulator.NAT(value, 30001), nil
	case "version":
		return emulator.RedisVersion(value), nil
	}
	return nil, fmt.Errorf("unknown argument %s", arg)
}

func (e *emulated) verb(words ...string) (string, error) { return e.control.Do(words...) }

func (e *emulated) nodes() map[string]string {
	addrs := map[string]string{}
	for _, n := range e.cluster.Nodes() {
		addrs[n.Name()] = n.Addr()
	}
	return addrs
}

func (e *emulated) ids() map[string]string {
	ids := map[string]string{}
	for _, n := range e.cluster.Nodes() {
		ids[n.Name()] = n.ID()
	}
	return ids
}

func (e *emulated) dial(addr string) (net.Conn, error) {
	return e.cluster.Dialer()(context.Background(), "tcp", addr)
}

func (e *emulated) calm() { synctest.Wait() }

func (e *emulated) patience() time.Duration { return time.Minute }
