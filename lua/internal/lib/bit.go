package lib

import (
	"math"
	"math/bits"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// OpenBit registers bit: operations on 32-bit integers.
func OpenBit(g *vm.Global) {
	fold := func(op func(a, b uint32) uint32) vm.GoFunction {
		return func(t *vm.Thread) int {
			b := bitArg(t, 1)
			for i := t.NArgs(); i > 1; i-- {
				b = op(b, bitArg(t, i))
			}
			return pushBits(t, b)
		}
	}
	shift := func(op func(b uint32, n int) uint32) vm.GoFunction {
		return func(t *vm.Thread) int {
			b := bitArg(t, 1)
			return pushBits(t, op(b, int(bitArg(t, 2)&31)))
		}
	}
	newLibrary(g, "bit", []entry{
		{"tobit", func(t *vm.Thread) int { return pushBits(t, bitArg(t, 1)) }},
		{"bnot", func(t *vm.Thread) int { return pushBits(t, ^bitArg(t, 1)) }},
		{"band", fold(func(a, b uint32) uint32 { return a & b })},
		{"bor", fold(func(a, b uint32) uint32 { return a | b })},
		{"bxor", fold(func(a, b uint32) uint32 { return a ^ b })},
		{"lshift", shift(func(b uint32, n int) uint32 { return b << n })},
		{"rshift", shift(func(b uint32, n int) uint32 { return b >> n })},
		{"arshift", shift(func(b uint32, n int) uint32 { return uint32(int32(b) >> n) })},
		{"rol", shift(bits.RotateLeft32)},
		{"ror", shift(func(b uint32, n int) uint32 { return bits.RotateLeft32(b, -n) })},
		{"bswap", func(t *vm.Thread) int { return pushBits(t, bits.ReverseBytes32(bitArg(t, 1))) }},
		{"tohex", bitToHex},
	})
}

// bitArg rounds a number to an integer and takes its low 32 bits.
func bitArg(t *vm.Thread, n int) uint32 {
	f, ok := vm.ToNumber(t.Arg(n))
	// Adding 2^52+2^51 leaves the rounded integer in the low bits.
	b := uint32(math.Float64bits(f + 6755399441055744.0))
	if b == 0 && !ok {
		t.ArgTypeError(n, "number")
	}
	return b
}

func pushBits(t *vm.Thread, b uint32) int {
	t.Push(vm.Int(int(int32(b))))
	return 1
}

func bitToHex(t *vm.Thread) int {
	b := bitArg(t, 1)
	n := 8
	if !t.IsNone(2) {
		n = int(int32(bitArg(t, 2)))
	}
	digits := "0123456789abcdef"
	if n < 0 {
		n = -n
		digits = "0123456789ABCDEF"
	}
	n = min(n, 8)
	out := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		out[i] = digits[b&15]
		b >>= 4
	}
	t.PushString(string(out))
	return 1
}
