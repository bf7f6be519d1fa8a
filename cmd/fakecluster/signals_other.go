//go:build !unix

package main

import "os"

// passedOn are the signals that exec passes on to its command: none where the
// console alone sends them, to all its processes.
var passedOn = []os.Signal{}

func killedBy(*os.ProcessState) (number int, killed bool) { return 0, false }
