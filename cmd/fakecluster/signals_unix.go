//go:build unix

package main

import (
	"os"
	"syscall"
)

// passedOn are the signals that exec passes on to its command.
var passedOn = []os.Signal{
	os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
}

// killedBy is the number of the signal that ended a process.
func killedBy(state *os.ProcessState) (number int, killed bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0, false
	}
	return int(status.Signal()), true
}
