// Package rdb reads and writes the building blocks of Redis' RDB format:
// lengths, strings, numbers, compressed blocks, and the envelope of a value
// that DUMP makes and RESTORE and MIGRATE take. What a value consists of is for
// package keyspace to say.
//
// Writers produce the same bytes as Redis; readers believe nothing, since
// payloads come from clients.
package rdb

import (
	"encoding/binary"
	"errors"
	"hash/crc64"
	"math/bits"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// The types of values a payload may begin with.
const (
	TypeString           = 0
	TypeList             = 1
	TypeSet              = 2
	TypeZSet             = 3
	TypeHash             = 4
	TypeZSet2            = 5
	TypeHashZipmap       = 9
	TypeListZiplist      = 10
	TypeSetIntset        = 11
	TypeZSetZiplist      = 12
	TypeHashZiplist      = 13
	TypeListQuicklist    = 14
	TypeStreamListpacks  = 15
	TypeHashListpack     = 16
	TypeZSetListpack     = 17
	TypeListQuicklist2   = 18
	TypeStreamListpacks2 = 19
	TypeSetListpack      = 20
	TypeStreamListpacks3 = 21
	TypeHashMetadata     = 24
	TypeHashListpackEx   = 25
)

// What may stand in a file instead of the type of a value.
const (
	OpFunction     = 245
	OpAux          = 250
	OpExpireTimeMs = 252
	OpSelectDB     = 254
	OpEOF          = 255
)

// ErrEnvelope says that a payload is damaged, or was made by a newer version.
var ErrEnvelope = errors.New("DUMP payload version or checksum are wrong")

// ErrFormat says that the contents of a payload make no sense.
var ErrFormat = errors.New("bad data format")

// FormatVersion is the version of the RDB format that a Redis version writes.
func FormatVersion(v version.Version) uint16 {
	switch {
	case v.AtLeast(7, 4):
		return 12
	case v.AtLeast(7, 2):
		return 11
	case v.AtLeast(7, 0):
		return 10
	}
	return 9
}

// footerSize is 2 bytes of version and 8 of checksum.
const footerSize = 2 + 8

// Seal ends a serialized value with the format version and the checksum.
func Seal(value []byte, formatVersion uint16) []byte {
	value = binary.LittleEndian.AppendUint16(value, formatVersion)
	return binary.LittleEndian.AppendUint64(value, Checksum(value))
}

// Split takes a payload that Seal has made apart into the type it begins with
// and the value without the rest, as they stand in a file.
func Split(payload []byte) (kind byte, value []byte) {
	return payload[0], payload[1 : len(payload)-footerSize]
}

// Unseal returns the value in a payload whose checksum is right and whose
// format is no newer than newest, or ErrEnvelope.
func Unseal(payload []byte, newest uint16) ([]byte, error) {
	if len(payload) < footerSize {
		return nil, ErrEnvelope
	}
	end := len(payload) - footerSize
	version := binary.LittleEndian.Uint16(payload[end:])
	checksum := binary.LittleEndian.Uint64(payload[end+2:])
	if version > newest || checksum != Checksum(payload[:end+2]) {
		return nil, ErrEnvelope
	}
	return payload[:end], nil
}

// jones is the polynomial of Redis' CRC64, whose variant starts with 0 and does
// not invert the result.
var jones = crc64.MakeTable(bits.Reverse64(0xad93d23594c935a9))

// Checksum is Redis' CRC64 of b.
func Checksum(b []byte) uint64 {
	return ^crc64.Update(^uint64(0), jones, b)
}
