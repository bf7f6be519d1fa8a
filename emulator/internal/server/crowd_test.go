package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

// A publisher is answered before its message goes out to many, and that must
// change nothing else for anybody.

// audience is how many listen: more than make a publisher be answered first.
const audience = 130

// crowd is clients that listen to the same.
type crowd []*client

// gather makes an audience of clients that have said all of commands.
func gather(dial func() *client, commands ...[]string) crowd {
	var all crowd
	for range audience {
		c := dial()
		for _, command := range commands {
			c.do(command...)
		}
		all = append(all, c)
	}
	return all
}

// hears reads count messages of each and returns them, which must be the same for
// all.
func (all crowd) hears(t *testing.T, count int) string {
	t.Helper()
	var first []string
	for i, c := range all {
		var heard []string
		for range count {
			heard = append(heard, c.reply())
		}
		if i == 0 {
			first = heard
		} else if !slices.Equal(heard, first) {
			t.Fatalf("listener %d hears\n%.500q, and the first\n%.500q", i, heard, first)
		}
	}
	return "all hear " + strings.Join(first, ", ") + "\n"
}

// replies reads count replies.
func (c *client) replies(count int) string {
	c.t.Helper()
	var b strings.Builder
	for range count {
		fmt.Fprintln(&b, c.reply())
	}
	return b.String()
}

// pipeline is commands as they are written at once.
func pipeline(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n" }

var news = []string{"SUBSCRIBE", "news"}

// crowdScenes are what publishers do, and return what is seen of it.
var crowdScenes = []struct {
	name      string
	clustered bool
	play      func(t *testing.T, dial func() *client) string
}{
	{"one by one", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news, []string{"PSUBSCRIBE", "n*"}), dial()
		var seen string
		for i := range 3 {
			seen += p.do("PUBLISH", "news", fmt.Sprint(i)) + all.hears(t, 2)
		}
		return seen + p.do("PUBLISH", "none", "0") + p.do("PUBLISH", "olds", "0")
	}},
	{"pipelined", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		var lines []string
		for i := range 140 { // more commands than are run at once
			lines = append(lines, fmt.Sprint("PUBLISH news ", i), fmt.Sprint("ECHO ", i))
		}
		p.write(pipeline(lines...))
		return p.replies(len(lines)) + all.hears(t, 140)
	}},
	{"in a transaction", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		p.write(pipeline("MULTI", "PUBLISH news 1", "SET key 1", "PUBLISH news 2", "EXEC", "PUBLISH news 3"))
		return p.replies(6) + all.hears(t, 3)
	}},
	{"by scripts", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		p.send("EVAL", "local n = 0 for i = 1, 20 do n = n + redis.call('PUBLISH', 'news', i) end return n", "0")
		p.send("EVAL", "redis.call('PUBLISH', 'news', 'last') error('failed')", "0")
		return p.replies(2) + all.hears(t, 21)
	}},
	{"to a shard", true, func(t *testing.T, dial func() *client) string {
		assign(dial())
		all, p := gather(dial, []string{"SSUBSCRIBE", "news"}), dial()
		p.write(pipeline("SPUBLISH news 1", "PUBLISH news 2", "MULTI", "SPUBLISH news 3", "EXEC", "SPUBLISH news 4"))
		return p.replies(6) + all.hears(t, 3)
	}},
	{"to everybody, in a cluster", true, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		p.write(pipeline("PUBLISH news 1", "PUBLISH news 2", "PING"))
		return p.replies(3) + all.hears(t, 2)
	}},
	{"by notifications", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, []string{"PSUBSCRIBE", "__key*"}), dial()
		p.expect("+OK", "CONFIG", "SET", "notify-keyspace-events", "AKE")
		p.write(pipeline("SET key 1", "INCR key", "DEL key", "DEL key"))
		return p.replies(4) + all.hears(t, 6)
	}},
	{"before it quits", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		p.write(pipeline("PUBLISH news 1", "PUBLISH news 2", "QUIT", "PUBLISH news 3"))
		return p.ended() + all.hears(t, 2)
	}},
	{"before it breaks the protocol", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		p.write(pipeline("PUBLISH news 1", "*1", "!"))
		return p.ended() + all.hears(t, 1)
	}},
	{"before it hangs up", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		p.write(pipeline("PUBLISH news 1", "PUBLISH news 2"))
		p.conn.Close()
		return all.hears(t, 2)
	}},
	{"without wanting to know", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		p.write(pipeline("CLIENT REPLY OFF", "PUBLISH news 1", "PING", "CLIENT REPLY ON",
			"CLIENT REPLY SKIP", "PUBLISH news 2", "PUBLISH news 3", "PING"))
		return p.replies(3) + all.hears(t, 3)
	}},
	{"as one of the listeners", false, func(t *testing.T, dial func() *client) string {
		var seen string
		p := dial()
		p.do("HELLO", "3")
		p.do(news...)
		all := gather(dial, news) // it is the first, and then the last
		for range 2 {
			p.write(pipeline("PUBLISH news 1", "MULTI", "PUBLISH news 2", "PING", "EXEC", "PUBLISH news 3", "PING"))
			seen += p.replies(10) + all.hears(t, 3)
			p.do("UNSUBSCRIBE")
			p.do(news...)
		}
		return seen
	}},
	{"as one of them that wants no replies", false, func(t *testing.T, dial func() *client) string {
		all, p := gather(dial, news), dial()
		p.do("HELLO", "3")
		p.do(news...)
		p.write(pipeline("CLIENT REPLY OFF", "PUBLISH news 1", "PING", "CLIENT REPLY ON",
			"CLIENT REPLY SKIP", "PUBLISH news 2", "PUBLISH news 3", "PING"))
		return p.replies(6) + all.hears(t, 3)
	}},
	{"two at once", false, func(t *testing.T, dial func() *client) string {
		all := gather(dial, news)
		publishers := []*client{dial(), dial()}
		for id, p := range publishers {
			for i := range 50 {
				p.write(fmt.Sprintf("PUBLISH news %d:%d\r\n", id, i))
			}
		}
		seen := publishers[0].replies(50) + publishers[1].replies(50)
		return seen + eachInOrder(t, all.hears(t, 100), 2)
	}},
}

// assign gives a node all slots, if it is in a cluster without any, and waits until
// it serves them.
func assign(c *client) {
	c.do("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	for field(c.do("CLUSTER", "INFO"), "cluster_state") != "ok" {
	}
}

// eachInOrder checks that what each publisher said is heard in the order in which it
// did, and says so: whose turn it was is up to the server.
func eachInOrder(t *testing.T, heard string, publishers int) string {
	t.Helper()
	last := make([]int, publishers)
	for message := range strings.SplitSeq(heard, ", ") {
		var id, i int
		_, said, _ := strings.Cut(message, "[message news ")
		if _, err := fmt.Sscanf(said, "%d:%d]", &id, &i); err != nil {
			t.Fatalf("%v: %q", err, message)
		}
		if i != last[id] {
			t.Fatalf("publisher %d is heard to say %d, and has yet to say %d", id, i, last[id])
		}
		last[id]++
	}
	return fmt.Sprint("in order: ", last)
}

func TestPublishingToACrowd(t *testing.T) {
	for _, scene := range crowdScenes {
		t.Run(scene.name, func(t *testing.T) {
			seen := map[string]string{}
			onBoth(t, "", scene.clustered, func(t *testing.T, dial func() *client) {
				seen[lastOf(t.Name())] = scene.play(t, dial)
			})
			t.Run("pipe", func(t *testing.T) {
				mode := emulator.Standalone()
				if scene.clustered {
					mode = emulator.Masters(1)
				}
				c := start(t, emulator.RedisVersion("7.0"), mode)
				seen["pipe"] = scene.play(t, func() *client { return connect(t, c) })
			})
			want, asked := seen["redis"]
			for name, got := range seen {
				if asked && got != want {
					t.Errorf("%s:\n%.2000s\nredis:\n%.2000s", name, got, want)
				}
			}
		})
	}
}

func lastOf(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// One of many that does not read is cut off, and all others hear everything, the
// publisher too.
func TestSlowOneOfACrowdIsCutOff(t *testing.T) {
	c := start(t, emulator.Standalone())
	dial := func() *client { return connect(t, c) }
	publisher := dial()
	publisher.expect("+OK", "CONFIG", "SET", "client-output-buffer-limit", "pubsub 100000 0 0")
	before, slow := gather(dial, news), dial()
	slow.do(news...)
	after := dial()
	after.do(news...)
	all := append(before, after)
	message := strings.Repeat("x", 50_000)
	for i := 0; ; i++ {
		// Pipelined, so that some follow the one that is too much.
		said := fmt.Sprint(i, message)
		publisher.write(strings.Repeat("PUBLISH news "+said+"\r\n", 2))
		receivers := publisher.replies(2)
		if want := "all hear " + strings.Repeat("*[message news "+said+"], ", 2); all.hears(t, 2) != strings.TrimSuffix(want, ", ")+"\n" {
			t.Fatalf("message %d is another one", i)
		}
		if receivers == fmt.Sprintf(":%d\n:%[1]d\n", len(all)) {
			break
		}
		if i == 100 {
			t.Fatal("10 MB later the slow subscriber is still there")
		}
	}
	slow.ended()
	publisher.expect("+PONG", "PING")
}

// At other nodes of a cluster many may listen, too.
func TestCrowdsAtOtherNodes(t *testing.T) {
	c := start(t, emulator.Masters(3), emulator.Replicas(1))
	at := func(node *emulator.Node) func() *client {
		return func() *client {
			conn, err := c.Dialer()(t.Context(), "tcp", node.Addr())
			if err != nil {
				t.Fatal(err)
			}
			return over(t, conn)
		}
	}
	owner := c.NodeForKey("news")
	replica := c.Node(owner.Index() + 3)
	here, there := gather(at(owner), news), gather(at(c.Node((owner.Index()+1)%3)), news)
	shard := gather(at(replica), []string{"READONLY"}, []string{"SSUBSCRIBE", "news"})
	p := at(owner)()
	p.write(pipeline("PUBLISH news 1", "SPUBLISH news 2", "PUBLISH news 3", "SPUBLISH news 4"))
	if got, want := p.replies(4), fmt.Sprintf(":%d\n:0\n:%[1]d\n:0\n", audience); got != want {
		t.Errorf("the publisher is told %q, want %q", got, want)
	}
	for _, all := range []crowd{here, there} {
		if got, want := all.hears(t, 2), "all hear *[message news 1], *[message news 3]\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got, want := shard.hears(t, 2), "all hear *[smessage news 2], *[smessage news 4]\n"; got != want {
		t.Errorf("at the replica %s, want %s", got, want)
	}
}
