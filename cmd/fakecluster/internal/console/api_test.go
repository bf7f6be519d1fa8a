package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a console under test.
type site struct {
	*testing.T
	url     string
	cluster *emulator.Cluster
	console *Console
	client  *redis.ClusterClient
	header  http.Header // sent with every request
}

func open(t *testing.T, o Options, opts ...emulator.Option) *site {
	t.Helper()
	if o.Ctl == "" {
		o.Ctl = "fakecluster ctl"
	}
	var controllers control.Controllers
	c := emulator.RunT(t, append([]emulator.Option{controllers.Option()}, opts...)...)
	console := New(c, controllers.Of(c), o)
	server := httptest.NewServer(console.Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		console.watch.wait()
	})
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()})
	t.Cleanup(func() { client.Close() })
	return &site{t, server.URL, c, console, client, http.Header{}}
}

func (s *site) request(method, path, body string) (status int, header http.Header, answer []byte) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, values := range s.header {
		r.Header[name] = values
	}
	r.Host = s.header.Get("Host")
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	if answer, err = io.ReadAll(response.Body); err != nil {
		s.Fatal(err)
	}
	return response.StatusCode, response.Header, answer
}

// get decodes what a path answers with.
func get[T any](s *site, path string) (value T) {
	s.Helper()
	status, header, body := s.request("GET", path, "")
	if status != 200 || header.Get("Content-Type") != "application/json" {
		s.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal(body, &value); err != nil {
		s.Fatalf("GET %s: %v in %s", path, err, body)
	}
	return value
}

func (s *site) verb(name string, args ...string) (status int, answer string) {
	s.Helper()
	body, err := json.Marshal(Words{Args: args})
	if err != nil {
		s.Fatal(err)
	}
	status, _, raw := s.request("POST", "/api/v1/verbs/"+name, string(body))
	return status, string(raw)
}

func (s *site) do(args ...any) {
	s.Helper()
	if err := s.client.Do(s.Context(), args...).Err(); err != nil {
		s.Fatalf("%v: %v", args, err)
	}
}

func TestState(t *testing.T) {
	s := open(t, Options{}, emulator.Replicas(1))
	s.do("SET", "{user}:1", "hello")
	st := get[State](s, "/api/v1/state")
	if len(st.Nodes) != 6 || !st.Agree || st.Standalone || st.Version != "7.2.6" || len(st.Slots) != 3 {
		t.Errorf("the state is %+v", st)
	}
	// CLUSTER KEYSLOT {user}:1 is 5474, which the second of three masters has.
	if n := st.Nodes[1]; n.Name != "n2" || n.Role != "master" || n.Keys != 1 || n.Slots != 5462 || n.State != "up" || n.Ranges[0] != "5461-10922" {
		t.Errorf("n2 is %+v", n)
	}
	if n := st.Nodes[4]; n.Role != "replica" || n.Master != "n2" || n.Link != "up" || n.Slots != 0 {
		t.Errorf("n5 is %+v", n)
	}
	if got := st.Slots[1]; got != (Owned{5461, 10922, "n2"}) {
		t.Errorf("the second range is %+v", got)
	}
	if n := get[Node](s, "/api/v1/nodes/n5"); n.Master != "n2" {
		t.Errorf("n5 alone is %+v", n)
	}
	if n := get[[]Owned](s, "/api/v1/slots"); len(n) != 3 {
		t.Errorf("slots: %+v", n)
	}
}

func TestStateShowsWhatWasDone(t *testing.T) {
	s := open(t, Options{}, emulator.Replicas(1), emulator.NodeTimeout(time.Second))
	for _, words := range [][]string{
		{"migrate", "5474", "n3"}, {"pause", "n4"}, {"clock", "advance", "1h"}, {"fault", "on", "command", "get", "error", "OOM"},
	} {
		if status, answer := s.verb(words[0], words[1:]...); status != 200 {
			t.Fatalf("%v: %d %s", words, status, answer)
		}
	}
	st := get[State](s, "/api/v1/state")
	if len(st.Moving) != 1 || st.Moving[0] != (Moving{Slot: 5474, From: "n2", To: "n3"}) {
		t.Errorf("moving: %+v", st.Moving)
	}
	if st.Nodes[3].State != "paused" {
		t.Errorf("n4: %+v", st.Nodes[3])
	}
	if ahead := time.Duration(st.AheadMS) * time.Millisecond; ahead < time.Hour-time.Second || ahead > time.Hour+time.Second {
		t.Errorf("the clock is %v ahead", ahead)
	}
	if len(st.Faults) != 1 || st.Faults[0] != (FaultRow{1, 0, "on command get error OOM"}) {
		t.Errorf("faults: %+v", st.Faults)
	}
	if status, answer := s.verb("reset"); status != 200 {
		t.Fatal(answer)
	}

	if status, answer := s.verb("partition", "n1"); status != 200 {
		t.Fatal(answer)
	}
	s.verb("settle")
	st = get[State](s, "/api/v1/state")
	if got := strings.Join(st.Nodes[0].Cut, ","); got != "n2,n3,n4,n5,n6" {
		t.Errorf("n1 is cut from %s", got)
	}
	if got := strings.Join(st.Nodes[1].Cut, ","); got != "n1" {
		t.Errorf("n2 is cut from %s", got)
	}
	// The majority has elected n4; n1 on its own does not know.
	if st.Agree || st.Slots[0].Node != "n4" || len(st.Nodes[0].FailedBy) != 5 {
		t.Errorf("after the partition: agree %v, %+v, n1 is held for failed by %v", st.Agree, st.Slots[0], st.Nodes[0].FailedBy)
	}
	alone := get[State](s, "/api/v1/state?view=n1")
	if alone.Slots[0].Node != "n1" || alone.Nodes[3].Role != "replica" {
		t.Errorf("n1 sees %+v, and n4 as %s", alone.Slots[0], alone.Nodes[3].Role)
	}
}

func TestKeys(t *testing.T) {
	s := open(t, Options{})
	s.do("SET", "{user}:1", "hello", "PX", 100_000)
	s.do("ZADD", "{user}:z", 1.5, "a", 2, "b")
	s.do("HSET", "h", "f", "v")
	s.do("RPUSH", "l", "x", "y")
	s.do("SADD", "s", "m")
	s.do("XADD", "st", "1-1", "f", "v")
	s.do("SET", "bin\xff", "\x00")
	keys := get[[]Key](s, "/api/v1/key?key=%7Buser%7D:1&key=%7Buser%7D:z&key=h&key=l&key=s&key=st&key=bin%FF&key=absent")
	for i, want := range []struct {
		key, kind string
		slot      int // as CLUSTER KEYSLOT of Redis says
		owner     string
		length    int64
		rows      string
	}{
		{"{user}:1", "string", 5474, "n2", 5, "[[hello]]"},
		{"{user}:z", "zset", 5474, "n2", 2, "[[a 1.5] [b 2]]"},
		{"h", "hash", 11694, "n3", 1, "[[f v]]"},
		{"l", "list", 11562, "n3", 2, "[[x] [y]]"},
		{"s", "set", 3828, "n1", 1, "[[m]]"},
		{"st", "stream", 8985, "n2", 1, "[[1-1 f v]]"},
		{`"bin\xff"`, "string", 1941, "n1", 1, `[["\x00"]]`},
		{"absent", "none", 14563, "n3", 0, "[]"},
	} {
		k := keys[i]
		if k.Key != want.key || k.Type != want.kind || int(k.Slot) != want.slot || k.Owner != want.owner || k.Length != want.length || rowsText(k.Rows) != want.rows {
			t.Errorf("%s: %+v, %s", want.key, k, rowsText(k.Rows))
		}
		if again := get[[]Key](s, k.Href); again[0].Key != k.Key || again[0].Type != k.Type {
			t.Errorf("%s leads to %+v", k.Href, again)
		}
	}
	if tag := keys[0].Tag; len(tag) != 2 || tag[0] != 1 || tag[1] != 5 {
		t.Errorf("the tag is at %v", tag)
	}
	if ttl := keys[0].TTLMS; ttl <= 0 || ttl > 100_000 {
		t.Errorf("the time to live is %d", ttl)
	}
	if page := get[KeyPage](s, "/api/v1/keys?tag=user"); len(page.Keys) != 2 {
		t.Errorf("keys by tag: %+v", page)
	}
	if page := get[KeyPage](s, "/api/v1/slots/8985"); len(page.Keys) != 1 || page.Keys[0].Key != "st" || page.Keys[0].Type != "stream" {
		t.Errorf("keys by slot: %+v", page)
	}
	for query, want := range map[string]string{
		"keys?ttl=never&match=%7Buser*":          "{user}:z",
		"keys?ttl=some":                          "{user}:1",
		"keys?ttl=2m":                            "{user}:1",
		"keys?ttl=1s":                            "",
		"keys?tag=user&ttl=never":                "{user}:z",
		"keys?tag=user&type=string":              "{user}:1",
		"slots/5474?type=zset":                   "{user}:z",
		"slots/5474?ttl=1h&type=string":          "{user}:1",
		"slots/5474?ttl=1h&type=zset":            "",
		"slots/5474?ttl=never&type=zset&limit=1": "{user}:z",
	} {
		names := ""
		for _, k := range get[KeyPage](s, "/api/v1/"+query).Keys {
			names += k.Key
		}
		if names != want {
			t.Errorf("%s finds %q, want %q", query, names, want)
		}
	}
	if page := get[KeyPage](s, "/api/v1/keys?match=%7Buser*&type=zset"); len(page.Keys) != 1 || page.Keys[0].Key != "{user}:z" {
		t.Errorf("keys by pattern and type: %+v", page)
	}
}

func rowsText(rows [][]string) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = "[" + strings.Join(row, " ") + "]"
	}
	return "[" + strings.Join(lines, " ") + "]"
}

// All keys are met, each once, however small the parts.
func TestKeysInParts(t *testing.T) {
	s := open(t, Options{})
	const n = 300
	for i := range n {
		s.do("SET", i, "")
	}
	met, cursor := map[string]int{}, ""
	for range 1000 {
		page := get[KeyPage](s, "/api/v1/keys?limit=10&cursor="+cursor)
		for _, k := range page.Keys {
			met[k.Key]++
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	if len(met) != n || cursor != "" {
		t.Errorf("met %d of %d keys; the cursor is %q", len(met), n, cursor)
	}
}

// A key of a slot on its way is found at either end.
func TestKeyOfAMovingSlot(t *testing.T) {
	s := open(t, Options{})
	s.do("SET", "{user}:1", "x")
	s.verb("migrate", "5474", "n1")
	s.verb("migrate-keys", "5474")
	if k := get[[]Key](s, "/api/v1/key?key=%7Buser%7D:1")[0]; k.Owner != "n2" || k.Node != "n1" || k.Type != "string" {
		t.Errorf("the key: %+v", k)
	}
	if page := get[KeyPage](s, "/api/v1/slots/5474"); len(page.Keys) != 1 || page.Keys[0].Node != "n1" {
		t.Errorf("the slot: %+v", page)
	}
}

func TestVerbs(t *testing.T) {
	s := open(t, Options{Ctl: "fakecluster ctl --addr 127.0.0.1:7100"}, emulator.Replicas(1))
	if status, answer := s.verb("failover", "n1"); status != 200 || answer != `{"command":"fakecluster ctl --addr 127.0.0.1:7100 failover n1","text":"OK"}`+"\n" {
		t.Errorf("failover: %d %s", status, answer)
	}
	if s.cluster.Node(0).Role() != "replica" {
		t.Error("n1 is no replica after the failover")
	}
	if status, answer := s.verb("partition", "n1", "|", "n2"); status != 200 || !strings.Contains(answer, `partition n1 '|' n2"`) {
		t.Errorf("partition: %d %s", status, answer)
	}
	for _, v := range get[[]Verb](s, "/api/v1/verbs") {
		if v.Name == "" || v.Help == "" {
			t.Errorf("a verb is %+v", v)
		}
	}
}

func TestProblems(t *testing.T) {
	s := open(t, Options{})
	for _, c := range []struct {
		method, path, body string
		status             int
		detail             string
	}{
		{"POST", "/api/v1/verbs/failover", `{}`, 400, "usage: failover NODE"},
		{"POST", "/api/v1/verbs/failover", `{"args":["n99"]}`, 409, `there is no node`},
		{"POST", "/api/v1/verbs/failover", `{"words":[]}`, 400, "unknown field"},
		{"POST", "/api/v1/verbs/failover", `[`, 400, "unexpected EOF"},
		{"POST", "/api/v1/verbs/failover", ``, 415, "application/json"},
		{"POST", "/api/v1/verbs/failover", `{"args":["` + strings.Repeat("x", 100_000) + `"]}`, 413, "too large"},
		{"GET", "/api/v1/verbs/failover", ``, 405, "POST"},
		{"POST", "/api/v1/verbs/nosuch", `{}`, 404, "openapi"},
		{"GET", "/api/v2", ``, 404, "openapi"},
		{"DELETE", "/api/v1/state", ``, 405, "GET"},
		{"GET", "/api/v1/nodes/n99", ``, 404, "n99"},
		{"GET", "/api/v1/state?view=n99", ``, 404, "n99"},
		{"GET", "/api/v1/events?view=n99", ``, 404, "n99"},
		{"GET", "/api/v1/slots/16384", ``, 400, "16384"},
		{"GET", "/api/v1/keys?limit=0", ``, 400, "limit"},
		{"GET", "/api/v1/keys?ttl=soon", ``, 400, "ttl"},
		{"GET", "/api/v1/slots/1?ttl=-1s", ``, 400, "ttl"},
		{"GET", "/api/v1/keys?cursor=n99:1", ``, 400, "cursor"},
		{"GET", "/api/v1/key", ``, 400, "key"},
		{"GET", "/api/v1/commands", ``, 409, "trace on"},
	} {
		status, header, body := s.request(c.method, c.path, c.body)
		var p problem
		if err := json.Unmarshal(body, &p); err != nil {
			t.Errorf("%s %s: %v in %s", c.method, c.path, err, body)
			continue
		}
		if status != c.status || p.Status != status || p.Title == "" || !strings.Contains(p.Detail, c.detail) || header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, status, body)
		}
	}
}

// event reads the next server-sent event.
func event(t *testing.T, lines *bufio.Reader) (name, data string) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\n" {
			return name, data
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "event":
			name = value
		case "data":
			data = value
		}
	}
}

func TestEvents(t *testing.T) {
	s := open(t, Options{Interval: 20 * time.Millisecond}, emulator.Replicas(1))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", s.url+"/api/v1/events?verdict=error", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %s", got)
	}
	lines := bufio.NewReader(response.Body)
	until := func(what string, seen func(name, data string) bool) {
		t.Helper()
		for {
			if name, data := event(t, lines); seen(name, data) {
				return
			}
		}
	}
	until("recording", func(name, data string) bool { return name == "state" && strings.Contains(data, `"recording":true`) })
	s.do("SET", "{user}:1", "hello")
	if err := s.client.Do(ctx, "LPUSH", "{user}:1", "x").Err(); err == nil {
		t.Fatal("LPUSH on a string")
	}
	until("the command", func(name, data string) bool {
		var commands []Command
		if name != "commands" {
			return false
		}
		if err := json.Unmarshal([]byte(data), &commands); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, c := range commands {
			if c.Verdict == "serve" {
				t.Errorf("the filter let through %+v", c)
			}
			found = found || c.Text == "LPUSH {user}:1 x" && c.Verdict == "WRONGTYPE" && c.Node == "n2" && c.Slot == 5474
		}
		return found
	})
	until("the hot slot", func(name, data string) bool { return name == "state" && strings.Contains(data, `"hot":[{"slot":5474,`) })
	if status, answer := s.verb("failover", "n2"); status != 200 {
		t.Fatal(answer)
	}
	until("the failover", func(name, data string) bool {
		return name == "state" && strings.Contains(data, `{"first":5461,"last":10922,"node":"n5"}`)
	})
}

// The trace that makes the feed ends with the last viewer and begins again with
// the next, but not after somebody ended it.
func TestRecordingOnlyForViewers(t *testing.T) {
	var controllers control.Controllers
	c := emulator.RunT(t)
	x := controllers.Of(c)
	console := New(c, x, Options{Interval: time.Millisecond})
	recording := func() bool { _, on := x.Trace(); return on }
	view := func() (leave func()) {
		_, changed := console.watch.news()
		leave = console.watch.join()
		<-changed
		return leave
	}
	for range 2 {
		leave := view()
		if !recording() {
			t.Error("nothing is recorded for a viewer")
		}
		leave()
		console.watch.wait()
		if recording() {
			t.Error("commands are recorded for nobody")
		}
	}
	leave := view()
	if _, err := x.Do("trace", "off"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, changed := console.watch.news()
		<-changed
	}
	if recording() {
		t.Error("it records although somebody has ended it")
	}
	leave()
	console.watch.wait()
}

func TestRates(t *testing.T) {
	s := open(t, Options{Interval: time.Microsecond}) // no time is too short to tell
	get[State](s, "/api/v1/state")
	conn, err := s.cluster.Dialer()(t.Context(), "tcp", s.cluster.Node(0).Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(bytes.Repeat([]byte("*2\r\n$3\r\nGET\r\n$1\r\na\r\n"), 200)); err != nil { // a's slot is n3's
		t.Fatal(err)
	}
	const reply = "-MOVED 15495 127.0.0.1:7002\r\n"
	if _, err := io.ReadFull(conn, make([]byte, 200*len(reply))); err != nil {
		t.Fatal(err)
	}
	s.console.watch.refresh()
	st := get[State](s, "/api/v1/state")
	if st.Rates.Moved < 100 || st.Rates.Commands < st.Rates.Moved || st.Nodes[0].Ops < st.Rates.Moved || st.Rates.Ask != 0 {
		t.Errorf("rates: %+v, n1 %v/s", st.Rates, st.Nodes[0].Ops)
	}
}

// A node that runs a script for long does not stop the others from being shown.
func TestBusyNode(t *testing.T) {
	s := open(t, Options{})
	get[State](s, "/api/v1/state")
	ended := make(chan error, 1)
	go func() {
		const script = "local function ms() local t = redis.call('TIME') return t[1]*1000 + t[2]/1000 end local began = ms() repeat until ms() - began > 2500"
		ended <- s.client.Do(context.Background(), "EVAL", script, 1, "{user}:1").Err()
	}()
	for state := ""; state != "busy"; {
		state = get[State](s, "/api/v1/state").Nodes[1].State
		select {
		case err := <-ended:
			t.Fatalf("the script has ended, %v, and the node was never seen busy", err)
		default:
		}
	}
	if err := <-ended; err != nil && !errors.Is(err, redis.Nil) {
		t.Error(err)
	}
}

func TestClientsAndCommands(t *testing.T) {
	s := open(t, Options{})
	s.verb("trace", "on")
	s.do("CLIENT", "SETNAME", "worker")
	s.do("SET", "{user}:1", "hello")
	found := false
	for _, c := range get[ClientList](s, "/api/v1/clients?node=n2").Clients {
		found = found || c.Node == "n2" && c.Command == "set" && c.Resp == "3"
	}
	if !found {
		t.Error("the client of n2 is not listed")
	}
	if list := get[ClientList](s, "/api/v1/clients?limit=1"); list.Total <= 1 || len(list.Clients) != 1 {
		t.Errorf("%d of %d clients", len(list.Clients), list.Total)
	}
	for query, want := range map[string]int{
		"command=set": 1, "command=s*&node=n2": 1, "command=set&node=n1": 0, "verdict=serve&command=set": 1, "verdict=MOVED": 0, "client=nobody": 0,
	} {
		if got := get[[]Command](s, "/api/v1/commands?"+query); len(got) != want {
			t.Errorf("%s: %+v", query, got)
		}
	}
}

func TestStandalone(t *testing.T) {
	s := open(t, Options{}, emulator.Standalone())
	if err := s.cluster.Node(0).Set("k", "v"); err != nil {
		t.Fatal(err)
	}
	st := get[State](s, "/api/v1/state")
	if !st.Standalone || len(st.Slots) != 0 || len(st.Nodes) != 1 || st.Nodes[0].Keys != 1 {
		t.Errorf("state: %+v", st)
	}
	if k := get[[]Key](s, "/api/v1/key?key=k")[0]; k.Type != "string" || k.Owner != "n1" {
		t.Errorf("key: %+v", k)
	}
	if page := get[KeyPage](s, "/api/v1/keys"); len(page.Keys) != 1 {
		t.Errorf("keys: %+v", page)
	}
}

func TestMetricsAndHealth(t *testing.T) {
	s := open(t, Options{}, emulator.Replicas(1), emulator.NodeTimeout(time.Second))
	s.do("SET", "{user}:1", "hello")
	_, _, body := s.request("GET", "/metrics", "")
	for _, line := range []string{
		`fakecluster_up{node="n1"} 1`, `fakecluster_slots{node="n2"} 5462`, `fakecluster_keys{node="n2"} 1`,
		`fakecluster_node_info{addr="127.0.0.1:7004",id="` + s.cluster.Node(4).ID() + `",master="n2",node="n5",role="replica"} 1`,
		"# TYPE fakecluster_commands_total counter", "go_goroutines ",
	} {
		if !strings.Contains(string(body), line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	if h := get[Health](s, "/healthz"); h != (Health{"ok", "ok"}) {
		t.Errorf("health: %+v", h)
	}
	s.verb("kill", "n1,n4")
	s.verb("settle")
	if h := get[Health](s, "/healthz"); h != (Health{"ok", "fail"}) {
		t.Errorf("health without n1 and n4: %+v", h)
	}
	_, _, body = s.request("GET", "/metrics", "")
	if !strings.Contains(string(body), `fakecluster_up{node="n1"} 0`) {
		t.Error("/metrics says n1 is up")
	}
}

func TestOpenAPI(t *testing.T) {
	s := open(t, Options{})
	doc := get[map[string]any](s, "/api/v1/openapi.json")
	paths := doc["paths"].(map[string]any)
	for _, v := range control.Verbs() {
		if paths["/api/v1/verbs/"+v.Name] == nil {
			t.Errorf("the document lacks the verb %s", v.Name)
		}
	}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), `"$ref":"#/components/schemas/`)[1:] {
		if name, _, _ := strings.Cut(part, `"`); schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
	if schemas["State"] == nil || schemas["Problem"] == nil {
		t.Error("the schemas State and Problem are not there")
	}
}

func TestGuard(t *testing.T) {
	s := open(t, Options{Hosts: []string{"devbox"}})
	local := strings.TrimPrefix(s.url, "http://")
	for _, c := range []struct {
		name, path string
		header     http.Header
		status     int
	}{
		{"as it is", "/api/v1/state", nil, 200},
		{"by the name of this machine", "/api/v1/state", http.Header{"Host": {"localhost:7800"}}, 200},
		{"by IPv6", "/api/v1/state", http.Header{"Host": {"[::1]:7800"}}, 200},
		{"by a name it was told", "/api/v1/state", http.Header{"Host": {"DevBox:7800"}}, 200},
		{"a name that points here", "/api/v1/state", http.Header{"Host": {"evil.example"}}, 421},
		{"the page by such a name", "/", http.Header{"Host": {"evil.example:7800"}}, 421},
		{"metrics by such a name", "/metrics", http.Header{"Host": {"localhost.evil.example"}}, 421},
		{"another site's page", "/api/v1/state", http.Header{"Origin": {"http://evil.example"}}, 403},
		{"a page of another port", "/api/v1/state", http.Header{"Origin": {"http://127.0.0.1:1"}}, 403},
		{"a page without origin", "/api/v1/state", http.Header{"Origin": {"null"}}, 403},
		{"its own page", "/api/v1/state", http.Header{"Origin": {"http://" + local}, "Host": {local}, "Sec-Fetch-Site": {"same-origin"}}, 200},
		{"what the browser says", "/api/v1/state", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"the same site is another origin", "/api/v1/state", http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		{"a link to the page", "/", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 200},
	} {
		s.header = c.header
		if status, header, body := s.request("GET", c.path, ""); status != c.status || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
	}
	s.header = http.Header{"Origin": {"http://evil.example"}}
	if status, answer := s.verb("kill", "n1"); status != 403 || s.cluster.Node(0).Down() {
		t.Errorf("a verb from another site: %d %s", status, answer)
	}
	s.header = http.Header{"Content-Type": {"text/plain"}} // what a form can send without asking first
	if status, answer := s.verb("kill", "n1"); status != 415 || s.cluster.Node(0).Down() {
		t.Errorf("a verb as a form: %d %s", status, answer)
	}
}

func TestToken(t *testing.T) {
	s := open(t, Options{Token: "secret"})
	expect := func(path string, status int) {
		t.Helper()
		if got, header, body := s.request("GET", path, ""); got != status || (got == 401) != (header.Get("WWW-Authenticate") == "Bearer") {
			t.Errorf("GET %s with %v: %d %s", path, s.header, got, body)
		}
	}
	expect("/api/v1/state", 401)
	expect("/metrics", 401)
	expect("/", 200) // holds no secrets, and asks for the token
	expect("/healthz", 200)
	s.header = http.Header{"Authorization": {"Bearer wrong"}}
	expect("/api/v1/state", 401)
	s.header = http.Header{"Authorization": {"Bearer secret"}}
	expect("/api/v1/state", 200)
	expect("/metrics", 200)
	s.header.Set("Host", "fakecluster:7800") // of a container: who has the token may
	expect("/api/v1/state", 200)
}

func TestReadOnly(t *testing.T) {
	s := open(t, Options{ReadOnly: true})
	if status, answer := s.verb("kill", "n1"); status != 403 || !strings.Contains(answer, "--no-control") || s.cluster.Node(0).Down() {
		t.Errorf("kill: %d %s", status, answer)
	}
	if st := get[State](s, "/api/v1/state"); !st.ReadOnly {
		t.Error("the state does not say that it is read only")
	}
}

func TestShellLine(t *testing.T) {
	for want, words := range map[string][]string{
		"ctl failover n1":                        {"failover", "n1"},
		"ctl way n1 '>' n2 cut":                  {"way", "n1", ">", "n2", "cut"},
		`ctl fault error 'it'\''s ill'`:          {"fault", "error", "it's ill"},
		"ctl view ''":                            {"view", ""},
		"ctl kill '*'":                           {"kill", "*"},
		"ctl migrate-keys 7 " + strconv.Itoa(10): {"migrate-keys", "7", "10"},
	} {
		if got := shellLine("ctl", words); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
