package main

import (
	"context"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/emulator"
)

// The command serves a cluster that listens on ports, until it is told to stop.
func TestRun(t *testing.T) {
	e := emulator.RunT(t, emulator.TCP("127.0.0.1", 0))
	settled := make(chan string, 3)
	b := broker.Cluster(e.Addrs()[0]).With(broker.Options{
		Block:   100 * time.Millisecond,
		Observe: func(h broker.Handled) { settled <- h.Subscription + " " + string(h.Settled) },
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, b, true) }()
	seen := map[string]bool{}
	for range 3 {
		select {
		case what := <-settled:
			seen[what] = true
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		case <-time.After(30 * time.Second):
			t.Fatalf("in time there were only %v", seen)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !seen["{jobs} ack"] || !seen["{orders} ack"] || !seen["events ack"] {
		t.Errorf("what happened is %v", seen)
	}
}
