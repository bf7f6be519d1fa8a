package server

import (
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// PlantPanicAtReplicas makes a command of 7.4 panic where it comes from a master,
// after it has done its work, until restored. No nodes may run at either time.
func PlantPanicAtReplicas(name string) (restore func()) {
	spec := tableFor(version.V7_4).LookupName(name)
	handler := spec.Handler
	spec.Handler = func(c *command.Call) {
		handler(c)
		if c.FromMaster {
			panic("boom")
		}
	}
	return func() { spec.Handler = handler }
}
