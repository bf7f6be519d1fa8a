package emulator_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/oracle"
)

// The same seed and the same commands of one client give the same replies and
// the same trace, byte by byte: whatever is chosen by chance comes from the
// seed, and nothing depends on the order of maps or goroutines. The time is a
// bubble's, so it is the same as well.
//
// FAKECLUSTER_REPEAT says how often to play.
func TestSameSeedSameReplies(t *testing.T) {
	times := 2
	if text := os.Getenv("FAKECLUSTER_REPEAT"); text != "" {
		var err error
		if times, err = strconv.Atoi(text); err != nil || times < 2 {
			t.Fatalf("FAKECLUSTER_REPEAT=%s is not a number above 1", text)
		}
	}
	for name, play := range map[string]func(*player){"script": playScript, "generated": playGenerated} {
		t.Run(name, func(t *testing.T) {
			first := played(t, 1, play)
			for again := 2; again <= times; again++ {
				if d := firstDifference(first, played(t, 1, play)); d != "" {
					t.Fatalf("the first and play %d differ:\n%s", again, d)
				}
			}
			if firstDifference(first, played(t, 2, play)) == "" {
				t.Error("another seed changes nothing")
			}
			t.Logf("%d lines the same %d times", len(first), times)
		})
	}
}

// firstDifference shows where two lists part, with what was before.
func firstDifference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "(the end)"
		}
		if at(a) != at(b) {
			return fmt.Sprintf("%s\n- %s\n+ %s", strings.Join(a[max(0, i-3):i], "\n"), at(a), at(b))
		}
	}
	return ""
}

// player is a client that keeps one connection to each node, follows
// redirections, and writes down all it sees.
type player struct {
	t       *testing.T
	cluster *emulator.Cluster
	conns   map[string]*wire
	seen    []string
}

// played starts a cluster, lets play do something to it and returns what it saw
// and what the trace says.
func played(t *testing.T, seed uint64, play func(*player)) (seen []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := emulator.RunT(t, emulator.Masters(3), emulator.Replicas(1), emulator.Seed(seed))
		trace := c.Trace(1 << 20)
		p := &player{t: t, cluster: c, conns: map[string]*wire{}}
		play(p)
		seen = p.seen
		for e := range trace.All() {
			seen = append(seen, fmt.Sprintf("%s %s %s %s %s", e.At, e.Client, e.Command, e, e.Verdict))
		}
	})
	return seen
}

func (p *player) note(format string, args ...any) {
	p.seen = append(p.seen, fmt.Sprintf(format, args...))
}

// line sends a command of words to whichever node serves it.
func (p *player) line(text string) { p.do(0, strings.Fields(text)...) }

// do sends a command to a node, and to where it is redirected.
func (p *player) do(node int, args ...string) {
	p.note("%q", args)
	addr := p.cluster.Node(node).Addr()
	reply := p.ask(addr, args)
	for range 3 {
		words := strings.Fields(reply)
		if len(words) != 3 || words[0] != "-MOVED" && words[0] != "-ASK" {
			return
		}
		if words[0] == "-ASK" {
			p.ask(words[2], []string{"ASKING"})
		}
		reply = p.ask(words[2], args)
	}
}

// patience is how long, in the bubble, a reply may take: long enough for those
// that come, as the time stands still while anything is done.
const patience = time.Second

// ask sends a command and returns its reply, "" if there is none.
func (p *player) ask(addr string, args []string) string {
	w, err := p.wire(addr)
	if err != nil {
		p.note("%s: %v", addr, err)
		return ""
	}
	w.conn.SetDeadline(time.Now().Add(patience))
	var reply strings.Builder
	if _, err = io.WriteString(w.conn, request(args)); err == nil {
		err = copyReply(&reply, w.r)
	}
	synctest.Wait() // for what the command has begun on other nodes
	p.note("%s: %q", addr, reply.String())
	if err != nil {
		p.note("%v", err)
		w.conn.Close()
		delete(p.conns, addr)
	}
	return reply.String()
}

func (p *player) wire(addr string) (*wire, error) {
	if w := p.conns[addr]; w != nil {
		return w, nil
	}
	conn, err := p.cluster.Dialer()(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	p.t.Cleanup(func() { conn.Close() })
	p.conns[addr] = &wire{p.t, conn, bufio.NewReader(conn)}
	return p.conns[addr], nil
}

// sleep lets time pass in the bubble, and what was due at its end be done.
func (p *player) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// tells what is about the machine and the process, and so is never the same.
var tells = map[string]bool{"INFO": true, "MEMORY": true, "SLOWLOG": true, "LATENCY": true, "MIGRATE": true}

// playGenerated sends random commands of all families but those that other
// clients are made for: to subscribe, to block, to log in.
func playGenerated(p *player) {
	g, err := oracle.NewGenerator(1, true, false, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for i, step := range g.Session() {
		if step.Verb == "" && step.Conn <= 2 && !tells[strings.ToUpper(step.Args[0])] {
			p.do(max(0, step.Node), step.Args...)
		}
		if i%100 == 99 {
			p.cluster.Advance(time.Second)
		}
	}
}

// playScript does everything that chance or an order could have a part in, and
// what a cluster can be told to do.
func playScript(p *player) {
	c := p.cluster
	verb := func(what string, err error) {
		p.t.Helper()
		synctest.Wait()
		p.note("%s: %v", what, err)
		if err != nil {
			p.t.Errorf("%s: %v", what, err)
		}
	}
	p.commands()
	p.listeners()
	for _, key := range []string{"list", "set", "hash"} {
		from := c.NodeForKey(key)
		verb("move "+key, c.MoveSlots(from, c.Node((from.Index()+1)%3), slots.OfString(key)))
	}
	m, err := c.BeginMigration(slots.OfString("{x}1"), c.Node((c.NodeForKey("{x}1").Index()+1)%3))
	verb("begin", err)
	p.line("MGET {x}1 {x}2")
	moved, err := m.MoveKeys(2)
	verb(fmt.Sprint(moved, " moved"), err)
	p.commands()
	verb("finish", m.Finish())
	p.commands()
	verb("failover", c.Failover(c.Node(3)))
	p.commands()
	p.listeners()
	fault := c.Inject(emulator.Rule{Commands: []string{"get"}, Probability: 0.5, Action: emulator.ReplyWith("ERR chance")})
	for range 20 {
		p.line("GET string")
	}
	fault.Remove()
	c.Kill(c.Node(1))
	p.sleep(time.Minute) // the bubble's: somebody is elected
	p.commands()
	verb("restart", c.Restart(c.Node(1)))
	verb("partition", c.Partition([]*emulator.Node{c.Node(0)}))
	p.sleep(time.Minute)
	p.line("GET string")
	c.Heal()
	p.sleep(time.Minute)
	_, err = c.AddMaster()
	verb("add", err)
	p.note("settled: %v", c.Settle())
	p.commands()
	for i := range c.Nodes() {
		for _, ask := range []string{"CLUSTER NODES", "CLUSTER SHARDS", "CLUSTER SLOTS", "CLUSTER INFO", "CLUSTER LINKS", "ROLE"} {
			p.do(i, strings.Fields(ask)...)
		}
	}
}

// commands are those whose replies are by chance, or of many things in an order
// that Redis leaves open.
func (p *player) commands() {
	var many, pairs, scored strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, " m%d", i)
		fmt.Fprintf(&pairs, " f%d v%d", i, i)
		fmt.Fprintf(&scored, " %d m%d", i%7, i)
	}
	for i := range 40 {
		p.line(fmt.Sprintf("SET {x}%d %d", i, i))
		p.line(fmt.Sprintf("SET key%d %d PX %d", i, i, 1000*(i+1)))
	}
	for _, text := range []string{
		"SET string 1", "RPUSH list" + many.String(), "SADD set" + many.String(), "HSET hash" + pairs.String(), "ZADD zset" + scored.String(),
		"SADD {set}2 m1 m2 m3 m4 m5 m300 m301 m302", "XADD stream * a 1", "XADD stream * b 2", "XGROUP CREATE stream g 0",
		"XREADGROUP GROUP g c STREAMS stream >", "XINFO STREAM stream FULL", "XPENDING stream g - + 10",
		"SPOP set 3", "SPOP set", "SRANDMEMBER set -5", "SRANDMEMBER set 5", "SMEMBERS set", "SSCAN set 0 COUNT 20",
		"SUNION set {set}2", "SINTER set {set}2", "SDIFF set {set}2", "SUNIONSTORE {set}3 set {set}2", "SMEMBERS {set}3",
		"HRANDFIELD hash -5 WITHVALUES", "HRANDFIELD hash 5", "HGETALL hash", "HKEYS hash", "HSCAN hash 0",
		"ZRANDMEMBER zset -5 WITHSCORES", "ZRANDMEMBER zset 7", "ZSCAN zset 0 COUNT 30", "SORT set ALPHA", "SORT list BY nosort", "DUMP set", "DUMP hash",
		"RANDOMKEY", "SCAN 0 COUNT 20", "KEYS *", "DBSIZE", "CLUSTER MYID", "CLUSTER COUNTKEYSINSLOT 16287", "CLUSTER GETKEYSINSLOT 16287 20",
		"OBJECT ENCODING set", "DEBUG DIGEST", "ACL LIST", "ACL CAT", "ACL CAT dangerous", "ACL GENPASS", "CLIENT LIST", "CLIENT INFO", "CLIENT ID",
		"CONFIG GET *max*", "COMMAND COUNT", "COMMAND INFO get set", "COMMAND LIST FILTERBY ACLCAT fast", "COMMAND DOCS get",
		"PUBSUB CHANNELS", "SCRIPT EXISTS x", "LOLWUT", "TIME", "PFADD hll a b c", "PFCOUNT hll", "EXPIRE list 100", "TTL list",
	} {
		p.line(text)
	}
	p.do(0, "EVAL", "return {tostring(math.random()), math.random(1000), redis.call('SRANDMEMBER', KEYS[1], -3), redis.call('TIME')}", "1", "set")
	p.do(0, "EVAL", "local all = {} for k in pairs({a = 1, b = 2, c = 3, d = 4, e = 5, f = 6}) do all[#all + 1] = k end return {all, tostring({}) ~= '', cjson.encode({a = 1, b = 2, c = 3, d = 4})}", "1", "set")
	p.do(0, "EVAL", "for i = 1, 50 do redis.call('XADD', KEYS[1], '*', 'i', i) end return redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 60)", "1", "stream")
	p.do(0, "FUNCTION", "LOAD", "REPLACE", "#!lua name=one\nredis.register_function('f', function() return 1 end) redis.register_function('g', function() return 2 end) redis.register_function('h', function() return 3 end)")
	p.do(0, "FUNCTION", "LOAD", "REPLACE", "#!lua name=two\nredis.register_function('i', function() return 1 end)")
	p.line("FUNCTION LIST WITHCODE")
	p.line("FUNCTION DUMP")
	p.cluster.Advance(11 * time.Second)
}
