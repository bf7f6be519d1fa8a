package keyspace

import "github.com/fakecluster/fakecluster/emulator/internal/version"

// Kind is the type of a value as TYPE names it.
type Kind uint8

// The kinds of values.
const (
	KindString Kind = iota + 1
	KindList
	KindSet
	KindZSet
	KindHash
	KindStream
)

var kindNames = [...]string{"none", "string", "list", "set", "zset", "hash", "stream"}

// String is the name TYPE answers with.
func (k Kind) String() string { return kindNames[k] }

// Value is what a key holds: *String, *List, *Set, *ZSet, *Hash or *Stream.
type Value interface {
	Kind() Kind
	// Encoding is the name OBJECT ENCODING answers with, by the rules of the
	// emulated Redis version.
	Encoding() string
	// Clone returns a deep copy, for COPY.
	Clone() Value
	// Memory is the approximate size of the value in bytes, for MEMORY USAGE
	// and maxmemory.
	Memory() int64
}

// Limits are the configuration parameters that decide how values are encoded.
// All values of a node share one Limits; CONFIG SET changes it in place.
type Limits struct {
	Version version.Version // decides which encodings exist

	HashMaxListpackEntries int
	HashMaxListpackValue   int // bytes
	ListMaxListpackSize    int // entries when positive, size class -1..-5 when negative
	ListCompressDepth      int
	SetMaxIntsetEntries    int
	SetMaxListpackEntries  int // 7.2 and later
	SetMaxListpackValue    int // bytes; 7.2 and later
	ZSetMaxListpackEntries int
	ZSetMaxListpackValue   int // bytes
	StreamNodeMaxBytes     int
	StreamNodeMaxEntries   int
	HLLSparseMaxBytes      int
	MaxStringBytes         int64 // proto-max-bulk-len
	DumpUncompressed       bool  // rdbcompression no
}

// DefaultLimits are the limits of a Redis of version v without configuration.
func DefaultLimits(v version.Version) Limits {
	return Limits{
		Version:                v,
		HashMaxListpackEntries: 512,
		HashMaxListpackValue:   64,
		ListMaxListpackSize:    -2,
		SetMaxIntsetEntries:    512,
		SetMaxListpackEntries:  128,
		SetMaxListpackValue:    64,
		ZSetMaxListpackEntries: 128,
		ZSetMaxListpackValue:   64,
		StreamNodeMaxBytes:     4096,
		StreamNodeMaxEntries:   100,
		HLLSparseMaxBytes:      3000,
		MaxStringBytes:         512 << 20,
	}
}
