package emulator

import "time"

// TB is what RunT needs of a *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// RunT starts a cluster for a test and stops it when the test ends. It is Start
// with the errors of starting made the test's.
//
// In a testing/synctest bubble it also gives clients the moment they need to
// end their own goroutines: go-redis' cluster client keeps one asleep for up to
// 200 ms after it was closed, which the bubble would report as a deadlock.
func RunT(t TB, opts ...Option) *Cluster {
	t.Helper()
	c, err := Start(opts...)
	if err != nil {
		t.Fatalf("starting a cluster: %v", err)
	}
	t.Cleanup(func() {
		c.Close()
		if inBubble() {
			time.Sleep(time.Second) // fake time: it costs nothing
		}
	})
	return c
}

// inBubble guesses whether the caller is in a synctest bubble: time there
// begins at the turn of the millennium.
func inBubble() bool { return time.Now().Year() < 2020 }
