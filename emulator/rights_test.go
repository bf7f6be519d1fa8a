package emulator_test

import (
	"net"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// onRedisAndOurs runs a test on redis-server 7.0.15 and on a node of 7.0.
func onRedisAndOurs(t *testing.T, test func(t *testing.T, connect func() *wire)) {
	t.Run("redis", func(t *testing.T) {
		server := redisserver.Start(t)
		test(t, func() *wire {
			conn, err := net.Dial("tcp", server.Addr())
			if err != nil {
				t.Fatal(err)
			}
			return onWire(t, conn)
		})
	})
	t.Run("ours", func(t *testing.T) {
		c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
		test(t, func() *wire { return dial(t, c, 0) })
	})
}

// The rights of a user hold in scripts, functions and transactions: to commands
// and subcommands, keys and channels, by the root and by selectors.
func TestRightsHoldInside(t *testing.T) {
	const (
		command = "-ERR The user executing the script can't run this command or subcommand script: "
		key     = "-ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: "
		channel = "-ERR The user executing the script can't publish to the channel mentioned in the command script: "
		noKey   = "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n"
		queued  = "+QUEUED\r\n"
	)
	type row struct {
		words []string
		want  string // how the reply begins
	}
	for _, user := range []struct {
		name  string
		rules []string
		rows  []row
	}{
		{"bob", []string{"+@all", "-config", "-incr", "~mine"}, []row{
			{[]string{"EVAL", "return redis.call('incr','mine')", "0"}, command},
			{[]string{"EVAL", "return redis.call('get','other')", "0"}, key},
			{[]string{"EVAL", "return redis.call('get','other')", "1", "other"}, noKey},
			{[]string{"EVAL", "return redis.pcall('incr','mine').err", "0"}, "$70\r\nERR The user executing the script can't run this command or subcommand\r\n"},
			{[]string{"EVAL", "return tostring(redis.acl_check_cmd('incr','mine'))", "0"}, "$5\r\nfalse\r\n"},
			{[]string{"EVAL", "return redis.call('publish','news','x')", "0"}, channel},
			{[]string{"EVAL", "return redis.call('spublish','news','x')", "0"}, channel},
			{[]string{"EVAL", "return tostring(redis.acl_check_cmd('publish','news','x'))", "0"}, "$5\r\nfalse\r\n"},
			{[]string{"EVAL_RO", "return redis.call('get','other')", "0"}, key},
			{[]string{"EVAL_RO", "return redis.call('get','other')", "1", "other"}, noKey},
			{[]string{"EVAL_RO", "return redis.call('incr','mine')", "0"}, command},
			{[]string{"EVAL_RO", "return redis.call('config','get','port')", "0"}, "-ERR This Redis command is not allowed from script script: "},
			{[]string{"FCALL", "incr", "0"}, command},
			{[]string{"FCALL", "read", "0"}, key},
			{[]string{"FCALL", "publish", "0"}, channel},
			{[]string{"FCALL_RO", "read", "0"}, key},
			{[]string{"FCALL_RO", "read", "1", "other"}, noKey},
			{[]string{"FCALL_RO", "publish", "0"}, channel},
			{[]string{"EVAL", "return redis.call('set','mine','1')", "0"}, "+OK\r\n"},
			{[]string{"MULTI"}, "+OK\r\n"},
			{[]string{"SET", "mine", "2"}, queued},
			{[]string{"INCR", "mine"}, "-NOPERM "},
			{[]string{"EXEC"}, "-EXECABORT "},
			{[]string{"MULTI"}, "+OK\r\n"},
			{[]string{"PUBLISH", "news", "x"}, "-NOPERM this user has no permissions to access one of the channels used as arguments\r\n"},
			{[]string{"EXEC"}, "-EXECABORT "},
			{[]string{"GET", "mine"}, "$1\r\n1\r\n"},
		}},
		{"subcommands", []string{"-@all", "+eval", "+eval_ro", "+fcall", "+fcall_ro", "+multi", "+exec", "+object|help", "+xinfo|help", "+publish", "+client|setname", "&news", "~*"}, []row{
			{[]string{"EVAL", "return redis.call('object','help')[1]", "0"}, "+OBJECT "},
			{[]string{"EVAL", "return redis.call('object','freq','mine')", "0"}, command},
			{[]string{"EVAL_RO", "return redis.call('object','refcount','mine')", "0"}, command},
			{[]string{"EVAL", "return redis.call('xinfo','stream','mine')", "0"}, command},
			{[]string{"EVAL", "return tostring(redis.acl_check_cmd('client','setname','x'))", "0"}, "$4\r\ntrue\r\n"},
			{[]string{"EVAL", "return tostring(redis.acl_check_cmd('client','id'))", "0"}, "$5\r\nfalse\r\n"},
			{[]string{"EVAL", "return redis.call('client','setname','x')", "0"}, "-ERR This Redis command is not allowed from script script: "},
			{[]string{"EVAL", "return redis.call('publish','news','x')", "0"}, ":0\r\n"},
			{[]string{"EVAL", "return redis.call('publish','gossip','x')", "0"}, channel},
			{[]string{"FCALL", "encoding", "0"}, command},
			{[]string{"FCALL_RO", "encoding", "0"}, command},
			{[]string{"MULTI"}, "+OK\r\n"},
			{[]string{"CLIENT", "SETNAME", "x"}, queued},
			{[]string{"CLIENT", "ID"}, "-NOPERM this user has no permissions to run the 'client|id' command\r\n"},
			{[]string{"EXEC"}, "-EXECABORT "},
			{[]string{"EVALSHA", "x", "0"}, "-NOPERM this user has no permissions to run the 'evalsha' command\r\n"},
		}},
		{"selectors", []string{"-@all", "+eval", "+fcall", "+fcall_ro", "+multi", "+exec", "(+get ~mine)", "(+set %W~theirs)", "(+set +get ~ours)"}, []row{
			{[]string{"EVAL", "return redis.call('get','mine')", "0"}, "$1\r\n1\r\n"},
			{[]string{"EVAL", "return redis.call('set','mine','2')", "0"}, key},
			{[]string{"EVAL", "return redis.call('set','theirs','2')", "0"}, "+OK\r\n"},
			{[]string{"EVAL", "return redis.call('set','theirs','2','get')", "0"}, key},
			{[]string{"EVAL", "return redis.call('get','theirs')", "0"}, key},
			{[]string{"EVAL", "return redis.call('set','ours','2','get')", "0"}, "$-1\r\n"},
			{[]string{"EVAL", "return redis.call('del','ours')", "0"}, command},
			{[]string{"EVAL", "return redis.call('get','mine')", "1", "mine"}, noKey}, // no selector with EVAL has keys
			{[]string{"FCALL", "incr", "0"}, command},
			{[]string{"FCALL", "read", "0"}, key},
			{[]string{"FCALL_RO", "read", "0"}, key},
			{[]string{"MULTI"}, "+OK\r\n"},
			{[]string{"SET", "ours", "3"}, queued},
			{[]string{"GET", "ours"}, queued},
			{[]string{"EXEC"}, "*2\r\n+OK\r\n$1\r\n3\r\n"},
			{[]string{"MULTI"}, "+OK\r\n"},
			{[]string{"SET", "mine", "3"}, noKey},
			{[]string{"EXEC"}, "-EXECABORT "},
		}},
	} {
		t.Run(user.name, func(t *testing.T) {
			replies := map[string][]string{}
			onRedisAndOurs(t, func(t *testing.T, connect func() *wire) {
				admin, w := connect(), connect()
				exchange(t, admin, "FUNCTION", "LOAD", rightsLibrary)
				admin.do("+OK", append([]string{"ACL", "SETUSER", user.name, "on", "nopass"}, user.rules...)...)
				admin.do("+OK", "SET", "mine", "1")
				w.do("+OK", "AUTH", user.name, "x")
				side := t.Name()[strings.LastIndex(t.Name(), "/")+1:]
				for _, row := range user.rows {
					got := exchange(t, w, row.words...)
					replies[side] = append(replies[side], got)
					if !strings.HasPrefix(got, row.want) {
						t.Errorf("%q: %q, want %q", row.words, got, row.want)
					}
				}
			})
			for i, want := range replies["redis"] {
				if ours := replies["ours"]; i < len(ours) && ours[i] != want {
					t.Errorf("%q: %q, want %q", user.rows[i].words, ours[i], want)
				}
			}
		})
	}
}

const rightsLibrary = `#!lua name=rights
redis.register_function('incr', function() return redis.call('incr', 'mine') end)
local function harmless(name, f) redis.register_function{function_name=name, callback=f, flags={'no-writes'}} end
harmless('read', function() return redis.call('get', 'other') end)
harmless('publish', function() return redis.call('publish', 'news', 'x') end)
harmless('encoding', function() return redis.call('object', 'encoding', 'mine') end)`

// A right taken away after a command was queued is gone at EXEC.
func TestRightsTakenAwayBeforeExec(t *testing.T) {
	onRedisAndOurs(t, func(t *testing.T, connect func() *wire) {
		admin, bob := connect(), connect()
		admin.do("+OK", "ACL", "SETUSER", "bob", "on", "nopass", "+@all", "~mine")
		admin.do("+OK", "SET", "mine", "1")
		bob.do("+OK", "AUTH", "bob", "x")
		bob.do("+OK", "MULTI")
		bob.do("+QUEUED", "SET", "mine", "3")
		bob.do("+QUEUED", "GET", "mine")
		admin.do("+OK", "ACL", "SETUSER", "bob", "-set")
		want := "*2\r\n-NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: no permission to execute the command or subcommand\r\n$1\r\n1\r\n"
		if got := exchange(t, bob, "EXEC"); got != want {
			t.Errorf("EXEC: %q, want %q", got, want)
		}
		admin.do("1", "GET", "mine")
	})
}

// Neither who logs in by HELLO, giving itself a name, nor who fails to leaves a
// password in what is told of clients.
func TestLoggingInLeavesNoPassword(t *testing.T) {
	onRedisAndOurs(t, func(t *testing.T, connect func() *wire) {
		admin, bob, stranger := connect(), connect(), connect()
		admin.do("+OK", "ACL", "SETUSER", "bob", "on", ">s3cret", "+@all", "-get", "~*")
		exchange(t, bob, "HELLO", "3", "AUTH", "bob", "s3cret", "SETNAME", "its-name")
		list := exchange(t, admin, "CLIENT", "LIST") // while HELLO is its last command
		for _, words := range [][]string{{"HELLO", "3", "AUTH", "bob", "s3cret-not", "SETNAME", "n"}, {"AUTH", "bob", "s3cret-not"}} {
			if got := exchange(t, stranger, words...); !strings.HasPrefix(got, "-WRONGPASS ") {
				t.Errorf("%q: %q", words, got)
			}
		}
		exchange(t, bob, "GET", "s3cret-key") // keys are none
		for _, told := range []struct{ what, text, has string }{
			{"CLIENT LIST", list, " user=bob "}, {"CLIENT LIST", list, " cmd=hello "}, {"CLIENT LIST", list, " name=its-name "},
			{"CLIENT LIST", exchange(t, admin, "CLIENT", "LIST"), " cmd=auth "},
			{"CLIENT INFO", exchange(t, bob, "CLIENT", "INFO"), " name=its-name "},
			{"ACL LOG", exchange(t, admin, "ACL", "LOG"), "AUTH"}, {"ACL LOG", exchange(t, admin, "ACL", "LOG"), "HELLO"},
			{"ACL LOG", exchange(t, admin, "ACL", "LOG"), "$3\r\nget\r\n"},
		} {
			if !strings.Contains(told.text, told.has) || strings.Contains(told.text, "s3cret") {
				t.Errorf("%s: %q, want %q and no password", told.what, told.text, told.has)
			}
		}
	})
}
