// Package slots knows how a Redis Cluster spreads keys: the CRC16 of a key's
// hash tag, modulo 16384, names the hash slot, and every slot has one owner.
//
// The rules are those of the Redis Cluster specification, section "Key
// distribution model". Everything here is pure computation; nothing knows of
// nodes or connections.
package slots

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Count is the number of hash slots of a cluster.
const Count = 16384

// Slot is a hash slot, 0 to Count-1.
type Slot uint16

// ParseSlot reads a decimal slot number and refuses anything outside
// 0..Count-1.
func ParseSlot(s string) (Slot, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n >= Count {
		return 0, fmt.Errorf("slot %q is not a number from 0 to %d", s, Count-1)
	}
	return Slot(n), nil
}

// Of returns the slot of a key.
func Of(key []byte) Slot {
	return Slot(crc16(Tag(key)) % Count)
}

// OfString is Of for a string key.
func OfString(key string) Slot {
	return Slot(crc16(TagString(key)) % Count)
}

// Tag returns the part of key that is hashed: what stands between the first
// '{' and the first '}' behind it, when that is not empty, else the whole key.
func Tag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	length := bytes.IndexByte(key[open+1:], '}')
	if length <= 0 {
		return key
	}
	return key[open+1 : open+1+length]
}

// TagString is Tag for a string key.
func TagString(key string) string {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	length := strings.IndexByte(key[open+1:], '}')
	if length <= 0 {
		return key
	}
	return key[open+1 : open+1+length]
}

// crc16 is CRC-16/XMODEM: polynomial 0x1021, initial value 0, no reflection.
func crc16[T ~string | ~[]byte](data T) uint16 {
	var crc uint16
	for i := 0; i < len(data); i++ {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^data[i]]
	}
	return crc
}

var crcTable = makeCRCTable()

func makeCRCTable() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}
