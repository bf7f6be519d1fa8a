package console

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
)

// row is one line of CLUSTER NODES: what a node believes of one.
type row struct {
	id, addr  string
	flags     []string // without "myself"
	master    string   // its id, or ""
	epoch     int64
	connected bool
	slots     []slots.Range
	moving    []openSlot
}

// openSlot is a slot that is being moved, as one of the two nodes sees it.
type openSlot struct {
	slot      slots.Slot
	other     string // the id of the other node
	importing bool
}

func (r *row) has(flag string) bool { return slices.Contains(r.flags, flag) }

// parseNodes reads CLUSTER NODES; own is the row of the node that was asked.
func parseNodes(text string) (rows []*row, own *row) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			continue
		}
		r := &row{id: f[0], connected: f[7] == "connected"}
		r.addr, _, _ = strings.Cut(f[1], "@")
		myself := false
		for flag := range strings.SplitSeq(f[2], ",") {
			if flag == "myself" {
				myself = true
				continue
			}
			r.flags = append(r.flags, flag)
		}
		if f[3] != "-" {
			r.master = f[3]
		}
		r.epoch, _ = strconv.ParseInt(f[6], 10, 64)
		for _, owned := range f[8:] {
			r.addSlots(owned)
		}
		rows = append(rows, r)
		if myself {
			own = r
		}
	}
	return rows, own
}

// addSlots reads "7", "0-99", "[7->-id]" and "[7-<-id]".
func (r *row) addSlots(text string) {
	inner, open := strings.CutPrefix(text, "[")
	if !open {
		if owned, err := slots.ParseRange(text); err == nil {
			r.slots = append(r.slots, owned)
		}
		return
	}
	inner = strings.TrimSuffix(inner, "]")
	number, other, importing := strings.Cut(inner, "-<-")
	if !importing {
		number, other, _ = strings.Cut(inner, "->-")
	}
	if slot, err := slots.ParseSlot(number); err == nil {
		r.moving = append(r.moving, openSlot{slot, other, importing})
	}
}
