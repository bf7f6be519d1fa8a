package keyspace

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Digest is what DEBUG DIGEST prints: equal for equal data, whatever the order
// of what has none.
type Digest [sha1.Size]byte

// xor adds data so that the order of calls does not matter.
func (d *Digest) xor(data []byte) {
	sum := sha1.Sum(data)
	for i, b := range sum {
		d[i] ^= b
	}
}

// mix adds data so that the order of calls matters.
func (d *Digest) mix(data []byte) {
	d.xor(data)
	*d = sha1.Sum(d[:])
}

func (d *Digest) mixNumber(n int) { d.mix(binary.BigEndian.AppendUint32(nil, uint32(n))) }

// Digest is the digest of all databases.
func (ks *Keyspace) Digest() (d Digest) {
	for i, db := range ks.dbs {
		if db.Len() == 0 {
			continue
		}
		d.mixNumber(i)
		for k := range db.entries.All() {
			var key Digest
			key.mix([]byte(k.key))
			key.value(k)
			d.xor(key[:])
		}
	}
	return d
}

// DigestValue is the digest of a key's value, zero if there is none.
func (db *DB) DigestValue(key []byte) (d Digest) {
	if k := db.live(key); k != nil {
		d.value(k)
	}
	return d
}

// digestKinds are the numbers Redis has for types.
var digestKinds = map[Kind]int{KindString: 0, KindList: 1, KindSet: 2, KindZSet: 3, KindHash: 4, KindStream: 6}

func (d *Digest) value(k *Key) {
	d.mixNumber(digestKinds[k.Value.value.Kind()])
	switch v := k.Value.value.(type) {
	case *String:
		d.mix(v.Bytes())
	case *List:
		for _, e := range v.From(0) {
			d.mix(e.Bytes())
		}
	case *Set:
		for member := range v.All() {
			d.xor(member)
		}
	case *ZSet:
		for member, score := range v.All() {
			d.pair(member, number.AppendFloat(nil, score))
		}
	case *Hash:
		for field, value := range v.All() {
			d.pair(field, value)
		}
	case *Stream:
		for entry := range v.Range(StreamID{}, MaxStreamID) {
			// Redis puts a dot where other places have a hyphen.
			d.mix(fmt.Appendf(nil, "%d.%d", entry.ID.Ms, entry.ID.Seq))
			for field, value := range entry.All() {
				d.mix(field)
				d.mix(value)
			}
		}
	}
	if k.Value.expireAt != 0 {
		d.xor([]byte("!!expire!!"))
	}
}

// pair adds a member and what belongs to it.
func (d *Digest) pair(member, value []byte) {
	var pair Digest
	pair.mix(member)
	pair.mix(value)
	d.xor(pair[:])
}
