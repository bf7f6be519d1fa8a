package layoutkit

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Layout says how keys are named. Replicas that share a prefix must share a
// layout: with different ones they see different keyspaces, and their turns and
// locks stop excluding each other.
type Layout int

const (
	// Auto is Cluster for a cluster client or cluster options, else Legacy.
	Auto Layout = iota
	// Legacy is the historic layout: flat names, listings by SCAN. Its scripts
	// touch keys of several slots, so it works on a single node only.
	Legacy
	// Cluster is the contract cluster:v1: the keys that one script touches share
	// a hash tag, and listings read indexes that live beside their records. It
	// works on a cluster and on a single node.
	Cluster
)

// Contract is the value of the marker of a keyspace in the Cluster layout.
const Contract = "cluster:v1"

// Buckets is how many buckets the records of a kind are spread over; it is part
// of the contract.
const Buckets = 32

func (l Layout) String() string {
	switch l {
	case Auto:
		return "auto"
	case Legacy:
		return "legacy"
	case Cluster:
		return "cluster"
	default:
		return fmt.Sprintf("Layout(%d)", int(l))
	}
}

// bucketOf is 32-bit FNV-1a over the bytes of the id as the caller gave it,
// modulo Buckets (contract cluster:v1).
func bucketOf(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % Buckets)
}

const upperHex = "0123456789ABCDEF"

// unreserved are the punctuation characters that encodeURIComponent leaves
// alone, but for '*', which a pattern would take for a wildcard.
const unreserved = "-_.!~'()"

// escape makes an id a segment of a key: percent-encoded as encodeURIComponent
// does it, and '*' too, so that no ':', brace or glob character is left and an id
// can never break a hash tag. Bytes that are no UTF-8 are encoded one by one.
func escape(id string) string {
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; isPlain(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
}

func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(unreserved, c) >= 0
}

// unescape is the inverse of escape. It reports whether segment is what escape
// makes of some id that is not empty: other segments are somebody else's keys.
func unescape(segment string) (id string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(segment) {
			return "", false
		}
		high, low := strings.IndexByte(upperHex, segment[i+1]), strings.IndexByte(upperHex, segment[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b.WriteByte(byte(high<<4 | low))
		i += 2
	}
	id = b.String()
	return id, id != "" && escape(id) == segment
}

// globEscape is a pattern that matches s and nothing else.
func globEscape(s string) string { return globSpecial.Replace(s) }

var globSpecial = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)
