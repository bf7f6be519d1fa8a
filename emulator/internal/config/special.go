package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// saveParams are pairs of seconds and changes.
var saveParams = parseFunc(func(_ value, s string) (value, string) {
	if s == "" {
		return value{}, ""
	}
	words := strings.Split(s, " ")
	for i, word := range words {
		n, ok := parseLong(word)
		if !ok || i%2 == 0 && n < 1 || n < 0 {
			return value{}, "Invalid save parameters"
		}
		words[i] = strconv.FormatInt(n, 10)
	}
	if len(words)%2 != 0 {
		return value{}, "Invalid save parameters"
	}
	return value{text: strings.Join(words, " ")}, ""
})

// bufferLimits are class, hard limit, soft limit and seconds of any number of
// classes; the other classes keep theirs.
var bufferLimits = parseFunc(func(old value, s string) (value, string) {
	words := strings.Split(s, " ")
	if s == "" {
		words = nil
	}
	if len(words)%4 != 0 {
		return value{}, "Wrong number of arguments in buffer limit configuration."
	}
	limits := strings.Split(old.text, " ")
	if old.text == "" {
		limits = strings.Split("normal 0 0 0 slave 0 0 0 pubsub 0 0 0", " ")
	}
	for limit := range slices.Chunk(words, 4) {
		class := strings.ToLower(limit[0])
		if class == "replica" {
			class = "slave"
		}
		at := slices.Index(limits, class)
		if at < 0 {
			return value{}, "Invalid client class specified in buffer limit configuration."
		}
		hard, ok1 := ParseMemory(limit[1])
		soft, ok2 := ParseMemory(limit[2])
		seconds, ok3 := parseLong(limit[3])
		if !ok1 || !ok2 || !ok3 || seconds < 0 {
			return value{}, "Error in hard, soft or soft_seconds setting in buffer limit configuration."
		}
		copy(limits[at+1:], []string{
			strconv.FormatUint(hard, 10), strconv.FormatUint(soft, 10), strconv.FormatInt(seconds, 10),
		})
	}
	return value{text: strings.Join(limits, " ")}, ""
})

// parseLong reads a number as C's strtoll does: blanks and a plus may lead it,
// and nothing at all is 0.
func parseLong(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(strings.TrimLeft(s, "\t\n\v\f\r"), 10, 64)
	return n, err == nil
}

// Letters of notify-keyspace-events, in the order CONFIG GET prints them.
const (
	eventTypes = "g$lshzxetd" // A stands for them all
	eventRest  = "nKEm"
)

// eventBits numbers the letters as Redis does; the classes of a value, as bits,
// are its number. (Bit 12 is Redis' own.)
const eventBits = "KEg$lshzxetm.dn"

// eventClasses are the letters of keyspace events.
var eventClasses = parseFunc(func(_ value, s string) (value, string) {
	s = strings.ReplaceAll(s, "A", eventTypes)
	for _, c := range s {
		if !strings.ContainsRune(eventTypes+eventRest, c) {
			return value{}, "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."
		}
	}
	keep := func(letters string) string {
		return strings.Map(func(c rune) rune {
			if strings.ContainsRune(s, c) {
				return c
			}
			return -1
		}, letters)
	}
	types, rest := keep(eventTypes), keep(eventRest)
	if types == eventTypes {
		// Redis prints no n beside A.
		types, rest = "A", strings.TrimPrefix(rest, "n")
	}
	var bits int64
	for _, c := range s {
		bits |= 1 << strings.IndexRune(eventBits, c)
	}
	return value{text: types + rest, number: bits}, ""
})

// oomScores are three numbers.
var oomScores = parseFunc(func(_ value, s string) (value, string) {
	words := strings.Split(s, " ")
	if len(words) != 3 {
		return value{}, "wrong number of arguments"
	}
	for i, word := range words {
		n, ok := parseLong(word)
		if !ok || n < -2000 || n > 2000 {
			return value{}, "Invalid oom-score-adj-values, elements must be between -2000 and 2000."
		}
		words[i] = strconv.FormatInt(n, 10)
	}
	return value{text: strings.Join(words, " ")}, ""
})

// percentiles are numbers from 0 to 100.
var percentiles = parseFunc(func(_ value, s string) (value, string) {
	if s == "" {
		return value{}, ""
	}
	words := strings.Split(s, " ")
	for i, word := range words {
		f, ok := number.ParseFloat([]byte(word))
		switch {
		case !ok:
			return value{}, "Invalid latency-tracking-info-percentiles parameters"
		case f < 0 || f > 100:
			return value{}, "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"
		}
		words[i] = strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.6f", f), "0"), ".")
	}
	return value{text: strings.Join(words, " ")}, ""
})

// titleVariables are what a title template may contain, and whether the
// variable has a value in every server.
var titleVariables = map[string]bool{
	"title": false, "listen-addr": true, "server-mode": false, "port": true,
	"tls-port": true, "unixsocket": false, "config-file": false,
}

// titleTemplate must be made of known variables and must not come out empty.
var titleTemplate = parseFunc(func(_ value, s string) (value, string) {
	const problem = "template format is invalid or contains unknown variables"
	var shown strings.Builder
	for rest := s; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		shown.WriteString(before)
		if !found {
			break
		}
		if escaped, ok := strings.CutPrefix(after, "{"); ok {
			shown.WriteString("{")
			rest = escaped
			continue
		}
		name, behind, closed := strings.Cut(after, "}")
		hasValue, known := titleVariables[name]
		if !closed || !known {
			return value{}, problem
		}
		if hasValue {
			shown.WriteString(name)
		}
		rest = behind
	}
	if strings.Trim(shown.String(), " ") == "" {
		return value{}, problem
	}
	return value{text: s}, ""
})

// hostname is what a cluster node may be announced as.
var hostname = parseFunc(func(_ value, s string) (value, string) {
	if len(s) >= 256 {
		return value{}, "Hostnames must be less than 256 characters"
	}
	for _, c := range s {
		if !strings.ContainsRune(hostCharacters+".", c) {
			return value{}, "Hostnames may only contain alphanumeric characters, hyphens or dots"
		}
	}
	return value{text: s}, ""
})

const hostCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// nodeName is a name for people.
var nodeName = parseFunc(func(_ value, s string) (value, string) {
	if len(s) >= 256 {
		return value{}, "Human readable node names must be less than 256 characters"
	}
	return value{text: s}, ""
})

// fileName must not be a path.
var fileName = parseFunc(func(_ value, s string) (value, string) {
	if strings.Contains(s, "/") {
		return value{}, "dbfilename can't be a path, just a filename"
	}
	return value{text: s}, ""
})
