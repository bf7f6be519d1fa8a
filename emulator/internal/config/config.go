// Package config holds the configuration parameters of a node: names, types,
// limits and defaults as CONFIG GET and CONFIG SET know them, and the values of
// one node.
//
// A node's values are shared with all other nodes until it changes one, so a
// new Config costs next to nothing.
package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// param describes one parameter.
type param struct {
	name    string
	alias   string // an older name of the same parameter
	initial string
	kind    kind

	immutable bool // only Override changes it
	protected bool // CONFIG SET must be allowed to by enable-protected-configs

	since, until version.Version // until is the first version without it
}

// value is a parameter's value: what CONFIG GET prints, and as a number where
// it is one (yes is 1).
type value struct {
	text   string
	number int64
}

// layout is what all nodes of one version share.
type layout struct {
	version  version.Version
	params   []param
	defaults []value
	index    map[string]int // by name and alias
	names    []string       // names and aliases, sorted
}

// Config holds the values of one node. It is not safe for concurrent use: a
// node's lock guards it.
type Config struct {
	layout   *layout
	values   []value
	owned    bool // values is not shared
	onChange map[int][]func() error
}

// New returns the default configuration of a version.
func New(v version.Version) *Config {
	l := layoutOf(v)
	return &Config{layout: l, values: l.defaults}
}

var layouts sync.Map // version.Version → *layout

func layoutOf(v version.Version) *layout {
	if l, ok := layouts.Load(v); ok {
		return l.(*layout)
	}
	l, _ := layouts.LoadOrStore(v, newLayout(v))
	return l.(*layout)
}

func newLayout(v version.Version) *layout {
	l := &layout{version: v, index: make(map[string]int)}
	for _, p := range params {
		if !v.AtLeast(p.since.Major, p.since.Minor) || p.until != (version.Version{}) && v.AtLeast(p.until.Major, p.until.Minor) {
			continue
		}
		for _, name := range []string{p.name, p.alias} {
			if name != "" {
				l.index[name] = len(l.params)
				l.names = append(l.names, name)
			}
		}
		initial, problem := p.kind.parse(value{}, p.initial)
		if problem != "" {
			panic(fmt.Sprintf("default of %s: %s", p.name, problem))
		}
		l.params = append(l.params, p)
		l.defaults = append(l.defaults, initial)
	}
	slices.Sort(l.names)
	return l
}

// lookup finds a parameter by its name in any case.
func (l *layout) lookup(name string) (int, bool) {
	i, ok := l.index[name]
	if !ok {
		i, ok = l.index[strings.ToLower(name)]
	}
	return i, ok
}

// must finds a parameter of which the code knows that it exists.
func (c *Config) must(name string) int {
	i, ok := c.layout.index[name]
	if !ok {
		panic("no parameter " + name + " in version " + c.layout.version.String())
	}
	return i
}

// Has reports whether the version knows the parameter.
func (c *Config) Has(name string) bool {
	_, ok := c.layout.lookup(name)
	return ok
}

// Int is the value of a number, in the unit of the parameter (bytes where it
// is a memory size; one of more than 2^63 is negative, as is a percentage).
func (c *Config) Int(name string) int64 { return c.values[c.must(name)].number }

// Bool is the value of a parameter that is "yes" or "no".
func (c *Config) Bool(name string) bool { return c.values[c.must(name)].number != 0 }

// String is the value as CONFIG GET prints it.
func (c *Config) String(name string) string { return c.values[c.must(name)].text }

// Pair is a parameter and its value.
type Pair struct{ Name, Value string }

// Get returns the parameters that match one of the patterns, each once. A name
// that is no pattern is returned as it was asked for; unknown ones are left
// out.
func (c *Config) Get(patterns ...string) []Pair {
	var found []Pair
	seen := make(map[string]bool)
	add := func(name string, i int) {
		if folded := strings.ToLower(name); !seen[folded] {
			seen[folded] = true
			found = append(found, Pair{name, c.values[i].text})
		}
	}
	for _, pattern := range patterns {
		if !strings.ContainsAny(pattern, "[*?") {
			if i, ok := c.layout.lookup(pattern); ok {
				add(pattern, i)
			}
			continue
		}
		for _, name := range c.layout.names {
			if glob.MatchFold(pattern, name) {
				add(name, c.layout.index[name])
			}
		}
	}
	return found
}

// OnChange calls f after the parameter was set, by CONFIG SET or Override, to
// put the new value into effect. An error undoes the whole CONFIG SET; its text
// becomes part of the reply.
func (c *Config) OnChange(name string, f func() error) {
	i := c.must(name)
	if c.onChange == nil {
		c.onChange = make(map[int][]func() error)
	}
	c.onChange[i] = append(c.onChange[i], f)
}
