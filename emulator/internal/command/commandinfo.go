package command

import (
	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// commandFamily are COMMAND and its subcommands: the table tells about itself.
var commandFamily = map[string]Handler{
	"command":                 (*Call).commandAll,
	"command|count":           (*Call).commandCount,
	"command|docs":            (*Call).commandDocs,
	"command|getkeys":         (*Call).commandGetKeys,
	"command|getkeysandflags": (*Call).commandGetKeysAndFlags,
	"command|help":            (*Call).commandHelp,
	"command|info":            (*Call).commandInfo,
	"command|list":            (*Call).commandList,
}

// commandAll is COMMAND: every command in full.
func (c *Call) commandAll() {
	c.Reply.Array(len(c.Table.commands))
	for _, s := range c.Table.rows {
		if s.Parent == nil {
			c.Table.describe(c.Reply, s)
		}
	}
}

// commandInfo is COMMAND INFO [name …].
func (c *Call) commandInfo() {
	if len(c.Args) == 2 {
		c.commandAll()
		return
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, name := range c.Args[2:] {
		if s := c.Table.LookupName(string(name)); s != nil {
			c.Table.describe(c.Reply, s)
		} else {
			c.Reply.Null()
		}
	}
}

// describe writes a row as COMMAND INFO shows it.
func (t *Table) describe(reply resp.Sink, s *Spec) {
	modern := t.Version.AtLeast(7, 0)
	if modern {
		reply.Array(10)
	} else {
		reply.Array(7)
	}
	reply.BulkString(s.Name)
	reply.Int(int64(s.Arity))
	statuses(reply, s.Flags.names())
	reply.Int(int64(s.First))
	reply.Int(int64(s.Last))
	reply.Int(int64(s.Step))
	categories := s.Categories.Names()
	reply.Set(len(categories))
	for _, name := range categories {
		reply.Status("@" + name)
	}
	if !modern {
		return
	}
	reply.Set(len(s.Tips))
	for _, tip := range s.Tips {
		reply.BulkString(tip)
	}
	reply.Set(len(s.KeySpecs))
	for i := range s.KeySpecs {
		s.KeySpecs[i].describe(reply)
	}
	t.describeSubcommands(reply, s)
}

func (t *Table) describeSubcommands(reply resp.Sink, s *Spec) {
	if s.Subcommands == nil {
		reply.Set(0)
		return
	}
	reply.Array(len(s.Subcommands))
	for _, name := range sortedKeys(s.Subcommands) {
		t.describe(reply, s.Subcommands[name])
	}
}

func (k *KeySpec) describe(reply resp.Sink) {
	if k.Notes == "" {
		reply.Map(3)
	} else {
		reply.Map(4)
		reply.BulkString("notes")
		reply.BulkString(k.Notes)
	}
	reply.BulkString("flags")
	statuses(reply, k.Flags.names())

	reply.BulkString("begin_search")
	switch k.Begin {
	case BeginIndex:
		searchStep(reply, "index", 1)
		field(reply, "index", k.Index)
	case BeginKeyword:
		searchStep(reply, "keyword", 2)
		reply.BulkString("keyword")
		reply.BulkString(k.Keyword)
		field(reply, "startfrom", k.StartFrom)
	default:
		searchStep(reply, "unknown", 0)
	}

	reply.BulkString("find_keys")
	switch k.Find {
	case FindRange:
		searchStep(reply, "range", 3)
		field(reply, "lastkey", k.LastKey)
		field(reply, "keystep", k.KeyStep)
		field(reply, "limit", k.Limit)
	case FindKeyNum:
		searchStep(reply, "keynum", 3)
		field(reply, "keynumidx", k.KeyNumIdx)
		field(reply, "firstkey", k.FirstKey)
		field(reply, "keystep", k.KeyStep)
	default:
		searchStep(reply, "unknown", 0)
	}
}

// searchStep writes the head of begin_search and find_keys: a type and a spec
// of n fields, which follow.
func searchStep(reply resp.Sink, kind string, n int) {
	reply.Map(2)
	reply.BulkString("type")
	reply.BulkString(kind)
	reply.BulkString("spec")
	reply.Map(n)
}

func field(reply resp.Sink, name string, value int) {
	reply.BulkString(name)
	reply.Int(int64(value))
}

func statuses(reply resp.Sink, names []string) {
	reply.Set(len(names))
	for _, name := range names {
		reply.Status(name)
	}
}

func (f Flags) names() []string {
	var names []string
	for _, n := range flagNames {
		if f&n.flag != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

func (f KeyFlags) names() []string {
	var names []string
	for i, name := range keyFlagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func (c *Call) commandCount() { c.Reply.Int(int64(len(c.Table.commands))) }

// commandList is COMMAND LIST [FILTERBY MODULE name|ACLCAT category|PATTERN
// pattern].
func (c *Call) commandList() {
	keep := func(*Spec) bool { return true }
	if len(c.Args) != 2 {
		if len(c.Args) != 5 || !c.is(2, "filterby") {
			c.fail(errSyntax)
			return
		}
		wanted := string(c.Args[4])
		switch {
		case c.is(3, "module"):
			keep = func(*Spec) bool { return false }
		case c.is(3, "aclcat"):
			category, _ := Category(wanted)
			keep = func(s *Spec) bool { return s.Categories&category != 0 }
		case c.is(3, "pattern"):
			keep = func(s *Spec) bool { return glob.MatchFold(wanted, s.Name) }
		default:
			c.fail(errSyntax)
			return
		}
	}
	var names []string
	for _, s := range c.Table.rows {
		if keep(s) {
			names = append(names, s.Name)
		}
	}
	c.Reply.Array(len(names))
	for _, name := range names {
		c.Reply.BulkString(name)
	}
}

func (c *Call) commandGetKeys() {
	if refs, ok := c.getKeys(); ok {
		c.Reply.Array(len(refs))
		for _, ref := range refs {
			c.Reply.Bulk(c.Args[2+ref.Pos])
		}
	}
}

func (c *Call) commandGetKeysAndFlags() {
	if refs, ok := c.getKeys(); ok {
		c.Reply.Array(len(refs))
		for _, ref := range refs {
			c.Reply.Array(2)
			c.Reply.Bulk(c.Args[2+ref.Pos])
			statuses(c.Reply, ref.Flags.names())
		}
	}
}

// getKeys finds the keys of the command that follows the subcommand.
func (c *Call) getKeys() ([]KeyRef, bool) {
	args := c.Args[2:]
	s := c.Table.Lookup(args)
	switch {
	case s == nil:
		return nil, c.fail("ERR Invalid command specified")
	case !s.HasKeys():
		return nil, c.fail("ERR The command has no key arguments")
	case !s.CheckArity(len(args)):
		return nil, c.fail("ERR Invalid number of arguments specified for command")
	}
	refs := s.AppendKeysAndFlags(nil, args)
	if len(refs) == 0 && !s.Has(NoMandatoryKeys) {
		return nil, c.fail("ERR Invalid arguments specified for command")
	}
	return refs, true
}

func (c *Call) commandHelp() {
	c.Help(
		"(no subcommand)",
		"    Return details about all Redis commands.",
		"COUNT",
		"    Return the total number of commands in this Redis server.",
		"LIST",
		"    Return a list of all commands in this Redis server.",
		"INFO [<command-name> ...]",
		"    Return details about multiple Redis commands.",
		"    If no command names are given, documentation details for all",
		"    commands are returned.",
		"DOCS [<command-name> ...]",
		"    Return documentation details about multiple Redis commands.",
		"    If no command names are given, documentation details for all",
		"    commands are returned.",
		"GETKEYS <full-command>",
		"    Return the keys from a full Redis command.",
		"GETKEYSANDFLAGS <full-command>",
		"    Return the keys and the access flags from a full Redis command.",
	)
}
