package control_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/tests/hostile"
)

// FuzzGrammar tells a cluster whatever is written, a verb a line. Each is done or
// refused, and the cluster can be made what it was.
func FuzzGrammar(f *testing.F) {
	for _, v := range control.Verbs() {
		f.Add(v.Name + " n1\n" + v.Name)
	}
	for _, lines := range []string{
		"kill n1\nsettle\nrestart n1 loading 1s", "pause *\nresume *", "partition n1 | n2,n4\nway n1 > n2 loss 0.5\nheal", "migrate 42 n2\nmigrate-keys 42\nmigrate-abort 42",
		"move 0-10 n2\nmigrate 11 n3\nmigrate-finish 11", "fault on command get chance 0.5 delay 1s\nfaults\nfault-remove *", "trace on 10\ntrace show crossed\ntrace count verdict error",
		"add-master\nadd-replica n7\nremove n7", "lag n4 1s\nlag n4 pause\nlag * none", "clock advance 1000h", "failover n4 takeover\nview n4", "restart n1 port 7100",
	} {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		if strings.Count(lines, "\n") > 12 {
			t.Skip()
		}
		hostile.Bound(t)
		// In a bubble what waits costs no time, and what waits for ever is found.
		synctest.Test(t, func(t *testing.T) { tell(t, lines) })
	})
}

func tell(t *testing.T, lines string) {
	c := emulator.RunT(t, emulator.Replicas(1), control.Option(), emulator.Logger(hostile.Logger(t)))
	x := control.New(c)
	for line := range strings.Lines(lines) {
		if text, err := x.Do(strings.Fields(line)...); text == "" && err == nil {
			t.Errorf("%q: nothing is said", line)
		}
	}
	if _, err := x.Do("reset"); err != nil {
		t.Fatalf("after %q: %v", lines, err)
	}
	if got, err := c.NodeForKey("k").Do("SET", "k", "v"); got != "OK" {
		t.Fatalf("after %q: %v, %v", lines, got, err)
	}
}
