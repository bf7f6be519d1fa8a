//go:build lockorder

package lock

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
)

// Mutex is a sync.Mutex that knows its place in the order.
type Mutex[P Place] struct{ mu sync.Mutex }

// Lock takes the lock.
func (m *Mutex[P]) Lock() {
	held := mine()
	if problem := held.refusal(rank[P](), m); problem != "" {
		violated(problem)
	}
	m.mu.Lock()
	held.add(rank[P](), m)
}

// TryLock takes the lock if nobody has it. As it does not wait, the order does
// not matter to it.
func (m *Mutex[P]) TryLock() bool {
	if !m.mu.TryLock() {
		return false
	}
	mine().add(rank[P](), m)
	return true
}

// Unlock gives the lock back.
func (m *Mutex[P]) Unlock() {
	mine().remove(m)
	m.mu.Unlock()
}

// rank is a place as a number: later ones are higher.
func rank[P Place]() int {
	var p P
	switch any(p).(type) {
	case Fixture:
		return fixture
	case Network:
		return network
	case Node:
		return node
	}
	return leaf
}

const (
	fixture = iota
	network
	node
	leaf
)

var names = [...]string{"a fixture's lock", "a network's lock", "a node's lock", "a leaf"}

// violated is what happens when the order is not kept. A panic would not do:
// nodes survive those.
var violated = func(problem string) {
	fmt.Fprintf(os.Stderr, "lock order: %s\n%s", problem, debug.Stack())
	os.Exit(3)
}

// holdings are the locks of one goroutine, which alone touches them.
type holdings struct {
	id    int64
	locks []holding
}

type holding struct {
	rank int
	lock any
}

var all sync.Map // holdings by the goroutine's number

func mine() *holdings {
	id := goroutine()
	if h, ok := all.Load(id); ok {
		return h.(*holdings)
	}
	return &holdings{id: id}
}

// refusal is why a lock of some rank must not be waited for.
func (h *holdings) refusal(rank int, lock any) string {
	hasNetwork := false
	for _, held := range h.locks {
		hasNetwork = hasNetwork || held.rank == network
		switch {
		case held.lock == lock:
			return names[rank] + " is taken twice"
		case held.rank < rank, held.rank == node && rank == node && hasNetwork:
		default:
			return fmt.Sprintf("%s is taken by who holds %s", names[rank], names[held.rank])
		}
	}
	return ""
}

func (h *holdings) add(rank int, lock any) {
	if len(h.locks) == 0 {
		all.Store(h.id, h)
	}
	h.locks = append(h.locks, holding{rank, lock})
}

func (h *holdings) remove(lock any) {
	for i, held := range h.locks {
		if held.lock == lock {
			h.locks = append(h.locks[:i], h.locks[i+1:]...)
			break
		}
	}
	if len(h.locks) == 0 {
		all.Delete(h.id)
	}
}

// goroutine is the number of the running goroutine, which only the first line
// of its stack tells: "goroutine 7 [running]:".
func goroutine() int64 {
	var b [64]byte
	line := bytes.TrimPrefix(b[:runtime.Stack(b[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(line, []byte(" "))
	id, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("a stack begins with %q", line))
	}
	return id
}
