package control

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/fakecluster/fakecluster/emulator"
)

// traceSize is how many commands a trace keeps unless said otherwise.
const traceSize = 10_000

var errNoTrace = errors.New("nothing was traced; begin with trace on")

func trace(c *call) (string, error) {
	if len(c.args) == 0 {
		return "", usagef("no word")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	word, rest := strings.ToLower(c.args[0]), c.args[1:]
	t := c.Controller.trace
	switch {
	case word == "on" && len(rest) <= 1:
		size := traceSize
		if len(rest) == 1 {
			n, err := count(rest[0], 1, math.MaxInt32)
			if err != nil {
				return "", err
			}
			size = n
		}
		c.Controller.trace, c.tracing = c.cluster.Trace(size), true
		return "", nil
	case word == "off" && len(rest) == 0:
		c.cluster.Untrace()
		c.tracing = false
		return "", nil
	case t == nil && (word == "clear" || word == "show" || word == "count"):
		return "", errNoTrace
	case word == "clear" && len(rest) == 0:
		t.Clear()
		return "", nil
	case word == "show" || word == "count":
		test, err := c.query(rest)
		if err != nil {
			return "", err
		}
		found := t.Where(test)
		if word == "count" {
			return fmt.Sprint(len(found)), nil
		}
		var b strings.Builder
		for _, e := range found {
			b.WriteString(e.String() + "\n")
		}
		if b.Len() == 0 {
			return "nothing", nil
		}
		return b.String(), nil
	}
	return "", usagef("%q", strings.Join(c.args, " "))
}

// query reads what is asked of a trace: all of several must be true.
func (c *call) query(words []string) (func(emulator.Traced) bool, error) {
	test := func(emulator.Traced) bool { return true }
	for len(words) > 0 {
		next, used, err := c.condition(words)
		if err != nil {
			return nil, err
		}
		before := test
		test = func(e emulator.Traced) bool { return before(e) && next(e) }
		words = words[used:]
	}
	return test, nil
}

func (c *call) condition(words []string) (test func(emulator.Traced) bool, used int, err error) {
	word := strings.ToLower(words[0])
	if word == "crossed" {
		return func(e emulator.Traced) bool { return e.Verdict == "CROSSSLOT" }, 1, nil
	}
	if len(words) < 2 {
		return nil, 0, usagef("%q", word)
	}
	value := words[1]
	switch word {
	case "redirected":
		n, err := count(value, 0, math.MaxInt32)
		return func(e emulator.Traced) bool { return e.Redirects >= n }, 2, err
	case "verdict":
		return func(e emulator.Traced) bool { return strings.EqualFold(e.Verdict, value) }, 2, nil
	case "command":
		return func(e emulator.Traced) bool { return strings.EqualFold(e.Command, value) }, 2, nil
	case "client":
		return func(e emulator.Traced) bool { return e.Client == value }, 2, nil
	case "node":
		n, err := c.node(value)
		return func(e emulator.Traced) bool { return e.Node == n }, 2, err
	}
	return nil, 0, usagef("%q", word)
}
