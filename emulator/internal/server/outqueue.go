package server

import (
	"net"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/lock"
)

// outQueue is the one way out of a connection: replies of its own commands and
// messages pushed by others leave in the order they were put in, whatever
// goroutine did.
//
// Bytes are put in while the node's lock is held, which fixes their order, and
// flushed after it is released. A flush never waits for the peer: it writes
// what the socket takes at once, and only if something is left starts a
// goroutine for the rest. So a client that sends without reading cannot stop
// its own input, and a slow subscriber cannot stop a publisher.
//
// Lock order: the node's lock before the queue's.
type outQueue struct {
	conn net.Conn
	now  nonblockingWriter

	mu      lock.Mutex[lock.Leaf]
	chunks  [][]byte      // waiting, the oldest first
	size    int           // bytes waiting, those being written included
	writing bool          // somebody is writing, and will take what comes meanwhile
	broken  bool          // the connection takes nothing more
	pace    tempo         // until nothing is waiting
	ended   chan struct{} // closed when broken is set, if a pace was
	idle    sync.Cond
}

// tempo makes a queue slow: so many bytes at a time, and a rest after each.
type tempo struct {
	bytes int
	rest  time.Duration
}

// slowDown sets the pace for what is waiting, and for what comes before that
// has been sent.
func (q *outQueue) slowDown(bytes int, rest time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pace = tempo{max(1, bytes), rest}
	if q.ended == nil {
		q.ended = make(chan struct{})
	}
}

// chunkSize is how much is gathered before another chunk is begun.
const chunkSize = 16 << 10

func (q *outQueue) init(conn net.Conn) {
	q.conn = conn
	q.now = newNonblockingWriter(conn)
	q.idle.L = &q.mu
}

// append copies b to the end of the queue and returns the bytes waiting.
func (q *outQueue) append(b []byte) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken {
		return 0
	}
	q.size += len(b)
	if last := len(q.chunks) - 1; last >= 0 && cap(q.chunks[last])-len(q.chunks[last]) >= len(b) {
		q.chunks[last] = append(q.chunks[last], b...)
	} else {
		q.chunks = append(q.chunks, append(make([]byte, 0, max(len(b), min(chunkSize, 2*len(b)))), b...))
	}
	return q.size
}

// lend puts b itself at the end of the queue, uncopied: it is the owner's again
// once flush has returned false.
func (q *outQueue) lend(b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.broken {
		return
	}
	q.size += len(b)
	q.chunks = append(q.chunks, b[:len(b):len(b)])
}

// waiting is the number of bytes not yet handed to the peer.
func (q *outQueue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size
}

// flush writes what the connection takes without waiting. It returns true if
// something is left that another goroutine is writing: what was lent is then
// still in use.
func (q *outQueue) flush() (busy bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.writing {
		return true
	}
	if q.pace.bytes > 0 && len(q.chunks) > 0 && !q.broken {
		q.writing = true
		go q.drain()
		return true
	}
	for len(q.chunks) > 0 && !q.broken {
		chunks := q.chunks
		q.chunks, q.writing = nil, true
		q.mu.Unlock()
		rest, err := writeChunks(q.now, chunks)
		q.mu.Lock()
		q.writing = false
		q.wrote(chunks, rest, err)
		if len(rest) > 0 && !q.broken {
			q.chunks = append(rest, q.chunks...)
			q.writing = true
			go q.drain()
			return true
		}
		if q.chunks == nil {
			q.chunks = chunks[:0]
		}
	}
	q.idle.Broadcast()
	return false
}

// drain writes until nothing is left, waiting for the peer.
func (q *outQueue) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.chunks) > 0 && !q.broken {
		chunk := q.chunks[0]
		if most := q.pace.bytes; most > 0 && len(chunk) > most {
			q.chunks[0] = chunk[most:]
			chunk = chunk[:most]
		} else {
			q.chunks = q.chunks[1:]
		}
		rest := q.pace.rest
		if len(q.chunks) == 0 {
			rest = 0
		}
		q.mu.Unlock()
		n, err := q.conn.Write(chunk)
		if rest > 0 {
			q.pause(rest)
		}
		q.mu.Lock()
		q.size -= n
		if err != nil {
			q.breakLocked()
		}
	}
	q.writing, q.pace = false, tempo{}
	q.idle.Broadcast()
}

// pause rests, unless the connection ends.
func (q *outQueue) pause(rest time.Duration) {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.ended:
	}
}

func (q *outQueue) wrote(chunks, rest [][]byte, err error) {
	for _, c := range chunks {
		q.size -= len(c)
	}
	for _, c := range rest {
		q.size += len(c)
	}
	if err != nil {
		q.breakLocked()
	}
}

// finish waits until everything has been written or the connection is broken.
func (q *outQueue) finish() {
	q.flush()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.writing {
		q.idle.Wait()
	}
}

// close makes the queue take nothing more, so that nobody waits for it.
func (q *outQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.breakLocked()
}

func (q *outQueue) breakLocked() {
	if q.ended != nil && !q.broken {
		close(q.ended)
	}
	q.broken, q.chunks, q.size = true, nil, 0
	q.idle.Broadcast()
}
