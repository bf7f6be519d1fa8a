package layoutkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Migrations know of each other by two keys beside the marker, on both sides.
//
// {meta}:passes lists those that are under way, so that no source is deleted while
// another pass reads it: it would mirror what is left.
//
// {meta}:migrated remembers complete passes, so that DeleteSource only deletes after
// one. Of a side that was a source it holds "<direction>": id, of one that was a
// target "<id>": direction. Both together say that everything went from one to the
// other. A complete pass forgets the one that led the other way.
func (n names) passes() string   { return n.join("{meta}", "passes") }
func (n names) migrated() string { return n.join("{meta}", "migrated") }

var migrateEnter = script("migrate_enter", "passes")

const (
	// modeDelete is the mode of a pass that deletes its source. Those that copy have
	// the name of their direction.
	modeDelete = "delete"
	// passLife is how long a pass is believed in that is not heard of.
	passLife = 15 * time.Second
)

// passes is a pass among the others.
type passes struct {
	id             string
	source, target side
	direction      Direction
	alone          bool   // in a dry run: it does not matter to others
	mode           string // empty before enter
}

func newPasses(m *migration) *passes {
	return &passes{id: rand.Text(), source: m.source, target: m.target, direction: m.o.Direction, alone: m.o.DryRun}
}

// sides are the keyspaces that the pass enters, each once, in an order that is the
// same for all passes between them.
func (p *passes) sides() []side {
	if p.source.client == p.target.client && p.source.names.prefix == p.target.names.prefix {
		return []side{p.target}
	}
	return []side{p.source, p.target}
}

// enter announces the pass, or its next mode. The error is ErrHeld if it would be
// in the way of another.
func (p *passes) enter(ctx context.Context, mode string) error {
	if p.alone {
		return nil
	}
	for _, s := range p.sides() {
		other, err := migrateEnter.Run(ctx, s.client, []string{s.names.passes()}, mode, p.id, passLife.Milliseconds()).Text()
		if err != nil {
			return failed("announcing the pass", err)
		}
		if other != "" {
			return fmt.Errorf("%w: a migration (%s) of %q is under way, or died less than %v ago", ErrHeld, other, s.names.prefix, passLife)
		}
	}
	p.mode = mode
	return nil
}

// keepAlive keeps the others believing in the pass until it is told to stop. It
// fails if they do not any more.
func (p *passes) keepAlive(ctx context.Context, fail context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(passLife / 5)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if err := p.enter(ctx, p.mode); err != nil {
					fail(err)
					return
				}
			}
		}
	})
	return func() { close(done); renewing.Wait() }
}

// leave ends the pass for the others, also when ctx is done.
func (p *passes) leave(ctx context.Context) error {
	if p.mode == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), passLife)
	defer cancel()
	var errs []error
	for _, s := range p.sides() {
		if err := s.client.ZRem(ctx, s.names.passes(), p.mode+" "+p.id).Err(); err != nil {
			errs = append(errs, failed("ending the pass", err))
		}
	}
	return errors.Join(errs...)
}

// madeBefore reports whether a complete pass from this source to this target was
// made before.
func (p *passes) madeBefore(ctx context.Context) (bool, error) {
	id, err := field(ctx, p.source, p.direction.String())
	if err != nil || id == "" {
		return false, err
	}
	direction, err := field(ctx, p.target, id)
	return direction == p.direction.String(), err
}

// made remembers that the pass is complete, and forgets one the other way.
func (p *passes) made(ctx context.Context) error {
	if err := p.forget(ctx, p.target, p.source, p.direction.opposite()); err != nil {
		return err
	}
	if err := p.forget(ctx, p.source, p.target, p.direction); err != nil {
		return err
	}
	err := p.target.client.HSet(ctx, p.target.names.migrated(), p.id, p.direction.String()).Err()
	if err == nil {
		err = p.source.client.HSet(ctx, p.source.names.migrated(), p.direction.String(), p.id).Err()
	}
	if err != nil {
		return failed("remembering the pass", err)
	}
	return nil
}

// forget forgets the complete pass from one side to another.
func (p *passes) forget(ctx context.Context, from, to side, d Direction) error {
	id, err := field(ctx, from, d.String())
	if err != nil || id == "" {
		return err
	}
	err = from.client.HDel(ctx, from.names.migrated(), d.String()).Err()
	if err == nil {
		err = to.client.HDel(ctx, to.names.migrated(), id).Err()
	}
	if err != nil {
		return failed("forgetting a pass", err)
	}
	return nil
}

// field is a field of what a side remembers, empty if there is none.
func field(ctx context.Context, s side, name string) (string, error) {
	value, err := s.client.HGet(ctx, s.names.migrated(), name).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", failed("reading which passes were made", err)
	}
	return value, nil
}
