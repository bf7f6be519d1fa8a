package readiness

import (
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
)

// rules say which word of a key is to become its hash tag, by the key's pattern.
type rules map[string]int

// tagged is a key with its hash tag, and the tag. Without a rule the key stays
// as it is. Braces that are there already are taken out.
func (r rules) tagged(key string) (name, tag string) {
	at, known := r[patternOf(key)]
	texts, places := words(key)
	if !known || at >= len(texts) {
		return key, slots.TagString(key)
	}
	bare := strings.NewReplacer("{", "", "}", "")
	first, last := places[at][0], places[at][1]
	return bare.Replace(key[:first]) + "{" + texts[at] + "}" + bare.Replace(key[last:]), texts[at]
}

// joins reports whether the rules put keys into one slot.
func (r rules) joins(keys []string) bool {
	for i := range keys {
		_, tag := r.tagged(keys[i])
		if _, first := r.tagged(keys[0]); slots.OfString(tag) != slots.OfString(first) {
			return false
		}
	}
	return true
}

// agrees reports whether both can be followed.
func (r rules) agrees(other rules) bool {
	for pattern, at := range other {
		if own, known := r[pattern]; known && own != at {
			return false
		}
	}
	return true
}

// findTag looks for a word that all keys of a set have in common, whose value
// differs from set to set, and that joins every set of keys used together.
func findTag(sets [][]string) rules {
	var sample []string
	for _, set := range sets {
		if len(set) > len(sample) {
			sample = set // the set with most keys knows most patterns
		}
	}
	if len(sample) < 2 {
		return nil
	}
	texts, _ := words(sample[0])
	for _, word := range texts {
		if !varies(word) {
			continue
		}
		if r := rulesFor(word, sample); r != nil && !slices.ContainsFunc(sets, func(set []string) bool { return !r.joins(set) }) {
			return r
		}
	}
	return nil
}

// rulesFor are the rules that make word the tag of all keys, nil if one lacks it
// or two of one pattern have it in different places.
func rulesFor(word string, keys []string) rules {
	r := rules{}
	for _, key := range keys {
		texts, _ := words(key)
		at := slices.Index(texts, word)
		pattern := patternOf(key)
		if own, known := r[pattern]; at < 0 || known && own != at {
			return nil
		}
		r[pattern] = at
	}
	return r
}

// commonWord is a word without an id that all keys have: a tag that would put
// everything of its kind in one slot.
func commonWord(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	texts, _ := words(keys[0])
	for _, word := range texts {
		if !slices.ContainsFunc(keys, func(key string) bool {
			others, _ := words(key)
			return !slices.Contains(others, word)
		}) {
			return word
		}
	}
	return ""
}
