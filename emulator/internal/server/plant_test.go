package server

import (
	"os"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// init plants a fault in a command for TestFuzzTargetsSeePanics.
func init() {
	if name := os.Getenv("FAKECLUSTER_PLANT_PANIC"); name != "" {
		tableFor(version.V7_0).LookupName(name).Handler = func(*command.Call) { panic("planted") }
	}
}
