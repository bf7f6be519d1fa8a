package oracle

import (
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

// Emulator is the target under test, as the judge's version.
type Emulator struct {
	// TCP reaches the nodes over loopback instead of in process.
	TCP bool
}

// Start implements Target.
func (e Emulator) Start(tb testing.TB, cluster bool) Endpoint {
	tb.Helper()
	opts := []emulator.Option{emulator.RedisVersion("7.0"), emulator.Masters(Masters)}
	if !cluster {
		opts = append(opts, emulator.Standalone())
	}
	if e.TCP {
		opts = append(opts, emulator.TCP("127.0.0.1", 0))
	}
	c := emulator.RunT(tb, opts...)
	return Endpoint{
		Name:  "fakecluster",
		Addrs: c.Addrs(),
		Dial:  c.Dialer(),
		Alive: func() error { return nil },
	}
}
