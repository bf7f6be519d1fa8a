package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilStopped returns a context that ends when the program is told to stop: by
// Ctrl-C, by SIGTERM, or because its terminal has gone, unless nohup said that
// this is no reason. What was begun then, such as writing data, is completed
// however often SIGTERM comes: those who run the program under others get it twice.
// Ctrl-C after any of these ends the process at once, as it does redis-server.
func untilStopped() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	interrupted, ended := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	signal.Notify(ended, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(ended, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-interrupted:
		case <-ended:
		}
		signal.Stop(interrupted)
		stop()
	}()
	return ctx
}

// outliveReaders lets the program go on when whoever read its output is gone:
// writing fails then, instead of ending the process whatever it is about.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
