package survey

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Table is the survey as people read it: a line about the whole, one per node.
func (s *Survey) Table() string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Summary())
	b.WriteByte('\n')
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tADDRESS\tROLE\tSTATE\tEPOCH\tSLOTS\tKEYS\tMEMORY\tCLIENTS\tOFFSET\tBEHIND\tOWNS")
	for i := range s.Nodes {
		n := &s.Nodes[i]
		role, owns, behind := "master", n.Ranges(), "-"
		if n.Replica() {
			role, owns = "replica", "of "+s.Label(n.Master)
			if n.Behind >= 0 {
				behind = strconv.FormatInt(n.Behind, 10)
			}
		}
		for _, open := range n.Open {
			owns += " [" + s.openLabel(open) + "]"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%d\t%d\t%s\t%s\n", cmp.Or(n.Name, "-"), n.Addr, role, n.State, n.Epoch,
			n.SlotCount(), n.Keys, Bytes(n.Memory), n.Clients, n.Offset, behind, owns)
	}
	w.Flush()
	return b.String()
}

// openLabel puts a name in the place of the id behind an open slot.
func (s *Survey) openLabel(open string) string {
	for _, arrow := range []string{"→", "←"} {
		if slot, id, ok := strings.Cut(open, arrow); ok {
			return slot + arrow + s.Label(id)
		}
	}
	return open
}

// Summary is one line about the whole.
func (s *Survey) Summary() string {
	var masters, replicas, unwell, covered int
	var keys int64
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.State != "ok" {
			unwell++
		}
		if n.Replica() {
			replicas++
			continue
		}
		masters++
		keys += n.Keys
		covered += n.SlotCount()
	}
	text := fmt.Sprintf("state %s, %d of 16384 slots owned, %s, %s, %s",
		s.State, covered, count(masters, "master"), count(replicas, "replica"), count(int(keys), "key"))
	if unwell > 0 {
		text += ", " + count(unwell, "node") + " unwell"
	}
	return text
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// Bytes is a size as people read it.
func Bytes(n int64) string {
	const step = 1024
	if n < step {
		return strconv.FormatInt(n, 10) + "B"
	}
	size, unit := float64(n), ""
	for _, unit = range []string{"K", "M", "G", "T"} {
		if size /= step; size < step {
			break
		}
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + unit
}
