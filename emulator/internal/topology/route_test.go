package topology

import (
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/slots"
)

// routing compares verdicts over commands with a real cluster's.
type routing struct {
	*twin
	t       *testing.T
	state   string // what the clusters are in, for messages
	present map[string]bool
}

var (
	get    = Request{}
	write  = Request{Write: true}
	pubsub = Request{PubSub: true}
)

func (w *twin) testRoute(t *testing.T) {
	r := &routing{twin: w, t: t, present: map[string]bool{}}
	r.stable()
	r.moving()
	r.down()
}

// set gives a key to a node.
func (r *routing) set(node int, key string, session ...string) {
	r.t.Helper()
	if len(session) > 0 {
		r.do(node, session...)
	}
	if text := r.do(node, "SET", key, "1"); text != "" {
		r.t.Fatalf("SET %s: %s", key, text)
	}
	r.present[key] = true
}

// check sends a command to a real node, whose session has said something
// before, and asks the simulated one for its verdict.
func (r *routing) check(node int, session, command string, request Request, keys ...string) {
	r.t.Helper()
	if session != "" {
		r.do(node, session)
	}
	want := r.do(node, strings.Fields(command)...)
	if session == "READONLY" {
		r.do(node, "READWRITE")
	}
	request.Exists = func(key []byte) bool { return r.present[string(key)] }
	request.Asking = request.Asking || session == "ASKING"
	request.ReadOnly = session == "READONLY"
	for _, key := range keys {
		request.Keys = append(request.Keys, []byte(key))
	}
	v := r.nodes[node].Route(&request)
	if !isRedirection(want) {
		want = ""
	}
	if got := v.Error(); got != want {
		r.t.Errorf("%s: node %d: %s %s: %q, redis says %q", r.state, node, session, command, got, want)
	}
	if v.Keyed && v.Slot != slots.OfString(keys[0]) {
		r.t.Errorf("%s: %s: slot %d", r.state, command, v.Slot)
	}
}

func isRedirection(text string) bool {
	for _, code := range []string{"MOVED", "ASK", "TRYAGAIN", "CROSSSLOT", "CLUSTERDOWN"} {
		if strings.HasPrefix(text, code+" ") {
			return true
		}
	}
	return false
}

func (r *routing) stable() {
	r.state = "stable"
	r.check(0, "", "PING", get)
	r.check(0, "", "GET bar", get, "bar")
	r.check(0, "", "GET foo", get, "foo")
	r.check(0, "", "SET foo 1", write, "foo")
	r.check(0, "", "MGET bar foo", get, "bar", "foo")
	r.check(0, "", "MGET foo bar", get, "foo", "bar")
	r.check(0, "", "MGET {foo}1 {foo}2", get, "{foo}1", "{foo}2")
	r.check(0, "", "MSET {bar}1 1 {bar}2 1", write, "{bar}1", "{bar}2")
	r.check(0, "ASKING", "GET foo", get, "foo")
	r.check(0, "READONLY", "GET foo", get, "foo")
	r.check(3, "", "GET bar", get, "bar")
	r.check(3, "READONLY", "GET bar", get, "bar")
	r.check(3, "READONLY", "SET bar 1", write, "bar")
	r.check(3, "READONLY", "GET foo", get, "foo")
	r.check(3, "READONLY", "MGET bar foo", get, "bar", "foo")
	r.check(3, "", "SPUBLISH bar x", pubsub, "bar")
	r.check(3, "", "SPUBLISH foo x", pubsub, "foo")
	r.check(0, "", "SPUBLISH foo x", pubsub, "foo")
}

// moving looks at the slot of "bar", 5061, on its way from node 0 to node 1.
func (r *routing) moving() {
	id := r.real.IDs
	r.set(0, "{bar}here")
	r.cluster(r.t, 1, "SETSLOT", "5061", "IMPORTING", id[0])
	r.cluster(r.t, 0, "SETSLOT", "5061", "MIGRATING", id[1])
	r.state = "moving"
	for _, node := range []int{0, 1, 2, 3} {
		for _, session := range []string{"", "ASKING", "READONLY"} {
			r.check(node, session, "GET {bar}here", get, "{bar}here")
			r.check(node, session, "GET {bar}gone", get, "{bar}gone")
			r.check(node, session, "MGET {bar}gone {bar}gone", get, "{bar}gone", "{bar}gone")
			r.check(node, session, "MGET {bar}gone {bar}lost", get, "{bar}gone", "{bar}lost")
			r.check(node, session, "GET foo", get, "foo")
			r.check(node, session, "SPUBLISH {bar}c x", pubsub, "{bar}c")
		}
		r.check(node, "", "MIGRATE 127.0.0.1 1 {bar}gone 0 1", Request{Write: true, Migrate: true}, "{bar}gone")
		r.check(node, "", "MIGRATE 127.0.0.1 1 foo 0 1", Request{Write: true, Migrate: true}, "foo")
	}
	r.check(0, "", "MGET {bar}here {bar}gone", get, "{bar}here", "{bar}gone")
	r.check(0, "", "MGET {bar}here foo", get, "{bar}here", "foo")
	r.check(0, "", "SUNIONSTORE {bar}gone {bar}lost", write, "{bar}gone", "{bar}lost")
	r.check(1, "", "RESTORE-ASKING {bar}gone 0 x", Request{Write: true, Asking: true}, "{bar}gone")
	r.check(0, "", "RESTORE-ASKING {bar}gone 0 x", Request{Write: true, Asking: true}, "{bar}gone")
	r.check(1, "", "RESTORE {bar}gone 0 x", write, "{bar}gone")
	delete(r.present, "{bar}here")
	r.set(1, "{bar}1", "ASKING")
	r.set(1, "{bar}2", "ASKING")
	r.check(1, "ASKING", "MGET {bar}1 {bar}2", get, "{bar}1", "{bar}2")
	r.check(1, "ASKING", "MGET {bar}1 {bar}3", get, "{bar}1", "{bar}3")
	r.check(1, "", "MGET {bar}1 {bar}2", get, "{bar}1", "{bar}2")
}

// down looks at node 0 after it gave up the slot of "{user1000}", 3443. It
// still has that of "{".
func (r *routing) down() {
	r.cluster(r.t, 0, "DELSLOTS", "3443")
	for _, directive := range []struct {
		name  string
		apply func(*Settings)
	}{
		{"cluster-require-full-coverage yes", func(*Settings) {}},
		{"cluster-allow-reads-when-down yes", func(s *Settings) { s.AllowReadsWhenDown = true }},
		{"cluster-allow-pubsubshard-when-down no", func(s *Settings) { s.AllowPubSubShardWhenDown = false }},
		{"cluster-require-full-coverage no", func(s *Settings) { s.RequireFullCoverage = false }},
	} {
		r.state = directive.name
		if text := r.do(0, append([]string{"CONFIG", "SET"}, strings.Fields(directive.name)...)...); text != "" {
			r.t.Fatal(text)
		}
		directive.apply(&r.nodes[0].Settings)
		r.nodes[0].SettingsChanged(r.now)
		if r.nodes[0].OK() {
			// Redis looks at the new setting when its cron runs.
			r.await(r.t, "cluster_state:ok", func() bool {
				reply, _ := r.ask(0, "CLUSTER", "INFO")
				return strings.Contains(string(reply.([]byte)), "cluster_state:ok")
			})
		}
		r.check(0, "", "PING", get)
		r.check(0, "", "GET {user1000}", get, "{user1000}")
		r.check(0, "", "MGET {user1000} bar", get, "{user1000}", "bar")
		r.check(0, "", "MGET bar {user1000}", get, "bar", "{user1000}")
		r.check(0, "", "GET {bar}gone", get, "{bar}gone")
		r.check(0, "", "GET {", get, "{")
		r.check(0, "", "SET { 1", write, "{")
		r.check(0, "", "GET foo", get, "foo")
		r.check(0, "", "SET foo 1", write, "foo")
		r.check(0, "READONLY", "GET foo", get, "foo")
		r.check(0, "", "SPUBLISH bar x", pubsub, "bar")
		r.check(0, "", "SPUBLISH foo x", pubsub, "foo")
	}
}
