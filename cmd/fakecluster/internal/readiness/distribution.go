package readiness

import "github.com/fakecluster/fakecluster/slots"

// Parts is into how many parts of equal size the slots are drawn.
const Parts = 64

// masters of the cluster that the distribution is told for.
const masters = 3

// Distribution is where keys are.
type Distribution struct {
	Label     string       `json:"label"`
	Keys      int64        `json:"keys"`
	UsedSlots int          `json:"usedSlots"`
	Parts     [Parts]int64 `json:"parts"`   // keys by 256 slots
	Masters   []int64      `json:"masters"` // keys by master, of three
	Commands  []int64      `json:"commands"`
	// Fullest is the slot with most keys.
	Fullest     slots.Slot `json:"fullestSlot"`
	FullestKeys int64      `json:"fullestSlotKeys"`
}

// distribute counts keys, named by rules, by their slots.
func distribute(label string, keys map[string]int64, r rules) Distribution {
	d := Distribution{Label: label, Masters: make([]int64, masters), Commands: make([]int64, masters)}
	var perSlot [slots.Count]int64
	owned := slots.Split(masters)
	for key, commands := range keys {
		_, tag := r.tagged(key)
		at := slots.OfString(tag)
		d.Keys++
		perSlot[at]++
		d.Parts[int(at)*Parts/slots.Count]++
		for i, own := range owned {
			if own.First <= at && at <= own.Last {
				d.Masters[i]++
				d.Commands[i] += commands
			}
		}
	}
	for at, n := range perSlot {
		if n > 0 {
			d.UsedSlots++
		}
		if n > d.FullestKeys {
			d.Fullest, d.FullestKeys = slots.Slot(at), n
		}
	}
	return d
}
