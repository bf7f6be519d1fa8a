package emulator_test

import (
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

// What Redis hides of commands in MONITOR and SLOWLOG, as seen on redis-server
// 7.0.15. Where it shows nothing of a command to monitors, the log of slow
// commands is what could tell.
func TestMonitorAndSlowlogTellNoSecrets(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	monitor, w := dial(t, c, 0), dial(t, c, 0)
	monitor.send("MONITOR\r\n")
	monitor.expect("+OK")
	w.do("+OK", "CONFIG", "SET", "slowlog-log-slower-than", "0")
	for _, line := range []string{
		"AUTH s3cret", "AUTH bob s3cret", "HELLO 2 AUTH bob s3cret", "ACL SETUSER bob on >s3cret", "ACL SETUSER bob <s3cret",
		"CONFIG SET requirepass s3cret", "CONFIG SET requirepass \"\"", "CONFIG SET masterauth s3cret", "CONFIG SET masteruser s3cret",
		"MIGRATE 127.0.0.1 1 k 0 1 AUTH s3cret", "MIGRATE 127.0.0.1 1 k 0 1 AUTH2 bob s3cret",
		"MULTI", "ACL SETUSER bob >s3cret", "CONFIG SET masterauth s3cret", "EXEC",
	} {
		w.send("%s\r\n", line)
		w.reply()
	}
	w.send("ECHO done\r\n")
	w.reply()
	for line := ""; !strings.Contains(line, `"done"`); {
		if line = monitor.line(); strings.Contains(line, "s3cret") {
			t.Errorf("MONITOR shows %s", line)
		}
	}
	for _, words := range [][]string{{"SLOWLOG", "GET", "-1"}, {"CLIENT", "LIST"}, {"CLIENT", "INFO"}, {"ACL", "LOG"}, {"ACL", "LIST"}, {"INFO", "everything"}, {"LATENCY", "HISTOGRAM"}} {
		w.send("%s\r\n", strings.Join(words, " "))
		reply := w.reply()
		if strings.Contains(reply, "s3cret") {
			t.Errorf("%v shows %s", words, reply)
		}
		if words[0] == "SLOWLOG" && !strings.Contains(reply, "(redacted)") {
			t.Errorf("SLOWLOG lacks the commands: %s", reply)
		}
	}
}

// The rights of a user hold in scripts, functions and transactions. The words are
// those of redis-server 7.0.15.
func TestRightsHoldInside(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	admin, bob := dial(t, c, 0), dial(t, c, 0)
	admin.do("+OK", "ACL", "SETUSER", "bob", "on", "nopass", "+@all", "-config", "-incr", "~mine")
	admin.command("FUNCTION", "LOAD", rightsLibrary)
	admin.reply()
	bob.do("+OK", "AUTH", "bob", "x")
	for _, test := range []struct {
		words []string
		want  string // how the reply begins
	}{
		{[]string{"EVAL", "return redis.call('incr','mine')", "0"}, "-ERR The user executing the script can't run this command or subcommand script: "},
		{[]string{"EVAL", "return redis.call('get','other')", "0"}, "-ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: "},
		{[]string{"EVAL", "return redis.call('get','other')", "1", "other"}, "-NOPERM this user has no permissions to access one of the keys used as arguments"},
		{[]string{"EVAL", "return redis.pcall('incr','mine').err", "0"}, "ERR The user executing the script can't run this command or subcommand"},
		{[]string{"EVAL", "return tostring(redis.acl_check_cmd('incr','mine'))", "0"}, "false"},
		{[]string{"FCALL", "incr", "0"}, "-ERR The user executing the script can't run this command or subcommand script: "},
		{[]string{"FCALL", "read", "0"}, "-ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: "},
		{[]string{"EVAL", "return redis.call('set','mine','1')", "0"}, "+OK"},
		{[]string{"MULTI"}, "+OK"},
		{[]string{"SET", "mine", "2"}, "+QUEUED"},
		{[]string{"INCR", "mine"}, "-NOPERM "},
		{[]string{"EXEC"}, "-EXECABORT "},
		{[]string{"GET", "mine"}, "1"},
	} {
		bob.command(test.words...)
		if got := bob.reply(); !strings.HasPrefix(got, test.want) {
			t.Errorf("%v: %q, want %q", test.words, got, test.want)
		}
	}
	// A right taken away after a command was queued is gone at EXEC.
	bob.do("+OK", "MULTI")
	bob.do("+QUEUED", "SET", "mine", "3")
	bob.do("+QUEUED", "GET", "mine")
	admin.do("+OK", "ACL", "SETUSER", "bob", "-set")
	bob.send("EXEC\r\n")
	if got := bob.reply(); !strings.Contains(got, "NOPERM") || !strings.Contains(got, "1") {
		t.Errorf("EXEC after the right was taken away: %q", got)
	}
	admin.do("1", "GET", "mine")
}

const rightsLibrary = `#!lua name=rights
redis.register_function('incr', function() return redis.call('incr', 'mine') end)
redis.register_function('read', function() return redis.call('get', 'other') end)`
