package lib

import "github.com/fakecluster/fakecluster/lua/internal/vm"

// encoding is a string that a value is being written to.
type encoding struct {
	t       *vm.Thread
	out     []byte
	checked int // length of out when its size was last checked
}

// checkEvery is by how many bytes an encoding grows between two checks of its
// size, which may have to measure all memory.
const checkEvery = 1 << 20

// check ends the script when the encoding has become too long.
func (e *encoding) check() {
	if len(e.out) > e.checked+checkEvery {
		e.checked = len(e.out)
		e.t.Global().CheckStringSize(e.checked)
	}
}
