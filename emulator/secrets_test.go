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
