package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Reasons why a window was not committed. Nothing of it ran, except where said.
var (
	// ErrUncommitted is wrapped by the error of a window that Redis refused, or that
	// could not be sent. The message stays pending.
	ErrUncommitted = errors.New("broker: the window was not committed")
	// ErrUnknown is wrapped by the error of a window whose EXEC got no reply when
	// neither the connection nor the pending list could be asked either. It may have
	// been committed; if not, the message is still pending.
	ErrUnknown = errors.New("broker: it is not known whether the window was committed")
)

// How often and at which pace a block that did not run is sent again. Together the
// pauses last about as long as a failover.
const (
	commitAttempts = 40
	commitPause    = 5 * time.Millisecond
	commitPauseMax = time.Second
)

// commit sends a window's block until it is known to have run once, or not at all.
type commit struct {
	b      *Broker
	stream *streamTransport
	id     string

	// Where the next attempt goes: what a redirection named, with ASKING or without.
	addr string
	ask  bool
	// at and conn are the node that the last attempt went to and the number of the
	// connection there.
	at   *redis.Client
	conn int64
}

// verdict is what came of sending a block.
type verdict int

const (
	committed verdict = iota
	again             // it did not run, and may be sent at once
	later             // it did not run, and may be sent after a pause
	refused           // it did not run, and never will
	unknown           // its reply was lost
)

// run sends the block of cmds, of which the last is the XACK.
func (c *commit) run(ctx context.Context, cmds []redis.Cmder) error {
	pause, redirects := commitPause, 0
	var last error
	for attempt := 0; attempt < commitAttempts; {
		what, err := c.send(ctx, cmds)
		last = err
		if what == unknown {
			what, err = c.resolve(ctx)
			if what == unknown {
				return fmt.Errorf("%w: %w", ErrUnknown, err)
			}
			last = errors.Join(last, err)
		}
		switch what {
		case committed:
			return nil
		case refused:
			return fmt.Errorf("%w: %w", ErrUncommitted, last)
		case again:
			if redirects++; redirects <= 5 {
				continue
			}
		}
		redirects = 0
		attempt++
		if err := sleep(ctx, pause); err != nil {
			return fmt.Errorf("%w: %w", ErrUncommitted, errors.Join(err, last))
		}
		pause = min(2*pause, commitPauseMax)
	}
	return fmt.Errorf("%w after %d attempts: %w", ErrUncommitted, commitAttempts, last)
}

// node is where the next attempt goes.
func (c *commit) node(ctx context.Context) (*redis.Client, error) {
	owner, err := c.b.owner(ctx, c.stream.name)
	if err != nil || c.addr == "" {
		return owner, err
	}
	return c.b.conns.at(c.addr, owner), nil
}

// send makes one attempt: ASKING if told so, MULTI, the commands, EXEC, all in one
// write on a connection whose number is known.
func (c *commit) send(ctx context.Context, cmds []redis.Cmder) (verdict, error) {
	node, err := c.node(ctx)
	if err != nil {
		return later, err
	}
	conn, err := c.b.conns.take(ctx, node)
	if err != nil {
		c.addr, c.ask = "", false
		c.reload(ctx)
		return later, errors.Join(err, c.b.conns.forget(node))
	}
	c.at, c.conn = node, conn.id
	pipe := conn.Pipeline()
	if c.ask {
		pipe.Do(ctx, "asking")
	}
	queue(ctx, pipe, redis.NewStatusCmd(ctx, "multi"))
	queued := make([]*redis.Cmd, len(cmds))
	for i, cmd := range cmds {
		queued[i] = redis.NewCmd(ctx, cmd.Args()...)
		queue(ctx, pipe, queued[i])
	}
	exec := redis.NewSliceCmd(ctx, "exec")
	queue(ctx, pipe, noRetry{exec})
	_, _ = pipe.Exec(ctx) // every command has its own error
	what, err := c.judge(ctx, queued, exec)
	if what == unknown {
		return what, errors.Join(err, conn.Close())
	}
	return what, errors.Join(err, c.b.conns.put(conn))
}

func queue(ctx context.Context, pipe redis.Pipeliner, cmd redis.Cmder) {
	_ = pipe.Process(ctx, cmd) // in a pipeline it is only kept
}

// noRetry keeps go-redis from sending the pipeline that it is in a second time.
type noRetry struct{ redis.Cmder }

func (noRetry) NoRetry() bool { return true }

// judge tells what came of a block by the replies to its commands and to its EXEC.
func (c *commit) judge(ctx context.Context, queued []*redis.Cmd, exec *redis.SliceCmd) (verdict, error) {
	asked := c.ask
	c.addr, c.ask = "", false
	err := exec.Err()
	if err == nil {
		c.report(ctx, queued, exec.Val())
		return committed, nil
	}
	var reply redis.Error
	if !errors.As(err, &reply) {
		return unknown, err
	}
	// Redis refuses a block by the error of a command that it does not queue, or by
	// that of EXEC, which looks at all of them again.
	waiting, first, asks, accepted := false, error(nil), 0, 0
	for _, cmd := range queued {
		switch err := cmd.Err(); {
		case err == nil:
			accepted++
		case redis.HasErrorPrefix(err, "MOVED"), redis.HasErrorPrefix(err, "ASK "):
			asks++
			first = err
		default:
			waiting = waiting || isRefusal(err)
			first = err
		}
	}
	if first == nil {
		first, waiting = err, isRefusal(err)
		asks, accepted = 1, 0
	}
	if addr, moved := redis.IsMovedError(first); moved {
		c.addr = c.full(addr)
		c.reload(ctx)
		return again, first
	}
	if addr, ask := redis.IsAskError(first); ask {
		// If the node has some of the keys and not all, neither can run it now.
		if accepted > 0 || asked {
			return later, first
		}
		c.addr, c.ask = c.full(addr), true
		return again, first
	}
	if waiting {
		if !redis.IsTryAgainError(first) {
			c.reload(ctx)
		}
		return later, first
	}
	return refused, first
}

// isRefusal recognizes errors of before anything ran, which time cures.
func isRefusal(err error) bool {
	return redis.IsTryAgainError(err) || redis.IsClusterDownError(err) || redis.IsLoadingError(err) ||
		redis.IsReadOnlyError(err) || redis.IsMasterDownError(err) || redis.IsMaxClientsError(err) ||
		redis.IsNoReplicasError(err) || didNotRun(err)
}

// report looks at the results of a block that ran.
func (c *commit) report(ctx context.Context, queued []*redis.Cmd, results []any) {
	for i, result := range results {
		if err, failed := result.(error); failed && i < len(queued) {
			c.b.o.Logger.ErrorContext(ctx, "a command of a window failed, the others count",
				"stream", c.stream.name, "id", c.id, "command", queued[i].Name(), "error", err)
			c.b.metrics.failedCommands.WithLabelValues(c.stream.sub.Name()).Inc()
		}
	}
	if len(results) > 0 && results[len(results)-1] == int64(0) {
		c.b.o.Logger.WarnContext(ctx, "a window committed for an entry that was not pending any more: it was reclaimed meanwhile",
			"stream", c.stream.name, "id", c.id)
		c.b.metrics.secondAcks.WithLabelValues(c.stream.sub.Name()).Inc()
	}
}

// full completes the address of a redirection with the host of the node that gave it.
func (c *commit) full(addr string) string {
	if !strings.HasPrefix(addr, ":") {
		return addr
	}
	host, _, err := net.SplitHostPort(c.at.Options().Addr)
	if err != nil {
		return addr
	}
	return net.JoinHostPort(host, addr[1:])
}

func (c *commit) reload(ctx context.Context) {
	client, err := c.b.Client()
	if cluster, ok := client.(*redis.ClusterClient); ok && err == nil {
		cluster.ReloadState(ctx)
	}
}

// resolve finds out whether a block ran whose EXEC got no reply. The connection may
// still hold it unread, so it is ended at the server first; then whether the message
// is pending tells what happened.
func (c *commit) resolve(ctx context.Context) (verdict, error) {
	c.b.metrics.lostCommits.WithLabelValues(c.stream.sub.Name()).Inc()
	var last error
	for pause := commitPause; ; pause = min(2*pause, commitPauseMax) {
		what, err := c.resolveOnce(ctx)
		// A group that is lost will never say; its entries come again.
		if err == nil || what == refused || redis.HasErrorPrefix(err, "NOGROUP") {
			return what, err
		}
		last = err
		c.reload(ctx)
		if err := sleep(ctx, pause); err != nil {
			return unknown, errors.Join(err, last)
		}
	}
}

func (c *commit) resolveOnce(ctx context.Context) (verdict, error) {
	if err := c.at.ClientKillByFilter(ctx, "ID", fmt.Sprint(c.conn)).Err(); err != nil {
		// A node that is down or was cut off does not matter once another one owns the
		// slot: what it may still do is lost with it.
		owner, ownerErr := c.b.owner(ctx, c.stream.name)
		if ownerErr != nil || owner.Options().Addr == c.at.Options().Addr {
			return unknown, errors.Join(err, ownerErr)
		}
	}
	client, err := c.b.Client()
	if err != nil {
		return unknown, err
	}
	pending, err := client.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: c.stream.name, Group: c.stream.group, Start: c.id, End: c.id, Count: 1,
	}).Result()
	switch {
	case err != nil:
		return unknown, err
	case len(pending) == 0:
		return committed, nil
	case pending[0].Consumer != c.stream.consumer:
		return refused, fmt.Errorf("consumer %s has reclaimed entry %s meanwhile", pending[0].Consumer, c.id)
	}
	return again, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
