package vm

import (
	"encoding/binary"
	"math"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
)

// dumpHeader says: Lua 5.1, little-endian, 4-byte int, 8-byte size_t, 4-byte
// instructions, 8-byte floating point numbers.
const dumpHeader = "\x1bLuaQ\x00\x01\x04\x08\x04\x08\x00"

// Dump returns a Lua function as string.dump does: the binary chunk that luac
// would write for it.
func (f *Function) Dump() (code string, ok bool) {
	if f.IsGo() {
		return "", false
	}
	return string(dumpProto([]byte(dumpHeader), f.proto.Proto, "")), true
}

func dumpInt(out []byte, n int) []byte { return binary.LittleEndian.AppendUint32(out, uint32(n)) }

func dumpString(out []byte, s string) []byte {
	out = binary.LittleEndian.AppendUint64(out, uint64(len(s)+1))
	return append(append(out, s...), 0)
}

// dumpProto appends a function. Its source is left out if it is that of the
// function around it.
func dumpProto(out []byte, p *compile.Proto, outer string) []byte {
	if p.Source == outer {
		out = binary.LittleEndian.AppendUint64(out, 0)
	} else {
		out = dumpString(out, p.Source)
	}
	out = dumpInt(out, p.LineDefined)
	out = dumpInt(out, p.LastLineDefined)
	out = append(out, byte(p.NumUpvalues), byte(p.NumParams), p.Vararg, byte(p.MaxStack))
	out = dumpInt(out, len(p.Code))
	for _, i := range p.Code {
		out = binary.LittleEndian.AppendUint32(out, uint32(i))
	}
	out = dumpInt(out, len(p.Constants))
	for _, c := range p.Constants {
		switch c.Kind {
		case compile.ConstNil:
			out = append(out, 0)
		case compile.ConstFalse:
			out = append(out, 1, 0)
		case compile.ConstTrue:
			out = append(out, 1, 1)
		case compile.ConstNumber:
			out = binary.LittleEndian.AppendUint64(append(out, 3), math.Float64bits(c.Number))
		case compile.ConstString:
			out = dumpString(append(out, 4), c.String)
		}
	}
	out = dumpInt(out, len(p.Protos))
	for _, child := range p.Protos {
		out = dumpProto(out, child, p.Source)
	}
	return dumpDebug(out, p)
}

func dumpDebug(out []byte, p *compile.Proto) []byte {
	out = dumpInt(out, len(p.Lines))
	for _, line := range p.Lines {
		out = dumpInt(out, int(line))
	}
	out = dumpInt(out, len(p.Locals))
	for _, l := range p.Locals {
		out = dumpString(out, l.Name)
		out = dumpInt(out, l.StartPC)
		out = dumpInt(out, l.EndPC)
	}
	out = dumpInt(out, len(p.Upvalues))
	for _, name := range p.Upvalues {
		out = dumpString(out, name)
	}
	return out
}
