package keyspace

// Expand turns a listpack into a skiplist, whatever its size: the state in which
// SORT leaves a sorted set.
func (z *ZSet) Expand() {
	if z.pack != nil {
		z.toSkiplist()
	}
}
