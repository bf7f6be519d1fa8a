package hostile

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// recorder is a test that keeps what is said against it.
type recorder struct {
	testing.TB
	said     []string
	cleanups []func()
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// verdict ends the test.
func (r *recorder) verdict() string {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
	return strings.Join(r.said, "\n")
}

// held is memory that is not given back, so that more of it is new each time.
var held [][]byte

func TestBounds(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for name, test := range map[string]struct {
		run  func(r *recorder)
		want string
	}{
		"nothing":   {func(r *recorder) { Bound(r); Logger(r).Warn("never mind") }, ""},
		"memory":    {func(r *recorder) { Bound(r); held = append(held, make([]byte, 2*Memory)) }, "the process has grown by"},
		"goroutine": {func(r *recorder) { bound(r, Patience, time.Millisecond); go func() { <-stop }() }, "1 goroutines are left over"},
		"log":       {func(r *recorder) { Logger(r).With("a", 1).Error("a command panicked", "stack", "here") }, "logged: a command panicked stack=here"},
	} {
		r := &recorder{TB: t}
		test.run(r)
		if got := r.verdict(); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// hangEnv makes TestHang the test that hangs.
const hangEnv = "FAKECLUSTER_HANG"

// A test that does not end is ended, with the stacks that tell where it was.
func TestHang(t *testing.T) {
	if os.Getenv(hangEnv) != "" {
		bound(t, 100*time.Millisecond, Patience)
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestHang$", "-test.timeout", "1m")
	cmd.Env = append(os.Environ(), hangEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: TestHang hangs") || !strings.Contains(string(out), "bounds_test.go") {
		t.Errorf("%v\n%s", err, out)
	}
}
