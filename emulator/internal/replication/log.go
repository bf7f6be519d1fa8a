// Package replication carries a master's effects to its replicas: what every
// write changed, as Redis propagates it, in order and counted in bytes as the
// replication stream is.
//
// A Log belongs to a node that is a master, a Link is one replica's place in
// it. Nothing is pushed: a replica takes what has reached it when somebody
// reads it, when it is promoted, or when the Log says that it grows too long.
// How long an effect travels is a property of the Link, so a test can decide
// which writes a replica has when its master dies.
//
// A Log without Links keeps nothing and costs one atomic load per write.
package replication

import (
	"cmp"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/fakecluster/fakecluster/emulator/internal/lock"
)

// Effect is one command a replica must execute.
type Effect struct {
	DB   int
	Args [][]byte
}

// Block is what one client's command or transaction did. A replica executes a
// block without letting anybody in between.
type Block struct {
	Effects []Effect
	// At is when it was written, in Unix milliseconds.
	At int64
	// End is the replication offset behind it, in bytes.
	End int64

	size int64 // bytes held
}

// Identity is the replication history of a node: INFO's master_replid,
// master_replid2 and second_repl_offset.
type Identity struct {
	ID           string // 40 hexadecimal digits
	Previous     string // forty zeros when there is none
	SecondOffset int64  // up to where Previous is valid, -1 for none
}

const noID = "0000000000000000000000000000000000000000"

// The sizes of what Redis itself puts into the stream.
var (
	pingSize   = size([][]byte{[]byte("PING")})
	multiSize  = size([][]byte{[]byte("MULTI")}) + size([][]byte{[]byte("EXEC")})
	getAckSize = size([][]byte{[]byte("REPLCONF"), []byte("GETACK"), []byte("*")})
)

const (
	// crowdedAt is how many bytes a Log holds before it asks for its replicas
	// to catch up.
	crowdedAt = 1 << 20
	// DefaultLimit is how many bytes a Log holds for a replica that cannot
	// catch up (client-output-buffer-limit replica).
	DefaultLimit = 256 << 20
)

// Log is the stream of effects of one node. Its methods may be called by
// several goroutines; Append keeps the order in which it is called, so it
// belongs under the node's lock.
type Log struct {
	active atomic.Bool // there are links, or were

	// Limit is the greatest number of bytes held; a replica that needs older
	// ones starts again with a full resynchronization. Set it before use.
	Limit int64
	// Notify, when set, is called without locks when a replica came, went, or
	// may have received more than expected before. Set it before use.
	Notify func()

	mu       lock.Mutex[lock.Leaf]
	identity Identity
	offset   int64
	selected int // database the stream is in, -1 for none yet
	links    []*Link

	blocks []Block
	first  int64 // sequence number of blocks[0]
	held   int64 // bytes
}

// NewLog returns an empty log with a replication id.
func NewLog(id string) *Log {
	return &Log{identity: Identity{ID: id, Previous: noID, SecondOffset: -1}, selected: -1, Limit: DefaultLimit}
}

// Active reports whether effects need to be appended at all.
func (l *Log) Active() bool { return l.active.Load() }

// Append adds a block at a time in Unix milliseconds. The effects are copied.
// wanted says that replicas should catch up once no lock is held: one is eager,
// or much is held for those that have not taken it.
func (l *Log) Append(now int64, effects []Effect) (wanted bool) {
	if len(effects) == 0 || !l.Active() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(effects) > 1 {
		l.offset += multiSize
	}
	bytes := int64(0)
	for _, e := range effects {
		if e.DB != l.selected {
			l.selected = e.DB
			l.offset += size([][]byte{[]byte("SELECT"), strconv.AppendInt(nil, int64(e.DB), 10)})
		}
		bytes += size(e.Args)
	}
	l.offset += bytes
	if len(l.links) == 0 {
		return false
	}
	l.push(Block{Effects: cloned(effects), At: now, size: bytes})
	return l.held > crowdedAt || slices.ContainsFunc(l.links, func(k *Link) bool { return k.eager })
}

// push adds a block that ends at the current offset.
func (l *Log) push(b Block) {
	b.End = l.offset
	l.blocks = append(l.blocks, b)
	l.held += b.size
	if l.held <= l.Limit {
		return
	}
	if l.trim(true); l.held <= l.Limit {
		return
	}
	for _, link := range l.links {
		if link.next == l.first {
			link.lost, link.next = true, l.end()
		}
	}
	l.trim(true)
}

// RequestAcks adds what Redis sends its replicas when WAIT is called.
func (l *Log) RequestAcks(now int64) { l.silent(now, getAckSize) }

// silent adds bytes that change nothing on a replica but its offset.
func (l *Log) silent(now, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.links) == 0 {
		return
	}
	l.offset += bytes
	l.push(Block{At: now})
}

// end is the sequence number the next block will get.
func (l *Log) end() int64 { return l.first + int64(len(l.blocks)) }

// trim drops the blocks that no link needs, once they are half of all or when
// memory is short: moving the others costs.
func (l *Log) trim(short bool) {
	needed := l.end()
	for _, link := range l.links {
		needed = min(needed, link.next)
	}
	drop := int(needed - l.first)
	if drop == 0 || drop < len(l.blocks)/2 && !short {
		return
	}
	for i := range drop {
		l.held -= l.blocks[i].size
	}
	l.blocks = slices.Delete(l.blocks, 0, drop)
	l.first = needed
}

// Offset is master_repl_offset: how many bytes have been written.
func (l *Log) Offset() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.offset
}

// Identity returns the log's replication ids.
func (l *Log) Identity() Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.identity
}

// Promote makes the log that of a replica that becomes a master: it goes on
// from offset under a new id, and remembers the old one.
func (l *Log) Promote(id string, old Identity, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.identity = Identity{ID: id, Previous: old.ID, SecondOffset: offset + 1}
	l.offset, l.selected = offset, -1
	l.active.Store(true)
}

// Restart makes the log that of a process which has just started: without
// replicas, at offset 0.
func (l *Log) Restart(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active.Store(false)
	l.identity = Identity{ID: id, Previous: noID, SecondOffset: -1}
	l.offset, l.selected = 0, -1
	l.links, l.blocks, l.held = nil, nil, 0
}

// Adopt makes the log that of a replica in sync with a master.
func (l *Log) Adopt(master Identity, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.identity, l.offset, l.selected = master, offset, -1
}

// Links returns the log's replicas in the order they came.
func (l *Log) Links() []*Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.links)
}

// Received counts the replicas that have everything up to offset, as WAIT
// does.
func (l *Log) Received(offset, now int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	count := 0
	for _, link := range l.links {
		if !link.syncing && link.received(now) >= offset {
			count++
		}
	}
	return count
}

// NextReceipt is the first time after now at which Received(offset) will be
// greater, given that nothing is changed; ok is false if it never will.
func (l *Log) NextReceipt(offset, now int64) (at int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, link := range l.links {
		if link.syncing || link.stoppedAt != 0 || link.received(now) >= offset {
			continue
		}
		i, _ := slices.BinarySearchFunc(l.blocks, offset, func(b Block, o int64) int { return cmp.Compare(b.End, o) })
		if i == len(l.blocks) {
			continue
		}
		if due := l.blocks[i].At + link.lag; !ok || due < at {
			at, ok = due, true
		}
	}
	return at, ok
}

// Good counts the replicas heard within maxLag milliseconds, for
// min-replicas-to-write.
func (l *Log) Good(maxLag, now int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	count := 0
	for _, link := range l.links {
		if !link.syncing && link.silence(now) <= maxLag {
			count++
		}
	}
	return count
}

func (l *Log) notify() {
	if l.Notify != nil {
		l.Notify()
	}
}

// size is the length of a command in the protocol.
func size(args [][]byte) int64 {
	n := int64(1 + digits(len(args)) + 2)
	for _, arg := range args {
		n += int64(1 + digits(len(arg)) + 2 + len(arg) + 2)
	}
	return n
}

func digits(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

// cloned copies effects into memory of their own, all arguments of one effect
// in one piece.
func cloned(effects []Effect) []Effect {
	out := make([]Effect, len(effects))
	for i, e := range effects {
		total := 0
		for _, arg := range e.Args {
			total += len(arg)
		}
		buf := make([]byte, 0, total)
		args := make([][]byte, len(e.Args))
		for j, arg := range e.Args {
			start := len(buf)
			buf = append(buf, arg...)
			args[j] = buf[start:len(buf):len(buf)]
		}
		out[i] = Effect{DB: e.DB, Args: args}
	}
	return out
}
