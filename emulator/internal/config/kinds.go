package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// A kind is the type of a parameter. parse reads a new value, given the old one
// (some kinds change only a part of it), or says what is wrong with it.
type kind interface {
	parse(old value, text string) (v value, problem string)
}

// parseFunc is a kind that is no more than its parser.
type parseFunc func(old value, text string) (value, string)

func (f parseFunc) parse(old value, text string) (value, string) { return f(old, text) }

// text takes anything.
var text = parseFunc(func(_ value, s string) (value, string) { return value{text: s}, "" })

var yesNo = parseFunc(func(_ value, s string) (value, string) {
	switch {
	case foldEqual(s, "yes"):
		return value{"yes", 1}, ""
	case foldEqual(s, "no"):
		return value{"no", 0}, ""
	}
	return value{}, "argument must be 'yes' or 'no'"
})

// integer takes numbers from low to high.
func integer(low, high int64) kind {
	return parseFunc(func(_ value, s string) (value, string) {
		n, ok := number.ParseInt([]byte(s))
		if !ok {
			return value{}, "argument couldn't be parsed into an integer"
		}
		if n < low || n > high {
			return value{}, fmt.Sprintf("argument must be between %d and %d inclusive", low, high)
		}
		return value{strconv.FormatInt(n, 10), n}, ""
	})
}

// clamped takes what of takes and then keeps within low to high.
func clamped(of kind, low, high int64) kind {
	return parseFunc(func(old value, s string) (value, string) {
		v, problem := of.parse(old, s)
		v.number = min(max(v.number, low), high)
		v.text = strconv.FormatInt(v.number, 10)
		return v, problem
	})
}

// memory takes sizes such as "100mb" of low to high bytes.
func memory(low, high uint64) kind {
	return parseFunc(func(_ value, s string) (value, string) {
		n, ok := ParseMemory(s)
		if !ok {
			return value{}, "argument must be a memory value"
		}
		if n < low || n > high {
			return value{}, fmt.Sprintf("argument must be between %d and %d inclusive", low, high)
		}
		return value{strconv.FormatUint(n, 10), int64(n)}, ""
	})
}

// memoryOrPercent takes a size or a share of maxmemory, which is kept as a
// negative number.
func memoryOrPercent(low, high uint64) kind {
	size := memory(low, high)
	return parseFunc(func(old value, s string) (value, string) {
		digits, isPercent := strings.CutSuffix(s, "%")
		if !isPercent {
			v, problem := size.parse(old, s)
			if problem != "" {
				problem = "argument must be a memory or percent value"
			}
			return v, problem
		}
		n, ok := number.ParseInt([]byte(digits))
		switch {
		case !ok || n < 0:
			return value{}, "argument must be a memory or percent value"
		case n == 0:
			return value{"0", 0}, ""
		case n > 100:
			return value{}, "percentage argument must be less or equal to 100"
		}
		return value{s, -n}, ""
	})
}

// ParseMemory reads digits and an optional unit. Like Redis it takes a missing
// number for 0 and lets sizes wrap around.
func ParseMemory(s string) (uint64, bool) {
	unit := strings.TrimLeft(s, "0123456789")
	factor := uint64(1)
	switch strings.ToLower(unit) {
	case "", "b":
	case "k":
		factor = 1000
	case "kb":
		factor = 1 << 10
	case "m":
		factor = 1000 * 1000
	case "mb":
		factor = 1 << 20
	case "g":
		factor = 1000 * 1000 * 1000
	case "gb":
		factor = 1 << 30
	default:
		return 0, false
	}
	digits := s[:len(s)-len(unit)]
	if digits == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		n = math.MaxUint64
	}
	return n * factor, true
}

// oneOf takes one of some words.
func oneOf(words ...string) kind {
	return parseFunc(func(_ value, s string) (value, string) {
		for _, word := range words {
			if foldEqual(word, s) {
				return value{text: word}, ""
			}
		}
		return value{}, notOneOf(words)
	})
}

// flagsOf takes any of some words, the first of which stands for none of the
// others.
func flagsOf(words ...string) kind {
	return parseFunc(func(_ value, s string) (value, string) {
		var chosen int64
		for _, part := range strings.Split(s, " ") {
			found := false
			for i, word := range words {
				if foldEqual(word, part) {
					found = true
					if i > 0 {
						chosen |= 1 << i
					}
				}
			}
			if !found {
				return value{}, notOneOf(words)
			}
		}
		if chosen == 0 {
			return value{words[0], 0}, ""
		}
		var set []string
		for i, word := range words {
			if chosen&(1<<i) != 0 {
				set = append(set, word)
			}
		}
		text := strings.Join(set, " ")
		if strings.HasPrefix(text, "save nosave") {
			return value{}, "shutdown options SAVE and NOSAVE can't be used simultaneously"
		}
		return value{text, chosen}, ""
	})
}

func notOneOf(words []string) string {
	return "argument(s) must be one of the following: " + strings.Join(words, ", ")
}

func foldEqual(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }
