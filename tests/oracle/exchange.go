package oracle

import (
	"slices"
	"strings"
)

// What stands for a payload that each side gets from the other just before the
// command is sent: the DUMP of a key, or all function libraries.
const (
	dumpPlaceholder      = "$DUMP:"
	librariesPlaceholder = "$LIBRARIES"
)

// carriesPayload reports whether a command has payloads to be exchanged.
func carriesPayload(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == librariesPlaceholder || strings.HasPrefix(arg, dumpPlaceholder)
	})
}

// exchange puts in the place of payloads what the other side says.
func (x *Runner) exchange(node int, args []string) (forA, forB []string) {
	if !carriesPayload(args) {
		return args, args
	}
	forA, forB = slices.Clone(args), slices.Clone(args)
	for i, arg := range args {
		if arg == librariesPlaceholder {
			forB[i], forA[i] = x.askBoth(node, "FUNCTION", "DUMP")
			continue
		}
		key, found := strings.CutPrefix(arg, dumpPlaceholder)
		if !found {
			continue
		}
		forB[i], forA[i] = x.askBoth(node, "DUMP", key)
		// A hash table is dumped in its own order, which a listpack then keeps:
		// both sides take the same payload, now this side's, now that one's.
		if encoding, _ := x.askBoth(node, "OBJECT", "ENCODING", key); encoding == "hashtable" {
			if len(strings.Join(args, ""))%2 == 0 {
				forA[i] = forB[i]
			} else {
				forB[i] = forA[i]
			}
		}
	}
	return forA, forB
}

// askBoth is what both sides say, or nothing if both have an error: its text may name
// a side's ports.
func (x *Runner) askBoth(node int, question ...string) (string, string) {
	a, b := x.a.control[node].ask(question...), x.b.control[node].ask(question...)
	if a.Kind == '-' && b.Kind == '-' {
		return "", ""
	}
	return a.Text, b.Text
}
