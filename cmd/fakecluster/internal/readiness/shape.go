package readiness

import (
	"regexp"
	"strings"

	"github.com/fakecluster/fakecluster/emulator"
)

// A key is made of words: its pattern is the key with those in the place of
// which others could stand, numbers and ids, written "#".

var (
	// wordPattern finds the words of a key. A UUID is one of them.
	wordPattern = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[^:/.|_{}\-,;@$\s]+`)
	digits      = regexp.MustCompile(`[0-9]+`)
	hexID       = regexp.MustCompile(`(?i)^[0-9a-f-]{8,}$`)
)

// words are the words of a key, each with its place.
func words(key string) (texts []string, places [][]int) {
	places = wordPattern.FindAllStringIndex(key, -1)
	for _, p := range places {
		texts = append(texts, key[p[0]:p[1]])
	}
	return texts, places
}

// general is a word with what varies in it as "#".
func general(word string) string {
	if hexID.MatchString(word) && strings.ContainsAny(word, "0123456789") {
		return "#"
	}
	return digits.ReplaceAllString(word, "#")
}

// varies reports whether a word is, or has, an id.
func varies(word string) bool { return general(word) != word }

// patternOf is the pattern of a key.
func patternOf(key string) string { return wordPattern.ReplaceAllStringFunc(key, general) }

// keyShape lists the patterns of keys, each with a space in front; "…" stands
// for more of the same.
func keyShape(keys []string) string {
	var b strings.Builder
	last, repeated := "", false
	for _, key := range keys {
		switch pattern := patternOf(key); {
		case pattern != last:
			b.WriteString(" " + pattern)
			last, repeated = pattern, false
		case !repeated:
			b.WriteString(" …")
			repeated = true
		}
	}
	return b.String()
}

// shapeOf is a command's name with the patterns of its keys.
func shapeOf(e emulator.Executed) string {
	if runsScript(e.Command) {
		return scriptName(e) + keyShape(e.Keys)
	}
	return strings.ToUpper(strings.ReplaceAll(e.Command, "|", " ")) + keyShape(e.Keys)
}
