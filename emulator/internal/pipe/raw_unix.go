//go:build unix

package pipe

import (
	"fmt"
	"sync"
	"syscall"
)

// readable is a socket of this process in which bytes wait for ever.
var readable = sync.OnceValues(func() (fd int, err error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, fmt.Errorf("make a socket that is readable: %w", err)
	}
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	if err := syscall.SetNonblock(pair[0], true); err != nil {
		return 0, fmt.Errorf("make a socket not block: %w", err)
	}
	if _, err := syscall.Write(pair[1], make([]byte, 64)); err != nil {
		return 0, fmt.Errorf("make a socket readable: %w", err)
	}
	return pair[0], nil
})

func lookReadable(f func(fd uintptr) (done bool)) error {
	fd, err := readable()
	if err == nil {
		f(uintptr(fd))
	}
	return err
}
