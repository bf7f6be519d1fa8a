package server

import (
	"os"
	"sync"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// init plants a fault in a command for TestFuzzTargetsSeePanics.
func init() {
	if name := os.Getenv("FAKECLUSTER_PLANT_PANIC"); name != "" {
		plant(name)
	}
}

// plant makes a command panic in the first version that has it.
func plant(name string) {
	for _, v := range versions {
		if spec := tableFor(v).LookupName(name); spec != nil {
			spec.Handler = func(*command.Call) { panic("planted") }
			return
		}
	}
}

var versions = []version.Version{version.V7_0, version.V7_2, version.V7_4, version.V6_2}

// WatchHandlers calls seen, one call at a time, with the name of each command
// whose handler is called, up to the call of what it returns. No node may run at
// either time. Containers that do nothing but hold subcommands have no handler,
// and count as seen; other commands without one are absent.
func WatchHandlers(seen func(name string)) (stop func()) {
	var mu sync.Mutex
	var restore []func()
	for _, v := range versions {
		for _, row := range tableFor(v).Rows() {
			handler := row.Handler
			if handler == nil {
				if row.Subcommands != nil {
					seen(row.Name)
				}
				continue
			}
			row.Handler = func(c *command.Call) {
				mu.Lock()
				seen(row.Name)
				mu.Unlock()
				handler(c)
			}
			restore = append(restore, func() { row.Handler = handler })
		}
	}
	return func() {
		for _, r := range restore {
			r()
		}
	}
}
