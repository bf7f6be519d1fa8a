package shim

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// clusterHook routes and retries on a cluster client. It never calls what is
// below it, go-redis' own loop, except for commands that go-redis makes for all
// nodes at once.
type clusterHook struct {
	*retrier
	*router
}

func (h *clusterHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *clusterHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if isIntroduction(ctx) {
			return next(ctx, cmd)
		}
		if onAllNodes(cmd) {
			return h.onAll(ctx, next, cmd)
		}
		c, err := slottedCall(cmd)
		if err != nil {
			return err
		}
		h.run(ctx, soloRoute{h.router}, []*call{c})
		return c.err
	}
}

func (h *clusterHook) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if isTransaction(cmds) {
			c, keys, err := newTransaction(cmds)
			if err == nil && len(keys) > 0 {
				c.slot, err = slotOf(c.cmds[0], keys)
			}
			if err != nil {
				c.fail(err)
				return err
			}
			if len(c.cmds) > 0 {
				h.run(ctx, soloRoute{h.router}, []*call{c})
			}
			return c.err
		}
		calls, err := callsOf(cmds, slottedCall)
		if err != nil {
			return err
		}
		h.run(ctx, pipelineRoute{h.router}, calls)
		return firstError(calls)
	}
}

// slottedCall makes a call of a command, and finds its slot.
func slottedCall(cmd redis.Cmder) (*call, error) {
	c, keys, err := newCall(cmd)
	if err == nil {
		c.slot, err = slotOf(cmd, keys)
	}
	return c, err
}

// callsOf makes a call of each command of a pipeline, or fails all of them.
func callsOf(cmds []redis.Cmder, newCall func(redis.Cmder) (*call, error)) ([]*call, error) {
	calls := make([]*call, len(cmds))
	for i, cmd := range cmds {
		var err error
		if calls[i], err = newCall(cmd); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return nil, err
		}
	}
	return calls, nil
}

// onAllNodes recognizes the commands that the cluster client makes of one command
// for every node by itself. All of them may run twice.
func onAllNodes(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "dbsize":
		return true
	case "script":
		args := cmd.Args()
		if len(args) < 2 {
			return false
		}
		switch argText(args[1]) {
		case "load", "flush", "exists":
			return true
		}
	}
	return false
}

// onAll runs such a command until every node answered.
func (h *clusterHook) onAll(ctx context.Context, next redis.ProcessHook, cmd redis.Cmder) error {
	c := &call{cmds: []redis.Cmder{cmd}, name: cmd.Name(), slot: noSlot, readOnly: true}
	h.run(ctx, allRoute{h.router, next}, []*call{c})
	return c.err
}

type allRoute struct {
	*router
	next redis.ProcessHook
}

func (a allRoute) send(ctx context.Context, calls []*call) {
	c := calls[0]
	cmd := c.cmds[0]
	cmd.SetErr(nil)
	err := a.next(ctx, cmd)
	if err == nil {
		err = cmd.Err()
	}
	c.note(err, false)
	if c.what == moved || c.what == asked {
		c.what = refused
	}
	c.noteClosed()
}

// soloRoute sends one call, a command or a transaction.
type soloRoute struct{ *router }

func (r soloRoute) send(ctx context.Context, calls []*call) {
	c := calls[0]
	node, err := r.nodeFor(ctx, c)
	if err != nil {
		c.noteNoNode(err)
		return
	}
	if c.ask {
		sendAsking(ctx, node, c)
	} else {
		nodeServer(node).sendOne(ctx, c)
	}
	r.sent(node, calls)
}

// pipelineRoute sends calls in one pipeline to each node, all at the same time.
type pipelineRoute struct{ *router }

func (r pipelineRoute) send(ctx context.Context, calls []*call) {
	byNode := map[*redis.Client][]*call{}
	for _, c := range calls {
		node, err := r.nodeFor(ctx, c)
		if err != nil {
			c.noteNoNode(err)
			continue
		}
		byNode[node] = append(byNode[node], c)
	}
	var sending sync.WaitGroup
	for node, calls := range byNode {
		sending.Go(func() {
			nodeServer(node).sendAll(ctx, calls)
			r.sent(node, calls)
		})
	}
	sending.Wait()
}

// sent looks at what a node answered.
func (r *router) sent(node *redis.Client, calls []*call) {
	defer r.giveBack(node, len(calls))
	for _, c := range calls {
		if c.what == moved || c.what == asked {
			c.addr = fullAddr(c.addr, node.Options().Addr)
		}
		if c.noteClosed() {
			r.forget(node)
		}
	}
}

// noteClosed reports whether a node's client was closed, and bars the call the second
// time: a cluster client closes nodes that left the cluster, or is closed itself.
func (c *call) noteClosed() bool {
	if c.what != unsent || !errors.Is(c.err, redis.ErrClosed) {
		return false
	}
	if c.sawClosed {
		c.what = barred
	}
	c.sawClosed = true
	return true
}

// noteNoNode is note for a call that has nowhere to go.
func (c *call) noteNoNode(err error) {
	c.err, c.what = err, unsent
	if errors.Is(err, redis.ErrClosed) {
		c.what = barred
	}
}
