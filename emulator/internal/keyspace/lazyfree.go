package keyspace

// lazyEffort is how many parts a value must have to be freed in the background.
const lazyEffort = 64

// FreesLazily reports whether Redis frees a value in a thread of its own when it
// is asked to, as UNLINK does: whether it consists of more than a few parts.
func FreesLazily(v Value) bool {
	parts := 1
	switch v := v.(type) {
	case *List:
		parts, _ = v.Nodes()
	case *Set:
		if v.Encoding() == "hashtable" {
			parts = v.Len()
		}
	case *ZSet:
		if v.Encoding() == "skiplist" {
			parts = v.Len()
		}
	case *Hash:
		if v.Encoding() == "hashtable" {
			parts = v.Len()
		}
	case *Stream:
		_, parts = v.RadixTree()
		if groups := v.Groups(); len(groups) > 0 {
			parts += len(groups) * (1 + groups[0].PendingCount())
		}
	}
	return parts > lazyEffort
}
