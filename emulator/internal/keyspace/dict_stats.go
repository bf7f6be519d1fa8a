package keyspace

import (
	"fmt"
	"strings"
)

// Stats describes the tables as DEBUG HTSTATS does: how full they are and how
// long the chains in them.
func (d *Dict[V]) Stats() string {
	var b strings.Builder
	if d.tables == nil {
		d = &Dict[V]{new(tables[V])}
	}
	main := d.table
	if d.old != nil {
		main = d.old
	}
	tableStats(&b, "0 stats (main hash table)", main)
	if d.old != nil {
		tableStats(&b, "1 stats (rehashing target)", d.table)
	}
	return b.String()
}

// longestChain is the last length that is counted by itself.
const longestChain = 50

func tableStats[V any](b *strings.Builder, title string, table []*Node[V]) {
	var chains [longestChain]int
	elements, used, longest := 0, 0, 0
	for _, n := range table {
		length := 0
		for ; n != nil; n = n.next {
			length++
		}
		chains[min(length, longestChain-1)]++
		elements += length
		used += min(length, 1)
		longest = max(longest, length)
	}
	fmt.Fprintf(b, "Hash table %s:\n", title)
	if elements == 0 {
		b.WriteString("No stats available for empty dictionaries\n")
		return
	}
	average := float64(elements) / float64(used)
	fmt.Fprintf(b, " table size: %d\n number of elements: %d\n different slots: %d\n max chain length: %d\n"+
		" avg chain length (counted): %.02f\n avg chain length (computed): %.02f\n Chain length distribution:\n",
		len(table), elements, used, longest, average, average)
	for length, count := range chains {
		if count == 0 {
			continue
		}
		more := ""
		if length == longestChain-1 {
			more = ">= "
		}
		fmt.Fprintf(b, "   %s%d: %d (%.02f%%)\n", more, length, count, float64(count)/float64(len(table))*100)
	}
}

// TableStats describes the hash table a value is in, if it is in one.
func TableStats(v Value) (stats string, ok bool) {
	switch v := v.(type) {
	case *Set:
		if v.Encoding() == "hashtable" {
			return v.dict.Stats(), true
		}
	case *Hash:
		if v.Encoding() == "hashtable" {
			return v.dict.Stats(), true
		}
	case *ZSet:
		if v.Encoding() == "skiplist" {
			return v.dict.Stats(), true
		}
	}
	return "", false
}

// TableStats describes the tables of the keys and of those that expire. The
// latter are here in no table, so that only their number is told.
func (db *DB) TableStats() string {
	var none Dict[struct{}]
	expires := none.Stats()
	if n := db.Volatile(); n > 0 {
		expires = fmt.Sprintf("Hash table 0 stats (main hash table):\n number of elements: %d\n", n)
	}
	return "[Dictionary HT]\n" + db.entries.Stats() + "[Expires HT]\n" + expires
}
