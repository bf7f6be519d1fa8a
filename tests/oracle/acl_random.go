package oracle

import "strings"

// aclPatterns are key and channel patterns: some meet the keys of keyTypes.
var aclPatterns = []string{"*", "s*", "h*", "[lt]*", "?1*", "s1{*}", "x*", "", "nosuch:*", "*{a}"}

// aclCommands are what rules allow and forbid besides categories.
var aclCommands = []string{
	"get", "set", "mget", "mset", "hset", "hgetall", "lpush", "lrange", "del", "zadd", "sort", "sort_ro", "copy", "eval", "xadd", "xread",
	"publish", "spublish", "ping", "keys", "multi", "exec", "flushall", "object", "object|encoding", "config", "config|get", "config|set",
	"client", "client|list", "client|nosuch", "acl|whoami", "xgroup|create", "nosuch", "get|first", "select|0", "get|a|b", "CONFIG|GET", "",
}

var aclCategories = []string{
	"all", "read", "write", "string", "hash", "list", "set", "sortedset", "stream", "keyspace", "bitmap", "hyperloglog", "geo", "pubsub",
	"admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting", "nosuch", "ALL",
}

// aclRule writes one rule of ACL SETUSER; a selector may take several arguments.
func (g *Generator) aclRule() []string {
	switch {
	case g.chance(0.12):
		return g.aclSelector()
	case g.chance(0.2):
		return []string{g.pick("on", "on", "on", "off", "nopass", "resetpass", "reset", "allkeys", "resetkeys", "allchannels", "resetchannels",
			"allcommands", "nocommands", "clearselectors", "sanitize-payload", "skip-sanitize-payload", "ON", "nosuch", "")}
	case g.chance(0.2):
		return []string{g.pick(">p1", ">p2", "<p1", "<nosuch", ">", "#abc",
			"#f64551fcd6f07823cb87971cfb91446425da18286b3ab1ef935e0cbd7a69f68a",
			"!f64551fcd6f07823cb87971cfb91446425da18286b3ab1ef935e0cbd7a69f68a", "!abc")}
	}
	return []string{g.aclPermission()}
}

func (g *Generator) aclPermission() string {
	switch {
	case g.chance(0.35):
		return g.pick("~", "~", "~", "%R~", "%W~", "%RW~", "%WR~", "%~", "%X~", "%R") + g.pick(aclPatterns...)
	case g.chance(0.15):
		return "&" + g.pick("*", "c*", "c01", "sc*", "")
	case g.chance(0.5):
		return g.pick("+@", "+@", "-@") + g.pick(aclCategories...)
	}
	return g.pick("+", "+", "-") + g.pick(aclCommands...)
}

func (g *Generator) aclSelector() []string {
	var rules []string
	for range g.rnd.IntN(4) {
		rules = append(rules, g.aclPermission())
	}
	if g.chance(0.05) {
		rules = append(rules, g.pick("on", "nopass", ">p1", "(+get)", "clearselectors", ")"))
	}
	selector := "(" + strings.Join(rules, " ") + ")"
	switch {
	case g.chance(0.1):
		return []string{selector[:len(selector)-1]}
	case g.chance(0.3):
		return strings.Split(selector, " ")
	}
	return []string{selector}
}

// anyCommand writes a command of any family.
func (g *Generator) anyCommand() []string {
	outer := g.current
	defer func() { g.current = outer }()
	for g.current == outer {
		g.current = g.chooseFamily()
	}
	return g.command()
}
