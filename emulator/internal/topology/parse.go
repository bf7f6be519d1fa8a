package topology

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
)

// ParseNodes reads what CLUSTER NODES replied on some cluster, as members that
// Form can build the same shape from: ids, addresses, slots, roles and config
// epochs. Nodes that had failed, had no address or were not known yet are left
// out, and so are the replicas of such masters.
func ParseNodes(text string) ([]Member, error) {
	var members []Member
	var masters []string // by member: the id of a replica's master
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "vars" {
			continue
		}
		m, usable, err := parseNode(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d of CLUSTER NODES: %w", number, err)
		}
		if usable {
			members = append(members, m)
			masters = append(masters, fields[3])
		}
	}
	return connectReplicas(members, masters)
}

func parseNode(fields []string) (m Member, usable bool, err error) {
	if len(fields) < 8 {
		return m, false, fmt.Errorf("%d fields, want at least 8", len(fields))
	}
	flags := strings.Split(fields[2], ",")
	for _, f := range []string{"fail", "noaddr", "handshake"} {
		if slices.Contains(flags, f) {
			return m, false, nil
		}
	}
	m.ID, m.ReplicaOf = fields[0], -1
	if len(m.ID) != 40 || strings.Trim(m.ID, "0123456789abcdef") != "" {
		return m, false, fmt.Errorf("node id %q is not 40 hexadecimal digits", m.ID)
	}
	if m.Addr, err = parseAddr(fields[1]); err != nil {
		return m, false, err
	}
	if m.Epoch, err = strconv.ParseUint(fields[6], 10, 64); err != nil {
		return m, false, fmt.Errorf("config epoch %q is not a number", fields[6])
	}
	for _, field := range fields[8:] {
		if strings.HasPrefix(field, "[") {
			continue // a slot being moved
		}
		r, err := slots.ParseRange(field)
		if err != nil {
			return m, false, err
		}
		m.Slots = append(m.Slots, r)
	}
	return m, true, nil
}

// parseAddr reads "ip:port@busport,hostname" and the older forms of it.
func parseAddr(text string) (a Addr, err error) {
	text, a.Hostname, _ = strings.Cut(text, ",")
	a.Hostname, _, _ = strings.Cut(a.Hostname, ",")
	client, bus, hasBus := strings.Cut(text, "@")
	colon := strings.LastIndexByte(client, ':')
	if colon < 0 {
		return a, fmt.Errorf("address %q has no port", text)
	}
	a.Host = client[:colon]
	if a.Port, err = strconv.Atoi(client[colon+1:]); err != nil {
		return a, fmt.Errorf("address %q has no port", text)
	}
	a.BusPort = a.Port + busPortOffset
	if hasBus {
		if a.BusPort, err = strconv.Atoi(bus); err != nil {
			return a, fmt.Errorf("address %q has no bus port", text)
		}
	}
	if _, err := netip.ParseAddr(a.Host); a.Host != "" && err != nil {
		return a, fmt.Errorf("address %q does not begin with an IP address", text)
	}
	return a, nil
}

// connectReplicas finds the masters of replicas, and gives config epochs to
// those whose epoch is another's as well.
func connectReplicas(members []Member, masters []string) ([]Member, error) {
	byID := map[string]int{}
	for i, m := range members {
		if _, twice := byID[m.ID]; twice {
			return nil, fmt.Errorf("node %s is listed twice", m.ID)
		}
		byID[m.ID] = i
	}
	kept := members[:0:0]
	position := make([]int, len(members))
	for i, m := range members {
		if _, known := byID[masters[i]]; masters[i] != "-" && !known {
			position[i] = -1
			continue
		}
		position[i] = len(kept)
		kept = append(kept, m)
	}
	for i := range members {
		if position[i] >= 0 && masters[i] != "-" {
			master := position[byID[masters[i]]]
			if master < 0 {
				return nil, fmt.Errorf("node %s is a replica of a replica", members[i].ID)
			}
			kept[position[i]].ReplicaOf = master
			// Replicas are listed with their master's epoch.
			kept[position[i]].Epoch = 0
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("no usable node in CLUSTER NODES")
	}
	return kept, nil
}
