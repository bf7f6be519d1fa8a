package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// diff runs a script of command lines through the handlers of this package and
// on a real Redis 7.0, in RESP2 and in RESP3, and fails the test where they
// differ: in the bytes of a reply, the keyspace events and their order, the
// count of changes, or what replicas are sent.
//
// A line is a command, its arguments quoted as in redis-cli. SELECT and CONFIG
// SET (of the encoding limits) work as usual. Lines may start with
//
//	# …            a comment
//	sleep 20ms     a pause; expired keys go only when they are next looked at
//	any: CMD       the reply is not compared
//	unordered: CMD aggregates in the reply are compared as multisets
//	pairs: CMD     the same where elements belong together two by two
//	seconds: CMD   integers may differ by one: a second may begin in between
//	multi: CMD     the command runs in a transaction, so it does not block
func diff(t *testing.T, script string) {
	t.Helper()
	server := redisserver.Start(t, "--hz", "100", "--repl-diskless-sync", "no", "--notify-keyspace-events", "EAmn")
	diffOn(t, server, script)
}

// diffOn is diff against a server that is already there; it is emptied first.
func diffOn(t *testing.T, server *redisserver.Server, script string) {
	t.Helper()
	for _, proto := range []int{2, 3} {
		ours, real := newLocal(proto), newRemote(t, server, proto)
		failures := 0
		for number, line := range strings.Split(script, "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if pause, ok := strings.CutPrefix(line, "sleep "); ok {
				d, err := time.ParseDuration(pause)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(d)
				continue
			}
			how, command := howToCompare(line)
			args := splitArgs(t, command)
			want, got := real.run(t, args, how == "multi"), ours.run(args, how == "multi")
			if d := want.differs(got, how); d != "" {
				t.Errorf("line %d, RESP%d: %s\n%s", number+1, proto, line, d)
				if failures++; failures == 10 {
					t.Fatal("too many differences")
				}
			}
		}
		real.close()
	}
}

func howToCompare(line string) (how, command string) {
	for _, how := range []string{"any", "unordered", "pairs", "seconds", "multi"} {
		if command, ok := strings.CutPrefix(line, how+":"); ok {
			return how, strings.TrimSpace(command)
		}
	}
	return "exact", line
}

// outcome is all that one command did.
type outcome struct {
	reply   string
	events  []string // "lpush key"
	dirty   int64
	effects []string // commands, quoted
}

func (want outcome) differs(got outcome, how string) string {
	var b strings.Builder
	wantReply, gotReply := want.reply, got.reply
	switch how {
	case "any":
		gotReply = wantReply
	case "unordered":
		wantReply, gotReply = sortReply(wantReply, 1), sortReply(gotReply, 1)
	case "pairs":
		wantReply, gotReply = sortReply(wantReply, 2), sortReply(gotReply, 2)
	case "seconds":
		want, wantErr := strconv.Atoi(strings.Trim(wantReply, ":\r\n"))
		got, gotErr := strconv.Atoi(strings.Trim(gotReply, ":\r\n"))
		if wantErr == nil && gotErr == nil && want-1 <= got && got <= want+1 {
			gotReply = wantReply
		}
	}
	if gotReply != wantReply {
		fmt.Fprintf(&b, "  reply   %q\n  want    %q\n", gotReply, wantReply)
	}
	if !slices.Equal(got.events, want.events) {
		fmt.Fprintf(&b, "  events  %q\n  want    %q\n", got.events, want.events)
	}
	if got.dirty != want.dirty {
		fmt.Fprintf(&b, "  dirty   %d, want %d\n", got.dirty, want.dirty)
	}
	if !slices.Equal(got.effects, want.effects) {
		fmt.Fprintf(&b, "  effects %s\n  want    %s\n", got.effects, want.effects)
	}
	return b.String()
}

// local runs commands on handlers, without a server around them.
type local struct {
	keyspace *keyspace.Keyspace
	table    *Table
	db       int
	out      *resp.Encoder
	outcome  outcome

	clusterEnabled, fromScript bool
}

var table70 = sync.OnceValue(func() *Table { return NewTable(version.V7_0) })

func newLocal(proto int) *local {
	l := &local{table: table70(), out: resp.NewEncoder(proto)}
	l.keyspace = keyspace.New(keyspace.Options{
		Databases: 16,
		Limits:    keyspace.DefaultLimits(version.V7_0),
		Rand:      rand.New(rand.NewPCG(1, 2)),
		Hooks:     l,
	})
	return l
}

// The methods below are keyspace.Hooks.

func (l *local) WantsModified() bool              { return true }
func (l *local) WantsEvent(_ keyspace.Class) bool { return true }

func (l *local) Modified(*keyspace.DB, string)             {}
func (l *local) Ready(*keyspace.DB, string, keyspace.Kind) {}
func (l *local) StreamGone(*keyspace.DB, string)           {}
func (l *local) Flushed(*keyspace.DB)                      {}
func (l *local) Swapped(_, _ *keyspace.DB)                 {}

func (l *local) Event(_ *keyspace.DB, _ keyspace.Class, event, key string) {
	l.outcome.events = append(l.outcome.events, event+" "+key)
}

func (l *local) Expired(_ *keyspace.DB, key string) {
	l.outcome.effects = append(l.outcome.effects, quoteArgs([][]byte{[]byte("DEL"), []byte(key)}))
}

func (l *local) FieldsExpired(_ *keyspace.DB, key string, fields []string) {
	for _, field := range fields {
		l.outcome.effects = append(l.outcome.effects, quoteArgs([][]byte{[]byte("HDEL"), []byte(key), []byte(field)}))
	}
}

func (l *local) run(args [][]byte, multi bool) outcome {
	l.outcome = outcome{}
	l.out.Reset()
	l.keyspace.SetNow(time.Now().UnixMilli())
	if multi {
		l.out.Array(1)
	}
	if !l.special(args) {
		l.call(args, multi)
	}
	l.outcome.reply = string(l.out.Bytes())
	return l.outcome
}

func (l *local) call(args [][]byte, multi bool) {
	spec := l.table.Lookup(args)
	switch {
	case spec == nil:
		l.out.Error(l.table.LookupError(args))
		return
	case !spec.CheckArity(len(args)):
		l.out.Error(l.table.ArityError(spec))
		return
	case spec.Handler == nil:
		l.out.Error("ERR no handler for " + spec.Name)
		return
	}
	before := l.keyspace.Dirty
	c := &Call{Args: args, Spec: spec, Table: l.table, Reply: l.out, DB: l.keyspace.DB(l.db), DenyBlocking: multi, ClusterEnabled: l.clusterEnabled, FromScript: l.fromScript}
	spec.Handler(c)
	l.outcome.dirty = l.keyspace.Dirty - before
	if c.Waiting() != nil {
		l.out.Error("ERR the command blocks")
	}
	if l.outcome.dirty != 0 || len(c.effects) > 0 || c.Forced() {
		for _, effect := range c.Effects() {
			l.outcome.effects = append(l.outcome.effects, quoteArgs(effect))
		}
	}
}

// special executes what the server would, were there one.
func (l *local) special(args [][]byte) bool {
	switch strings.ToLower(string(args[0])) {
	case "select":
		l.db, _ = strconv.Atoi(string(args[1]))
	case "config":
		l.configure(string(args[2]), string(args[3]))
	default:
		return false
	}
	l.out.Status("OK")
	return true
}

// configure sets a parameter of those that data depends on.
func (l *local) configure(name, value string) {
	limits := &l.keyspace.Limits
	n, _ := strconv.Atoi(value)
	switch name {
	case "maxmemory-policy":
		l.keyspace.Eviction.LFU = strings.HasSuffix(value, "-lfu")
	case "proto-max-bulk-len":
		limits.MaxStringBytes = int64(n)
	default:
		*map[string]*int{
			"hash-max-listpack-entries": &limits.HashMaxListpackEntries,
			"hash-max-listpack-value":   &limits.HashMaxListpackValue,
			"list-max-listpack-size":    &limits.ListMaxListpackSize,
			"list-compress-depth":       &limits.ListCompressDepth,
			"set-max-intset-entries":    &limits.SetMaxIntsetEntries,
			"zset-max-listpack-entries": &limits.ZSetMaxListpackEntries,
			"zset-max-listpack-value":   &limits.ZSetMaxListpackValue,
			"stream-node-max-bytes":     &limits.StreamNodeMaxBytes,
			"stream-node-max-entries":   &limits.StreamNodeMaxEntries,
			"hll-sparse-max-bytes":      &limits.HLLSparseMaxBytes,
		}[name] = n
	}
}

// remote runs commands on a real server, and listens to its events and its
// replication stream.
type remote struct {
	t                         *testing.T
	commands, events, replica *rawConn
	dirty                     int64
	synced                    int
	config                    [][]string // how to undo what CONFIG SET did
}

const syncChannel = "harness:sync"

func newRemote(t *testing.T, server *redisserver.Server, proto int) *remote {
	t.Helper()
	r := &remote{t: t, commands: dialRaw(t, server), events: dialRaw(t, server), replica: dialRaw(t, server)}
	r.commands.do(t, "FLUSHALL")
	r.commands.do(t, "DEBUG", "SET-ACTIVE-EXPIRE", "0")
	r.commands.do(t, "HELLO", strconv.Itoa(proto))
	r.events.do(t, "PSUBSCRIBE", "__keyevent@*", syncChannel)
	r.events.read(t)
	r.replica.startReplication(t)
	r.dirty = r.changes(t)
	r.sync(t)
	return r
}

func (r *remote) close() {
	for _, undo := range slices.Backward(r.config) {
		r.commands.do(r.t, undo...)
	}
	for _, c := range []*rawConn{r.commands, r.events, r.replica} {
		c.conn.Close()
	}
}

func (r *remote) run(t *testing.T, args [][]byte, multi bool) outcome {
	t.Helper()
	var o outcome
	if strings.EqualFold(string(args[0]), "config") {
		name := string(args[2])
		before := splitReply(r.commands.do(t, "CONFIG", "GET", name))
		r.config = append(r.config, []string{"CONFIG", "SET", name, bulkOf(before[1])})
	}
	if multi {
		r.commands.do(t, "MULTI")
		r.commands.send(t, args)
		r.commands.read(t)
		o.reply = r.commands.do(t, "EXEC")
	} else {
		r.commands.send(t, args)
		o.reply = r.commands.read(t)
	}
	o.events, o.effects = r.sync(t)
	before := r.dirty
	r.dirty = r.changes(t)
	if name := strings.ToLower(string(args[0])); name != "select" && name != "config" {
		o.dirty = r.dirty - before
	}
	return o
}

// changes is the server's count of changes, which Redis calls dirty.
func (r *remote) changes(t *testing.T) int64 {
	t.Helper()
	_, after, _ := strings.Cut(r.commands.do(t, "INFO", "persistence"), "rdb_changes_since_last_save:")
	digits, _, _ := strings.Cut(after, "\r")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sync publishes a mark and returns the events and effects in front of it.
func (r *remote) sync(t *testing.T) (events, effects []string) {
	t.Helper()
	r.synced++
	mark := strconv.Itoa(r.synced)
	r.commands.do(t, "PUBLISH", syncChannel, mark)
	for {
		message := splitReply(r.events.read(t))
		channel, payload := bulkOf(message[2]), bulkOf(message[3])
		if channel == syncChannel && payload == mark {
			break
		}
		_, event, _ := strings.Cut(channel, "__:")
		events = append(events, event+" "+payload)
	}
	for {
		var args [][]byte
		for _, word := range splitReply(r.replica.read(t)) {
			args = append(args, []byte(bulkOf(word)))
		}
		switch name := string(args[0]); name {
		case "PUBLISH":
			if string(args[2]) == mark {
				return events, effects
			}
		case "SELECT", "MULTI", "EXEC", "PING", "ping":
		default:
			effects = append(effects, quoteArgs(args))
		}
	}
}

// rawConn exchanges commands for the bytes of their replies.
type rawConn struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialRaw(t *testing.T, server *redisserver.Server) *rawConn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return &rawConn{conn, bufio.NewReader(conn)}
}

func (c *rawConn) do(t *testing.T, args ...string) string {
	t.Helper()
	words := make([][]byte, len(args))
	for i, arg := range args {
		words[i] = []byte(arg)
	}
	c.send(t, words)
	return c.read(t)
}

func (c *rawConn) send(t *testing.T, args [][]byte) {
	t.Helper()
	request := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, arg := range args {
		request = fmt.Appendf(request, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := c.conn.Write(request); err != nil {
		t.Fatal(err)
	}
}

// read returns the bytes of one reply.
func (c *rawConn) read(t *testing.T) string {
	t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var reply bytes.Buffer
	if err := copyReply(&reply, c.in); err != nil {
		t.Fatalf("the server does not answer: %v", err)
	}
	return reply.String()
}

// startReplication makes the connection a replica's and skips the snapshot.
func (c *rawConn) startReplication(t *testing.T) {
	t.Helper()
	c.send(t, [][]byte{[]byte("SYNC")})
	line := "\n"
	for line == "\n" { // the server keeps the connection alive with newlines
		var err error
		if line, err = c.in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	size, err := strconv.ParseInt(strings.Trim(line, "$\r\n"), 10, 64)
	if err != nil {
		t.Fatalf("SYNC answered %q", line)
	}
	if _, err := io.CopyN(io.Discard, c.in, size); err != nil {
		t.Fatal(err)
	}
}

// copyReply copies one reply of either protocol.
func copyReply(to *bytes.Buffer, from *bufio.Reader) error {
	line, err := from.ReadString('\n')
	if err != nil {
		return err
	}
	to.WriteString(line)
	n, _ := strconv.ParseInt(strings.TrimRight(line[1:], "\r\n"), 10, 64)
	switch line[0] {
	case '$', '=', '!':
		if n >= 0 {
			_, err = io.CopyN(to, from, n+2)
		}
		return err
	case '%', '|':
		n *= 2
	case '*', '~', '>':
	default:
		return nil
	}
	for ; n > 0; n-- {
		if err := copyReply(to, from); err != nil {
			return err
		}
	}
	return nil
}

// splitReply returns the elements of an aggregate reply.
func splitReply(reply string) []string {
	in := bufio.NewReader(strings.NewReader(reply))
	in.ReadString('\n')
	var elements []string
	for {
		var element bytes.Buffer
		if copyReply(&element, in) != nil {
			return elements
		}
		elements = append(elements, element.String())
	}
}

// sortReply sorts the elements of an aggregate and of those within, in groups
// of size.
func sortReply(reply string, size int) string {
	if reply == "" || !strings.ContainsRune("*~%", rune(reply[0])) {
		return reply
	}
	head, _, _ := strings.Cut(reply, "\n")
	elements := splitReply(reply)
	for i, element := range elements {
		elements[i] = sortReply(element, size)
	}
	var groups []string
	for group := range slices.Chunk(elements, size) {
		groups = append(groups, strings.Join(group, ""))
	}
	slices.Sort(groups)
	return head + "\n" + strings.Join(groups, "")
}

func bulkOf(reply string) string {
	_, body, _ := strings.Cut(reply, "\r\n")
	return strings.TrimSuffix(body, "\r\n")
}

// quoteArgs prints a command for comparison. A time in milliseconds that is
// near now, which two servers cannot agree on, loses its digits.
func quoteArgs(args [][]byte) string {
	const near = 10 * 24 * time.Hour
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = strconv.Quote(string(arg))
		if ms, err := strconv.ParseInt(string(arg), 10, 64); err == nil && time.Until(time.UnixMilli(ms)).Abs() < near {
			words[i] = "<a time near now>"
		}
	}
	return strings.Join(words, " ")
}

// splitArgs splits a line as redis-cli does.
func splitArgs(t *testing.T, line string) [][]byte {
	t.Helper()
	var args [][]byte
	for {
		line = strings.TrimLeft(line, " ")
		if line == "" {
			return args
		}
		var arg []byte
		for line != "" && line[0] != ' ' {
			switch line[0] {
			case '"':
				quoted, err := strconv.QuotedPrefix(line)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				text, err := strconv.Unquote(quoted)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				arg, line = append(arg, text...), line[len(quoted):]
			case '\'':
				text, rest, _ := strings.Cut(line[1:], "'")
				arg, line = append(arg, text...), rest
			default:
				arg, line = append(arg, line[0]), line[1:]
			}
		}
		args = append(args, append([]byte{}, arg...))
	}
}
