package brokertest

import (
	"io"
	"log/slog"
	"sync"
	"testing"
)

// logger is for warnings that a test shows when it fails.
func logger(t testing.TB) *slog.Logger {
	w := &testWriter{to: t.Output()}
	t.Cleanup(w.end)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// testWriter writes for as long as its test runs: what handlers that were abandoned
// have to say comes too late.
type testWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *testWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

func (w *testWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = io.Discard
}
