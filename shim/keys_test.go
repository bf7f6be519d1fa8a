package shim

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
	"github.com/redis/go-redis/v9"
)

// commandLines hold one valid form or more of every command with keys.
const commandLines = `
append k v|bitcount k|bitfield k get u8 0|bitfield_ro k get u8 0|bitop and d a b|bitpos k 1
blmove a b left right 0|blmpop 0 2 a b left|blpop a b 0|brpop a 0|brpoplpush a b 0|bzmpop 0 1 a min
bzpopmax a b 0|bzpopmin a 0|copy a b|decr k|decrby k 1|del a b c|dump k|eval s 2 a b c|eval_ro s 1 a b
evalsha s 2 a b c|evalsha_ro s 1 a b|exists a b|expire k 1|expireat k 1|expiretime k|fcall f 2 a b c
fcall_ro f 1 a|geoadd k 1 1 m|geodist k a b|geohash k a|geopos k a|georadius k 1 1 1 m store d
georadius k 1 1 1 m|georadius_ro k 1 1 1 m|georadiusbymember k m 1 m storedist d
georadiusbymember_ro k m 1 m|geosearch k frommember m byradius 1 m|geosearchstore a b frommember m byradius 1 m
get k|getbit k 1|getdel k|getex k|getrange k 0 1|getset k v|hdel k f|hexists k f|hget k f|hgetall k
hincrby k f 1|hincrbyfloat k f 1|hkeys k|hlen k|hmget k f|hmset k f v|hrandfield k|hscan k 0|hset k f v
hsetnx k f v|hstrlen k f|hvals k|incr k|incrby k 1|incrbyfloat k 1|lcs a b|lindex k 0|linsert k before a b
llen k|lmove a b left right|lmpop 2 a b left|lpop k|lpos k v|lpush k v|lpushx k v|lrange k 0 1|lrem k 0 v
lset k 0 v|ltrim k 0 1|memory usage k|mget a b c|migrate h 1 k 0 1|migrate h 1  0 1 keys a b|move k 1
mset a 1 b 2|msetnx a 1 b 2|object encoding k|object freq k|object idletime k|object refcount k|persist k
pexpire k 1|pexpireat k 1|pexpiretime k|pfadd k v|pfcount a b|pfmerge d a b|psetex k 1 v|pttl k|rename a b
renamenx a b|restore k 0 v|rpop k|rpoplpush a b|rpush k v|rpushx k v|sadd k v|scard k|sdiff a b
sdiffstore d a b|set k v|setbit k 0 1|setex k 1 v|setnx k v|setrange k 0 v|sinter a b|sintercard 2 a b
sinterstore d a b|sismember k v|smembers k|smismember k v|smove a b v|sort k|sort k by w* get # store d
sort_ro k|spop k|srandmember k|srem k v|sscan k 0|strlen k|substr k 0 1|sunion a b|sunionstore d a b
touch a b|ttl k|type k|unlink a b|watch a b|xack k g 1|xadd k * f v|xautoclaim k g c 0 0|xclaim k g c 0 1
xdel k 1|xgroup create k g 0|xgroup createconsumer k g c|xgroup delconsumer k g c|xgroup destroy k g
xgroup setid k g 0|xinfo consumers k g|xinfo groups k|xinfo stream k|xlen k|xpending k g|xrange k - +
xread count 1 streams a b 0 0|xreadgroup group g c count 1 streams a b > >|xrevrange k + -|xsetid k 1
xtrim k maxlen 1|zadd k 1 m|zcard k|zcount k 0 1|zdiff 2 a b|zdiffstore d 2 a b|zincrby k 1 m|zinter 2 a b
zintercard 2 a b|zinterstore d 2 a b weights 1 2|zlexcount k - +|zmpop 2 a b min|zmscore k m|zpopmax k
zpopmin k|zrandmember k|zrange k 0 1|zrangebylex k - +|zrangebyscore k 0 1|zrangestore a b 0 1|zrank k m
zrem k m|zremrangebylex k - +|zremrangebyrank k 0 1|zremrangebyscore k 0 1|zrevrange k 0 1
zrevrangebylex k + -|zrevrangebyscore k 1 0|zrevrank k m|zscan k 0|zscore k m|zunion 2 a b|zunionstore d 2 a b
`

func words(line string) []any {
	var args []any
	for _, word := range strings.Split(line, " ") {
		args = append(args, word)
	}
	return args
}

// Redis says which keys a command has and whether it only reads.
func TestKeysAgreeWithRedis(t *testing.T) {
	ctx := context.Background()
	server := redis.NewClient(&redis.Options{Addr: redisserver.Start(t).Addr()})
	defer server.Close()
	infos, err := server.Command(ctx).Result()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range strings.FieldsFunc(commandLines, func(r rune) bool { return r == '|' || r == '\n' }) {
		cmd := redis.NewCmd(ctx, words(line)...)
		want, err := server.CommandGetKeys(ctx, words(line)...).Result()
		if err != nil {
			t.Errorf("COMMAND GETKEYS %s: %v", line, err)
			continue
		}
		keys, readOnly := keysOf(cmd)
		slices.Sort(keys)
		slices.Sort(want)
		if !slices.Equal(keys, want) {
			t.Errorf("keys of %q: %q, Redis says %q", line, keys, want)
		}
		seen[cmd.Name()] = true
		switch cmd.Name() {
		case "memory", "object", "xinfo":
			if !readOnly {
				t.Errorf("%q is not read-only here", line)
			}
		case "xgroup":
		default:
			if want := infos[cmd.Name()].ReadOnly; readOnly != want {
				t.Errorf("read-only %q: %v, Redis says %v", line, readOnly, want)
			}
		}
	}
	for name, info := range infos {
		if (info.FirstKeyPos > 0 || slices.Contains(info.Flags, "movablekeys")) && !seen[name] &&
			!slices.Contains([]string{"spublish", "ssubscribe", "sunsubscribe", "pfdebug", "restore-asking"}, name) {
			t.Errorf("%s has keys and is not tested", name)
		}
		if info.FirstKeyPos == 0 && !slices.Contains(info.Flags, "movablekeys") {
			if keys, _ := keysOf(redis.NewCmd(ctx, name, "a", "b", "c", "d")); keys != nil {
				t.Errorf("%s has no keys, here it has %q", name, keys)
			}
		}
	}
}

func TestKeysOfOddArguments(t *testing.T) {
	ctx := context.Background()
	text := "pointed"
	for _, test := range []struct {
		args []any
		want []string
	}{
		{[]any{"GET", []byte("bytes")}, []string{"bytes"}},
		{[]any{"get", 12}, []string{"12"}},
		{[]any{"get", &text}, []string{"pointed"}},
		{[]any{"eval", "s", 0, "arg"}, nil},
		{[]any{"eval", "s", "many", "arg"}, nil},
		{[]any{"eval", "s"}, nil},
		{[]any{"eval", "s", 9, "a"}, []string{"a"}},
		{[]any{"xread", "count", 1}, nil},
		{[]any{"mset"}, nil},
		{[]any{"blpop", "a"}, nil},
		{[]any{"module.command", "key", "x"}, []string{"key"}},
		{[]any{"ping"}, nil},
		{[]any{"xinfo", "help"}, nil},
		{[]any{"object", "help"}, nil},
		{[]any{"spublish", "channel", "m"}, []string{"channel"}},
		// What looks like an option and is not.
		{[]any{"georadiusbymember", "k", "store", 1, "m"}, []string{"k"}},
		{[]any{"sort", "k", "by", "store", "get", "store", "limit", "0", "store", "store", "d"}, []string{"k", "d"}},
		{[]any{"xreadgroup", "group", "streams", "streams", "streams", "a", ">"}, []string{"a"}},
		{[]any{"migrate", "h", 1, "", 0, 1, "auth2", "keys", "keys", "keys", "a", "b"}, []string{"a", "b"}},
		{[]any{"eval", "s", -1, "a"}, nil},
		{[]any{"eval", "s", math.MaxInt, "a"}, nil},
		{[]any{"eval", "s", "99999999999999999999", "a"}, nil},
		{[]any{}, nil},
	} {
		if keys, _ := keysOf(redis.NewCmd(ctx, test.args...)); !slices.Equal(keys, test.want) {
			t.Errorf("keys of %q: %q, want %q", test.args, keys, test.want)
		}
	}
}

type marshalled struct{ as string }

func (m marshalled) MarshalBinary() ([]byte, error) { return []byte(m.as), nil }

// Keys are checked and routed as go-redis sends them.
func TestKeysAreTakenAsTheyAreSent(t *testing.T) {
	ctx := context.Background()
	server := redis.NewClient(&redis.Options{Addr: redisserver.Start(t).Addr()})
	defer server.Close()
	number, truth, moment, pause := 12, true, time.Unix(1, 5).UTC(), time.Second
	for _, key := range []any{
		"text", []byte("bytes"), nil, number, &number, (*int)(nil), int8(-1), uint64(math.MaxUint64), true, false, &truth,
		1e21, float32(0.1), moment, &moment, (*time.Time)(nil), pause, &pause, (*string)(nil), (*bool)(nil),
		marshalled{"m"}, &marshalled{"p"}, net.IPv4(1, 2, 3, 4),
	} {
		want, err := server.Do(ctx, "ECHO", key).Text()
		if err != nil {
			t.Fatal(err)
		}
		if keys, _ := keysOf(redis.NewCmd(ctx, "get", key)); len(keys) != 1 || keys[0] != want {
			t.Errorf("%T %v is sent as %q, taken as %q", key, key, want, keys)
		}
	}
}

func TestAddressesAsTheyAreDialled(t *testing.T) {
	for _, test := range []struct{ addr, from, want string }{
		{"10.0.0.1:7000", "h:1", "10.0.0.1:7000"},
		{":7000", "h:1", "h:7000"},
		{":7000", "[::1]:1", "[::1]:7000"},
		{"::1:7000", "h:1", "[::1]:7000"},
		{"[::1]:7000", "h:1", "[::1]:7000"},
		{"name:7000", "h:1", "name:7000"},
		{":7000", "nonsense", ":7000"},
		{"nonsense", "h:1", "nonsense"},
	} {
		if got := fullAddr(test.addr, test.from); got != test.want {
			t.Errorf("%s from %s: %s, want %s", test.addr, test.from, got, test.want)
		}
	}
}

// What is no reply, or claims to be a huge one, is an error and not a panic.
func TestWireRefusesNonsense(t *testing.T) {
	for _, nonsense := range []string{
		"\r\n", "*99999999999999\r\n", "*x\r\n", "*1\r\n$9223372036854775807\r\n", "*1\r\n$x\r\n", "*1\r\n\r\n", "?\r\n", "*1\r\n$3\r\nab",
	} {
		here, there := net.Pipe()
		go func() {
			_, _ = io.WriteString(there, nonsense) // read breaks off when it has seen enough
			_ = there.Close()
		}()
		w := &wire{conn: here, r: bufio.NewReader(here)}
		if words, err := w.read(10 * time.Second); err == nil {
			t.Errorf("%q was read as %q", nonsense, words)
		}
		w.close()
	}
}

func TestSameSlotNamesKeysSlotsAndTag(t *testing.T) {
	for _, test := range []struct {
		keys []string
		tag  string // "" if they share a slot
		a, b string
	}{
		{keys: nil},
		{keys: []string{"a"}},
		{keys: []string{"{a}1", "{a}2", "a"}},
		{[]string{"jobs", "jobs.processing"}, "jobs", "{jobs}", "{jobs}.processing"},
		{[]string{"orders:1", "orders:2"}, "orders", "{orders}:1", "{orders}:2"},
		{[]string{"{x}a", "b"}, "x", "{x}a", "{x}:b"},
		{[]string{"b", "{x}a"}, "x", "{x}:b", "{x}a"},
		{[]string{"left", "right"}, "left", "{left}", "{left}:right"},
		{[]string{"{}a", "b"}, "a", "{a}", "{a}:b"},
	} {
		err := SameSlot(test.keys...)
		if test.tag == "" {
			if err != nil {
				t.Errorf("%q: %v", test.keys, err)
			}
			continue
		}
		var cross *CrossSlotError
		if !errors.As(err, &cross) {
			t.Errorf("%q: %v", test.keys, err)
			continue
		}
		if cross.KeyA != test.keys[0] || cross.SlotA != slots.OfString(cross.KeyA) ||
			cross.KeyB != test.keys[1] || cross.SlotB != slots.OfString(cross.KeyB) || cross.Tag != test.tag {
			t.Errorf("%q: %+v", test.keys, cross)
		}
		for _, proposal := range []string{test.a, test.b} {
			if !strings.Contains(cross.Error(), `"`+proposal+`"`) {
				t.Errorf("%q does not propose %q", cross, proposal)
			}
		}
		if err := SameSlot(test.a, test.b); err != nil {
			t.Errorf("the proposal for %q: %v", test.keys, err)
		}
	}
}
