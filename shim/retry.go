package shim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/redis/go-redis/v9"
)

// RetryOptions are the options of WithRetry. The zero value is the default said
// at each.
type RetryOptions struct {
	// Attempts is how often a command is tried in all; 10 if it is not positive.
	Attempts int
	// Base is the pause before the second attempt; each later one is twice as
	// long. 5 ms if it is not positive, so that ten attempts take 2.555 s.
	Base time.Duration
	// RetryLostReads sends commands that only read again after their reply was
	// lost. Without it they end in a LostReplyError, as all others always do, and as
	// they do when attempts or time are over.
	RetryLostReads bool
	// Logger receives lost replies and commands given up at level Warn, retries
	// at Debug. nil discards them.
	Logger *slog.Logger
	// Metrics, if not nil, is counted in.
	Metrics *Metrics
}

// maxRedirects is how many redirections in a row are followed without a pause. Two
// nodes that disagree on a slot send clients back and forth until they agree.
const maxRedirects = 5

// ErrUnsupportedClient is returned for clients that are neither a *redis.Client
// nor a *redis.ClusterClient, or nil.
var ErrUnsupportedClient = errors.New("shim: neither a *redis.Client nor a *redis.ClusterClient")

func checkClient(client redis.UniversalClient) error {
	switch c := client.(type) {
	case *redis.Client:
		if c != nil {
			return nil
		}
	case *redis.ClusterClient:
		if c != nil {
			return nil
		}
	default:
		return fmt.Errorf("%w: %T", ErrUnsupportedClient, client)
	}
	return fmt.Errorf("%w: a nil %T", ErrUnsupportedClient, client)
}

// WithRetry makes client send commands again when, and only when, that cannot run
// them twice; see the package documentation. It takes the place of go-redis' own
// redirections and retries, of which nothing is left, so hooks that were added to
// the client before see each command once and hooks added later do not see it;
// hooks of a cluster client's nodes (ClusterClient.OnNewNode) see every attempt.
//
// Contexts that end before a reply came end the waiting as go-redis lets them: by
// their deadline, and only if the client has ContextTimeoutEnabled.
//
// It does no I/O. It works on a client that is in use. A client that has it
// already keeps the options it got first, so that what is built on a client may
// ask for it without knowing.
func WithRetry(client redis.UniversalClient, o RetryOptions) error {
	if err := checkClient(client); err != nil {
		return err
	}
	r := newRetrier(o)
	switch client := client.(type) {
	case *redis.Client:
		if claim(client) {
			client.AddHook(&singleHook{r})
		}
	case *redis.ClusterClient:
		if claim(client) {
			client.AddHook(&clusterHook{r, newRouter(client)})
		}
	}
	return nil
}

// hooked are weak pointers to the clients that have the shim's hook: go-redis
// does not say which hooks a client has.
var hooked sync.Map

// claim reports whether client is new to hooked, and adds it for as long as it
// lives.
func claim[T any](client *T) bool {
	key := weak.Make(client)
	if _, known := hooked.LoadOrStore(key, struct{}{}); known {
		return false
	}
	runtime.AddCleanup(client, func(key weak.Pointer[T]) { hooked.Delete(key) }, key)
	return true
}

// retrier runs calls until they are settled. It does not know where they go.
type retrier struct {
	RetryOptions
}

func newRetrier(o RetryOptions) *retrier {
	if o.Attempts <= 0 {
		o.Attempts = 10
	}
	if o.Base <= 0 {
		o.Base = 5 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = new(Metrics)
	}
	return &retrier{o}
}

// call is what is sent and sent again as a whole: a command, or a transaction.
type call struct {
	cmds     []redis.Cmder
	name     string
	slot     int // or noSlot
	readOnly bool
	tx       bool

	// Where the next attempt goes: to a node that a redirection named, with
	// ASKING first or without, or to the owner of the slot.
	addr string
	ask  bool
	// eval makes a script go with its source instead of its digest.
	eval bool
	// sawClosed is set when a node's client turned out to be closed.
	sawClosed bool
	// wasLost is set when an attempt lost its reply and the call goes on.
	wasLost bool

	// What came of the last attempt.
	tried []*attempt
	what  reply
	err   error
}

// newCall makes a call of a command, whose keys it returns, unless it cannot be sent.
func newCall(cmd redis.Cmder) (c *call, keys []string, err error) {
	if err := sendable(cmd); err != nil {
		return nil, nil, err
	}
	keys, readOnly := keysOf(cmd)
	return &call{cmds: []redis.Cmder{cmd}, name: cmd.Name(), slot: noSlot, readOnly: readOnly}, keys, nil
}

// newTransaction makes one call of the commands of a TxPipeline, whose keys it
// returns, unless one cannot be sent.
func newTransaction(cmds []redis.Cmder) (c *call, keys []string, err error) {
	c = &call{cmds: cmds[1 : len(cmds)-1], name: "multi", slot: noSlot, tx: true}
	for _, cmd := range c.cmds {
		if err := sendable(cmd); err != nil {
			return c, nil, err
		}
		of, _ := keysOf(cmd)
		keys = append(keys, of...)
	}
	return c, keys, nil
}

var errNoName = errors.New("shim: a command without a name")

// sendable says why a command cannot be sent, if so.
func sendable(cmd redis.Cmder) error {
	if script, ok := cmd.(*scriptCmd); ok && script.refused != nil {
		return script.refused
	}
	if len(cmd.Args()) == 0 {
		return errNoName
	}
	return nil
}

// try makes new attempts of a call's commands.
func (c *call) try() []*attempt {
	c.tried = make([]*attempt, len(c.cmds))
	for i, cmd := range c.cmds {
		args := cmd.Args()
		if script, ok := cmd.(*scriptCmd); ok && (c.eval || c.tx) {
			args = script.evalArgs()
		}
		c.tried[i] = newAttempt(cmd, args)
	}
	return c.tried
}

// route is where calls go. send makes one attempt of each and notes in each what
// came of it. It may be told to look again who owns what.
type route interface {
	send(ctx context.Context, calls []*call)
	refresh(ctx context.Context)
}

// run sends calls until all are settled, time is over or the context is done. The
// outcome is in the calls and their commands.
func (r *retrier) run(ctx context.Context, via route, calls []*call) {
	redirects, pause := 0, r.Base
	for attempt := 1; len(calls) > 0; {
		via.send(ctx, calls)
		var redirected, waiting []*call
		for _, c := range calls {
			switch r.decide(ctx, c, attempt) {
			case moved, asked, unscripted:
				redirected = append(redirected, c)
			case refused, unsent:
				waiting = append(waiting, c)
			}
		}
		calls = append(redirected, waiting...)
		if needsRefresh(calls) {
			via.refresh(ctx)
		}
		if len(waiting) == 0 && redirects < maxRedirects {
			redirects++
			continue
		}
		redirects = 0
		if len(calls) == 0 {
			return
		}
		if attempt++; attempt > r.Attempts {
			r.giveUp(ctx, calls, attempt-1, nil)
			return
		}
		if err := sleep(ctx, pause); err != nil {
			r.giveUp(ctx, calls, attempt-1, err)
			return
		}
		pause *= 2
		for _, c := range waiting {
			r.Metrics.retries.Add(1)
			r.Logger.DebugContext(ctx, "sending a command again", "command", c.name, "attempt", attempt, "error", c.err)
		}
	}
}

// decide prepares a call for its next attempt, or ends it: then it returns
// settled.
func (r *retrier) decide(ctx context.Context, c *call, attempt int) reply {
	switch c.what {
	case moved, asked:
		r.Metrics.redirects.Add(1)
		return c.what
	case unscripted:
		if c.eval || !c.isScript() {
			return settled
		}
		c.eval = true
		return unscripted
	case refused, unsent:
		c.addr, c.ask = "", false
		return c.what
	case barred:
		c.giveUp(attempt, c.err)
	case lost:
		r.Metrics.lostReplies.Add(1)
		if r.RetryLostReads && c.readOnly {
			c.addr, c.ask, c.wasLost = "", false, true
			return unsent
		}
		r.Logger.Warn("a reply was lost", "command", c.name, "error", c.err)
		c.failUnanswered(&LostReplyError{Command: c.name, Err: because(ctx, c.err)})
	}
	return settled
}

func (c *call) isScript() bool {
	_, ok := c.cmds[0].(*scriptCmd)
	return ok && !c.tx
}

// needsRefresh reports whether a reply says that what the client knows of the
// cluster is out of date.
func needsRefresh(calls []*call) bool {
	for _, c := range calls {
		if c.what == moved || c.what == unsent || (c.what == refused && !redis.IsTryAgainError(c.err)) {
			return true
		}
	}
	return false
}

// giveUp ends calls whose last attempt did not run, or lost the reply to a read.
func (r *retrier) giveUp(ctx context.Context, calls []*call, attempts int, cause error) {
	for _, c := range calls {
		err := c.err
		if cause != nil {
			err = errors.Join(cause, err)
		}
		c.giveUp(attempts, err)
		r.Logger.WarnContext(ctx, "a command was given up", "command", c.name, "attempts", attempts, "error", err)
	}
}

func (c *call) giveUp(attempts int, err error) {
	if c.wasLost {
		c.fail(&LostReplyError{Command: c.name, Err: err})
	} else {
		c.fail(&NotRunError{Command: c.name, Attempts: attempts, Err: err})
	}
}

// fail makes err the outcome of all commands of a call.
func (c *call) fail(err error) {
	c.err = err
	for _, cmd := range c.cmds {
		cmd.SetErr(err)
	}
}

// failUnanswered leaves the answers that came before the connection broke.
func (c *call) failUnanswered(err error) {
	c.err = err
	for _, a := range c.tried {
		if !a.replied {
			a.Cmder.SetErr(err)
		}
	}
}

// firstError is the error of the first call that has one.
func firstError(calls []*call) error {
	for _, c := range calls {
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// because is an error that tells of the context's deadline if that is over: a
// connection has the same, and may notice before the context does.
func because(ctx context.Context, err error) error {
	deadline, limited := ctx.Deadline()
	if limited && !time.Now().Before(deadline) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
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
