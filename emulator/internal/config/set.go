package config

import (
	"errors"
	"fmt"
	"slices"
)

// ErrSyntax is the error for a CONFIG SET with a name that has no value.
var ErrSyntax = errors.New("ERR syntax error")

// Set changes parameters as CONFIG SET name value [name value …] does: all of
// them or, in case of an error, none. The error's text is the reply.
func (c *Config) Set(pairs ...string) error {
	if len(pairs)%2 != 0 {
		return ErrSyntax
	}
	indexes, err := c.resolve(pairs)
	if err != nil {
		return err
	}
	before := slices.Clone(c.values)
	c.own()
	for n, i := range indexes {
		name, text := c.spelled(pairs[2*n]), pairs[2*n+1]
		changed, problem := params[i].kind.parse(c.values[i], text)
		if problem != "" {
			c.values = before
			return c.refusal(name, text, problem)
		}
		c.values[i] = changed
	}
	if n, problem := c.apply(indexes); problem != nil {
		c.values = before
		if _, again := c.apply(indexes[:n]); again != nil {
			problem = errors.Join(problem, again)
		}
		return c.refusal(c.spelled(pairs[2*n]), pairs[2*n+1], problem.Error())
	}
	return nil
}

// resolve finds the parameters to set and refuses those that cannot be.
func (c *Config) resolve(pairs []string) ([]int, error) {
	var indexes []int
	var set []string
	for n := 0; n < len(pairs); n += 2 {
		i, ok := c.layout.lookup(pairs[n])
		if !ok {
			return nil, c.unknown(pairs[n])
		}
		p := &params[i]
		switch {
		case p.immutable:
			return nil, c.refusal(pairs[n], pairs[n+1], "can't set immutable config")
		case p.protected && c.layout.version.AtLeast(7, 0) && c.String("enable-protected-configs") == "no":
			return nil, c.refusal(pairs[n], pairs[n+1], "can't set protected config")
		case slices.Contains(set, c.spelled(pairs[n])):
			return nil, c.refusal(pairs[n], pairs[n+1], "duplicate parameter")
		}
		indexes = append(indexes, i)
		set = append(set, c.spelled(pairs[n]))
	}
	return indexes, nil
}

// spelled is a parameter's name or alias in the table's spelling.
func (c *Config) spelled(name string) string {
	i, _ := c.layout.lookup(name)
	p := &params[i]
	if len(name) == len(p.alias) && foldEqual(name, p.alias) {
		return p.alias
	}
	return p.name
}

// Override sets a parameter whatever CONFIG SET would say to that, as the
// command line of a server does.
func (c *Config) Override(name, text string) error {
	i, ok := c.layout.lookup(name)
	if !ok {
		return fmt.Errorf("configuration parameter %q is unknown to Redis %v", name, c.layout.version)
	}
	changed, problem := params[i].kind.parse(c.values[i], text)
	if problem != "" {
		return fmt.Errorf("configuration parameter %s %q: %s", name, text, problem)
	}
	c.own()
	c.values[i] = changed
	if _, err := c.apply([]int{i}); err != nil {
		return fmt.Errorf("configuration parameter %s %q: %w", name, text, err)
	}
	return nil
}

// own makes the values the node's own, once.
func (c *Config) own() {
	if !c.owned {
		c.values = slices.Clone(c.values)
		c.owned = true
	}
}

// apply puts new values into effect. It returns which could not be.
func (c *Config) apply(indexes []int) (n int, err error) {
	for n, i := range indexes {
		if err := c.possible(i); err != nil {
			return n, err
		}
		for _, f := range c.onChange[i] {
			if err := f(); err != nil {
				return n, err
			}
		}
	}
	return 0, nil
}

// possible refuses what is valid but cannot be had.
func (c *Config) possible(i int) error {
	switch params[i].name {
	case "tls-port", "tls-replication", "tls-cluster":
		if c.Int("tls-port") != 0 || c.Bool("tls-replication") || c.Bool("tls-cluster") {
			return errors.New("Unable to update TLS configuration. Check server logs.")
		}
	case "activedefrag":
		if c.Bool("activedefrag") {
			return errors.New("Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified Jemalloc like the one shipped by default with the Redis source distribution")
		}
	}
	return nil
}

func (c *Config) unknown(name string) error {
	if !c.layout.version.AtLeast(7, 0) {
		return fmt.Errorf("ERR Unsupported CONFIG parameter: %s", name)
	}
	return fmt.Errorf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", name)
}

func (c *Config) refusal(name, text, problem string) error {
	if !c.layout.version.AtLeast(7, 0) {
		return fmt.Errorf("ERR Invalid argument '%s' for CONFIG SET '%s' - %s", text, name, problem)
	}
	return fmt.Errorf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", name, problem)
}
