package oracle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
)

// keySpec is where a command's first key stands, as COMMAND tells it.
type keySpec struct {
	index   int    // position, when keyword is empty
	keyword string // else the word before the first key …
	from    int    // … searched from this position
	counted bool   // a numkeys argument stands at the position instead
	skip    int    // from there to the first key
}

// keyTable finds the first key of any command line. It is read from the real
// server, so it owes nothing to our own table.
type keyTable map[string]keySpec

func readKeyTable(c *client) (keyTable, error) {
	table := keyTable{}
	reply := c.ask("COMMAND")
	if reply.Kind != '*' || len(reply.Items) < 200 {
		return nil, fmt.Errorf("COMMAND answers %.200s", reply)
	}
	for _, command := range reply.Items {
		table.add(command)
	}
	return table, nil
}

// add reads one element of COMMAND's reply: name, …, key specs (8),
// subcommands (9).
func (t keyTable) add(command Reply) {
	if len(command.Items) < 10 {
		return
	}
	name := strings.ToUpper(strings.ReplaceAll(command.Items[0].Text, "|", " "))
	if specs := command.Items[8].Items; len(specs) > 0 {
		t[name] = readKeySpec(specs[0])
	}
	for _, sub := range command.Items[9].Items {
		t.add(sub)
	}
}

func readKeySpec(r Reply) keySpec {
	var spec keySpec
	begin, find := field(r, "begin_search"), field(r, "find_keys")
	where := field(begin, "spec")
	if field(begin, "type").Text == "keyword" {
		spec.keyword = strings.ToUpper(field(where, "keyword").Text)
		from, _ := field(where, "startfrom").number()
		spec.from = int(from)
	} else {
		index, _ := field(where, "index").number()
		spec.index = int(index)
	}
	if field(find, "type").Text == "keynum" {
		first, _ := field(field(find, "spec"), "firstkey").number()
		spec.counted, spec.skip = true, int(first)
	}
	return spec
}

// field looks a name up in a flat list of names and values.
func field(r Reply, name string) Reply {
	for i := 0; i+1 < len(r.Items); i += 2 {
		if r.Items[i].Text == name {
			return r.Items[i+1]
		}
	}
	return Reply{}
}

// firstKey returns the first key of a command line.
func (t keyTable) firstKey(args []string) (string, bool) {
	spec, known := t[commandName(args)]
	if !known {
		if spec, known = t[strings.ToUpper(args[0])]; !known {
			return "", false
		}
	}
	at := spec.index
	if spec.keyword != "" {
		if at = spec.find(args); at < 0 {
			return "", false
		}
	}
	if spec.counted {
		if at >= len(args) {
			return "", false
		}
		if n, err := strconv.Atoi(args[at]); err != nil || n < 1 {
			return "", false
		}
		at += spec.skip
	}
	if at <= 0 || at >= len(args) {
		return "", false
	}
	return args[at], true
}

func (s keySpec) find(args []string) int {
	start, step := s.from, 1
	if start < 0 {
		start, step = len(args)+start, -1
	}
	for i := start; i > 0 && i < len(args); i += step {
		if strings.EqualFold(args[i], s.keyword) {
			return i + 1
		}
	}
	return -1
}

// owner returns the node of a key in a fresh cluster of Masters nodes.
func owner(key string) int {
	slot := int(slots.OfString(key))
	switch {
	case slot <= 5460:
		return 0
	case slot <= 10922:
		return 1
	}
	return 2
}

// containers are the commands whose second word belongs to the name.
var containers = map[string]bool{
	"ACL": true, "CLIENT": true, "CLUSTER": true, "COMMAND": true, "CONFIG": true, "DEBUG": true,
	"FUNCTION": true, "LATENCY": true, "MEMORY": true, "MODULE": true, "OBJECT": true, "PUBSUB": true,
	"SCRIPT": true, "SLOWLOG": true, "XGROUP": true, "XINFO": true,
}

// commandName returns the upper case name of a command line, "OBJECT ENCODING"
// for a container.
func commandName(args []string) string {
	name := strings.ToUpper(args[0])
	if containers[name] && len(args) > 1 {
		return name + " " + strings.ToUpper(args[1])
	}
	return name
}

func slotOf(tag string) int { return int(slots.OfString(tag)) }

// clusterTags are the hash tags of generated keys, one per node of a cluster.
var clusterTags = func() []string {
	tags := make([]string, Masters)
	for i, tag := 0, 'a'; i < Masters; tag++ {
		if node := owner(string(tag)); tags[node] == "" {
			tags[node] = string(tag)
			i++
		}
	}
	return tags
}()
