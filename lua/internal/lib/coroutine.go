package lib

import "github.com/fakecluster/fakecluster/lua/internal/vm"

func openCoroutine(g *vm.Global) {
	newLibrary(g, "coroutine", []entry{
		{"create", coCreate}, {"resume", coResume}, {"running", coRunning},
		{"status", coStatus}, {"wrap", coWrap}, {"yield", coYield},
	})
}

func newCoroutine(t *vm.Thread) *vm.Thread {
	fn := t.Arg(1).Function()
	if fn == nil || fn.IsGo() {
		t.ArgError(1, "Lua function expected")
	}
	return t.NewThread(t.Arg(1))
}

func coCreate(t *vm.Thread) int {
	t.Push(newCoroutine(t).Value())
	return 1
}

// resume hands arguments first.. to a coroutine and pushes its results.
func resume(t *vm.Thread, co *vm.Thread, first int) (int, *vm.Error) {
	var args []vm.Value
	for i := first; i <= t.NArgs(); i++ {
		args = append(args, t.Arg(i))
	}
	results, err := t.Resume(co, args)
	if err != nil {
		return 0, err
	}
	if !t.RoomFor(len(results)) {
		t.Fail("too many results to resume")
	}
	for _, v := range results {
		t.Push(v)
	}
	return len(results), nil
}

func checkCoroutine(t *vm.Thread) *vm.Thread {
	co := t.Arg(1).Thread()
	if co == nil {
		t.ArgError(1, "coroutine expected")
	}
	return co
}

func coResume(t *vm.Thread) int {
	co := checkCoroutine(t)
	n, err := resume(t, co, 2)
	if err != nil {
		t.Push(vm.False)
		t.Push(err.Value)
		return 2
	}
	t.Insert(t.NArgs()-n+1, vm.True)
	return n + 1
}

func coWrap(t *vm.Thread) int {
	co := newCoroutine(t)
	t.Push(t.Global().NewFunction(wrapped, co.Value()))
	return 1
}

func wrapped(t *vm.Thread) int {
	n, err := resume(t, t.Upvalue(0).Thread(), 1)
	if err != nil {
		if isStringOrNumber(err.Value) {
			t.Fail(text2(err.Value))
		}
		t.Throw(err.Value)
	}
	return n
}

func coYield(t *vm.Thread) int { return t.Yield() }

var statusNames = map[vm.Status]string{
	vm.Suspended: "suspended", vm.Running: "running", vm.Normal: "normal", vm.Dead: "dead",
}

func coStatus(t *vm.Thread) int {
	co := checkCoroutine(t)
	status := statusNames[co.Status()]
	if co == t {
		status = "running"
	}
	t.PushString(status)
	return 1
}

func coRunning(t *vm.Thread) int {
	if t == t.Global().Main {
		t.Push(vm.Value{})
	} else {
		t.Push(t.Value())
	}
	return 1
}
