package server_test

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/server"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/hostile"
)

// dictionary is what the fuzzer makes arguments of: keys of every type, numbers
// at every edge, and the words that options are spelled with. Numbers that make
// Redis, too, fill the memory are left out.
var dictionary = strings.Split(strings.Join([]string{
	"|str|int|list|set|ints|hash|zset|stream|hll|geo|bits|none|{a}1|{a}2|group|consumer|a|b|c|f|0|1|2|3|-1|-2|10|100|1000|-1000",
	"0.001|1.5|-0.5|inf|-inf|+inf|nan|1e400|9223372036854775807|-9223372036854775808|9223372036854775808|18446744073709551615|4294967296|abc",
	"0-0|1-1|5-*|*|$|>|-|+|(1|(a|[a|[b|=|~|1700000000|4102444800000|127.0.0.1|7000|0000000000000000000000000000000000000000|@all|+@read|-get|~a*|%R~b|>pw|nopass|on|off|yes|no|sync|async",
	"EX|PX|EXAT|PXAT|KEEPTTL|PERSIST|NX|XX|GT|LT|CH|INCR|GET|SET|BY|LIMIT|ASC|DESC|ALPHA|STORE|STOREDIST|COUNT|MATCH|TYPE|WITHSCORES|WITHVALUES|WITHCOORD|WITHDIST|WITHHASH",
	"BYSCORE|BYLEX|REV|WEIGHTS|AGGREGATE|SUM|MIN|MAX|LEFT|RIGHT|BEFORE|AFTER|RANK|MAXLEN|MINID|NOMKSTREAM|GROUP|STREAMS|BLOCK|NOACK|JUSTID|IDLE|TIME|RETRYCOUNT|FORCE|LASTID|MKSTREAM|ENTRIESREAD|CONSUMERS|FULL",
	"FROMMEMBER|FROMLONLAT|BYRADIUS|BYBOX|m|km|OVERFLOW|WRAP|SAT|FAIL|u8|i64|u64|#1|BIT|BYTE|AND|OR|XOR|NOT|IDX|LEN|MINMATCHLEN|WITHMATCHLEN|REPLACE|ABSTTL|FREQ|IDLETIME|FIELDS|FNX|FXX|DB|COPY|AUTH|AUTH2|KEYS",
	"return redis.call('GET',KEYS[1])|return {1,2.5,'x',{err='E'}}|#!lua name=lib|#!lua name=lib\nredis.register_function('f',function(k,a) return a end)|local x = |#!lua flags=no-writes\nreturn 1",
	"default|ID|ADDR|SKIPME|NORMAL|REDIRECT|BCAST|PREFIX|OPTIN|OPTOUT|NOLOOP|SETNAME|TIMEOUT|ERROR|WRITE|ALL|LIST|USAGE|DOCTOR|HELP|ENCODING|REFCOUNT|maxmemory|maxmemory*|appendonly|notify-keyspace-events|KEA",
	"SAMPLES|SECTION|everything|commandstats|RESET|LIBRARYNAME|WITHCODE|APPEND|FLUSH|RESTORE|NODE|MIGRATING|IMPORTING|STABLE|SLOTS|16383|16384|OBJECT|DIGEST|JMAP|CHANGE-REPL-ID|LISTPACK|QUICKLIST|STRINGMATCH-LEN|HTSTATS|RELOAD",
}, "|"), "|")

// apart are commands that are given to a client of their own: one that says them
// is answered otherwise than by one reply, or is waited for, or ends others.
var apart = []string{
	"subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe", "monitor", "sync", "psync", "quit", "shutdown",
	"client|reply", "client|pause", "client|kill", "replconf",
}

// unframed are those of them that are not answered by whole replies.
var unframed = []string{"sync", "psync", "shutdown"}

// withoutEnd are words after which a command may take for ever, in Redis too.
var withoutEnd = []string{"sleep", "populate", "segfault"}

// tables are those of the versions, by two bits of a program's first byte.
var tables = []*command.Table{command.NewTable(version.V7_0), command.NewTable(version.V7_2), command.NewTable(version.V7_4), command.NewTable(version.V6_2)}

// names are those of the commands and subcommands of all versions.
var names = func() (all []string) {
	known := map[string]bool{}
	for _, table := range tables {
		for _, row := range table.Rows() {
			if !known[row.Name] {
				known[row.Name] = true
				all = append(all, row.Name)
			}
		}
	}
	return all
}()

// What the first byte of a program says of the node, besides its version.
const (
	toRESP3      = 1
	ofCluster    = 4
	versionShift = 4
)

// How a command is said.
const (
	plainly = iota
	inTransaction
	byScript
	ways
)

// FuzzCommands makes of bytes a program of commands, right and wrong, through
// the command tables: plain, in transactions, and called by scripts. Each is
// answered by one reply, nothing comes behind the last, and what is left can be
// saved and read back. Clients of whom that cannot be said are answered by what
// can be read, and come to an end while the node goes on.
func FuzzCommands(f *testing.F) {
	for _, program := range seedPrograms() {
		f.Add(program)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) < 5 || len(program) > 500 {
			t.Skip()
		}
		runProgram(t, program)
	})
}

// seedPrograms say each command in each way, of a standalone node of the first
// version that has it, and of a cluster's of the last.
func seedPrograms() (programs [][]byte) {
	for row, name := range names {
		var have []int
		for v, table := range tables {
			if table.LookupName(name) != nil {
				have = append(have, v)
			}
		}
		programs = append(programs, seedProgram(row, have[0], 0), seedProgram(row, have[len(have)-1], ofCluster|toRESP3))
	}
	return programs
}

// seedProgram says a command three times in each way, with an argument more each
// time.
func seedProgram(row, v int, of byte) []byte {
	spec := tables[v].LookupName(names[row])
	program := []byte{byte(v)<<versionShift | of}
	for extra := range 3 {
		for _, how := range []byte{byScript, inTransaction, plainly} { // as the last may end the node
			program = append(program, how, byte(row), byte(row>>8), byte(2+extra))
			words := max(1, max(spec.Arity, -spec.Arity)+extra)
			for n := range words - len(strings.Split(spec.Name, "|")) { // those beyond its name
				program = append(program, byte(row*7+n*31+extra*13), 0)
			}
		}
	}
	return program
}

// unreached are commands whose handler no seed can reach, and why.
var unreached = map[string]string{
	"module|load":   withoutHandler,
	"module|loadex": withoutHandler,
	"module|unload": withoutHandler,
	"psync":         withoutHandler,
}

const withoutHandler = "it has no handler: whatever its arguments, it is not available"

// A parser that no seed reaches is not fuzzed: what reads well as bytes may be
// refused before its handler is asked.
func TestSeedProgramsReachEveryHandler(t *testing.T) {
	reached := map[string]bool{}
	defer server.WatchHandlers(func(name string) { reached[name] = true })()
	for _, program := range seedPrograms() {
		t.Run("", func(t *testing.T) { runProgram(t, program) })
	}
	for _, name := range names {
		if why, known := unreached[name]; reached[name] == known {
			t.Errorf("the handler of %s is reached: %v, though an exception says %q", name, reached[name], why)
		}
	}
}

// runProgram gives a program to a node of its own.
func runProgram(t *testing.T, program []byte) {
	t.Helper()
	table := tables[program[0]>>versionShift&3]
	hostile.Bound(t)
	opts := []emulator.Option{emulator.Logger(hostile.Logger(t)), emulator.RedisVersion(table.Version.String()), emulator.ConfigSet("proto-max-bulk-len", "1048576")}
	if program[0]&ofCluster == 0 {
		opts = append(opts, emulator.Standalone())
	} else {
		opts = append(opts, emulator.Masters(1))
	}
	c := start(t, opts...)
	defer c.Close()
	p := &programmer{T: t, c: c, table: table, rest: program[1:]}
	p.connect()
	defer func() { p.client.conn.Close() }()
	for _, line := range population {
		p.client.do(strings.Split(line, " ")...)
	}
	if program[0]&toRESP3 != 0 {
		p.client.do("HELLO", "3")
	}
	for len(p.rest) > 4 && !p.ended {
		p.step()
	}
	if !p.ended {
		p.finish()
	}
}

// population is a value of every kind.
var population = []string{
	"SET str hello", "SET int 12", "RPUSH list a b c 1 2", "SADD set a b c", "SADD ints 1 2 3", "HSET hash f 1 a b c d", "ZADD zset 1 a 2 b 3 c",
	"XADD stream 1-1 f v", "XADD stream 2-1 f w", "XGROUP CREATE stream group 0", "XREADGROUP GROUP group consumer COUNT 1 STREAMS stream >",
	"PFADD hll a b c", "GEOADD geo 13.361389 38.115556 a 15.087269 37.502669 b", "SETBIT bits 77 1", "SET {a}1 x", "RPUSH {a}2 x",
}

// programmer turns bytes into commands.
type programmer struct {
	*testing.T
	c      *emulator.Cluster
	table  *command.Table
	client *client
	id     string
	rest   []byte
	said   []string
	ended  bool // the node has been
}

func (p *programmer) connect() {
	p.client = connect(p.T, p.c)
	p.id = strings.TrimPrefix(p.one("CLIENT", "ID"), ":")
}

func (p *programmer) byte() byte {
	if len(p.rest) == 0 {
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b
}

// spec is a command's row, of another version if this one does not know it.
func (p *programmer) spec(name string) *command.Spec {
	if spec := p.table.LookupName(name); spec != nil {
		return spec
	}
	others := slices.IndexFunc(tables, func(t *command.Table) bool { return t.LookupName(name) != nil })
	return tables[others].LookupName(name)
}

// args are the words of the next command, and its row.
func (p *programmer) args() (*command.Spec, []string) {
	spec := p.spec(names[(int(p.byte())|int(p.byte())<<8)%len(names)])
	words := max(1, max(spec.Arity, -spec.Arity)+int(p.byte()%12)-2)
	args := strings.Split(spec.Name, "|")
	for len(args) < words {
		switch word, more := int(p.byte()), int(p.byte()); {
		case more >= 240: // whatever bytes there are
			size := min(more-240, len(p.rest))
			args, p.rest = append(args, string(p.rest[:size])), p.rest[size:]
		case more >= 128:
			args = append(args, dictionary[(word+256)%len(dictionary)])
		default:
			args = append(args, dictionary[word%len(dictionary)])
		}
	}
	if spec.Name == "migrate" && len(args) > 2 {
		args[1], args[2] = "127.0.0.1", "1" // nobody listens there
	}
	return spec, args[:min(len(args), max(words, 1))]
}

func (p *programmer) step() {
	how := p.byte() % ways
	spec, args := p.args()
	if slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(withoutEnd, strings.ToLower(arg)) }) {
		return
	}
	p.said = append(p.said, fmt.Sprintf("%d%q", how, args))
	switch {
	case how == byScript:
		p.one(append([]string{"EVAL", "return redis.pcall(unpack(ARGV))", "0"}, args...)...)
	case slices.Contains(apart, spec.Name):
		p.apart(how, spec, args)
	case how == inTransaction:
		p.one("MULTI")
		p.send(spec, args)
		p.one("EXEC")
	default:
		p.send(spec, args)
	}
}

// apart sends a command from a client of its own, which then has nothing more to
// say: the connection ends, and the node goes on, unless that was to end it.
func (p *programmer) apart(how byte, spec *command.Spec, args []string) {
	own := connect(p.T, p.c)
	defer own.conn.Close()
	if how == inTransaction {
		own.write(request("MULTI") + request(args...) + request("EXEC"))
	} else {
		own.write(request(args...))
	}
	own.conn.(interface{ CloseWrite() error }).CloseWrite()
	received := own.ended()
	if !slices.Contains(unframed, spec.Name) {
		for r := bufio.NewReader(strings.NewReader(received)); ; {
			if _, err := readReply(r); err == io.EOF {
				break
			} else if err != nil {
				p.Fatalf("after %s: %q is no replies: %v", p.said, received, err)
			}
		}
	}
	if spec.Name == "shutdown" && !strings.Contains(received, "-") { // then it was not refused
		p.client.ended()
		p.ended = true
		return
	}
	if _, err := p.c.Node(0).Do("CLIENT", "UNPAUSE"); err != nil {
		p.Fatalf("after %s: %v", p.said, err)
	}
	if spec.Name == "client|kill" { // maybe the program's
		p.client.conn.Close()
		p.connect()
	}
}

// send sends a command and reads its reply. One that blocks is unblocked.
func (p *programmer) send(spec *command.Spec, args []string) {
	if !spec.Has(command.Blocking) && spec.Name != "wait" && spec.Name != "waitaof" {
		p.one(args...)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.one(args...)
	}()
	for {
		select {
		case <-done:
			return
		default:
			p.c.Node(0).Do("CLIENT", "UNBLOCK", p.id)
		}
	}
}

func (p *programmer) one(args ...string) string {
	if _, err := io.WriteString(p.client.conn, request(args...)); err != nil {
		p.Errorf("after %s: %v", p.said, err)
		return ""
	}
	reply, err := p.next(p.client.r)
	if err != nil {
		p.Errorf("after %s: no reply to %q: %v", p.said, args, failure(err))
	}
	return reply
}

// next reads a reply and passes over messages, which come unasked.
func (p *programmer) next(r *bufio.Reader) (string, error) {
	for {
		reply, err := readReply(r)
		if err != nil || !strings.HasPrefix(reply, ">[") {
			return reply, err
		}
	}
}

// finish checks that nothing is owed or too much, and the data whole.
func (p *programmer) finish() {
	if p.Failed() {
		return
	}
	if got := p.one("RESET"); got != "+RESET" {
		p.Errorf("after %s: RESET is answered %.200q", p.said, got)
	}
	n := p.c.Node(0)
	if _, err := n.Do("PING"); err != nil {
		p.Errorf("after %s: PING: %v", p.said, err)
	}
	again := start(p.T, emulator.Standalone(), emulator.RedisVersion(p.table.Version.String()))
	defer again.Close()
	if _, err := again.LoadRDB(n.RDB(), nil); err != nil {
		p.Errorf("after %s: what is left cannot be read back: %v", p.said, err)
	}
}
