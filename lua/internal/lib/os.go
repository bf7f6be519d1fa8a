package lib

import (
	"time"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// OpenOS registers os, which in Redis has nothing but clock.
func OpenOS(g *vm.Global) {
	start := time.Now()
	newLibrary(g, "os", []entry{{"clock", func(t *vm.Thread) int {
		t.Push(vm.Num(time.Since(start).Seconds()))
		return 1
	}}})
}
