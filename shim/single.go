package shim

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// singleHook retries on a client of one server. There is nowhere else to go, so a
// redirection is a refusal.
type singleHook struct {
	*retrier
}

func (h *singleHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *singleHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	via := singleRoute{server{command: func(ctx context.Context, a *attempt) error { return next(ctx, a) }}}
	return func(ctx context.Context, cmd redis.Cmder) error {
		_, readOnly := keysOf(cmd)
		c := &call{cmds: []redis.Cmder{cmd}, name: cmd.Name(), slot: noSlot, readOnly: readOnly}
		h.run(ctx, via, []*call{c})
		return c.err
	}
}

func (h *singleHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if isTransaction(cmds) {
			c := &call{cmds: cmds[1 : len(cmds)-1], name: "multi", slot: noSlot, tx: true}
			multi, exec := cmds[0], cmds[len(cmds)-1]
			h.run(ctx, singleRoute{server{transaction: func(ctx context.Context, cmds []redis.Cmder) error {
				multi.SetErr(nil)
				exec.SetErr(nil)
				return next(ctx, append(append([]redis.Cmder{multi}, cmds...), exec))
			}}}, []*call{c})
			return c.err
		}
		calls := make([]*call, len(cmds))
		for i, cmd := range cmds {
			_, readOnly := keysOf(cmd)
			calls[i] = &call{cmds: []redis.Cmder{cmd}, name: cmd.Name(), slot: noSlot, readOnly: readOnly}
		}
		h.run(ctx, singleRoute{server{pipeline: next}}, calls)
		return firstError(calls)
	}
}

// singleRoute sends everything to the one server.
type singleRoute struct{ server }

func (s singleRoute) send(ctx context.Context, calls []*call) {
	if s.pipeline != nil {
		s.sendAll(ctx, calls)
	} else {
		s.sendOne(ctx, calls[0])
	}
	for _, c := range calls {
		switch {
		case c.what == moved || c.what == asked:
			c.what = refused
		case c.what == unsent && errors.Is(c.err, redis.ErrClosed):
			c.what = barred
		}
	}
}

func (singleRoute) refresh(context.Context) {}
