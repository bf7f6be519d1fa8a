package layoutkit

import (
	"context"
	"fmt"
	"time"
)

var leaseAcquireScript = script("lease_acquire", "lease")

// Leases give a name to one holder at a time. Unlike locks they know their holders
// by name: whoever has the name of the holder has the lease.
type Leases struct{ *base }

// NewLeases makes leases without I/O. Its errors wrap ErrInvalid.
func NewLeases(o Options) (*Leases, error) {
	b, err := newBase(o)
	if err != nil {
		return nil, err
	}
	return &Leases{b}, nil
}

// Leases are the leases of the store's client, prefix and layout.
func (s *Store) Leases() *Leases { return &Leases{s.lent()} }

// Close closes the client if the kit made it for these leases.
func (l *Leases) Close() error { return l.close() }

// Acquire gives the lease to a holder for ttl, at least 1 ms from now, or renews it
// if it has it. The error is ErrHeld, and names the holder, if another one has it.
func (l *Leases) Acquire(ctx context.Context, name, holder string, ttl time.Duration) error {
	if err := l.check(name, holder, ttl); err != nil {
		return err
	}
	reply, err := l.script(ctx, leaseAcquireScript, []string{l.names.lease(name)}, holder, ttl.Milliseconds()).Slice()
	if err != nil {
		return failed("acquiring a lease", err)
	}
	if granted, _ := reply[0].(int64); granted == 0 {
		return fmt.Errorf("%w: the lease %q, by %q", ErrHeld, name, reply[1])
	}
	return nil
}

// Renew gives the holder another ttl from now. The error is ErrLost if it has the
// lease no more.
func (l *Leases) Renew(ctx context.Context, name, holder string, ttl time.Duration) error {
	if err := l.check(name, holder, ttl); err != nil {
		return err
	}
	return l.renew(ctx, fmt.Sprintf("the lease %q", name), l.names.lease(name), holder, ttl)
}

// Release ends the lease of a holder. The error is ErrLost if it has it no more.
func (l *Leases) Release(ctx context.Context, name, holder string) error {
	if err := l.check(name, holder, time.Millisecond); err != nil {
		return err
	}
	return l.release(ctx, fmt.Sprintf("the lease %q", name), l.names.lease(name), holder)
}

func (l *Leases) check(name, holder string, ttl time.Duration) error {
	if err := needed("lease name", name); err != nil {
		return err
	}
	if err := needed("holder", holder); err != nil {
		return err
	}
	return holdable(ttl)
}
