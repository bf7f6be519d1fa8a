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

// apart are commands that the fuzzer does not send on their own: a client that
// says them is answered otherwise than by one reply, or waits by rights.
var apart = []string{
	"subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe", "monitor", "sync", "psync", "quit", "shutdown",
	"client|reply", "client|pause", "client|kill", "replconf",
}

// withoutEnd are words after which a command may take for ever, in Redis too.
var withoutEnd = []string{"sleep", "populate", "segfault"}

var table70 = command.NewTable(version.V7_0)

// FuzzCommands makes of bytes a program of commands, right and wrong, through
// the command table: plain, in transactions, and called by scripts. Each is
// answered by one reply, nothing comes behind the last, and what is left can be
// saved and read back.
func FuzzCommands(f *testing.F) {
	for i := range table70.Rows() {
		f.Add(seedProgram(i))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) < 5 || len(program) > 500 {
			t.Skip()
		}
		hostile.Bound(t)
		opts := []emulator.Option{emulator.Logger(hostile.Logger(t)), emulator.RedisVersion([]string{"7.0", "7.2", "7.4", "6.2"}[program[0]>>4&3]), emulator.ConfigSet("proto-max-bulk-len", "1048576")}
		if program[0]&4 == 0 {
			opts = append(opts, emulator.Standalone())
		} else {
			opts = append(opts, emulator.Masters(1))
		}
		c := start(t, opts...)
		defer c.Close()
		p := &programmer{T: t, c: c, client: connect(t, c), rest: program[1:]}
		defer p.client.conn.Close()
		for _, line := range population {
			p.client.do(strings.Split(line, " ")...)
		}
		if program[0]&1 != 0 {
			p.client.do("HELLO", "3")
			p.three = true
		}
		id := strings.TrimPrefix(p.client.do("CLIENT", "ID"), ":")
		for len(p.rest) > 4 {
			p.step(id)
		}
		p.finish()
	})
}

// seedProgram says a command of the table three times, each with an argument more;
// one of three commands plainly, one in transactions, one in scripts.
func seedProgram(row int) []byte {
	spec := table70.Rows()[row]
	how := byte(row % 3)
	program := []byte{how}
	for extra := range 3 {
		program = append(program, how, byte(row), byte(row>>8), byte(2+extra))
		words := max(1, max(spec.Arity, -spec.Arity)+extra)
		for n := range words - len(strings.Split(spec.Name, "|")) { // those beyond its name
			program = append(program, byte(row*7+n*31+extra*13), 0)
		}
	}
	return program
}

// Every seed must be read as the command it was made of, or some are never said.
func TestSeedProgramsSayEveryCommand(t *testing.T) {
	for row, spec := range table70.Rows() {
		p := &programmer{T: t, rest: seedProgram(row)[1:]}
		for range 3 {
			p.byte() // how
			if got, args := p.args(); got != spec {
				t.Errorf("the seed of %s says %q", spec.Name, args)
			}
		}
		if len(p.rest) > 0 {
			t.Errorf("the seed of %s goes on with %d bytes", spec.Name, len(p.rest))
		}
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
	client *client
	three  bool // it may have been answered in RESP3
	rest   []byte
	said   []string
}

func (p *programmer) byte() byte {
	if len(p.rest) == 0 {
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b
}

// args are the words of the next command, and its row.
func (p *programmer) args() (*command.Spec, []string) {
	rows := table70.Rows()
	spec := rows[(int(p.byte())|int(p.byte())<<8)%len(rows)]
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

func (p *programmer) step(id string) {
	how := p.byte() % 3
	spec, args := p.args()
	if slices.Contains(apart, spec.Name) && how != 2 || slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(withoutEnd, strings.ToLower(arg)) }) {
		return
	}
	p.said = append(p.said, fmt.Sprintf("%d%q", how, args))
	switch how {
	case 1:
		p.one("MULTI")
		p.send(spec, id, args)
		p.one("EXEC")
	case 2:
		p.one(append([]string{"EVAL", "return redis.pcall(unpack(ARGV))", "0"}, args...)...)
	default:
		p.send(spec, id, args)
	}
}

// send sends a command and reads its reply. One that blocks is unblocked.
func (p *programmer) send(spec *command.Spec, id string, args []string) {
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
			p.c.Node(0).Do("CLIENT", "UNBLOCK", id)
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
	version, err := n.Do("INFO", "server")
	if err != nil {
		p.Fatalf("after %s: %v", p.said, err)
	}
	_, number, _ := strings.Cut(version.(string), "redis_version:")
	again := start(p.T, emulator.Standalone(), emulator.RedisVersion(number[:3]))
	defer again.Close()
	if _, err := again.LoadRDB(n.RDB(), nil); err != nil {
		p.Errorf("after %s: what is left cannot be read back: %v", p.said, err)
	}
}
