package control

import (
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/emulator"
)

// partition reads groups separated by "|".
func partition(c *call) (string, error) {
	text := strings.Join(c.args, " ")
	if strings.TrimSpace(text) == "" {
		return "", usagef("no group")
	}
	var groups [][]*emulator.Node
	for _, part := range strings.Split(text, "|") {
		group, err := c.nodes(strings.Join(strings.Fields(part), ","))
		if err != nil {
			return "", err
		}
		groups = append(groups, group)
	}
	return "", c.cluster.Partition(groups...)
}

func way(c *call) (string, error) {
	if len(c.args) < 4 || c.args[1] != ">" {
		return "", usagef("%q", strings.Join(c.args, " "))
	}
	from, err := c.nodes(c.args[0])
	if err != nil {
		return "", err
	}
	to, err := c.nodes(c.args[2])
	if err != nil {
		return "", err
	}
	w, err := parseWay(c.args[3:])
	if err != nil {
		return "", err
	}
	for _, a := range from {
		for _, b := range to {
			if a == b {
				continue
			}
			if err := c.cluster.SetWay(a, b, w); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

func parseWay(words []string) (w emulator.Way, err error) {
	for len(words) > 0 {
		word, rest := strings.ToLower(words[0]), words[1:]
		switch {
		case word == "cut":
			w.Cut = true
		case word == "ok":
		case word == "delay" && len(rest) > 0:
			if w.Delay, err = duration(rest[0]); err != nil {
				return w, err
			}
			rest = rest[1:]
		case word == "loss" && len(rest) > 0:
			if w.Loss, err = probability(rest[0]); err != nil {
				return w, err
			}
			rest = rest[1:]
		default:
			return w, usagef("%q", strings.Join(words, " "))
		}
		words = rest
	}
	return w, nil
}

func probability(word string) (float64, error) {
	p, err := strconv.ParseFloat(word, 64)
	if err != nil || p < 0 || p >= 1 {
		return 0, usagef("%q is no probability below 1", word)
	}
	return p, nil
}

func heal(c *call) (string, error) {
	if err := c.wants(0, 0); err != nil {
		return "", err
	}
	c.cluster.Heal()
	return "", nil
}

func lag(c *call) (string, error) {
	if err := c.wants(2, 2); err != nil {
		return "", err
	}
	nodes, err := c.nodes(c.args[0])
	if err != nil {
		return "", err
	}
	for _, n := range nodes {
		switch strings.ToLower(c.args[1]) {
		case "pause":
			c.cluster.PauseReplication(n)
		case "none":
			c.cluster.SetLag(n, 0)
		default:
			d, err := duration(c.args[1])
			if err != nil {
				return "", err
			}
			c.cluster.SetLag(n, d)
		}
	}
	return "", nil
}
