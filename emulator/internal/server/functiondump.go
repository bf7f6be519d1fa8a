package server

import (
	"maps"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
	"github.com/fakecluster/fakecluster/lua"
)

// functionDump answers with the libraries' code as RDB has it, sealed like a
// value that DUMP makes.
func functionDump(c *command.Call) {
	n := c.Client.(*session).node
	w := rdb.Writer{Compress: n.config.Bool("rdbcompression")}
	for _, name := range slices.Sorted(maps.Keys(n.scripts.functions.libraries)) {
		w.Byte(rdb.OpFunction)
		w.String(n.scripts.functions.libraries[name].Code)
	}
	c.Reply.Bulk(rdb.Seal(w.Bytes(), rdb.FormatVersion(n.version)))
}

// functionRestore loads the libraries of a dump, all of them or none.
func functionRestore(c *command.Call) {
	n := c.Client.(*session).node
	if len(c.Args) > 4 {
		badSubcommand(c)
		return
	}
	flush, replace := false, false
	if len(c.Args) == 4 {
		switch {
		case is(c.Args[3], "flush"):
			flush = true
		case is(c.Args[3], "replace"):
			replace = true
		case !is(c.Args[3], "append"):
			c.Reply.Error("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.")
			return
		}
	}
	restored, msg := n.readLibraries(c.Args[2])
	if msg != "" {
		c.Reply.Error(msg)
		return
	}
	merged, msg := n.scripts.functions.joinedBy(restored, flush, replace)
	if msg != "" {
		c.Reply.Error(msg)
		return
	}
	n.scripts.functions = merged
	c.Keyspace().Dirty++
	c.Reply.Status("OK")
}

// readLibraries loads the libraries of a payload without putting them in.
func (n *Node) readLibraries(payload []byte) ([]*lua.Library, string) {
	body, err := rdb.Unseal(payload, rdb.FormatVersion(n.version))
	if err != nil {
		return nil, "ERR DUMP payload version or checksum are wrong"
	}
	var loaded []*lua.Library
	r := rdb.NewReader(body)
	for r.Left() > 0 {
		if r.Byte() != rdb.OpFunction {
			return nil, "ERR given type is not a function"
		}
		code := r.String()
		if r.Err() != nil {
			return nil, "ERR Failed loading library data"
		}
		l, err := n.scripts.runtime.LoadLibrary(code)
		if err != nil {
			return nil, err.Error()
		}
		loaded = append(loaded, l)
	}
	return loaded, ""
}

// joinedBy returns the libraries together with others, whose names must be new
// unless they replace.
func (f *functions) joinedBy(others []*lua.Library, flush, replace bool) (merged functions, msg string) {
	names := map[string]bool{}
	for _, l := range others {
		if !flush && !replace && f.libraries[l.Name] != nil || names[l.Name] {
			return functions{}, "ERR Library " + l.Name + " already exists"
		}
		names[l.Name] = true
	}
	if !flush {
		for name, l := range f.libraries {
			if !names[name] {
				merged.add(l)
			}
		}
	}
	for _, l := range others {
		for _, function := range l.Functions {
			if merged.find(function.Name) != nil {
				return functions{}, "ERR Function " + function.Name + " already exists"
			}
		}
		merged.add(l)
	}
	return merged, ""
}
