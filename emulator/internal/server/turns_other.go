//go:build !linux

package server

import "net"

// eventLoop is there on Linux; elsewhere sessions read as their goroutines come.
type eventLoop struct{}

func newEventLoop() *eventLoop { return nil }

func (*eventLoop) close()              {}
func (*eventLoop) join(net.Conn) *turn { return nil }

type turn struct{}

func (*turn) wait(bool) {}
func (*turn) end()      {}
func (*turn) cancel()   {}
func (*turn) leave()    {}
