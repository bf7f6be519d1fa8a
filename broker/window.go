package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Window collects the commands of a handler. They are sent when it returns Ack, in
// one MULTI with the XACK of its message, on the stream's slot: all of them or none.
// Their results are not there before. With any other outcome they are discarded.
//
// A command for a key in another slot makes the whole block fail: nothing is written
// and the message stays pending. Redis does not roll back: a command that fails when
// it runs (WRONGTYPE) is logged, and the others count.
type Window struct {
	redis.Cmdable
	ctx  context.Context
	b    *Broker
	pipe redis.Pipeliner
}

// errWindow is the error of executing a window's commands by hand.
var errWindow = errors.New("broker: a window is committed by the broker when its handler returns Ack")

func (b *Broker) newWindow(ctx context.Context) *Window {
	pipe := b.recorder.TxPipeline()
	return &Window{Cmdable: recorded{pipe}, ctx: ctx, b: b, pipe: pipe}
}

// Do adds a command that go-redis has no method for.
func (w *Window) Do(args ...any) { w.pipe.Do(w.ctx, args...) }

// Publish adds the commands that publish a message, when its To or Send is called.
func (w *Window) Publish(message any) *Publication {
	p := w.b.Publish(w.ctx, message)
	p.on = w.Cmdable
	return p
}

// recorded keeps pipelines of a window in it.
type recorded struct{ redis.Pipeliner }

func (r recorded) Pipeline() redis.Pipeliner   { return r.Pipeliner }
func (r recorded) TxPipeline() redis.Pipeliner { return r.Pipeliner }

func (r recorded) Pipelined(_ context.Context, fn func(redis.Pipeliner) error) ([]redis.Cmder, error) {
	before := r.Len()
	err := fn(r.Pipeliner)
	return r.Cmds()[min(before, r.Len()):], err
}

func (r recorded) TxPipelined(ctx context.Context, fn func(redis.Pipeliner) error) ([]redis.Cmder, error) {
	return r.Pipelined(ctx, fn)
}

// newRecorder makes the client that windows are pipelines of. It never connects: its
// hooks check the slots of a block and hand it to the commit that executes it.
func newRecorder(cluster bool) *redis.Client {
	client := redis.NewClient(&redis.Options{
		Addr: "window", MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if cluster {
		shim.WithSlotCheck(client)
	}
	client.AddHook(commitHook{})
	return client
}

type commitHook struct{}

func (commitHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (commitHook) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(context.Context, redis.Cmder) error { return errWindow }
}

func (commitHook) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c, ok := ctx.Value(commitKey{}).(*commit)
		if !ok {
			return errWindow
		}
		return c.run(ctx, cmds[1:len(cmds)-1]) // without go-redis' MULTI and EXEC
	}
}

type commitKey struct{}

// commit ends the window of a delivery of a stream.
func (w *Window) commit(ctx context.Context, s *streamTransport, d *delivery) error {
	w.pipe.XAck(ctx, s.name, s.group, d.id)
	c := &commit{b: w.b, stream: s, id: d.id}
	_, err := w.pipe.Exec(context.WithValue(ctx, commitKey{}, c))
	var cross *shim.CrossSlotError
	if errors.As(err, &cross) {
		return fmt.Errorf("%w: %w", ErrUncommitted, err)
	}
	return err
}
