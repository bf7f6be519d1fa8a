package readiness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/slots"
)

// Kind is what is wrong.
type Kind string

// The kinds of findings.
const (
	MultiKey    Kind = "multi-key"
	Script      Kind = "script"
	Transaction Kind = "transaction"
	Watch       Kind = "watch"
	Undeclared  Kind = "undeclared-key"
	Database    Kind = "database"
	OneNode     Kind = "one-node"
	SortPattern Kind = "sort-pattern"
	PubSub      Kind = "pubsub"
)

// Severity is how bad it is.
type Severity string

// The severities, the worst first.
const (
	Breaks   Severity = "breaks"   // a cluster refuses it
	Misleads Severity = "misleads" // a cluster answers, but not what is meant
	Costs    Severity = "costs"    // it works, at a price that grows with the nodes
)

// about is what there is to say of a kind.
type about struct {
	severity Severity
	title    string
	why      string
}

var kinds = map[Kind]about{
	MultiKey:    {Breaks, "Command with keys in several slots", "a node answers CROSSSLOT"},
	Script:      {Breaks, "Script with keys in several slots", "a node answers CROSSSLOT, or the script fails at a key that is not local"},
	Transaction: {Breaks, "MULTI block over several slots", "EXEC answers CROSSSLOT, or a command of the block MOVED and EXEC is aborted"},
	Watch:       {Breaks, "WATCH over several slots", "watched keys live on other nodes than the transaction"},
	Undeclared:  {Misleads, "Script with keys it did not declare", "the node to run it is found by KEYS: the others are on it by chance, or not"},
	Database:    {Breaks, "Databases other than 0", "a cluster has database 0 alone"},
	OneNode:     {Misleads, "Command that sees one node", "a node knows its own keys only"},
	SortPattern: {Breaks, "SORT by other keys", "a node in cluster mode denies BY and GET patterns"},
	PubSub:      {Costs, "Classic publish and subscribe", "every message is sent to every node"},
}

// Report is what a Recorder has found.
type Report struct {
	Began    time.Time `json:"began"`
	Ended    time.Time `json:"ended"`
	Commands int64     `json:"commands"`
	Ready    bool      `json:"ready"` // nothing breaks or misleads
	Findings []Finding `json:"findings"`
	// Tags are the patterns of keys with the tags that the findings ask for.
	Tags   []Tag        `json:"tags"`
	Before Distribution `json:"before"`
	After  Distribution `json:"after"`
	// NotKept counts findings and uses of keys beyond what is kept.
	NotKept int64 `json:"notKept,omitempty"`
}

// Finding is one place in the program.
type Finding struct {
	Kind     Kind          `json:"kind"`
	Severity Severity      `json:"severity"`
	Title    string        `json:"title"`
	Why      string        `json:"why"`
	Shape    string        `json:"shape"`
	Count    int64         `json:"count"`
	Bytes    int64         `json:"bytes,omitempty"` // of published messages
	Clients  []ClientCount `json:"clients"`
	Examples []Example     `json:"examples"`
	// Fix is what to do, Solved whether the tags of the report do it.
	Fix    string `json:"fix"`
	Solved bool   `json:"solvedByTags"`
}

// ClientCount is how often a client did it.
type ClientCount struct {
	Client string `json:"client"`
	Count  int64  `json:"count"`
}

// Example is one occurrence.
type Example struct {
	Command string `json:"command"`
	Keys    []Key  `json:"keys,omitempty"`
}

// Key is a key of an example, with the name it should have.
type Key struct {
	Name   string     `json:"name"`
	Slot   slots.Slot `json:"slot"`
	Tagged string     `json:"tagged,omitempty"`
}

// Tag is a pattern of keys and the one to use instead.
type Tag struct {
	Pattern string `json:"pattern"`
	Tagged  string `json:"tagged"`
	Example string `json:"example"`
}

const maxExamples = 3

// Report judges what has been seen so far.
func (r *Recorder) Report() *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := &Report{
		Began: r.began, Ended: time.Now(), Commands: r.commands, Ready: true, NotKept: r.dropped + r.moreKeys,
		Findings: []Finding{}, Tags: []Tag{},
	}
	order := slices.Clone(r.order)
	slices.SortStableFunc(order, func(a, b *found) int { return cmp.Compare(b.count, a.count) })
	chosen := rules{}
	wanted := map[*found]rules{}
	for _, f := range order {
		own := findTag(f.sets())
		wanted[f] = own
		if own != nil && chosen.agrees(own) {
			maps.Copy(chosen, own)
		}
	}
	for _, f := range order {
		finding := f.finding(chosen, wanted[f])
		report.Ready = report.Ready && finding.Severity == Costs
		report.Findings = append(report.Findings, finding)
	}
	rank := []Severity{Breaks, Misleads, Costs}
	slices.SortStableFunc(report.Findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	report.Tags = tagsOf(chosen, r.keys)
	report.Before = distribute("now", r.keys, rules{})
	report.After = distribute("with the tags", r.keys, chosen)
	return report
}

// sets are the keys that were used together.
func (f *found) sets() [][]string {
	var sets [][]string
	for _, s := range f.samples {
		if len(s.keys) > 0 {
			sets = append(sets, s.keys)
		}
	}
	return sets
}

func (f *found) finding(chosen, wanted rules) Finding {
	kind := kinds[f.kind]
	finding := Finding{
		Kind: f.kind, Severity: kind.severity, Title: kind.title, Why: kind.why, Shape: f.shape, Count: f.count, Bytes: f.bytes,
		Clients: f.mostActive(), Examples: []Example{},
	}
	sets := f.sets()
	finding.Solved = len(sets) > 0 && wanted != nil && !slices.ContainsFunc(sets, func(s []string) bool { return !chosen.joins(s) })
	for _, s := range f.samples {
		if len(finding.Examples) == maxExamples {
			break
		}
		example := Example{Command: s.command}
		for _, key := range s.keys {
			k := Key{Name: key, Slot: slots.OfString(key)}
			if name, _ := chosen.tagged(key); finding.Solved && name != key {
				k.Tagged = name
			}
			example.Keys = append(example.Keys, k)
		}
		if !slices.ContainsFunc(finding.Examples, func(e Example) bool { return e.Command == example.Command }) {
			finding.Examples = append(finding.Examples, example)
		}
	}
	finding.Fix = f.fix(finding, chosen, wanted)
	return finding
}

func (f *found) mostActive() []ClientCount {
	clients := []ClientCount{}
	for name, n := range f.clients {
		clients = append(clients, ClientCount{name, n})
	}
	slices.SortFunc(clients, func(a, b ClientCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Client, b.Client))
	})
	return clients
}

// fix says what to do about a finding.
func (f *found) fix(finding Finding, chosen, wanted rules) string {
	switch f.kind {
	case Database:
		return "keep the data in database 0 under a prefix of its own, such as " + prefixFor(f.detail) + ", or on a server of its own"
	case OneNode:
		return oneNodeFixes[f.detail]
	case PubSub:
		return "SPUBLISH and SSUBSCRIBE keep a channel on the nodes of its slot (Redis 7.0)"
	case SortPattern:
		return "read the keys and sort in the program, or keep a sorted set"
	}
	keys := f.samples[0].keys
	switch {
	case finding.Solved:
		fix := "name the keys" + taggedPatterns(chosen, keys)
		if f.kind == Undeclared {
			fix += ", and pass them all in KEYS"
		}
		if len(f.samples) == 1 {
			fix += " (seen once: check that the common part is no coincidence)"
		}
		return fix
	case wanted != nil:
		return "tags would do alone, but others of the findings need these keys tagged differently: the data must be modelled anew"
	case f.kind == Undeclared && len(keys) == 1:
		return "pass the key in KEYS"
	}
	fix := "the keys have no id in common: "
	if splits[strings.ToLower(strings.Fields(f.shape)[0])] {
		fix += "use one command per key, or let the client library split it by slot"
	} else {
		fix += "do it in steps, one slot at a time, or keep the data under one key"
	}
	if word := commonWord(keys); word != "" {
		fix += fmt.Sprintf("; the tag {%s} would work, but puts all of them in one slot", word)
	}
	if f.kind == Undeclared {
		fix += "; pass every key in KEYS"
	}
	return fix
}

func prefixFor(database string) string {
	return "db" + cmp.Or(database, "1") + ":"
}

// taggedPatterns lists the patterns of keys with their tags.
func taggedPatterns(r rules, keys []string) string {
	var list []string
	for _, key := range keys {
		list = appendNew(list, taggedPattern(r, key))
	}
	return " " + strings.Join(list, ", ")
}

// taggedPattern is the pattern of a key with its tag.
func taggedPattern(r rules, key string) string {
	name, _ := r.tagged(key)
	return patternOf(name)
}

// splits are commands whose keys have nothing to do with each other.
var splits = map[string]bool{"mget": true, "mset": true, "del": true, "unlink": true, "exists": true, "touch": true}

var oneNodeFixes = map[string]string{
	"keys":      "ask every master, or keep the names in a set",
	"scan":      "scan every master: cursors are a node's own",
	"flushall":  "send it to every master",
	"flushdb":   "send it to every master",
	"randomkey": "choose a master first, in proportion to DBSIZE",
	"dbsize":    "add up the masters' answers",
}

// tagsOf lists the rules with an example each.
func tagsOf(r rules, keys map[string]int64) []Tag {
	tags := []Tag{}
	seen := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		pattern := patternOf(key)
		if _, ruled := r[pattern]; !ruled || seen[pattern] {
			continue
		}
		seen[pattern] = true
		name, _ := r.tagged(key)
		tags = append(tags, Tag{Pattern: pattern, Tagged: patternOf(name), Example: name})
	}
	return tags
}
