package shim

import (
	"context"
	"errors"
	"slices"

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
		if isAttempt(cmd) || isIntroduction(ctx) {
			return next(ctx, cmd)
		}
		c, err := unslottedCall(cmd)
		if err != nil {
			return err
		}
		h.run(ctx, via, []*call{c})
		return c.err
	}
}

func (h *singleHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, isAttempt) {
			return next(ctx, cmds)
		}
		if isTransaction(cmds) {
			c, _, err := newTransaction(cmds)
			if err != nil {
				c.fail(err)
				return err
			}
			multi, exec := cmds[0], cmds[len(cmds)-1]
			h.run(ctx, singleRoute{server{transaction: func(ctx context.Context, cmds []redis.Cmder) error {
				multi.SetErr(nil)
				exec.SetErr(nil)
				return next(ctx, append(append([]redis.Cmder{multi}, cmds...), exec))
			}}}, []*call{c})
			return c.err
		}
		calls, err := callsOf(cmds, unslottedCall)
		if err != nil {
			return err
		}
		h.run(ctx, singleRoute{server{pipeline: next}}, calls)
		return firstError(calls)
	}
}

// isAttempt recognizes what another hook of the shim sends, that of a cluster client
// whose node this is or of a client that this one was cloned from: it retries.
func isAttempt(cmd redis.Cmder) bool {
	_, ok := cmd.(*attempt)
	return ok
}

func unslottedCall(cmd redis.Cmder) (*call, error) {
	c, _, err := newCall(cmd)
	return c, err
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
