// Package session is an example of a program under test: it keeps login
// sessions in a Redis Cluster, with an hour to live from their last use. Its
// test shows the fixture, and an hour that passes in no time.
package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lifetime is how long a session lives after it was last used.
const Lifetime = time.Hour

// ErrUnknown says that there is no such session, or none any more.
var ErrUnknown = errors.New("unknown session")

// Store keeps sessions.
type Store struct{ cluster *redis.ClusterClient }

// NewStore returns a store that keeps its sessions in cluster.
func NewStore(cluster *redis.ClusterClient) *Store { return &Store{cluster} }

// Create starts the session id for a user. The user's sessions are counted
// beside it: the hash tag puts both keys into one slot, so that one transaction
// can change them.
func (s *Store) Create(ctx context.Context, user, id string) error {
	_, err := s.cluster.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, key(user, id), user, Lifetime)
		pipe.Incr(ctx, counter(user))
		return nil
	})
	if err != nil {
		return fmt.Errorf("create session of %s: %w", user, err)
	}
	return nil
}

// Touch uses a session, which prolongs its life.
func (s *Store) Touch(ctx context.Context, user, id string) error {
	err := s.cluster.GetEx(ctx, key(user, id), Lifetime).Err()
	if errors.Is(err, redis.Nil) {
		return fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	return err
}

// Created is how many sessions a user has ever created.
func (s *Store) Created(ctx context.Context, user string) (int64, error) {
	n, err := s.cluster.Get(ctx, counter(user)).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, err
}

func key(user, id string) string { return fmt.Sprintf("{user:%s}:session:%s", user, id) }

func counter(user string) string { return fmt.Sprintf("{user:%s}:sessions", user) }
