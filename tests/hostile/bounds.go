// Package hostile holds fuzz targets to what no input may do, whatever it is:
// take for ever, take memory without measure, leave goroutines behind, or make
// a command panic. The last would not show by itself, since nodes catch such
// panics and only end the client; it is the log that tells.
package hostile

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// Patience is how long one input may take. It is far beyond what any needs,
	// and only tells a slow machine from a hang.
	Patience = 2 * time.Minute
	// Memory is how many bytes the process may grow by because of one input.
	Memory = 256 << 20
)

// Bound ends the process, with all stacks, if the test has not ended within
// Patience, and fails the test if it took more than Memory or goroutines outlive
// it. What the test cleans up must be registered after this.
func Bound(t testing.TB) {
	t.Helper()
	bound(t, Patience, Patience)
}

// bound is Bound that waits so long for the test, and for goroutines after it.
func bound(t testing.TB, patience, linger time.Duration) {
	t.Helper()
	before, running := mapped(), runtime.NumGoroutine()
	alarm := time.AfterFunc(patience, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("%s hangs", t.Name()))
	})
	t.Cleanup(func() {
		alarm.Stop()
		for ended := time.Now().Add(linger); runtime.NumGoroutine() > running; time.Sleep(100 * time.Microsecond) {
			if time.Now().After(ended) {
				stacks := make([]byte, 1<<20)
				t.Errorf("%d goroutines are left over:\n%s", runtime.NumGoroutine()-running, stacks[:runtime.Stack(stacks, true)])
				break
			}
		}
		if grown := mapped() - before; grown > Memory {
			t.Errorf("the process has grown by %d MB", grown>>20)
		}
	})
}

// mapped is how many bytes the process has got from the system. Those of memory
// given back stay counted, but for some of the runtime's own, so it may become less.
func mapped() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// Logger returns a log that fails the test, at its end, if an error was logged.
// Whatever logs must be ended by what is registered for cleaning up after this.
func Logger(t testing.TB) *slog.Logger {
	t.Helper()
	var l errorLog
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.text) > 0 {
			t.Errorf("logged: %s", strings.Join(l.text, "\n"))
		}
	})
	return slog.New(&l)
}

// errorLog keeps what is logged of errors.
type errorLog struct {
	mu   sync.Mutex
	text []string
}

func (l *errorLog) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelError
}

func (l *errorLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, text)
	return nil
}

func (l *errorLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *errorLog) WithGroup(string) slog.Handler      { return l }
