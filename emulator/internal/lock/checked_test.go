//go:build lockorder

package lock

import (
	"sync"
	"testing"
)

// What the order allows and what not.
func TestOrder(t *testing.T) {
	var fixture Mutex[Fixture]
	var network, otherNetwork Mutex[Network]
	var node, other Mutex[Node]
	var leaf, otherLeaf Mutex[Leaf]
	for _, c := range []struct {
		name  string
		locks []sync.Locker
		fine  bool
	}{
		{"all in order", []sync.Locker{&fixture, &network, &node, &leaf}, true},
		{"some left out", []sync.Locker{&fixture, &leaf}, true},
		{"two nodes under the network", []sync.Locker{&network, &node, &other, &leaf}, true},
		{"two nodes", []sync.Locker{&node, &other}, false},
		{"two nodes under the fixture", []sync.Locker{&fixture, &node, &other}, false},
		{"two networks", []sync.Locker{&network, &otherNetwork}, false},
		{"the network under a node", []sync.Locker{&node, &network}, false},
		{"a node under a leaf", []sync.Locker{&leaf, &node}, false},
		{"two leaves", []sync.Locker{&leaf, &otherLeaf}, false},
		{"the fixture under the network", []sync.Locker{&network, &fixture}, false},
	} {
		problem := ""
		violated = func(p string) { problem = p }
		for _, lock := range c.locks {
			lock.Lock()
		}
		for _, lock := range c.locks {
			lock.Unlock()
		}
		if (problem == "") != c.fine {
			t.Errorf("%s: %q", c.name, problem)
		}
	}
	all.Range(func(_, held any) bool {
		t.Errorf("a lock is left: %v", held)
		return true
	})
}

// A lock that is taken twice would never be had.
func TestTwice(t *testing.T) {
	var m Mutex[Leaf]
	m.Lock()
	defer m.Unlock()
	if problem := mine().refusal(leaf, &m); problem != "a leaf is taken twice" {
		t.Errorf("%q", problem)
	}
	if m.TryLock() {
		t.Error("it is had twice")
	}
}
