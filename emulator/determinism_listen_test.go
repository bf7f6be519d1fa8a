package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/slots"
)

// listen connects to a node to hear what comes by itself, besides the player's
// own connection.
func (p *player) listen(node int) *wire {
	conn, err := p.cluster.Dialer()(context.Background(), "tcp", p.cluster.Node(node).Addr())
	if err != nil {
		p.t.Fatal(err)
	}
	w := onWire(p.t, conn)
	synctest.Wait() // the node takes in one client after the other
	return w
}

// hear sends a command of words, if any, and notes all that is there then.
func (p *player) hear(w *wire, name, text string) {
	if text != "" {
		w.command(strings.Fields(text)...)
	}
	synctest.Wait()
	// The time of a bubble goes on only when nobody does anything any more.
	if err := w.conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		p.t.Fatal(err)
	}
	for n := 0; ; n++ {
		var reply strings.Builder
		err := copyReply(&reply, w.r)
		if err == nil {
			p.note("%s: %q", name, reply.String())
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			p.note("%s: %v", name, err)
		}
		if n == 0 && text != "" && !strings.HasPrefix(text, "B") {
			p.t.Errorf("%s: no reply to %s: %v", name, text, err)
		}
		return
	}
}

// listeners are clients that block, subscribe, track keys or take too much, at a
// node that owns the keys and channels of {x}. What they hear must come in the
// same order each time.
func (p *player) listeners() {
	owner := p.cluster.NodeForKey("{x}")
	at := owner.Index()
	p.subscribers(at)
	p.keyspaceEvents(at)
	p.trackers(at)
	p.waiters(at)
	p.evicted(at)
}

// many are words made of a text and numbers.
func many(n int, format string) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprintf(format, i))
	}
	return strings.Join(words, " ")
}

func (p *player) subscribers(at int) {
	two, three := p.listen(at), p.listen(at)
	p.hear(three, "three", "HELLO 3")
	for _, text := range []string{"SUBSCRIBE " + many(20, "c%d"), "PSUBSCRIBE " + many(9, "c%d*"), "SSUBSCRIBE " + many(9, "{x}%d")} {
		p.hear(two, "two", text)
		p.hear(three, "three", text)
	}
	for _, text := range []string{"PUBSUB CHANNELS", "PUBSUB CHANNELS c1*", "PUBSUB SHARDCHANNELS", "PUBSUB NUMSUB c1 c2 no", "PUBSUB NUMPAT", "PUBLISH c11 m", "SPUBLISH {x}1 m"} {
		p.do(at, strings.Fields(text)...)
	}
	p.do((at+1)%3, "PUBLISH", "c12", "from elsewhere")
	// Whose channels leave with their slot hears so.
	here, there, slot := p.cluster.Node(at), p.cluster.Node((at+1)%3), slots.OfString("{x}")
	for range 2 {
		if err := p.cluster.MoveSlots(here, there, slot); err != nil {
			p.t.Error(err)
		}
		here, there = there, here
	}
	for _, text := range []string{"", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "PING"} {
		p.hear(two, "two", text)
		p.hear(three, "three", text)
	}
	two.conn.Close()
	three.conn.Close()
	synctest.Wait()
}

func (p *player) keyspaceEvents(at int) {
	w := p.listen(at)
	p.hear(w, "events", "PSUBSCRIBE __key*__:*")
	p.do(at, "CONFIG", "SET", "notify-keyspace-events", "KEA")
	for i := range 30 {
		p.do(at, "SET", fmt.Sprintf("{x}soon%d", i), "v", "PX", "1000")
	}
	p.do(at, strings.Fields("SADD {x}set "+many(20, "m%d"))...)
	for _, text := range []string{"SPOP {x}set 5", "SMOVE {x}set {x}other m1", "RENAME {x}set {x}renamed", "DEL " + many(5, "{x}%d"), "MSET " + many(6, "{x}%d")} {
		p.do(at, strings.Fields(text)...)
	}
	p.hear(w, "events", "")
	p.cluster.Advance(2 * time.Second)
	p.hear(w, "events", "")
	p.do(at, "CONFIG", "SET", "notify-keyspace-events", "")
	w.conn.Close()
	synctest.Wait()
}

func (p *player) trackers(at int) {
	reader, broad := p.listen(at), p.listen(at)
	for _, text := range []string{"HELLO 3", "CLIENT TRACKING ON", "MGET " + many(20, "{x}t%d")} {
		p.hear(reader, "reader", text)
	}
	for _, text := range []string{"HELLO 3", "CLIENT TRACKING ON BCAST PREFIX {x}t1 PREFIX {x}t2 PREFIX {x}t5"} {
		p.hear(broad, "broad", text)
	}
	both := func() {
		p.hear(reader, "reader", "")
		p.hear(broad, "broad", "")
	}
	p.do(at, strings.Fields("MSET "+many(20, "{x}t%d v"))...)
	both()
	p.hear(reader, "reader", "MGET "+many(20, "{x}t%d"))
	p.do(at, "CONFIG", "SET", "tracking-table-max-keys", "5")
	both() // most are forgotten, and so invalid
	p.do(at, strings.Fields("DEL "+many(20, "{x}t%d"))...)
	both()
	p.do(at, "CONFIG", "SET", "tracking-table-max-keys", "1000000")
	reader.conn.Close()
	broad.conn.Close()
	synctest.Wait()
}

func (p *player) waiters(at int) {
	var all []*wire
	for i, text := range []string{
		"BLPOP {x}q1 {x}q2 5", "BLPOP {x}q2 {x}q1 5", "BRPOP {x}q3 5", "BLMOVE {x}q1 {x}q3 LEFT RIGHT 5", "BZPOPMIN {x}z1 {x}z2 5", "BLPOP {x}never 5", "BLPOP {x}never 5",
	} {
		all = append(all, p.listen(at))
		p.hear(all[i], text, text)
	}
	for _, text := range []string{"MULTI", "RPUSH {x}q2 a b", "RPUSH {x}q1 c d", "ZADD {x}z2 1 m", "EXEC", "EVAL redis.call('RPUSH',KEYS[1],'e','f') 1 {x}q1"} {
		p.do(at, strings.Fields(text)...)
	}
	p.sleep(6 * time.Second)
	for i, w := range all {
		p.hear(w, fmt.Sprint("waiter ", i), "")
		w.conn.Close()
	}
	p.do(at, strings.Fields("BLPOP {x}never 0.1")...)
	synctest.Wait()
}

// evicted are clients of which some must go, all of them taking as much.
func (p *player) evicted(at int) {
	var all []*wire
	for i := range 8 {
		all = append(all, p.listen(at))
		p.hear(all[i], "idle", "PING")
	}
	p.do(at, "CONFIG", "SET", "maxmemory-clients", "131072")
	p.do(at, "PING")
	gone := 0
	for i, w := range all {
		p.hear(w, fmt.Sprint("idle ", i), "")
		if _, err := w.r.ReadByte(); errors.Is(err, io.EOF) {
			p.note("idle %d is gone", i)
			gone++
		}
		w.conn.Close()
	}
	if gone == 0 || gone == len(all) {
		p.t.Errorf("%d of %d clients were evicted", gone, len(all))
	}
	p.do(at, "CONFIG", "SET", "maxmemory-clients", "0")
	synctest.Wait()
}
