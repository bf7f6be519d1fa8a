package server

import (
	"os"
	"syscall"

	"github.com/fakecluster/fakecluster/emulator/internal/lock"
)

// poller is an epoll instance, itself watched by Go's poller, and those who are told
// of its events.
type poller[T any] struct {
	file  *os.File
	fd    int
	raw   syscall.RawConn
	ended chan struct{} // closed when run has returned

	mu       lock.Mutex[lock.Leaf]
	watchers map[int32]*T // by file descriptor
}

// newPoller returns nil where the system has no epoll instance left.
func newPoller[T any]() *poller[T] {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return nil
	}
	p := &poller[T]{file: os.NewFile(uintptr(fd), "epoll"), fd: fd, ended: make(chan struct{}), watchers: map[int32]*T{}}
	if p.raw, err = p.file.SyscallConn(); err != nil {
		p.file.Close()
		return nil
	}
	return p
}

// run tells watchers of events, in their order, until the poller is closed.
func (p *poller[T]) run(tell func(w *T, events uint32)) {
	defer close(p.ended)
	events := make([]syscall.EpollEvent, 128)
	for {
		ready := 0
		err := p.raw.Read(func(fd uintptr) bool {
			n, err := syscall.EpollWait(int(fd), events, 0)
			ready = max(n, 0)
			return n > 0 || err != nil
		})
		if err != nil {
			return
		}
		for _, event := range events[:ready] {
			p.mu.Lock()
			w := p.watchers[event.Fd]
			p.mu.Unlock()
			if w != nil {
				tell(w, event.Events)
			}
		}
	}
}

// close ends run.
func (p *poller[T]) close() {
	p.file.Close()
	<-p.ended
}

// add makes w the watcher of a descriptor. It is told of nothing before arm.
func (p *poller[T]) add(fd int32, w *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watchers[fd] = w
}

// remove makes w be told of nothing more. The descriptor may be another's by then.
func (p *poller[T]) remove(fd int32, w *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watchers[fd] == w {
		delete(p.watchers, fd)
	}
}

// arm asks for events of a descriptor: op is EPOLL_CTL_ADD or EPOLL_CTL_MOD.
func (p *poller[T]) arm(op int, fd int32, events uint32) error {
	return syscall.EpollCtl(p.fd, op, int(fd), &syscall.EpollEvent{Events: events, Fd: fd})
}
