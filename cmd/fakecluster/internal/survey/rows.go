package survey

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
)

// Row is one line of CLUSTER NODES: what a node believes of one.
type Row struct {
	ID     string
	Addr   string   // host:port; the host is empty while the node does not know it
	Flags  []string // without "myself"
	Master string   // the id of a replica's master, or ""
	Epoch  int64
	Slots  []slots.Range
	Open   []OpenSlot
}

// OpenSlot is a slot that is being moved, as one of the two nodes sees it.
type OpenSlot struct {
	Slot      slots.Slot
	Other     string // the id of the other node
	Importing bool
}

// Has reports whether the node has a flag.
func (r *Row) Has(flag string) bool { return slices.Contains(r.Flags, flag) }

// ParseRows reads CLUSTER NODES; own is the row of the node that was asked.
func ParseRows(text string) (rows []*Row, own *Row) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 {
			continue
		}
		r := &Row{ID: f[0]}
		r.Addr, _, _ = strings.Cut(f[1], ",")
		r.Addr, _, _ = strings.Cut(r.Addr, "@")
		for flag := range strings.SplitSeq(f[2], ",") {
			if flag == "myself" {
				own = r
				continue
			}
			r.Flags = append(r.Flags, flag)
		}
		if f[3] != "-" {
			r.Master = f[3]
		}
		r.Epoch, _ = strconv.ParseInt(f[6], 10, 64)
		for _, owned := range f[8:] {
			r.addSlots(owned)
		}
		rows = append(rows, r)
	}
	return rows, own
}

// addSlots reads "7", "0-99", "[7->-id]" and "[7-<-id]".
func (r *Row) addSlots(text string) {
	inner, open := strings.CutPrefix(text, "[")
	if !open {
		if owned, err := slots.ParseRange(text); err == nil {
			r.Slots = append(r.Slots, owned)
		}
		return
	}
	inner = strings.TrimSuffix(inner, "]")
	number, other, importing := strings.Cut(inner, "-<-")
	if !importing {
		number, other, _ = strings.Cut(inner, "->-")
	}
	if slot, err := slots.ParseSlot(number); err == nil {
		r.Open = append(r.Open, OpenSlot{slot, other, importing})
	}
}

// open are the slots on their way as text: "42→id", "42←id".
func (r *Row) open() (list []string) {
	for _, o := range r.Open {
		arrow := "→"
		if o.Importing {
			arrow = "←"
		}
		list = append(list, strconv.Itoa(int(o.Slot))+arrow+o.Other)
	}
	return list
}
