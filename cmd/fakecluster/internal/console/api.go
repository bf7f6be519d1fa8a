package console

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/slots"
)

// route is one operation of the API: what serves it, and what its document
// says.
type route struct {
	method, path string
	summary      string
	query        []parameter
	body         any    // a value of the type of the request's body; nil without
	answer       any    // a value of the type of the answer
	media        string // of the answer, if not JSON
	serve        func(w http.ResponseWriter, r *http.Request) error
}

// parameter is one of the query or, if the path names it, of the path.
type parameter struct{ name, help string }

// Verb is one verb of the control grammar.
type Verb struct {
	Name  string `json:"name"`
	Usage string `json:"usage" doc:"what follows the name"`
	Help  string `json:"help"`
}

// Words is what follows a verb.
type Words struct {
	Args []string `json:"args" doc:"the words that follow the verb in a terminal"`
}

// Done is what a verb answered.
type Done struct {
	Command string `json:"command" doc:"what does the same in a terminal"`
	Text    string `json:"text" doc:"what there is to say, OK if nothing"`
}

// ClientList is who is connected.
type ClientList struct {
	Total   int      `json:"total"`
	Clients []Client `json:"clients"`
}

// Client is one connection, as CLIENT LIST has it.
type Client struct {
	Node    string `json:"node"`
	ID      string `json:"id"`
	Addr    string `json:"addr"`
	Name    string `json:"name"`
	Library string `json:"library"`
	User    string `json:"user"`
	DB      string `json:"db"`
	Flags   string `json:"flags" doc:"N for an ordinary one; S replica, O monitor, b blocked, x in MULTI, P pub/sub, r read-only …"`
	Age     string `json:"age" doc:"seconds since it connected"`
	Idle    string `json:"idle" doc:"seconds since its last command"`
	Command string `json:"command" doc:"its last command"`
	Resp    string `json:"resp" doc:"the protocol it speaks, 2 or 3"`
}

var (
	viewParameter = parameter{"view", "the name of a node: show what it believes"}
	keyParameters = []parameter{
		{"type", "string, list, set, hash, zset or stream"}, {"ttl", "never for those that do not expire, some for those that do, 90s for those that do within"},
	}
	limitParameter    = parameter{"limit", "how many at most"}
	commandParameters = []parameter{
		{"node", "the name of the node that executed it"}, {"client", "a part of the client's name or address"},
		{"command", "its name, a glob such as h*"}, {"verdict", "serve, MOVED, ASK, CROSSSLOT … or error for all but serve and blocked"},
	}
)

// routes are all operations of the API.
func (c *Console) routes() []route {
	verbs := []route{
		{method: "GET", path: "/api/v1/verbs", summary: "List the verbs.", answer: []Verb{}, serve: c.listVerbs},
	}
	for _, v := range control.Verbs() {
		verbs = append(verbs, route{
			method: "POST", path: "/api/v1/verbs/" + v.Name, body: Words{}, answer: Done{}, serve: c.verb(v.Name),
			summary: strings.TrimSpace(v.Name+" "+v.Usage) + " — " + v.Help,
		})
	}
	return append(verbs,
		route{method: "GET", path: "/api/v1/openapi.json", summary: "This document.", answer: map[string]string{}, serve: c.openAPI},
		route{method: "GET", path: "/api/v1/state", summary: "Tell the state of the cluster.", query: []parameter{viewParameter}, answer: State{}, serve: c.getState},
		route{method: "GET", path: "/api/v1/nodes", summary: "List the nodes.", query: []parameter{viewParameter}, answer: []Node{}, serve: c.getNodes},
		route{method: "GET", path: "/api/v1/nodes/{node}", summary: "Tell of one node.", query: []parameter{{"node", "its name, n1"}}, answer: Node{}, serve: c.getNode},
		route{method: "GET", path: "/api/v1/slots", summary: "List the owners of all slots.", query: []parameter{viewParameter}, answer: []Owned{}, serve: c.getSlots},
		route{method: "GET", path: "/api/v1/slots/{slot}", summary: "List keys of a slot.", query: append([]parameter{{"slot", "0 to 16383"}, limitParameter}, keyParameters...), answer: KeyPage{}, serve: c.getSlot},
		route{method: "GET", path: "/api/v1/keys", summary: "List keys of all masters, or those with a hash tag.", query: append([]parameter{
			{"tag", "the hash tag, without braces"}, {"match", "a glob, as for SCAN"}, {"cursor", "where the part before ended"}, limitParameter,
		}, keyParameters...), answer: KeyPage{}, serve: c.getKeys},
		route{method: "GET", path: "/api/v1/key", summary: "Tell which slot and node a key belongs to, and what it holds.", query: []parameter{{"key", "the key; of several, each is told of"}}, answer: []Key{}, serve: c.getKey},
		route{method: "GET", path: "/api/v1/clients", summary: "List the clients.", query: []parameter{{"node", "those of one node"}, limitParameter}, answer: ClientList{}, serve: c.getClients},
		route{method: "GET", path: "/api/v1/commands", summary: "List the latest commands of clients, as far as they were traced.", query: append([]parameter{limitParameter}, commandParameters...), answer: []Command{}, serve: c.getCommands},
		route{method: "GET", path: "/api/v1/faults", summary: "List the faults at work.", answer: []FaultRow{}, serve: c.getFaults},
		route{method: "GET", path: "/api/v1/events", summary: "Stream server-sent events: state (a State) whenever it was looked at, and commands (Commands) that were traced meanwhile.", query: append([]parameter{viewParameter}, commandParameters...), answer: "", media: "text/event-stream", serve: c.events},
	)
}

// methods are the operations on one path.
type methods map[string]route

func (c *Console) routesByPath() map[string]methods {
	byPath := map[string]methods{}
	for _, r := range c.routes() {
		if byPath[r.path] == nil {
			byPath[r.path] = methods{}
		}
		byPath[r.path][r.method] = r
	}
	return byPath
}

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wanted := r.Method
	if wanted == http.MethodHead {
		wanted = http.MethodGet
	}
	operation, found := m[wanted]
	if !found {
		for method := range m {
			w.Header().Add("Allow", method)
		}
		problem{Status: http.StatusMethodNotAllowed, Title: "method not allowed", Detail: "use " + w.Header().Get("Allow")}.write(w)
		return
	}
	if err := operation.serve(w, r); err != nil {
		writeError(w, err)
	}
}

func (c *Console) listVerbs(w http.ResponseWriter, _ *http.Request) error {
	verbs := []Verb{}
	for _, v := range control.Verbs() {
		verbs = append(verbs, Verb(v))
	}
	writeJSON(w, verbs)
	return nil
}

// verb serves one verb of the grammar.
func (c *Console) verb(name string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		args, err := wordsOf(r)
		if err != nil {
			return err
		}
		if c.options.ReadOnly {
			return problem{Status: http.StatusForbidden, Title: "read only", Detail: "the cluster was started with --no-control"}
		}
		answer, err := c.controller.Do(append([]string{name}, args...)...)
		c.watch.refresh()
		switch {
		case errors.Is(err, control.ErrUsage):
			return problem{Status: http.StatusBadRequest, Title: "usage", Detail: err.Error()}
		case err != nil:
			return problem{Status: http.StatusConflict, Title: "not done", Detail: err.Error()}
		}
		writeJSON(w, Done{Command: shellLine(c.options.Ctl, append([]string{name}, args...)), Text: strings.TrimSuffix(answer, "\n")})
		return nil
	}
}

func wordsOf(r *http.Request) ([]string, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, problem{Status: http.StatusUnsupportedMediaType, Title: "unsupported media type", Detail: "send application/json"}
	}
	var words Words
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&words); err != nil && !errors.Is(err, io.EOF) { // no body, no words
		return nil, badRequest(err.Error())
	}
	return words.Args, nil
}

// shellLine is a command as one types it into a shell.
func shellLine(ctl string, words []string) string {
	line := ctl
	for _, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@%", r)
		}) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		line += " " + word
	}
	return line
}

func (c *Console) currentState(r *http.Request) (*State, error) {
	view := r.FormValue("view")
	return c.state(c.watch.sample(), view)
}

func (c *Console) getState(w http.ResponseWriter, r *http.Request) error {
	st, err := c.currentState(r)
	if err == nil {
		writeJSON(w, st)
	}
	return err
}

func (c *Console) getNodes(w http.ResponseWriter, r *http.Request) error {
	st, err := c.currentState(r)
	if err == nil {
		writeJSON(w, st.Nodes)
	}
	return err
}

func (c *Console) getNode(w http.ResponseWriter, r *http.Request) error {
	st, err := c.currentState(r)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(st.Nodes, func(n Node) bool { return strings.EqualFold(n.Name, r.PathValue("node")) })
	if i < 0 {
		return notFound("there is no node " + strconv.Quote(r.PathValue("node")))
	}
	writeJSON(w, st.Nodes[i])
	return nil
}

func (c *Console) getSlots(w http.ResponseWriter, r *http.Request) error {
	st, err := c.currentState(r)
	if err == nil {
		writeJSON(w, st.Slots)
	}
	return err
}

// limitOf is the parameter limit, from 1 to most.
func limitOf(r *http.Request, usual, most int) (int, error) {
	word := r.FormValue("limit")
	if word == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > most {
		return 0, badRequest("limit is not between 1 and " + strconv.Itoa(most))
	}
	return n, nil
}

func (c *Console) getSlot(w http.ResponseWriter, r *http.Request) error {
	slot, err := slots.ParseSlot(r.PathValue("slot"))
	if err != nil {
		return badRequest(err.Error())
	}
	limit, err := limitOf(r, 100, 1000)
	if err != nil {
		return err
	}
	f, err := keyFilterOf(r.FormValue("type"), r.FormValue("ttl"))
	if err != nil {
		return err
	}
	writeJSON(w, c.keysOfSlot(slot, "", f, limit))
	return nil
}

func (c *Console) getKeys(w http.ResponseWriter, r *http.Request) error {
	limit, err := limitOf(r, 100, 1000)
	if err != nil {
		return err
	}
	f, err := keyFilterOf(r.FormValue("type"), r.FormValue("ttl"))
	if err != nil {
		return err
	}
	if tag := r.FormValue("tag"); tag != "" {
		writeJSON(w, c.keysOfSlot(slots.OfString(tag), tag, f, limit))
		return nil
	}
	page, err := c.scan(r.FormValue("match"), r.FormValue("cursor"), f, limit)
	if err == nil {
		writeJSON(w, page)
	}
	return err
}

func (c *Console) getKey(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return badRequest(err.Error())
	}
	names := r.Form["key"]
	if len(names) == 0 || len(names) > 100 {
		return badRequest("ask for 1 to 100 keys, as ?key=")
	}
	keys := []Key{}
	for _, name := range names {
		keys = append(keys, c.lookUp(name))
	}
	writeJSON(w, keys)
	return nil
}

func (c *Console) getClients(w http.ResponseWriter, r *http.Request) error {
	limit, err := limitOf(r, 100, 10_000)
	if err != nil {
		return err
	}
	answer := ClientList{Clients: []Client{}}
	for _, n := range c.cluster.Nodes() {
		if n.Down() || r.FormValue("node") != "" && r.FormValue("node") != n.Name() {
			continue
		}
		for line := range strings.Lines(ask(n, "CLIENT", "LIST")) {
			if answer.Total++; len(answer.Clients) < limit {
				answer.Clients = append(answer.Clients, clientOf(n.Name(), line))
			}
		}
	}
	writeJSON(w, answer)
	return nil
}

func clientOf(node, line string) Client {
	f := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		if name, value, found := strings.Cut(word, "="); found {
			f[name] = value
		}
	}
	return Client{
		Node: node, ID: f["id"], Addr: f["addr"], Name: f["name"], Library: strings.TrimSpace(f["lib-name"] + " " + f["lib-ver"]), User: f["user"],
		DB: f["db"], Flags: f["flags"], Age: f["age"], Idle: f["idle"], Command: f["cmd"], Resp: f["resp"],
	}
}

func filterOf(r *http.Request) filter {
	return filter{node: r.FormValue("node"), client: r.FormValue("client"), command: r.FormValue("command"), verdict: r.FormValue("verdict")}
}

func (c *Console) getCommands(w http.ResponseWriter, r *http.Request) error {
	limit, err := limitOf(r, 100, 10_000)
	if err != nil {
		return err
	}
	trace, _ := c.controller.Trace()
	if trace == nil {
		return problem{Status: http.StatusConflict, Title: "not done", Detail: "nothing was traced; begin with trace on"}
	}
	traced, _ := trace.Since(0)
	writeJSON(w, latest(traced, filterOf(r), limit))
	return nil
}

func (c *Console) getFaults(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, faults(c.controller))
	return nil
}
