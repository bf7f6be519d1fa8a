// Package freeport finds ports for servers that want several in a row.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports are taken from below those that systems give to outgoing connections, of
// which a busy run leaves thousands behind.
const (
	lowest = 12_000
	count  = 18_000
)

// InARow returns the first of n ports in a row that nobody listens at, at any
// address.
func InARow(tb testing.TB, n int) int {
	tb.Helper()
	for range 1000 {
		first := lowest + rand.IntN(count)
		if allFree(first, n) {
			return first
		}
	}
	tb.Fatalf("no %d free ports in a row", n)
	return 0
}

func allFree(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp4", net.JoinHostPort("0.0.0.0", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}
