package hyperloglog

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Registers are the registers of a sketch, or of a union of sketches, a byte
// each.
type Registers [registers]byte

// Merge makes r at least what the registers of s are.
func (r *Registers) Merge(s Sketch) error {
	if s.IsDense() {
		for i := range r {
			r[i] = max(r[i], s.register(i))
		}
		return nil
	}
	return s.each(func(first int, run run) {
		if run.value != 0 {
			for i := first; i < first+run.length; i++ {
				r[i] = max(r[i], run.value)
			}
		}
	})
}

// Count estimates how many distinct elements the union has seen.
func (r *Registers) Count() uint64 {
	var h histogram
	for _, value := range r {
		h[value]++
	}
	return h.estimate()
}

// Count estimates how many distinct elements have been added.
func (s Sketch) Count() (uint64, error) {
	var h histogram
	if s.IsDense() {
		for i := range registers {
			h[s.register(i)]++
		}
		return h.estimate(), nil
	}
	err := s.each(func(_ int, r run) { h[r.value] += r.length })
	return h.estimate(), err
}

// histogram counts the registers of each value.
type histogram [1 << bitsPerReg]int

// estimate is the estimator of Otmar Ertl, "New cardinality estimation
// algorithms for HyperLogLog sketches", arXiv:1702.01284. Intermediate results
// are rounded one by one, as on the machines Redis runs on.
func (h *histogram) estimate() uint64 {
	const m = float64(registers)
	alphaInf := 0.721347520444481703680
	z := m * tau((m-float64(h[hashBits+1]))/m)
	for j := hashBits; j >= 1; j-- {
		z += float64(h[j])
		z *= 0.5
	}
	z += float64(m * sigma(float64(h[0])/m))
	return uint64(math.Round(alphaInf * m * m / z))
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	for y, z := 1.0, x; ; {
		x *= x
		before := z
		z += float64(x * y)
		y += y
		if z == before {
			return z
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	for y, z := 1.0, 1-x; ; {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= float64(float64((1-x)*(1-x)) * y)
		if z == before {
			return z / 3
		}
	}
}

// SelfTest counts known numbers of elements and wants the answers to be as near
// as the algorithm promises: within seven standard errors of 1.04/√m.
func SelfTest() error {
	const most, sparseMax = 100_000, 3000
	tolerance := 7 * 1.04 / math.Sqrt(registers)
	s := New()
	next := 1
	for n := 1; n <= most; n++ {
		var err error
		if s, _, err = s.Add(binary.LittleEndian.AppendUint64(nil, uint64(n)), sparseMax); err != nil {
			return err
		}
		if n != next {
			continue
		}
		next *= 10
		count, err := s.Count()
		if err != nil {
			return err
		}
		if off := math.Abs(float64(count) - float64(n)); off > math.Ceil(tolerance*float64(n)) {
			return fmt.Errorf("%d elements counted as %d", n, count)
		}
	}
	return nil
}
