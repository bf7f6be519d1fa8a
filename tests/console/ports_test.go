package console

import (
	"net"
	"strconv"
	"testing"
)

// freePorts returns the first of n consecutive ports that are free.
func freePorts(t *testing.T, n int) int {
	t.Helper()
next:
	for range 100 {
		probe, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		first := probe.Addr().(*net.TCPAddr).Port
		probe.Close()
		for port := first; port < first+n; port++ {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				continue next
			}
			l.Close()
		}
		return first
	}
	t.Fatalf("no %d consecutive free ports", n)
	return 0
}
