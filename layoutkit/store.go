package layoutkit

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

// Store is a keyspace in one layout. Its parts are made of it by Messages, Chats,
// Contacts, Checkpoints, Conversations, Cursors and UserData. All of it may be
// used by many goroutines.
type Store struct {
	*base
	allowLegacyData bool
}

// New makes a store without I/O. Its errors wrap ErrInvalid.
func New(o Options) (*Store, error) {
	b, err := newBase(o)
	if err != nil {
		return nil, err
	}
	return &Store{b, o.AllowLegacyData}, nil
}

// Layout is the layout of the store, never Auto.
func (s *Store) Layout() Layout { return s.names.layout }

// Close closes the client if the kit made it.
func (s *Store) Close() error { return s.close() }

// Start reaches the server, or every master of the cluster, and looks at what the
// prefix holds. In the Cluster layout on a single server it ends in ErrLegacyData
// if there still are keys of the Legacy layout, unless the marker says that they
// were migrated or Options.AllowLegacyData says that they do not matter. In the
// Legacy layout it warns if the marker is there.
func (s *Store) Start(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	marked, err := s.marked(ctx)
	if err != nil {
		return err
	}
	if s.names.layout == Legacy {
		if marked {
			s.log.Warn("layoutkit: this prefix was migrated to the cluster layout, but the store uses the legacy one",
				"prefix", s.names.prefix, "marker", s.names.marker())
		}
		return nil
	}
	if marked || s.allowLegacyData {
		return nil
	}
	return s.claimPrefix(ctx)
}

// marked reports whether the marker of the Cluster layout is there.
func (s *Store) marked(ctx context.Context) (bool, error) {
	marker, err := s.client.Get(ctx, s.names.marker()).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return false, nil
	case err != nil:
		return false, failed("reading the layout marker", err)
	case marker != Contract:
		return false, fmt.Errorf("%w: the layout marker %s is %q, and this kit knows %q only",
			ErrCorrupt, s.names.marker(), abridged(marker), Contract)
	}
	return true, nil
}

// claimPrefix writes the marker, on a single server only after it has seen that
// nothing of the Legacy layout is there. A cluster never held it.
func (s *Store) claimPrefix(ctx context.Context) error {
	if _, cluster := s.client.(*redis.ClusterClient); !cluster {
		complete, err := s.checkLegacy(ctx)
		if err != nil || !complete {
			return err
		}
	}
	if err := s.client.Set(ctx, s.names.marker(), Contract, 0).Err(); err != nil {
		return failed("writing the layout marker", err)
	}
	return nil
}

// legacyCheck is how many keys under the prefix a start looks at.
const legacyCheck = 10_000

// checkLegacy ends in ErrLegacyData if a key under the prefix is one of the Legacy
// layout. It reports whether it saw all keys.
func (s *Store) checkLegacy(ctx context.Context) (complete bool, err error) {
	seen := 0
	for key, err := range shim.Scan(ctx, s.client, shim.ScanOptions{Match: globEscape(s.names.prefix) + ":*"}) {
		if err != nil {
			return false, failed("looking for legacy keys", err)
		}
		if seen++; seen > legacyCheck {
			return false, nil
		}
		if classify(s.names.prefix, key).layout == Legacy {
			return false, fmt.Errorf("%w %q, like %q: run layoutkit.Migrate first, or set AllowLegacyData",
				ErrLegacyData, s.names.prefix, key)
		}
	}
	return true, nil
}
