package server

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/config"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

var debugCommands = map[string]command.Handler{"debug": debugCommand}

// debugSubcommand is a form of DEBUG: how many words it has, DEBUG included, and
// what it does.
type debugSubcommand struct {
	min, max int
	run      func(n *Node, c *command.Call)
}

// debugSubcommands are those that mean something here. What turns a knob of
// Redis' memory management or of its files is accepted and changes nothing.
var debugSubcommands = map[string]debugSubcommand{
	"help":                         {2, 2, func(_ *Node, c *command.Call) { help(c) }},
	"sleep":                        {3, 3, debugSleep},
	"error":                        {3, 3, debugError},
	"log":                          {3, 3, debugLog},
	"set-active-expire":            {3, 3, debugActiveExpire},
	"object":                       {3, 3, debugObject},
	"sdslen":                       {3, 3, debugSDSLen},
	"listpack":                     {3, 3, debugListpack},
	"quicklist":                    {3, 4, debugQuicklist},
	"htstats":                      {3, 3, debugHashTables},
	"htstats-key":                  {3, 3, debugHashTableOfKey},
	"digest":                       {2, 2, debugDigest},
	"digest-value":                 {2, math.MaxInt, debugDigestValue},
	"populate":                     {3, 5, debugPopulate},
	"protocol":                     {3, 3, debugProtocol},
	"reload":                       {2, math.MaxInt, debugReload},
	"loadaof":                      {2, 2, debugReload},
	"replicate":                    {3, math.MaxInt, debugReplicate},
	"quicklist-packed-threshold":   {3, 3, debugPackedThreshold},
	"replybuffer":                  {4, 4, debugReplyBuffer},
	"set-disable-deny-scripts":     {3, 3, debugDenyScripts},
	"set-skip-checksum-validation": {3, 3, accepted},
	"aof-flush-sleep":              {3, 3, accepted},
	"pause-cron":                   {3, 3, accepted},
	"drop-cluster-packet-filter":   {3, 3, accepted},
	"dict-resizing":                {3, 3, accepted},
	"leak":                         {3, 3, accepted},
	"change-repl-id":               {2, 2, accepted},
	"stringmatch-test":             {2, 2, func(_ *Node, c *command.Call) { c.Reply.Status("Apparently Redis did not crash: test passed") }},
	"client-eviction":              {2, 2, func(_ *Node, c *command.Call) { c.Reply.Error("ERR maxmemory-clients is disabled.") }},
	"structsize":                   {2, 2, debugStructSize},
	"segfault":                     {2, 2, wouldEndProcess},
	"panic":                        {2, 2, wouldEndProcess},
	"assert":                       {2, 2, wouldEndProcess},
	"oom":                          {2, 2, wouldEndProcess},
	"restart":                      {2, 3, wouldEndProcess},
	"crash-and-recover":            {2, 3, wouldEndProcess},
}

func debugCommand(c *command.Call) {
	sub, ok := debugSubcommands[strings.ToLower(string(c.Args[1]))]
	if !ok || len(c.Args) < sub.min || len(c.Args) > sub.max {
		c.Reply.Error("ERR unknown subcommand or wrong number of arguments for '" + untilNUL(c.Args[1]) + "'. Try DEBUG HELP.")
		return
	}
	sub.run(c.Client.(*session).node, c)
}

func accepted(_ *Node, c *command.Call) { c.Reply.Status("OK") }

func wouldEndProcess(_ *Node, c *command.Call) {
	c.Reply.Error("ERR DEBUG " + strings.ToUpper(untilNUL(c.Args[1])) + " would end the whole process, which holds other nodes too")
}

// debugSleep keeps the node from doing anything else.
func debugSleep(n *Node, c *command.Call) {
	seconds, ok := number.ParseFloat(c.Args[2])
	if !ok || math.IsNaN(seconds) {
		seconds = 0
	}
	timer := time.NewTimer(time.Duration(min(max(seconds, 0), 1e6) * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.life.end:
	}
	c.Reply.Status("OK")
}

// debugError replies with an error of which no statistics know.
func debugError(_ *Node, c *command.Call) {
	c.Reply.Error(string(c.Args[2]))
	outcomeOf(c.Reply).Errors--
}

func debugLog(n *Node, c *command.Call) {
	n.log.Warn("DEBUG LOG", "message", string(c.Args[2]))
	c.Reply.Status("OK")
}

func debugActiveExpire(n *Node, c *command.Call) {
	on, _ := number.ParseInt(c.Args[2])
	n.expiry.off = on == 0
	c.Reply.Status("OK")
}

func debugDenyScripts(n *Node, c *command.Call) {
	open, _ := number.ParseInt(c.Args[2])
	n.scripts.open = open != 0
	c.Reply.Status("OK")
}

func debugDigest(_ *Node, c *command.Call) {
	d := c.Keyspace().Digest()
	c.Reply.Status(hex.EncodeToString(d[:]))
}

func debugDigestValue(_ *Node, c *command.Call) {
	c.Reply.Array(len(c.Args) - 2)
	for _, key := range c.Args[2:] {
		d := c.DB.DigestValue(key)
		c.Reply.Status(hex.EncodeToString(d[:]))
	}
}

// debugPopulate makes keys that replicas do not get.
func debugPopulate(_ *Node, c *command.Call) {
	count, ok := number.ParseInt(c.Args[2])
	size := int64(0)
	if ok && len(c.Args) == 5 {
		size, ok = number.ParseInt(c.Args[4])
	}
	if !ok || count < 0 || size < 0 {
		c.Reply.Error("ERR value is out of range, must be positive")
		return
	}
	prefix := []byte("key")
	if len(c.Args) > 3 {
		prefix = c.Args[3]
	}
	for i := range count {
		key := fmt.Appendf(nil, "%s:%d", prefix, i)
		if c.DB.Peek(key) != nil {
			continue
		}
		value := fmt.Appendf(nil, "value:%d", i)
		if size > 0 {
			value = append(value, make([]byte, max(0, size-int64(len(value))))...)[:size]
		}
		c.DB.Add(key, keyspace.NewString(value))
	}
	c.Reply.Status("OK")
}

func debugReplicate(n *Node, c *command.Call) {
	if n.replicating() && !c.FromMaster {
		n.effects.add(c.DB.ID(), c.Args[2:])
	}
	c.Reply.Status("OK")
}

// debugPackedThreshold only checks its argument: here all elements of a list are
// packed, however long they are.
func debugPackedThreshold(_ *Node, c *command.Call) {
	size, ok := config.ParseMemory(string(c.Args[2]))
	if !ok || size > 4<<30 {
		c.Reply.Error("ERR argument must be a memory value bigger than 1 and smaller than 4gb")
		return
	}
	c.Reply.Status("OK")
}

func debugReplyBuffer(_ *Node, c *command.Call) {
	switch {
	case is(c.Args[2], "resizing"):
	case is(c.Args[2], "peak-reset-time"):
		if _, ok := number.ParseInt(c.Args[3]); !ok && !is(c.Args[3], "never") && !is(c.Args[3], "reset") {
			c.Reply.Error(errNotInteger)
			return
		}
	default:
		c.Reply.Error("ERR unknown subcommand or wrong number of arguments for '" + untilNUL(c.Args[1]) + "'. Try DEBUG HELP.")
		return
	}
	c.Reply.Status("OK")
}

// debugProtocol replies with a value of each type.
func debugProtocol(_ *Node, c *command.Call) {
	r := c.Reply
	switch strings.ToLower(string(c.Args[2])) {
	case "string":
		r.BulkString("Hello World")
	case "integer":
		r.Int(12345)
	case "double":
		r.Double(3.141)
	case "bignum":
		r.BigNumber("1234567999999999999999999999999999999")
	case "null":
		r.Null()
	case "array":
		r.Array(3)
		for i := range 3 {
			r.Int(int64(i))
		}
	case "set":
		r.Set(3)
		for i := range 3 {
			r.Int(int64(i))
		}
	case "map":
		r.Map(3)
		for i := range 3 {
			r.Int(int64(i))
			r.Bool(i == 1)
		}
	case "attrib":
		debugAttribute(c)
	case "push":
		debugPush(c)
	case "verbatim":
		r.Verbatim("txt", "This is a verbatim\nstring")
	case "true", "false":
		r.Bool(is(c.Args[2], "true"))
	default:
		r.Error("ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false")
	}
}
