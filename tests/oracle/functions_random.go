package oracle

import (
	"fmt"
	"strings"
)

const functionNames = 4

func (g *Generator) functionName() string {
	if g.chance(0.03) {
		return g.pick("nosuch", "", "F1", "f1 ")
	}
	return "f" + g.number(1, functionNames)
}

var inFunction = strings.NewReplacer("KEYS", "keys", "ARGV", "args")

// functionFlags are what a registration may say beyond name and callback.
var functionFlags = []string{
	"flags={'no-writes'}", "flags={'no-writes'}", "flags={'allow-oom'}", "flags={'no-cluster'}", "flags={'allow-cross-slot-keys'}",
	"flags={'allow-stale','no-writes'}", "flags={}", "flags={'nosuch'}", "flags=1", "flags={1}", "description='what it does'", "description=5", "nosuch=1",
}

// library writes the source of a function library.
func (g *Generator) library() string {
	if g.chance(0.06) {
		return g.pick("", "return 1", "#!lua\nreturn 1", "#!lua name=\nreturn 1", "#!lua name=a-b\nreturn 1", "#!python name=lib1\nx",
			"#!lua name=lib1 name=lib2\nreturn 1", "#!lua name=lib1 nosuch=1\nreturn 1", "#!lua name=lib1", "#!lua name=lib1\nreturn 1",
			"#!lua name=lib1\nredis.call('PING')", "#!lua name=lib1\nerror('boom')", "#!lua name=lib1\nerror({err='MY err'})", "#!lua name=lib1\nx = 1",
			"#!lua name=\"lib1\"\nreturn redis.register_function('q', function() return 1 end)")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#!lua name=lib%s\n", g.number(1, 3))
	if g.chance(0.1) {
		b.WriteString("local counter = 0\n")
	}
	for range 1 + g.rnd.IntN(2) {
		g.registration(&b)
	}
	return b.String()
}

func (g *Generator) registration(b *strings.Builder) {
	body := g.pick(luaScripts...)
	for strings.HasPrefix(body, "#!") {
		body = g.pick(luaScripts...)
	}
	callback := "function(keys, args) " + inFunction.Replace(body) + "\nend"
	name := "f" + g.number(1, functionNames)
	if g.chance(0.03) {
		name = g.pick("", "a b", "a-b", "f_5")
	}
	if g.chance(0.5) {
		fmt.Fprintf(b, "redis.register_function('%s', %s)\n", name, callback)
		return
	}
	fmt.Fprintf(b, "redis.register_function{function_name='%s', callback=%s", name, callback)
	for range g.rnd.IntN(3) {
		b.WriteString(", " + g.pick(functionFlags...))
	}
	b.WriteString("}\n")
}
