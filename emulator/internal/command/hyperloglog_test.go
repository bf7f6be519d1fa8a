package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestHyperLogLog(t *testing.T) {
	diff(t, `
		PFADD h
		GET h
		PFADD h
		PFADD h a b c
		GET h
		PFADD h a b
		PFCOUNT h
		GET h
		PFCOUNT h
		PFCOUNT nosuch
		PFADD i c d e
		PFCOUNT h i
		PFCOUNT h i nosuch
		PFCOUNT nosuch nosuch2
		PFMERGE m h i
		GET m
		PFCOUNT m
		PFMERGE m
		PFMERGE n
		GET n
		PFDEBUG ENCODING m
		PFDEBUG DECODE m
		PFDEBUG TODENSE m
		PFDEBUG TODENSE m
		PFDEBUG DECODE m
		PFDEBUG ENCODING m
		GET m
		PFADD m a x y
		GET m
		PFMERGE h m
		GET h
		PFDEBUG GETREG i
		PFDEBUG FOO i
		PFDEBUG encoding i i
		PFDEBUG ENCODING nosuch
		PFDEBUG FOO nosuch
		PFSELFTEST
		OBJECT ENCODING i
		SET s notahll
		PFADD s x
		PFCOUNT s
		PFCOUNT h s
		PFMERGE s h
		PFMERGE h s
		PFDEBUG ENCODING s
		SET s 12
		PFADD s x
		RPUSH l x
		PFADD l x
		PFCOUNT l
		PFCOUNT h l
		PFDEBUG ENCODING l
		SET s "HYLL\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		PFADD s x
		SET s "HYLL\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
		PFADD s x
		SET s "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"
		PFADD s x
		PFCOUNT s
		PFCOUNT s h
		PFMERGE s h
		PFDEBUG TODENSE s
		SET s "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff\x00"
		PFCOUNT s
		PFCOUNT s h
		PFDEBUG TODENSE s
		PFMERGE cut
		APPEND cut x
		PFDEBUG DECODE cut
		PFCOUNT cut
		PFCOUNT cut h
		PFADD cut a
		SET s "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x7f\xff"
		OBJECT ENCODING s
		PFCOUNT s
		OBJECT ENCODING s
	`)
}

// Sketches of all sizes are the same bytes, through every change of the sparse
// encoding and beyond it.
func TestHyperLogLogBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var script strings.Builder
	next := 0
	for range 500 {
		key := rng.IntN(2)
		fmt.Fprintf(&script, "PFADD h%d", key)
		for range 1 + rng.IntN(6) {
			fmt.Fprintf(&script, " element:%d", next)
			next++
		}
		fmt.Fprintf(&script, "\nGET h%d\nPFCOUNT h%d\n", key, key)
		if rng.IntN(20) == 0 {
			fmt.Fprintf(&script, "PFMERGE m h%d\nGET m\n", key)
		}
	}
	script.WriteString("PFCOUNT h0 h1\nCONFIG SET hll-sparse-max-bytes 100\n")
	for range 30 {
		fmt.Fprintf(&script, "PFADD s %d %d\nGET s\nPFCOUNT s\n", rng.Int(), rng.Int())
	}
	diff(t, script.String())
}

func TestHyperLogLogLargeCounts(t *testing.T) {
	var script strings.Builder
	next := 0
	for range 40 {
		script.WriteString("PFADD h")
		for range 2500 {
			fmt.Fprintf(&script, " %d", next*7919)
			next++
		}
		script.WriteString("\nPFCOUNT h\n")
	}
	script.WriteString("GET h\n")
	diff(t, script.String())
}
