package command

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// grammar is how the arguments of a command may look: each word is a literal, or
// a class in angle brackets of which one member is drawn; in square brackets,
// words that may be missing; bars separate alternatives. Now and then a word is
// replaced by one of another class, dropped or doubled.
var stringGrammar = []string{
	"GET <key>", "GETDEL <key>", "STRLEN <key>", "MGET <key> [<key> <key>]",
	"SET <key> <value> [NX|XX] [GET] [EX <ttl>|PX <ttl>|EXAT <at>|PXAT <at>|KEEPTTL]",
	"SET <key> <value> [EX <ttl>] [PX <ttl>] [NX] [XX] [KEEPTTL] [GET]",
	"SETNX <key> <value>", "SETEX <key> <ttl> <value>", "PSETEX <key> <ttl> <value>", "GETSET <key> <value>",
	"GETEX <key> [EX <ttl>|PX <ttl>|EXAT <at>|PXAT <at>|PERSIST]",
	"MSET <key> <value> [<key> <value>]", "MSETNX <key> <value> [<key> <value>]",
	"APPEND <key> <value>", "GETRANGE <key> <int> <int>", "SUBSTR <key> <small> <small>",
	"SETRANGE <key> <small> <value>", "INCR <key>", "DECR <key>", "INCRBY <key> <int>", "DECRBY <key> <int>",
	"INCRBYFLOAT <key> <float>", "LCS <key> <key> [LEN|IDX] [WITHMATCHLEN] [MINMATCHLEN <small>]",
	"SETBIT <key> <small> <bit>", "GETBIT <key> <int>", "BITCOUNT <key> [<small> <small> [BIT|BYTE]]",
	"BITPOS <key> <bit> [<small> [<small> [BIT|BYTE]]]", "BITOP AND|OR|XOR|NOT <key> <key> [<key>]",
	"BITFIELD <key> [OVERFLOW WRAP|SAT|FAIL] GET|SET|INCRBY <type> <small> <int>", "BITFIELD_RO <key> GET <type> <small>",
	"PFADD <key> <value> <value>", "PFCOUNT <key> [<key>]", "PFMERGE <key> <key> [<key>]",
	"DUMP <key>", "OBJECT ENCODING <key>", "OBJECT REFCOUNT <key>",
	"DEL <key> [<key>]", "UNLINK <key>", "EXISTS <key> [<key>]", "TYPE <key>", "TOUCH <key> [<key>]",
	"EXPIRE <key> <ttl> [NX|XX|GT|LT] [XX|GT]", "PEXPIRE <key> <ttl> [NX|XX|GT|LT]",
	"EXPIREAT <key> <at> [NX|XX|GT|LT]", "PEXPIREAT <key> <at>", "PERSIST <key>",
	"EXPIRETIME <key>",
	"RENAME <key> <key>", "RENAMENX <key> <key>", "COPY <key> <key> [DB <small>] [REPLACE]", "MOVE <key> <small>",
	"SORT <key> [BY <value>] [LIMIT <small> <small>] [GET <value>] [ASC|DESC] [ALPHA] [STORE <key>]",
	"RPUSH <key> <value> <value>", "SADD <key> <small>", "ZADD <key> <small> <value>", "DBSIZE",
}

var wordClasses = map[string][]string{
	"key":   {"a", "b", "c", "d", "e"},
	"value": {"1", "hello", "-5", `""`, "3.5", "12345678901234567890", `"\xff\x00\x80"`, "abcabcabc", "#", "a*", " 7"},
	"int": {"0", "1", "-1", "10", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "x", `""`,
		"1.0", "+1", "007", "100000"},
	"small": {"0", "1", "-1", "3", "-3", "17", "40", "x"},
	"bit":   {"0", "1", "2"},
	"float": {"1", "0.1", "-2.5", "1e3", "inf", "nan", "x", "1e400", "0x10", "3.0e-5"},
	"ttl":   {"400000", "800000", "0", "-1", "x", "9223372036854775807"},
	"at":    {"4102444800", "4102444800000", "1", "0", "-1", "x", "9223372036854775807"},
	"type":  {"u8", "i8", "u1", "i64", "u63", "u64", "i5", "x"},
}

// junk is put where it does not belong. It is never a time to live so short that
// the two sides could disagree on when it ends.
var junk = []string{"x", `""`, "-5", "3.5", `"\xff\x00"`, "9223372036854775808", "a", "NX"}

// sentence draws one command line from a grammar.
func sentence(rng *rand.Rand, grammar string) string {
	var words []string
	for _, word := range strings.Fields(optional(rng, grammar)) {
		if alternatives := strings.Split(word, "|"); len(alternatives) > 1 {
			word = alternatives[rng.IntN(len(alternatives))]
		}
		if class := wordClasses[strings.Trim(word, "<>")]; class != nil {
			word = class[rng.IntN(len(class))]
		}
		switch mutation := rng.IntN(60); {
		case len(words) == 0:
		case mutation == 0:
			continue
		case mutation == 1:
			words = append(words, word)
		case mutation == 2:
			word = junk[rng.IntN(len(junk))]
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// optional keeps or drops what is in square brackets, and picks one of the
// alternatives there that have several words.
func optional(rng *rand.Rand, grammar string) string {
	open := strings.IndexByte(grammar, '[')
	if open < 0 {
		return grammar
	}
	depth, end := 0, open
	for ; end < len(grammar); end++ {
		switch grammar[end] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	inside := grammar[open+1 : end]
	if strings.Contains(inside, " ") && strings.Contains(inside, "|") && !strings.Contains(inside, "[") {
		alternatives := strings.Split(inside, "|")
		inside = alternatives[rng.IntN(len(alternatives))]
	}
	if rng.IntN(2) == 0 {
		inside = ""
	}
	return optional(rng, grammar[:open]+inside+grammar[end+1:])
}

// Random commands on strings and keys, right and wrong ones, do what they do in
// Redis. FAKECLUSTER_RANDOM_SEED and FAKECLUSTER_RANDOM_COMMANDS ask for others
// and for more.
func TestStringsAndKeysAtRandom(t *testing.T) {
	seed, commands := fromEnv("FAKECLUSTER_RANDOM_SEED", 1), fromEnv("FAKECLUSTER_RANDOM_COMMANDS", 2000)
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	var script strings.Builder
	for i := range commands {
		if i%100 == 0 {
			script.WriteString("FLUSHALL\n")
		}
		line := sentence(rng, stringGrammar[rng.IntN(len(stringGrammar))])
		if strings.HasPrefix(line, "SORT") { // the order of a set is nobody's
			line = "unordered: " + line
		}
		script.WriteString(line + "\n")
	}
	diff(t, script.String())
}

func fromEnv(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
