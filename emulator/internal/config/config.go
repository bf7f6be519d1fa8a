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
	hidden    bool // CONFIG GET shows it only when asked for by name

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
	defaults []value
	every    map[string]int // by name and alias, those of other versions too
	index    map[string]int // by name and alias, those this version knows
	names    []string       // the keys of index, sorted
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
	l := &layout{version: v, every: make(map[string]int), index: make(map[string]int)}
	for i, p := range params {
		for _, name := range []string{p.name, p.alias} {
			if name == "" {
				continue
			}
			l.every[name] = i
			if p.in(v) {
				l.index[name] = i
				l.names = append(l.names, name)
			}
		}
		initial, problem := p.kind.parse(value{}, p.initial)
		if problem != "" {
			panic(fmt.Sprintf("default of %s: %s", p.name, problem))
		}
		l.defaults = append(l.defaults, initial)
	}
	slices.Sort(l.names)
	return l
}

// in reports whether a version has the parameter.
func (p *param) in(v version.Version) bool {
	ended := p.until != (version.Version{}) && v.AtLeast(p.until.Major, p.until.Minor)
	return v.AtLeast(p.since.Major, p.since.Minor) && !ended
}

// lookup finds a parameter by its name in any case.
func (l *layout) lookup(name string) (int, bool) {
	i, ok := l.index[name]
	if !ok {
		i, ok = l.index[strings.ToLower(name)]
	}
	return i, ok
}

// of returns the value of a parameter that some version has.
func (c *Config) of(name string) value {
	i, ok := c.layout.every[name]
	if !ok {
		panic("no Redis version has a parameter " + name)
	}
	return c.values[i]
}

// Has reports whether the version knows the parameter.
func (c *Config) Has(name string) bool {
	_, ok := c.layout.lookup(name)
	return ok
}

// String is the value as CONFIG GET prints it. Of a parameter that the version
// lacks it is the default in versions that have it; so are Int and Bool.
func (c *Config) String(name string) string { return c.of(name).text }

// Int is the value of a number, in the unit of the parameter (bytes where it
// is a memory size; one of more than 2^63 is negative, as is a percentage).
func (c *Config) Int(name string) int64 { return c.of(name).number }

// Bool is the value of a parameter that is "yes" or "no".
func (c *Config) Bool(name string) bool { return c.of(name).number != 0 }

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
			if !params[c.layout.index[name]].hidden && glob.MatchFold(pattern, name) {
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
	i := c.layout.every[name]
	if c.onChange == nil {
		c.onChange = make(map[int][]func() error)
	}
	c.onChange[i] = append(c.onChange[i], f)
}
