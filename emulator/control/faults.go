package control

import (
	"fmt"
	"math"
	"strings"

	"github.com/fakecluster/fakecluster/emulator"
)

const faultHelp = `fault [on MATCH …] ACTION

MATCH     command NAME[,NAME…]   get, client|kill
          key GLOB               one of its keys
          node NODES             where it is executed
          client GLOB            the name of CLIENT SETNAME
          nth N                  from the Nth that matches on
          times N                at most N
          chance P               with a probability below 1
ACTION    drop                   end the connection, execute nothing
          lose                   execute, end the connection without a reply
          delay TIME             execute after a time
          error TEXT             answer with an error: OOM, or a whole text
          truncate BYTES         send the beginning of the reply, end the connection
          trickle BYTES TIME     send the reply that many bytes at a time
          refuse                 refuse new connections

fault on command get key user:* nth 3 times 1 error LOADING
`

func injectFault(c *call) (string, error) {
	if len(c.args) == 1 && strings.EqualFold(c.args[0], "help") {
		return faultHelp, nil
	}
	var r emulator.Rule
	words := c.args
	if len(words) > 0 && strings.EqualFold(words[0], "on") {
		words = words[1:]
	}
	for len(words) >= 2 {
		known, err := c.match(&r, strings.ToLower(words[0]), words[1])
		if err != nil {
			return "", err
		}
		if !known {
			break
		}
		words = words[2:]
	}
	var err error
	if r.Action, err = action(words); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastFault++
	c.faults[c.lastFault] = fault{c.cluster.Inject(r), strings.Join(c.args, " ")}
	return fmt.Sprint(c.lastFault), nil
}

// match reads one condition; known is false for a word that is none.
func (c *call) match(r *emulator.Rule, word, value string) (known bool, err error) {
	switch word {
	case "command":
		r.Commands = strings.Split(value, ",")
	case "key":
		r.Key = value
	case "client":
		r.Client = value
	case "node":
		r.Nodes, err = c.nodes(value)
	case "nth":
		r.Nth, err = count(value, 1, math.MaxInt32)
	case "times":
		r.Times, err = count(value, 1, math.MaxInt32)
	case "chance":
		r.Probability, err = probability(value)
	default:
		return false, nil
	}
	return true, err
}

func action(words []string) (emulator.Action, error) {
	if len(words) == 0 {
		return emulator.Action{}, usagef("no action")
	}
	name, rest := strings.ToLower(words[0]), words[1:]
	switch {
	case name == "drop" && len(rest) == 0:
		return emulator.DropBefore(), nil
	case name == "lose" && len(rest) == 0:
		return emulator.DropAfter(), nil
	case name == "refuse" && len(rest) == 0:
		return emulator.Refuse(), nil
	case name == "error" && len(rest) > 0:
		return emulator.ReplyWith(strings.Join(rest, " ")), nil
	case name == "delay" && len(rest) == 1:
		d, err := duration(rest[0])
		return emulator.Delay(d), err
	case name == "truncate" && len(rest) == 1:
		n, err := count(rest[0], 0, math.MaxInt32)
		return emulator.Truncate(n), err
	case name == "trickle" && len(rest) == 2:
		n, err := count(rest[0], 1, math.MaxInt32)
		if err != nil {
			return emulator.Action{}, err
		}
		d, err := duration(rest[1])
		return emulator.Trickle(n, d), err
	}
	return emulator.Action{}, usagef("%q", strings.Join(words, " "))
}

func listFaults(c *call) (string, error) {
	if err := c.wants(0, 0); err != nil {
		return "", err
	}
	faults := c.Faults()
	if len(faults) == 0 {
		return "no faults", nil
	}
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&b, "%d hits=%d %s\n", f.Number, f.Hits, f.Text)
	}
	return b.String(), nil
}

func removeFault(c *call) (string, error) {
	if err := c.wants(1, 1); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.args[0] == "*" {
		for _, f := range c.faults {
			f.Remove()
		}
		clear(c.faults)
		return "", nil
	}
	number, err := count(c.args[0], 1, math.MaxInt32)
	if err != nil {
		return "", err
	}
	f, found := c.faults[number]
	if !found {
		return "", fmt.Errorf("there is no fault %d", number)
	}
	f.Remove()
	delete(c.faults, number)
	return "", nil
}
