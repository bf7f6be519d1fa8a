package slots

import (
	"strconv"
	"sync"
)

// tagBySlot is filled once, on first use: the shortest decimal number whose
// CRC16 falls into each slot, smallest first.
var tagBySlot = sync.OnceValue(func() *[Count]string {
	var tags [Count]string
	for n, found := 0, 0; found < Count; n++ {
		tag := strconv.Itoa(n)
		if slot := OfString(tag); tags[slot] == "" {
			tags[slot] = tag
			found++
		}
	}
	return &tags
})

// TagFor returns a short hash tag that falls into slot: the key "{tag}…" with
// any rest lives there.
func TagFor(slot Slot) string {
	return tagBySlot()[slot%Count]
}
