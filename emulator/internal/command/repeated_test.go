package command

import (
	"strings"
	"testing"
)

// Redis says the same elements until its memory ends; here that is everybody's.
func TestRepetitionHasABound(t *testing.T) {
	server := newLocal(2)
	run := func(line string) string {
		t.Helper()
		var args [][]byte
		for _, word := range strings.Fields(line) {
			args = append(args, []byte(word))
		}
		return server.run(args, false).reply
	}
	run("SADD s a")
	run("HSET h f v")
	run("ZADD z 1 m")
	const refused = "-ERR the reply would take more than 1 GB\r\n"
	for _, line := range []string{
		"SRANDMEMBER s -4611686018427387905", "SRANDMEMBER s -9223372036854775807", "SRANDMEMBER s -200000000",
		"HRANDFIELD h -9223372036854775807", "HRANDFIELD h -4611686018427387903 WITHVALUES", "ZRANDMEMBER z -9223372036854775807",
		"ZRANDMEMBER z -4611686018427387903 WITHSCORES",
	} {
		if got := run(line); got != refused {
			t.Errorf("%s: %.60q", line, got)
		}
	}
	server.run([][]byte{[]byte("HSET"), []byte("long-value"), []byte("f"), make([]byte, 2_000_000)}, false)
	if got, want := run("HRANDFIELD long-value -1000"), "*1000\r\n"+strings.Repeat("$1\r\nf\r\n", 1000); got != want {
		t.Errorf("a thousand times a field of a long value: %.60q", got)
	}
	if got := run("HRANDFIELD long-value -1000 WITHVALUES"); got != refused {
		t.Errorf("a thousand times a long value: %.60q", got)
	}
	if got, want := run("SRANDMEMBER s -1000"), "*1000\r\n"+strings.Repeat("$1\r\na\r\n", 1000); got != want {
		t.Errorf("a thousand times: %.60q", got)
	}
}
