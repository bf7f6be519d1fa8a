package command

import "strings"

// extractors find the keys of the commands whose arguments have to be read to
// know them. They are used for routing, and for key flags where the key specs
// fail or depend on arguments.
var extractors = map[string]extractor{
	"blmpop":            keysAfterCount(2),
	"bzmpop":            keysAfterCount(2),
	"lmpop":             keysAfterCount(1),
	"zmpop":             keysAfterCount(1),
	"sintercard":        keysAfterCount(1),
	"zdiff":             keysAfterCount(1),
	"zinter":            keysAfterCount(1),
	"zintercard":        keysAfterCount(1),
	"zunion":            keysAfterCount(1),
	"zdiffstore":        keysAndDestination,
	"zinterstore":       keysAndDestination,
	"zunionstore":       keysAndDestination,
	"eval":              keysAfterCount(2),
	"eval_ro":           keysAfterCount(2),
	"evalsha":           keysAfterCount(2),
	"evalsha_ro":        keysAfterCount(2),
	"fcall":             keysAfterCount(2),
	"fcall_ro":          keysAfterCount(2),
	"set":               setKeys,
	"bitfield":          bitfieldKeys,
	"sort":              sortKeys,
	"stralgo":           stralgoKeys,
	"sort_ro":           sortROKeys,
	"migrate":           migrateKeys,
	"georadius":         georadiusKeys,
	"georadiusbymember": georadiusKeys,
	"xread":             xreadKeys,
	"xreadgroup":        xreadKeys,
}

// keysAfterCount extracts keys that follow their number, which is at position
// count. A number that is not possible means no keys.
func keysAfterCount(count int) extractor {
	return func(refs []KeyRef, args [][]byte) []KeyRef {
		n := atoi(args[count])
		first := count + 1
		if n < 1 || n > len(args)-first {
			return refs
		}
		for i := range n {
			refs = append(refs, KeyRef{Pos: first + i})
		}
		return refs
	}
}

// keysAndDestination extracts keys counted at position 2 and the destination
// before them, which comes last.
func keysAndDestination(refs []KeyRef, args [][]byte) []KeyRef {
	sources := keysAfterCount(2)(refs, args)
	if len(sources) == len(refs) {
		return refs
	}
	return append(sources, KeyRef{Pos: 1})
}

// atoi reads a number the way C does: what follows the digits is ignored, and
// what has no digits is 0.
func atoi(arg []byte) int {
	s := strings.TrimLeft(string(arg), " \t\n\v\f\r")
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 1<<40 {
			break
		}
		n = n*10 + int(c-'0')
	}
	if negative {
		n = -n
	}
	return int(int32(n)) // C's int, where larger numbers wrap around
}

// setKeys: GET makes SET read the key.
func setKeys(refs []KeyRef, args [][]byte) []KeyRef {
	flags := KeyOW | KeyUpdate
	for _, arg := range args[min(3, len(args)):] {
		if equalFold(arg, "get") {
			flags = KeyRW | KeyAccess | KeyUpdate
		}
	}
	return append(refs, KeyRef{Pos: 1, Flags: flags})
}

// bitfieldKeys: only GET leaves the key as it is.
func bitfieldKeys(refs []KeyRef, args [][]byte) []KeyRef {
	flags := KeyRO | KeyAccess
	for i := 2; i < len(args); i++ {
		left := len(args) - 1 - i
		switch {
		case equalFold(args[i], "get") && left >= 2:
			i += 2
			continue
		case equalFold(args[i], "overflow") && left >= 1:
			i++
			continue
		}
		flags = KeyRW | KeyAccess | KeyUpdate
		break
	}
	return append(refs, KeyRef{Pos: 1, Flags: flags})
}

// sortKeys: the last STORE counts.
func sortKeys(refs []KeyRef, args [][]byte) []KeyRef {
	refs = append(refs, KeyRef{Pos: 1, Flags: KeyRO | KeyAccess})
	store := 0
	for i := 2; i < len(args); i++ {
		switch {
		case equalFold(args[i], "limit"):
			i += 2
		case equalFold(args[i], "get"), equalFold(args[i], "by"):
			i++
		case equalFold(args[i], "store") && i+1 < len(args):
			store = i + 1
		}
	}
	if store == 0 {
		return refs
	}
	return append(refs, KeyRef{Pos: store, Flags: KeyOW | KeyUpdate})
}

func sortROKeys(refs []KeyRef, _ [][]byte) []KeyRef {
	return append(refs, KeyRef{Pos: 1, Flags: KeyRO | KeyAccess})
}

// migrateKeys: one key at position 3, or all that follow KEYS.
func migrateKeys(refs []KeyRef, args [][]byte) []KeyRef {
	first, n := 3, 1
	for i := 6; i < len(args); i++ {
		if equalFold(args[i], "keys") {
			if len(args[3]) > 0 {
				return refs
			}
			first, n = i+1, len(args)-i-1
			break
		}
		switch {
		case equalFold(args[i], "auth"):
			i++
		case equalFold(args[i], "auth2"):
			i += 2
		}
	}
	for i := range n {
		refs = append(refs, KeyRef{Pos: first + i, Flags: KeyRW | KeyAccess | KeyDelete})
	}
	return refs
}

// georadiusKeys: the last STORE or STOREDIST counts.
func georadiusKeys(refs []KeyRef, args [][]byte) []KeyRef {
	refs = append(refs, KeyRef{Pos: 1})
	store := 0
	for i := 5; i+1 < len(args); i++ {
		if equalFold(args[i], "store") || equalFold(args[i], "storedist") {
			i++
			store = i
		}
	}
	if store == 0 {
		return refs
	}
	return append(refs, KeyRef{Pos: store})
}

// xreadKeys: what follows STREAMS is one half keys, one half IDs.
func xreadKeys(refs []KeyRef, args [][]byte) []KeyRef {
	for i := 1; i < len(args); i++ {
		switch {
		case equalFold(args[i], "block"), equalFold(args[i], "count"):
			i++
		case equalFold(args[i], "group"):
			i += 2
		case equalFold(args[i], "noack"):
		case equalFold(args[i], "streams"):
			n := len(args) - i - 1
			if n%2 != 0 {
				return refs
			}
			for j := range n / 2 {
				refs = append(refs, KeyRef{Pos: i + 1 + j})
			}
			return refs
		default:
			return refs
		}
	}
	return refs
}

// equalFold reports whether arg is word, in any case, without allocating.
func equalFold(arg []byte, word string) bool {
	return len(arg) == len(word) && strings.EqualFold(string(arg), word)
}
