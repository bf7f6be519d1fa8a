package server_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The fuzz targets must see a panic, which nodes catch and only log: what they are
// given fails where a fault is planted, and passes where none is.
func TestFuzzTargetsSeePanics(t *testing.T) {
	for _, c := range []struct{ target, command string }{
		{"FuzzConnection", "ping"},
		{"FuzzCommands", "zadd"},
	} {
		for _, planted := range []string{"", c.command} {
			cmd := exec.Command(os.Args[0], "-test.run", "^"+c.target+"$/^seed#0$", "-test.v", "-test.timeout", "5m")
			cmd.Env = append(os.Environ(), "FAKECLUSTER_PLANT_PANIC="+planted)
			out, err := cmd.CombinedOutput()
			passed := err == nil && strings.Contains(string(out), "--- PASS: "+c.target+"/seed#0")
			saw := err != nil && strings.Contains(string(out), "logged: a command panicked") && strings.Contains(string(out), "panic=planted")
			if planted == "" && !passed || planted != "" && !saw {
				t.Errorf("%s with a fault in %q: %v\n%.2000s", c.target, planted, err, out)
			}
		}
	}
}
