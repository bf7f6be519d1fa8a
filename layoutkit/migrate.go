package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

// Direction is from which layout to which a pass goes.
type Direction int

const (
	// LegacyToCluster copies the legacy layout to the cluster layout.
	LegacyToCluster Direction = iota
	// ClusterToLegacy is the rollback.
	ClusterToLegacy
)

func (d Direction) String() string {
	switch d {
	case LegacyToCluster:
		return "legacy-to-cluster"
	case ClusterToLegacy:
		return "cluster-to-legacy"
	default:
		return fmt.Sprintf("Direction(%d)", int(d))
	}
}

// MarshalText is String, for reports as JSON.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// layouts are those of the source and of the target.
func (d Direction) layouts() (source, target Layout) {
	if d == ClusterToLegacy {
		return Cluster, Legacy
	}
	return Legacy, Cluster
}

// opposite is the way back.
func (d Direction) opposite() Direction { return 1 - d }

// MigrateOptions are the options of Migrate.
type MigrateOptions struct {
	// Source and Target belong to the caller; they get shim.WithRetry if they have
	// not got it. The side of the legacy layout is a single server. A nil Target is
	// the source: a migration in place.
	Source, Target redis.UniversalClient
	// Prefix is the prefix of the source, TargetPrefix that of the target: the same
	// if empty.
	Prefix, TargetPrefix string
	// Direction is LegacyToCluster if not set.
	Direction Direction

	// DryRun writes nothing and counts what would happen.
	DryRun bool
	// Include limits the pass to some namespaces; all if empty. A limited pass is
	// never complete: it does not touch the marker.
	Include []Namespace
	// Overwrite lets records of the source win over those of the target. Tokens,
	// fences and terms never go back nevertheless. It also mirrors a source without
	// the marker, and copies again before DeleteSource deletes.
	Overwrite bool
	// AllowLive goes on although replicas are at work.
	AllowLive bool
	// DeleteSource deletes what was copied from the source, and what is ephemeral
	// there. It is meant for a later pass, after the replicas were seen to work with
	// the target. Where a complete pass from this source to this target was made
	// before, it only deletes: copying once more would bring back what the replicas
	// have deleted since.
	DeleteSource bool
	// CopyOnly makes a rollback keep legacy keys that exist, and prune nothing.
	CopyOnly bool

	// Progress, if not nil, is called after each batch, by one goroutine at a time.
	Progress func(Progress)
}

// Errors of Migrate.
var (
	// ErrLive: a heartbeat or a pending ticket says that replicas are at work.
	// Nothing was written.
	ErrLive = errors.New("layoutkit: replicas are at work")
	// ErrNoMarker: the source of a rollback has no marker: it was rolled back
	// already, or never migrated completely. Nothing was written.
	ErrNoMarker = errors.New("layoutkit: the source has no layout marker")
)

// Migrate copies a keyspace from one layout to the other: records whose target
// exists already are kept, so it can be ended at any time and started again. It
// walks the source in batches and never holds a namespace in memory. The report
// says what was done, also with an error; an error of the client may have come
// after its command ran, which does not matter to a pass that is started again.
//
// It is made for a keyspace that nobody uses, and refuses others with ErrLive. Any
// number of passes in one direction may run at once; one that deletes its source,
// or one in the other direction, is refused with ErrHeld meanwhile, and for
// 15 seconds after a pass died.
//
// A rollback (ClusterToLegacy) mirrors: the legacy target becomes equal to the
// source, so legacy records that the source no longer has are deleted. It demands
// the marker of a complete source, unless Overwrite is set.
func Migrate(ctx context.Context, o MigrateOptions) (*Report, error) {
	began := time.Now()
	m, err := newMigration(ctx, o)
	if err != nil {
		return nil, err
	}
	err = m.run(ctx)
	m.report.Complete = err == nil
	slices.Sort(m.report.Orphans)
	slices.Sort(m.report.Skipped)
	m.report.Elapsed = time.Since(began)
	return &m.report, err
}

// side is one end of a migration.
type side struct {
	client redis.UniversalClient
	names  names
}

// migration is one pass.
type migration struct {
	tally
	o              MigrateOptions
	source, target side
	// inPlace: both sides are one server and have one prefix, so that the names which
	// both layouts share are the same keys.
	inPlace bool
	passes  *passes
}

// newMigration checks the options and finds out whether both sides are the same.
func newMigration(ctx context.Context, o MigrateOptions) (*migration, error) {
	if o.Target == nil {
		o.Target = o.Source
	}
	if o.TargetPrefix == "" {
		o.TargetPrefix = o.Prefix
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	from, to := o.Direction.layouts()
	m := &migration{
		o:      o,
		source: side{o.Source, names{o.Prefix, from}},
		target: side{o.Target, names{o.TargetPrefix, to}},
	}
	m.report = Report{
		Direction: o.Direction, DryRun: o.DryRun, LayoutMarker: MarkerUntouched,
		Namespaces: make(map[Namespace]Counts), Orphans: []string{}, Skipped: []string{},
	}
	same, err := sameServer(ctx, m.source, m.target)
	if err != nil {
		return nil, failed("finding out whether both sides are the same server", err)
	}
	m.inPlace = same && o.Prefix == o.TargetPrefix
	m.passes = newPasses(m)
	return m, nil
}

// check refuses options that cannot work, before anything is sent.
func (o MigrateOptions) check() error {
	if o.Source == nil {
		return invalid("Source is not set")
	}
	if o.Direction != LegacyToCluster && o.Direction != ClusterToLegacy {
		return invalid("unknown %v", o.Direction)
	}
	from, to := o.Direction.layouts()
	for _, end := range []struct {
		name, prefix string
		layout       Layout
		client       redis.UniversalClient
	}{{"Source", o.Prefix, from, o.Source}, {"Target", o.TargetPrefix, to, o.Target}} {
		if err := checkEnd(end.name, end.prefix, end.layout, end.client); err != nil {
			return err
		}
	}
	for _, ns := range o.Include {
		if !slices.Contains(Namespaces, ns) {
			return invalid("Include: %q is none of %v", ns, Namespaces)
		}
	}
	return nil
}

// checkEnd checks one side, and gives its client the retry hook.
func checkEnd(name, prefix string, layout Layout, client redis.UniversalClient) error {
	if prefix == "" {
		return invalid("the prefix of the %s is empty", name)
	}
	if layout == Cluster && strings.ContainsAny(prefix, "{}") {
		return invalid("the prefix %q of the %s holds a brace, which would break the hash tags of the cluster layout", prefix, name)
	}
	if _, isCluster := client.(*redis.ClusterClient); isCluster && layout == Legacy {
		return invalid("%s is a cluster, on which the legacy layout does not work: use a single server", name)
	}
	if err := shim.WithRetry(client, shim.RetryOptions{}); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	return nil
}

// run makes the pass.
func (m *migration) run(ctx context.Context) (err error) {
	sizes, err := m.checkIdle(ctx)
	if err != nil {
		return err
	}
	if m.o.DeleteSource && !m.o.Overwrite {
		if m.report.DeletedOnly, err = m.passes.madeBefore(ctx); err != nil {
			return err
		}
	}
	if m.o.DeleteSource && !m.report.DeletedOnly && m.o.Direction == ClusterToLegacy && len(m.o.Include) > 0 {
		return invalid("DeleteSource with Include on the way back would leave a source that looks complete and is not: roll back everything first")
	}
	defer func() { err = errors.Join(err, m.passes.leave(ctx)) }()
	if !m.report.DeletedOnly {
		if err := m.copy(ctx, sizes); err != nil {
			return err
		}
	}
	if m.o.DeleteSource {
		return m.deleteSource(ctx, sizes.source)
	}
	return nil
}

// copy brings the target up to the source and, if nothing was left out, says so.
func (m *migration) copy(ctx context.Context, sizes sizes) error {
	if err := m.checkMirror(ctx); err != nil {
		return err
	}
	if err := m.passes.enter(ctx, m.o.Direction.String()); err != nil {
		return err
	}
	if err := m.walk(ctx, m.source, PhaseCopying, sizes.source, m.copyBatch); err != nil {
		return err
	}
	if m.mirrors() {
		if err := m.walk(ctx, m.target, PhasePruning, sizes.target, m.pruneBatch); err != nil {
			return err
		}
	}
	if len(m.o.Include) > 0 {
		return nil
	}
	return m.conclude(ctx)
}

// conclude writes the marker, or deletes it after a rollback.
func (m *migration) conclude(ctx context.Context) error {
	marker := m.target.names.marker()
	if m.o.Direction == LegacyToCluster {
		m.report.LayoutMarker = MarkerWritten
		if m.o.DryRun {
			return nil
		}
		if err := m.target.client.Set(ctx, marker, Contract, 0).Err(); err != nil {
			m.report.LayoutMarker = MarkerUntouched
			return failed("writing the layout marker", err)
		}
		return m.passes.made(ctx)
	}
	m.report.LayoutMarker = MarkerDeleted
	if m.o.DryRun {
		return nil
	}
	// Noted first: once the marker is gone there is no mirroring again.
	if err := m.passes.made(ctx); err != nil {
		m.report.LayoutMarker = MarkerUntouched
		return err
	}
	if err := m.target.client.Del(ctx, marker).Err(); err != nil {
		m.report.LayoutMarker = MarkerUntouched
		return failed("deleting the layout marker", err)
	}
	return nil
}

// includes reports whether the pass is about a namespace.
func (m *migration) includes(ns Namespace) bool {
	return len(m.o.Include) == 0 || slices.Contains(m.o.Include, ns)
}

// overwrites reports whether records of the source win.
func (m *migration) overwrites() bool { return m.o.Overwrite || m.mirrors() }

// mirrors reports whether the target becomes equal to the source.
func (m *migration) mirrors() bool { return m.o.Direction == ClusterToLegacy && !m.o.CopyOnly }
