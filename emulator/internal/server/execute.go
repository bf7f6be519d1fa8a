package server

import (
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/lua"
)

// execute takes one request through the checks of Redis' processCommand, in
// its order, and runs, queues or refuses it. The node's lock is held.
func (s *session) execute(args [][]byte) {
	n := s.node
	c := &s.call
	c.Reset()
	c.Args, c.Reply, c.DB = args, s.sink(), n.ks.DB(s.db)
	c.Spec = n.table.Lookup(args)
	c.DenyBlocking = false
	n.ks.SetNow(n.now.UnixMilli())
	s.lastUse = n.now
	s.last = c.Spec
	if c.Spec == nil && isHTTP(args[0]) {
		s.enc.Reset() // Redis forgets what it has not sent yet
		n.log.Warn("closing a client that speaks HTTP, possibly in the name of somebody's browser", "addr", s.addr)
		s.closing = true
		return
	}
	n.running = s
	if n.set.clientLimit != 0 && s.evicted(c) {
		n.running = nil
		return
	}
	n.ks.NoTouch = s.noTouch && (c.Spec == nil || c.Spec.Name != "touch")
	if plan := n.options.Harness.active.Load(); plan != nil {
		s.decideUnder(plan, c)
	} else {
		s.decide(c)
	}
	n.ks.NoTouch = false
	if len(n.tracking.held) > 0 {
		n.releaseInvalidations()
	}
	if n.set.clientLimit != 0 {
		n.evictClients(0)
	}
	n.running = nil
	s.afterCommand(c)
	n.stats.commands++
}

// isHTTP recognizes what the first words of a line are in a request that a web
// page can make a browser send.
func isHTTP(word []byte) bool { return is(word, "post") || is(word, "host:") }

func (s *session) decide(c *command.Call) {
	n := s.node
	if msg := n.refusal(s, c); msg != "" {
		s.reject(c, msg)
		return
	}
	if v := n.verdict(s, c); v.Kind != topology.Serve {
		s.redirect(c, v)
		return
	}
	if msg := n.unavailable(s, c); msg != "" {
		s.reject(c, msg)
		return
	}
	if n.tracking.clients > 0 {
		n.limitTracking()
	}
	if n.paused(s, c) {
		s.postpone(c)
		return
	}
	if s.tx.open && !runsInMulti[c.Spec.Name] {
		s.queue(c)
		return
	}
	n.invoke(c)
	s.db = c.DB.ID()
	n.commitEffects()
	if c.Waiting() != nil {
		s.park(c)
	}
	if len(n.blocked.touched) > 0 {
		n.serveBlocked()
	}
}

// runsInMulti are the commands that MULTI does not queue.
var runsInMulti = map[string]bool{
	"exec": true, "discard": true, "multi": true, "watch": true, "quit": true, "reset": true,
}

// refusal is why a command cannot even be looked at: unknown, malformed, not
// allowed to this client. It is "" when nothing speaks against it.
func (n *Node) refusal(s *session, c *command.Call) string {
	spec := c.Spec
	switch {
	case spec == nil:
		return n.table.LookupError(c.Args)
	case !spec.CheckArity(len(c.Args)):
		return n.table.ArityError(spec)
	}
	if msg := n.protected(s, spec); msg != "" {
		return msg
	}
	if spec.Handler == nil {
		return absent(spec)
	}
	switch {
	case !s.authenticated && !spec.Has(command.NoAuth) && !n.users.Default().OpenToAll():
		return "NOAUTH Authentication required."
	case s.tx.open && spec.Has(command.NoMulti):
		return "ERR Command not allowed inside a transaction"
	}
	return n.permit(s, c)
}

// protected guards the commands that enable-debug-command and
// enable-module-command switch.
func (n *Node) protected(s *session, spec *command.Spec) string {
	name, sub, _ := strings.Cut(spec.Name, "|")
	if name != "debug" && (name != "module" || sub == "list" || sub == "help") {
		return ""
	}
	option := "enable-" + name + "-command"
	switch n.config.String(option) {
	case "yes":
		return ""
	case "local":
		if s.local() {
			return ""
		}
	}
	return "ERR " + strings.ToUpper(name) + " command not allowed. If the " + option +
		" option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server."
}

// verdict asks the topology where a command belongs.
func (n *Node) verdict(s *session, c *command.Call) topology.Verdict {
	if n.topo == nil {
		return topology.Verdict{}
	}
	if c.Spec.Name == "exec" {
		return n.routeTransaction(s)
	}
	if !c.Spec.HasKeys() && c.Spec.Group != "pubsub" {
		return topology.Verdict{}
	}
	r := &n.route
	n.prepareRoute(r, s)
	n.addToRoute(r, c.Spec, c.Args)
	r.Write = n.nature(c).writes
	return n.topo.Route(r)
}

func (n *Node) routeTransaction(s *session) topology.Verdict {
	if !s.tx.open {
		return topology.Verdict{}
	}
	r := &n.route
	n.prepareRoute(r, s)
	for _, q := range s.tx.queued {
		n.addToRoute(r, q.spec, q.args)
	}
	// Before 7.4 Redis looked for the keys that channels are not.
	r.PubSub = r.PubSub && n.version.AtLeast(7, 4)
	return n.topo.Route(r)
}

func (n *Node) prepareRoute(r *topology.Request, s *session) {
	*r = topology.Request{Keys: r.Keys[:0], Exists: r.Exists, Asking: s.asking, ReadOnly: s.readOnly}
}

func (n *Node) addToRoute(r *topology.Request, spec *command.Spec, args [][]byte) {
	n.refs = spec.AppendKeys(n.refs[:0], args)
	for _, ref := range n.refs {
		r.Keys = append(r.Keys, args[ref.Pos])
	}
	if spec.Has(command.PubSub) {
		r.Keys, r.PubSub = n.appendChannels(r.Keys, spec, args), true
	}
	r.Write = r.Write || spec.Has(command.Write)
	r.Asking = r.Asking || spec.Has(command.Asking)
	r.Migrate = r.Migrate || spec.Name == "migrate"
}

// appendChannels adds the channels that are routed like keys.
func (n *Node) appendChannels(keys [][]byte, spec *command.Spec, args [][]byte) [][]byte {
	switch spec.Name {
	case "ssubscribe", "sunsubscribe":
		return append(keys, args[1:]...)
	case "spublish":
		return append(keys, args[1])
	}
	return keys
}

func (n *Node) existsIn0(key []byte) bool { return n.ks.DB(0).Lives(key) }

// redirect answers with MOVED, ASK or their kin.
func (s *session) redirect(c *command.Call, v topology.Verdict) {
	s.node.stats.rejected(c.Spec)
	s.node.stats.countError(v.Error())
	s.routed = &v
	if c.Spec.Name == "exec" {
		s.endTransaction()
	} else {
		s.abortTransaction()
	}
	c.Reply.Error(v.Error())
}

// unavailable is why a command that belongs here cannot run now: memory, the
// state of replication, a client that is only to receive messages.
func (n *Node) unavailable(s *session, c *command.Call) string {
	spec, nature := c.Spec, n.nature(c)
	writes := nature.writes || spec.Name == "exec" && s.tx.writes()
	if n.set.maxMemory != 0 {
		if msg := n.outOfMemory(s, c, nature); msg != "" {
			return msg
		}
	}
	if writes && n.isReplica() && n.set.readOnly {
		return "READONLY You can't write against a read only replica."
	}
	if writes && !n.enoughReplicas() {
		return "NOREPLICAS Not enough good replicas to write."
	}
	if s.subs.any() && s.enc.Proto() == 2 && !allowedWhileSubscribed[spec.Name] {
		return "ERR Can't execute '" + spec.Name + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
	}
	if n.masterless() && !(nature.stale && !(spec.Name == "exec" && s.tx.needsFreshData())) {
		return "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	}
	if n.loading() && !spec.Has(command.Loading) {
		return "LOADING Redis is loading the dataset in memory"
	}
	return n.busy(spec)
}

// masterless reports whether a replica must not serve what may be stale.
func (n *Node) masterless() bool {
	return n.isReplica() && !n.config.Bool("replica-serve-stale-data") && n.linkState() != "connected"
}

var allowedWhileSubscribed = map[string]bool{
	"ping": true, "subscribe": true, "ssubscribe": true, "unsubscribe": true, "sunsubscribe": true,
	"psubscribe": true, "punsubscribe": true, "quit": true, "reset": true,
}

// needsFreshData reports whether a queued command must not see stale data.
func (t *transaction) needsFreshData() bool {
	for _, q := range t.queued {
		if !q.spec.Has(command.Stale) {
			return true
		}
	}
	return false
}

// writes reports whether a queued command is a write.
func (t *transaction) writes() bool {
	for _, q := range t.queued {
		if q.spec.Has(command.Write) {
			return true
		}
	}
	return false
}

// invoke runs a command's handler and does the accounts.
func (n *Node) invoke(c *command.Call) {
	dirty, began := n.ks.Dirty, n.now
	outcome := outcomeOf(c.Reply)
	failures := outcome.Errors
	n.invocations++
	if len(n.monitors) > 0 && runsScript(c.Spec) {
		n.feedMonitors(c)
	}
	if c.Spec.Name == "scan" || c.Spec.Name == "randomkey" {
		n.effects.apart = true
	}
	c.Spec.Handler(c)
	n.now = n.clock.NowSince(n.now)
	failed := outcome.Errors > failures
	if b, ok := c.Reply.(*lua.Builder); ok {
		failed, outcome.LastError = b.Failure() != "", b.Failure()
	}
	if failed {
		n.countFailure(c, outcome.LastError)
	}
	n.observe(c, n.now.Sub(began), failed)
	if n.tracking.clients > 0 && c.Spec.Has(command.ReadOnly) {
		n.rememberKeys(c)
	}
	if (n.ks.Dirty != dirty || c.Forced()) && !c.FromMaster && propagates(c.Spec) && n.replicating() {
		for _, effect := range c.Effects() {
			n.effects.add(c.DB.ID(), effect)
		}
	}
}

// propagates reports whether replicas execute the command itself. What EXEC and
// scripts run is propagated by their commands.
func propagates(spec *command.Spec) bool {
	return spec.Has(command.Write) || spec.Name == "pfcount"
}

// countFailure counts the error a command replied with, unless it is a script
// that passes on what one of its commands replied with.
func (n *Node) countFailure(c *command.Call, msg string) {
	switch {
	case c.FromScript:
		n.scripts.lastError = msg
	case runsScript(c.Spec) && n.scripts.lastError != "" && strings.HasPrefix(msg, n.scripts.lastError):
		return
	}
	n.stats.countError(msg)
}

// outcomeOf is the account that a sink keeps of errors.
func outcomeOf(reply resp.Sink) *resp.Outcome {
	switch sink := reply.(type) {
	case *resp.Encoder:
		return &sink.Outcome
	case *resp.Discard:
		return &sink.Outcome
	case *lua.Builder:
		return new(resp.Outcome) // the script decides what becomes of its errors
	}
	return new(resp.Outcome)
}

// afterCommand settles what a command leaves behind in its client.
func (s *session) afterCommand(c *command.Call) {
	if !s.tx.open && (c.Spec == nil || c.Spec.Name != "asking") {
		s.asking = false
	}
	if s.tracking.caching && !s.tx.open && (c.Spec == nil || c.Spec.Parent == nil || c.Spec.Parent.Name != "client") {
		s.tracking.caching = false
	}
	if s.deferred.Len() > 0 {
		s.enc.Raw(s.deferred.Bytes())
		s.deferred.Reset()
	}
	if s.replies == repliesSkip {
		s.replies = repliesOn
	}
	if s.skipNext {
		s.skipNext, s.replies = false, repliesSkip
	}
}

// emptyRequest is what the parser calls for a request without words: Redis
// lets it use up ASKING and CLIENT REPLY SKIP like any other.
func (s *session) emptyRequest() {
	s.asking = false
	if s.replies == repliesSkip {
		s.replies = repliesOn
	}
}

// sink is where the replies of the session's commands go.
func (s *session) sink() resp.Sink {
	if s.replies != repliesOn {
		s.silent.Version = s.enc.Proto()
		return &s.silent
	}
	return &s.enc
}
