package command

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// commandDoc is what COMMAND DOCS tells beyond the table.
type commandDoc struct {
	Summary         string
	Complexity      string
	DocFlags        []string    `json:"doc_flags"`
	DeprecatedSince string      `json:"deprecated_since"`
	ReplacedBy      string      `json:"replaced_by"`
	History         [][2]string // version, what it changed
	Arguments       []argumentDoc
}

type argumentDoc struct {
	Name, Type      string
	KeySpecIndex    *int `json:"key_spec_index"`
	Token           *string
	Summary         string
	Since           string
	DeprecatedSince string `json:"deprecated_since"`
	Flags           []string
	Arguments       []argumentDoc
}

// docs is read when somebody asks for the first time. It is what 7.0.15 says,
// and in our words what came later.
var docs = sync.OnceValue(func() map[string]commandDoc {
	data, err := tableFiles.ReadFile("tables/docs.json")
	if err != nil {
		panic(err)
	}
	var all map[string]commandDoc
	if err := json.Unmarshal(data, &all); err != nil {
		panic(fmt.Errorf("command docs: %w", err))
	}
	return all
})

// commandDocs is COMMAND DOCS [name …]; unknown names are left out.
func (c *Call) commandDocs() {
	var specs []*Spec
	if len(c.Args) == 2 {
		for _, s := range c.Table.rows {
			if s.Parent == nil {
				specs = append(specs, s)
			}
		}
	}
	for _, name := range c.Args[2:] {
		if s := c.Table.LookupName(string(name)); s != nil {
			specs = append(specs, s)
		}
	}
	c.Reply.Map(len(specs))
	for _, s := range specs {
		document(c.Reply, s)
	}
}

// document writes a row's name and documentation.
func document(reply resp.Sink, s *Spec) {
	d := docs()[s.Name]
	reply.BulkString(s.Name)
	reply.Map(2 + count(d.Summary != "", d.Complexity != "", d.DocFlags != nil, d.DeprecatedSince != "",
		d.ReplacedBy != "", d.History != nil, d.Arguments != nil, s.Subcommands != nil))
	text(reply, "summary", d.Summary)
	text(reply, "since", s.Since.String())
	text(reply, "group", s.Group)
	text(reply, "complexity", d.Complexity)
	if d.DocFlags != nil {
		reply.BulkString("doc_flags")
		statuses(reply, d.DocFlags)
	}
	text(reply, "deprecated_since", d.DeprecatedSince)
	text(reply, "replaced_by", d.ReplacedBy)
	if d.History != nil {
		reply.BulkString("history")
		reply.Set(len(d.History))
		for _, change := range d.History {
			reply.Array(2)
			reply.BulkString(change[0])
			reply.BulkString(change[1])
		}
	}
	documentArguments(reply, d.Arguments)
	if s.Subcommands != nil {
		reply.BulkString("subcommands")
		reply.Map(len(s.Subcommands))
		for _, name := range sortedKeys(s.Subcommands) {
			document(reply, s.Subcommands[name])
		}
	}
}

func documentArguments(reply resp.Sink, arguments []argumentDoc) {
	if arguments == nil {
		return
	}
	reply.BulkString("arguments")
	reply.Array(len(arguments))
	for _, a := range arguments {
		reply.Map(2 + count(a.KeySpecIndex != nil, a.Token != nil, a.Summary != "", a.Since != "",
			a.DeprecatedSince != "", a.Flags != nil, a.Arguments != nil))
		text(reply, "name", a.Name)
		text(reply, "type", a.Type)
		if a.KeySpecIndex != nil {
			field(reply, "key_spec_index", *a.KeySpecIndex)
		}
		if a.Token != nil {
			reply.BulkString("token")
			reply.BulkString(*a.Token)
		}
		text(reply, "summary", a.Summary)
		text(reply, "since", a.Since)
		text(reply, "deprecated_since", a.DeprecatedSince)
		if a.Flags != nil {
			reply.BulkString("flags")
			statuses(reply, a.Flags)
		}
		documentArguments(reply, a.Arguments)
	}
}

// text writes a field that is there if it is not empty.
func text(reply resp.Sink, name, value string) {
	if value != "" {
		reply.BulkString(name)
		reply.BulkString(value)
	}
}

// count is the number of conditions that hold.
func count(conditions ...bool) int {
	n := 0
	for _, holds := range conditions {
		if holds {
			n++
		}
	}
	return n
}
