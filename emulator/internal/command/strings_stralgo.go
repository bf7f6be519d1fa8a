package command

import "github.com/fakecluster/fakecluster/emulator/internal/version"

// stralgoSpec is the row of STRALGO, which 7.0 replaced by LCS and of which no
// table tells any more.
var stralgoSpec = Spec{
	Name: "stralgo", Since: version.Version{Major: 6}, Group: "string", Arity: -2, Flags: ReadOnly | MovableKeys,
	Categories: categoriesOf("read", "string", "slow"),
	KeySpecs: []KeySpec{{
		Flags: KeyRO | KeyAccess, Begin: BeginKeyword, Keyword: "KEYS", StartFrom: 2, Find: FindRange, LastKey: 1, KeyStep: 1,
	}},
}

func categoriesOf(names ...string) (all Categories) {
	for _, name := range names {
		bit, _ := Category(name)
		all |= bit
	}
	return all
}

// stralgoKeys: the two words behind KEYS.
func stralgoKeys(refs []KeyRef, args [][]byte) []KeyRef {
	for i := 1; i+2 < len(args); i++ {
		switch {
		case equalFold(args[i], "strings"):
			return refs
		case equalFold(args[i], "keys"):
			return append(refs, KeyRef{Pos: i + 1, Flags: KeyRO | KeyAccess}, KeyRef{Pos: i + 2, Flags: KeyRO | KeyAccess})
		}
	}
	return refs
}

// stralgo is STRALGO LCS (KEYS a b | STRINGS a b) with the options of LCS in any
// order.
func stralgo(c *Call) {
	if !c.is(1, "LCS") {
		c.fail(errSyntax)
		return
	}
	var options [][]byte
	var a, b []byte
	given := false
	for i := 2; i < len(c.Args); i++ {
		if c.is(i, "MINMATCHLEN") && c.left(i) > 0 {
			options = append(options, c.Args[i], c.Args[i+1])
			i++
			continue
		}
		keys := c.is(i, "KEYS")
		if !keys && !c.is(i, "STRINGS") || c.left(i) < 2 {
			options = append(options, c.Args[i])
			continue
		}
		if given {
			c.fail("ERR Either use STRINGS or KEYS")
			return
		}
		a, b, given = c.Args[i+1], c.Args[i+2], true
		if keys {
			var ok bool
			if a, b, ok = c.stringsAt(i+1, i+2); !ok {
				return
			}
		}
		i += 2
	}
	asked := *c
	asked.Args = options
	o, ok := asked.lcsOptions(0)
	if !ok {
		return
	}
	if !given {
		c.fail("ERR Please specify two strings: STRINGS or KEYS options are mandatory")
		return
	}
	c.replyLCS(a, b, o)
}

// stringsAt is what the keys at two positions hold.
func (c *Call) stringsAt(first, second int) (a, b []byte, ok bool) {
	v, w := c.DB.Read(c.Args[first]), c.DB.Read(c.Args[second])
	a, okA := stringBytes(v)
	b, okB := stringBytes(w)
	if !okA || !okB {
		return nil, nil, c.fail("ERR The specified keys must contain string values")
	}
	return a, b, true
}
