package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

// tally is what the workers did.
type tally struct {
	commands   atomic.Int64 // replies that were matched to their requests
	refused    atomic.Int64 // replies that were errors
	redirected atomic.Int64
	connected  atomic.Int64
	cutOff     atomic.Int64 // connections that ended under a worker
}

// worker is a client that never reads a reply without knowing what it must be:
// every request carries a text that no other has, and gets it back.
type worker struct {
	t     *testing.T
	c     *emulator.Cluster
	tally *tally
	id    int
	rand  *rand.Rand
	at    string
	conn  *connection
	made  int // unique texts

	// rounds counts the jobs that were done, for those who watch over it.
	rounds atomic.Int64
	// served counts those that were done without an error.
	served atomic.Int64
}

func newWorker(t *testing.T, c *emulator.Cluster, tally *tally, id int) *worker {
	return &worker{t: t, c: c, tally: tally, id: id, rand: rand.New(rand.NewPCG(7, uint64(id)))}
}

// unique is a text that no other request has.
func (w *worker) unique() string {
	w.made++
	return fmt.Sprintf("w%d-%d", w.id, w.made)
}

func (w *worker) hangUp() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// connect connects to an address, unless it is there.
func (w *worker) connect(addr string) error {
	if w.conn != nil && w.at == addr {
		return nil
	}
	w.hangUp()
	conn, err := dial(w.c, addr)
	if err != nil {
		return err
	}
	w.tally.connected.Add(1)
	w.at, w.conn = addr, conn
	if w.rand.IntN(2) == 0 {
		if _, err := conn.do("HELLO", "3"); err != nil {
			return err
		}
	}
	return nil
}

func dial(c *emulator.Cluster, addr string) (*connection, error) {
	conn, err := connector(c)(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	return newConnection(conn), nil
}

// anybody is the address of some node.
func (w *worker) anybody() string {
	addrs := w.c.Addrs()
	return addrs[w.rand.IntN(len(addrs))]
}

// job is something to do with a cluster. It returns the error that a server
// gave for an answer, or that ended the connection.
type job func(w *worker) error

// refusal is an error that a server replied with.
type refusal string

func (r refusal) Error() string { return string(r) }

// work does jobs until done says so.
func (w *worker) work(do job, done func() bool) {
	defer w.hangUp()
	for !done() {
		if w.rand.IntN(40) == 0 {
			w.hangUp()
		}
		err := do(w)
		var refused refusal
		switch {
		case err == nil:
			w.served.Add(1)
		case errors.As(err, &refused):
			w.tally.refused.Add(1)
		case errors.Is(err, errProtocol):
			w.t.Errorf("worker %d: %v", w.id, err)
			w.hangUp()
		default:
			w.tally.cutOff.Add(1)
			w.hangUp()
		}
		w.rounds.Add(1)
		// A moment for those who want a lock, too: with a machine that is busy
		// beyond all measure little else would happen.
		time.Sleep(time.Duration(w.rand.IntN(int(time.Millisecond))))
	}
}

// match fails the test if a reply is not the one to its request.
func (w *worker) match(what string, got, want []string) {
	w.tally.commands.Add(1)
	if !slices.Equal(got, want) {
		w.t.Errorf("worker %d: %s: the reply is %q, want %q", w.id, what, got, want)
	}
}

// pipeline sends many commands before it reads, and its replies must come in
// their order.
func pipeline(w *worker) error {
	if err := w.connect(w.anybody()); err != nil {
		return err
	}
	sent := make([]string, 1+w.rand.IntN(100))
	for i := range sent {
		sent[i] = w.unique()
		w.conn.add("ECHO", sent[i])
	}
	if err := w.conn.send(); err != nil {
		return err
	}
	var refused error
	for _, want := range sent {
		r, err := w.conn.reply()
		if err != nil {
			return err
		}
		if r.failed() {
			refused = refusal(r.text)
			continue
		}
		w.match("ECHO", []string{r.text}, []string{want})
	}
	return refused
}

// route executes commands with a key where they belong. The reply is that of
// the last command; the others must be answered with +OK or +QUEUED.
func (w *worker) route(commands ...[]string) (reply, error) {
	asking := false
	if w.conn == nil {
		w.at = w.anybody()
	}
	for range 16 {
		if err := w.connect(w.at); err != nil {
			return reply{}, err
		}
		if asking {
			w.conn.add("ASKING")
		}
		for _, args := range commands {
			w.conn.add(args...)
		}
		if err := w.conn.send(); err != nil {
			return reply{}, err
		}
		if asking {
			if _, err := w.conn.reply(); err != nil {
				return reply{}, err
			}
		}
		// The error to go by is the first: of a transaction the others follow
		// from it.
		var last, wrong reply
		for range commands {
			r, err := w.conn.reply()
			if err != nil {
				return reply{}, err
			}
			if last = r; r.failed() && !wrong.failed() {
				wrong = r
			}
		}
		if !wrong.failed() {
			return last, nil
		}
		words := strings.Fields(wrong.text)
		if words[0] != "MOVED" && words[0] != "ASK" {
			return reply{}, refusal(wrong.text)
		}
		w.tally.redirected.Add(1)
		addr := words[2]
		if w.at != addr {
			w.hangUp()
		}
		w.at, asking = addr, words[0] == "ASK"
	}
	return reply{}, refusal("too many redirections")
}

// key is one of a few thousand.
func (w *worker) key() string { return fmt.Sprintf("key:%d:%d", w.id, w.rand.IntN(500)) }

const echoScript = `redis.call('SET', KEYS[1], ARGV[1], 'EX', 1000)
return {KEYS[1], redis.call('GET', KEYS[1]), cjson.decode(cjson.encode({ARGV[1]}))[1]}`

// script gets its key and its text back from Lua and from the keyspace.
func script(w *worker) error {
	key, text := w.key(), w.unique()
	r, err := w.route([]string{"EVAL", echoScript, "1", key, text})
	if err != nil {
		return err
	}
	w.match("EVAL", r.texts(), []string{key, text, text})
	return nil
}

// transaction gets its text back from a value that it wrote itself.
func transaction(w *worker) error {
	key, text := w.key(), w.unique()
	r, err := w.route([]string{"MULTI"}, []string{"SET", key, text}, []string{"ECHO", text}, []string{"GET", key}, []string{"EXEC"})
	if err != nil {
		return err
	}
	for _, item := range r.items {
		if item.failed() { // an error that was arranged
			return refusal(item.text)
		}
	}
	w.match("EXEC", r.texts(), []string{"OK", text, text})
	return nil
}

// queue waits for what it has pushed itself.
func queue(w *worker) error {
	key := fmt.Sprintf("queue:%d", w.id)
	if _, err := w.route([]string{"DEL", key}); err != nil {
		return err
	}
	sent := []string{w.unique(), w.unique()}
	if _, err := w.route([]string{"RPUSH", key, sent[0], sent[1]}); err != nil {
		return err
	}
	for range 3 { // the third time in vain, unless the cluster has fallen behind
		r, err := w.route([]string{"BLPOP", key, "0.01"})
		if err != nil {
			return err
		}
		w.tally.commands.Add(1)
		if r.kind == '_' {
			break
		}
		if got := r.texts(); len(got) != 2 || got[0] != key || !strings.HasPrefix(got[1], fmt.Sprintf("w%d-", w.id)) {
			w.t.Errorf("worker %d: BLPOP: the reply is %q, want something of %s", w.id, got, key)
		}
	}
	return nil
}

// publish sends messages to itself, and they come in their order.
func publish(w *worker) error {
	// A message whose reply was lost may come late, so each time has a channel.
	channel := "channel:" + w.unique()
	sub, err := dial(w.c, w.anybody())
	if err != nil {
		return err
	}
	defer sub.Close()
	w.tally.connected.Add(1)
	if r, err := sub.do("SUBSCRIBE", channel); err != nil || r.failed() {
		return errors.Join(err, refusal(r.text))
	}
	if err := w.connect(w.anybody()); err != nil {
		return err
	}
	sent := make([]string, 20)
	for i := range sent {
		sent[i] = w.unique()
		w.conn.add("PUBLISH", channel, sent[i])
	}
	if err := w.conn.send(); err != nil {
		return err
	}
	for range sent {
		if _, err := w.conn.reply(); err != nil {
			return err
		}
	}
	// Behind the reply to PING there is nothing more of what was published, and
	// what is in front of it are some of the messages: ways may be cut.
	sub.add("PING")
	if err := sub.send(); err != nil {
		return err
	}
	at := 0
	for {
		r, err := sub.value()
		if err != nil {
			return err
		}
		if r.failed() {
			return refusal(r.text)
		}
		got := r.texts()
		if len(got) == 2 && got[0] == "pong" {
			return nil
		}
		next := -1
		if len(got) == 3 && got[0] == "message" && got[1] == channel {
			next = slices.Index(sent[at:], got[2])
		}
		if next < 0 {
			w.t.Errorf("worker %d: the subscriber got %q, want a message behind %q", w.id, got, sent[:at])
			return nil
		}
		w.tally.commands.Add(1)
		at += next + 1
	}
}

// lazy asks for much and goes without reading all of it.
func lazy(w *worker) error {
	key := fmt.Sprintf("big:%d", w.id)
	if _, err := w.route([]string{"SET", key, strings.Repeat("x", 100_000)}); err != nil {
		return err
	}
	for range 50 {
		w.conn.add("GET", key)
	}
	err := w.conn.send()
	w.hangUp()
	return err
}

// look asks for what operators ask for.
func look(w *worker) error {
	if err := w.connect(w.anybody()); err != nil {
		return err
	}
	commands := [][]string{{"INFO", "everything"}, {"CLIENT", "LIST"}, {"CLUSTER", "NODES"}, {"CLUSTER", "SLOTS"}, {"CLUSTER", "SHARDS"}, {"SLOWLOG", "GET"}, {"MEMORY", "STATS"}, {"ACL", "WHOAMI"}}
	r, err := w.conn.do(commands[w.rand.IntN(len(commands))]...)
	if err != nil {
		return err
	}
	if r.failed() {
		return refusal(r.text)
	}
	text := w.unique()
	if r, err = w.conn.do("ECHO", text); err != nil {
		return err
	}
	if r.failed() {
		return refusal(r.text)
	}
	w.match("ECHO", []string{r.text}, []string{text})
	return nil
}
