package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// LostReplyError says that a command was sent and its reply did not come: the
// connection broke or time ran out. The command MAY HAVE RUN. It is never sent
// again by itself, except reads under RetryOptions.RetryLostReads.
type LostReplyError struct {
	// Command is the name of the command, or "multi" for a whole transaction.
	Command string
	// Err is what ended the waiting: io.EOF, a time-out, the context's error.
	Err error
}

func (e *LostReplyError) Error() string {
	return fmt.Sprintf("redis: the reply to %s was lost, it may have run: %v", e.Command, e.Err)
}

func (e *LostReplyError) Unwrap() error { return e.Err }

// NotRunError says that a command was given up: each time the cluster refused it
// before running anything, or it could not be sent. It DID NOT RUN and may be
// sent again.
type NotRunError struct {
	// Command is the name of the command, or "multi" for a whole transaction.
	Command string
	// Attempts is how often it was tried.
	Attempts int
	// Err is the last refusal, joined with the context's error if that ended the
	// trying.
	Err error
}

func (e *NotRunError) Error() string {
	return fmt.Sprintf("redis: %s did not run, given up after %d attempts: %v", e.Command, e.Attempts, e.Err)
}

func (e *NotRunError) Unwrap() error { return e.Err }

// reply is what an error means for the command that got it.
type reply int

const (
	settled    reply = iota // an answer, or an error that trying again does not cure
	refused                 // nothing ran; the same may succeed in a moment
	moved                   // nothing ran; another node owns the slot
	asked                   // nothing ran; another node is to be asked, this once
	unscripted              // nothing ran; the node does not know the script
	lost                    // it may have run
	unsent                  // nothing was sent; the same may succeed in a moment
	barred                  // nothing was sent; trying again is of no use
)

// understand tells what an error means. written says whether any of the
// command's bytes may have left.
func understand(err error, written bool) (what reply, addr string) {
	switch {
	case err == nil || errors.Is(err, redis.Nil):
		return settled, ""
	case isServerError(err):
		return understandReply(err)
	case !written:
		return unsent, "" // also if a dialler's own time was over: run minds the caller's
	case isTransportError(err):
		return lost, ""
	default:
		return settled, "" // a reply that the caller's type of command cannot hold
	}
}

func understandReply(err error) (what reply, addr string) {
	if addr, ok := redis.IsMovedError(err); ok {
		return moved, addr
	}
	if addr, ok := redis.IsAskError(err); ok {
		return asked, addr
	}
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		return unscripted, ""
	}
	if isRefusal(err) {
		return refused, ""
	}
	return settled, ""
}

// isRefusal recognizes the replies that come before anything ran and that time
// cures. The first two are the cluster's own; go-redis retries the others too,
// all but the last.
func isRefusal(err error) bool {
	return redis.IsTryAgainError(err) || redis.IsClusterDownError(err) ||
		redis.IsLoadingError(err) || redis.IsReadOnlyError(err) || redis.IsMasterDownError(err) ||
		redis.IsNoReplicasError(err) || redis.IsMaxClientsError(err) ||
		// A blocked command's node became a replica.
		redis.HasErrorPrefix(err, "UNBLOCKED force unblock")
}

func isServerError(err error) bool {
	var server redis.Error
	return errors.As(err, &server)
}

// isTransportError tells a broken connection from a reply that was not
// understood.
func isTransportError(err error) bool {
	var (
		network net.Error
		errno   syscall.Errno
	)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, redis.ErrClosed) || errors.As(err, &network) || errors.As(err, &errno)
}

// fullAddr is an address that a node gave, as it is dialled. It is completed with
// the host of that node, since one that does not know its own names only the port,
// and the brackets of IPv6, which Redis leaves out.
func fullAddr(addr, from string) string {
	colon := strings.LastIndexByte(addr, ':')
	if colon < 0 || strings.HasPrefix(addr, "[") {
		return addr
	}
	host, port := addr[:colon], addr[colon+1:]
	if host == "" {
		var err error
		if host, _, err = net.SplitHostPort(from); err != nil {
			return addr
		}
	}
	return net.JoinHostPort(host, port)
}
