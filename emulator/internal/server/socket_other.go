//go:build !linux

package server

import (
	"net"

	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// hangups is there on Linux; elsewhere sessions read through net.Conn.
type hangups struct{}

func newHangups() *hangups { return nil }

func (*hangups) close()                           {}
func (*hangups) newReader(net.Conn) *socketReader { return nil }

type socketReader struct{}

func (*socketReader) read(*resp.Parser, func() (bool, error)) error { return nil }
func (*socketReader) shut()                                         {}
func (*socketReader) reset()                                        {}
func (*socketReader) leave()                                        {}
