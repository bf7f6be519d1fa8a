//go:build !unix

package server

import "net"

// newSocketWriter returns nil: sockets here have no write that never waits.
func newSocketWriter(*net.TCPConn) nonblockingWriter { return nil }
