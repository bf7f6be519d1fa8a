package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"golang.org/x/sync/errgroup"
)

// App is a service: a broker with subscriptions.
type App struct {
	name, version string
	b             *Broker
	subscriptions []*Subscription
	transactional bool
	misuse        []error // what can be seen to be wrong without asking a server
	ready         chan struct{}
	once          sync.Once
}

// Part is what an App consists of: Subscriptions and TransactionalPublish.
type Part interface{ join(*App) }

// NewApp makes a service on a broker that no other one has. It does no I/O; see Run,
// which also returns what is wrong with the parts.
func NewApp(name, version string, b *Broker, parts ...Part) *App {
	a := &App{name: name, version: version, b: b, ready: make(chan struct{})}
	for i, part := range parts {
		if s, ok := part.(*Subscription); part == nil || ok && s == nil {
			a.refuse(&Refusal{Reason: fmt.Sprintf("part %d of the app is nil", i+1)})
			continue
		}
		part.join(a)
	}
	if b == nil {
		a.refuse(&Refusal{Reason: "the app has no broker: make one by Cluster, Standalone or FromClient"})
	} else if !b.carry(a) {
		a.refuse(&Refusal{Reason: ErrTaken.Error(), Err: ErrTaken})
	}
	return a
}

func (a *App) refuse(r *Refusal) { a.misuse = append(a.misuse, r) }

// Name is the service's name.
func (a *App) Name() string { return a.name }

// Version is the service's version.
func (a *App) Version() string { return a.version }

// Broker is the broker it runs on.
func (a *App) Broker() *Broker { return a.b }

// Subscriptions are its subscriptions.
func (a *App) Subscriptions() []*Subscription { return a.subscriptions }

// Ready is closed when all subscriptions are.
func (a *App) Ready() <-chan struct{} { return a.ready }

// ErrRunTwice is the error of running an App that was run before.
var ErrRunTwice = errors.New("broker: an app runs only once")

// ErrShared is wrapped by the error of running an App with a Subscription that another
// one has, or that it has twice.
var ErrShared = errors.New("broker: a subscription is part of one app, once: call Subscribe where the app is made")

// ErrTaken is wrapped by the error of running an App on a Broker that carries another
// one, whose end would close it.
var ErrTaken = errors.New("broker: the broker carries another app: give each app a broker of its own")

// ErrAbandoned is wrapped by the error of Run when handlers did not end in time. Their
// messages are pending.
var ErrAbandoned = errors.New("broker: handlers did not end in time")

// Run connects to every master, checks that the service can work there, and consumes
// until ctx is done. Then it takes no more messages, gives back those that wait, lets
// handlers finish for Options.StopWithin before it ends their contexts, settles, and
// disconnects. An orderly end returns nil.
//
// A service that cannot work does not start: the error joins a *Refusal for each
// reason.
func (a *App) Run(ctx context.Context) (err error) {
	first := false
	a.once.Do(func() { first = true })
	if !first {
		return ErrRunTwice
	}
	if a.b != nil && a.b.app == a {
		defer func() { err = errors.Join(err, a.b.Close()) }()
	}
	if err := a.start(ctx); err != nil {
		return fmt.Errorf("broker: %s %s did not start: %w", a.name, a.version, err)
	}
	defer func() { err = errors.Join(err, a.disconnect(ctx)) }()
	a.b.o.Logger.InfoContext(ctx, "the service has started", "service", a.name, "version", a.version, "subscriptions", len(a.subscriptions))
	close(a.ready)
	return a.consume(ctx)
}

// start connects, checks and subscribes.
func (a *App) start(ctx context.Context) error {
	if len(a.misuse) > 0 {
		return errors.Join(a.misuse...)
	}
	client, err := a.b.Client()
	if err != nil {
		return err
	}
	if err := shim.Connect(ctx, client, a.b.o.StartWithin); err != nil {
		if strings.Contains(err.Error(), "cluster support disabled") {
			err = fmt.Errorf("%w: use Standalone for a single server", err)
		}
		return fmt.Errorf("not every master can be reached: %w", err)
	}
	for _, s := range a.subscriptions {
		if !s.taken.CompareAndSwap(false, true) {
			return fmt.Errorf("%w: %s", ErrShared, s.name)
		}
		s.attach(a.b)
	}
	if err := a.check(ctx, client); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, a.b.o.StartWithin)
	defer cancel()
	preparing, ctx := errgroup.WithContext(ctx)
	for _, s := range a.subscriptions {
		preparing.Go(func() error {
			if err := s.t.prepare(ctx); err != nil {
				return fmt.Errorf("subscribing to %s %s: %w", s.source.kind(), s.source.Name(), err)
			}
			return nil
		})
	}
	if err := preparing.Wait(); err != nil {
		return errors.Join(err, a.disconnect(ctx))
	}
	return nil
}

// stoppingKey is the key under which the context of handlers carries a channel that is
// closed when the app stops taking messages.
type stoppingKey struct{}

func isStopping(ctx context.Context) bool {
	stopping, _ := ctx.Value(stoppingKey{}).(<-chan struct{})
	select {
	case <-stopping:
		return true
	default:
		return false
	}
}

// consume runs all subscriptions until ctx is done and what they have is settled.
func (a *App) consume(ctx context.Context) error {
	taking, stop := context.WithCancel(ctx)
	defer stop()
	working, end := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), stoppingKey{}, taking.Done()))
	defer end()

	done := make(chan struct{})
	var running sync.WaitGroup
	for _, s := range a.subscriptions {
		running.Go(func() { s.run(taking, working) })
	}
	go func() {
		running.Wait()
		close(done)
	}()

	<-ctx.Done()
	a.b.o.Logger.InfoContext(ctx, "the service stops", "service", a.name)
	if waitFor(done, a.b.o.StopWithin) {
		return nil
	}
	a.b.o.Logger.WarnContext(ctx, "handlers are still running, their contexts end now", "service", a.name)
	end()
	// Those that heed it also have to settle.
	if waitFor(done, a.b.o.StopWithin) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrAbandoned, a.name)
}

func waitFor(done <-chan struct{}, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// disconnect ends what subscriptions have prepared.
func (a *App) disconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.b.o.StopWithin)
	defer cancel()
	stopping := new(errgroup.Group)
	for _, s := range a.subscriptions {
		stopping.Go(func() error {
			if err := s.t.stop(ctx); err != nil {
				s.log.WarnContext(ctx, "unsubscribing failed", "error", err)
			}
			return nil
		})
	}
	return stopping.Wait()
}

// consumerName is unique to the host, the process and the subscription.
func (b *Broker) consumerName(s *Subscription) string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%d-%s-%s", host, os.Getpid(), s.name, newID()[:8])
}
