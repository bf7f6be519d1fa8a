package server

import "net"

// nonblockingWriter is a connection that takes what fits and returns instead
// of waiting for room for the rest. The in-process pipe is one.
type nonblockingWriter interface {
	WriteNonblock(b []byte) (int, error)
}

// newNonblockingWriter finds the way to write to conn without waiting, or
// returns nil where there is none; then all writing is a goroutine's.
func newNonblockingWriter(conn net.Conn) nonblockingWriter {
	if w, ok := conn.(nonblockingWriter); ok {
		return w
	}
	if c, ok := conn.(*net.TCPConn); ok {
		return newSocketWriter(c)
	}
	return nil
}

// writeChunks writes as much of chunks as w takes without waiting and returns
// what is left.
func writeChunks(w nonblockingWriter, chunks [][]byte) (rest [][]byte, err error) {
	if w == nil {
		return chunks, nil
	}
	for i, chunk := range chunks {
		n, err := w.WriteNonblock(chunk)
		if err != nil {
			return nil, err
		}
		if n < len(chunk) {
			rest = append(rest, chunk[n:])
			return append(rest, chunks[i+1:]...), nil
		}
	}
	return nil, nil
}
