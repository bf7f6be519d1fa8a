package shim

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// server sends attempts to one node, once.
type server struct {
	command     func(ctx context.Context, a *attempt) error
	pipeline    func(ctx context.Context, cmds []redis.Cmder) error
	transaction func(ctx context.Context, cmds []redis.Cmder) error
}

// nodeServer sends to a node of a cluster.
func nodeServer(node *redis.Client) server {
	return connServer(node, node.Pipeline, node.TxPipeline)
}

func connServer(p interface {
	Process(context.Context, redis.Cmder) error
}, pipeline, transaction func() redis.Pipeliner) server {
	exec := func(pipe func() redis.Pipeliner) func(context.Context, []redis.Cmder) error {
		return func(ctx context.Context, cmds []redis.Cmder) error {
			p := pipe()
			if err := p.BatchProcess(ctx, cmds...); err != nil {
				return err
			}
			_, err := p.Exec(ctx)
			return err
		}
	}
	return server{
		command:     func(ctx context.Context, a *attempt) error { return p.Process(ctx, a) },
		pipeline:    exec(pipeline),
		transaction: exec(transaction),
	}
}

// sendAsking makes an attempt of a call at a node that is to be asked: on one
// connection, with ASKING first. Redis keeps the flag through a whole MULTI. The
// way to one connection is a WATCH of nothing; a Conn would share the client's
// options without their lock.
func sendAsking(ctx context.Context, node *redis.Client, c *call) {
	err := node.Watch(ctx, func(conn *redis.Tx) error {
		asking := redis.NewStatusCmd(ctx, "asking")
		if err := conn.Process(ctx, newAttempt(asking, asking.Args())); err != nil {
			return err
		}
		connServer(conn, conn.Pipeline, conn.TxPipeline).sendOne(ctx, c)
		return nil
	})
	if err != nil {
		c.note(err, false)
	}
}

// sendOne makes an attempt of a call by itself.
func (s server) sendOne(ctx context.Context, c *call) {
	if c.tx {
		s.sendTransaction(ctx, c)
		return
	}
	a := c.try()[0]
	err := s.command(ctx, a)
	c.note(err, a.written)
}

// sendAll makes an attempt of each call, none of which is a transaction, in one
// pipeline. Each is judged by its own reply.
func (s server) sendAll(ctx context.Context, calls []*call) {
	cmds := make([]redis.Cmder, 0, len(calls))
	for _, c := range calls {
		if c.ask {
			asking := redis.NewStatusCmd(ctx, "asking")
			cmds = append(cmds, newAttempt(asking, asking.Args()))
		}
		cmds = append(cmds, c.try()[0])
	}
	err := s.pipeline(ctx, cmds)
	for _, c := range calls {
		a := c.tried[0]
		if a.replied || a.err != nil {
			c.note(a.err, a.written)
		} else {
			c.note(err, a.written)
		}
	}
}

// sendTransaction makes an attempt of a transaction.
func (s server) sendTransaction(ctx context.Context, c *call) {
	attempts := c.try()
	cmds := make([]redis.Cmder, len(attempts))
	for i, a := range attempts {
		cmds[i] = a
	}
	err := s.transaction(ctx, cmds)
	if err == nil || errors.Is(err, redis.TxFailedErr) {
		c.note(err, true)
		return
	}
	c.noteTransaction(err)
}

// note keeps what came of an attempt and, after a redirection, where to go next.
func (c *call) note(err error, written bool) {
	c.err = err
	var addr string
	c.what, addr = understand(err, written)
	if c.what == moved || c.what == asked {
		c.addr, c.ask = addr, c.what == asked
	}
}

// noteTransaction is note for a transaction that err came of. Redis refuses it as
// a whole, by an error for a command that it would not queue and EXECABORT at the
// end, or by an error at the end alone; then every command has an error.
// Otherwise it ran, and errors are results.
func (c *call) noteTransaction(err error) {
	refusals, queued := 0, 0
	var worst error
	worstWhat := settled
	for _, a := range c.tried {
		if !a.replied {
			// Nothing was sent, or the connection broke in between.
			c.note(firstBroken(c.tried, err), c.anyWritten())
			return
		}
		what, _ := understand(a.err, true)
		switch {
		case a.err == nil:
			c.err, c.what = err, settled // it ran
			return
		case redis.IsExecAbortError(a.err):
			queued += boolInt(hasKeys(a))
			continue
		case what == moved || what == asked || what == refused:
			refusals++
			if worst == nil || (worstWhat == asked && what != asked) {
				worst, worstWhat = a.err, what
			}
		default:
			c.err, c.what = err, settled // a command that is wrong, or a result
			return
		}
	}
	if refusals == 0 {
		c.err, c.what = err, settled
		return
	}
	c.note(worst, true)
	if c.what == asked && queued > 0 {
		// Some keys are here and some are there: neither node can run it now.
		c.what, c.addr, c.ask = refused, "", false
	}
}

func firstBroken(attempts []*attempt, err error) error {
	for _, a := range attempts {
		if !a.replied && a.err != nil {
			return a.err
		}
	}
	return err
}

func (c *call) anyWritten() bool {
	for _, a := range c.tried {
		if a.written {
			return true
		}
	}
	return false
}

func hasKeys(cmd redis.Cmder) bool {
	keys, _ := keysOf(cmd)
	return len(keys) > 0
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isTransaction recognizes the commands of a TxPipeline, between the MULTI and
// EXEC that go-redis puts around them.
func isTransaction(cmds []redis.Cmder) bool {
	if len(cmds) < 2 {
		return false
	}
	_, multi := cmds[0].(*redis.StatusCmd)
	_, exec := cmds[len(cmds)-1].(*redis.SliceCmd)
	return multi && exec && cmds[0].Name() == "multi" && cmds[len(cmds)-1].Name() == "exec"
}
