package layoutkit

import (
	"sync"
	"time"
)

// Report is what a pass of Migrate found and did; with DryRun, what it would do.
type Report struct {
	Direction Direction `json:"direction"`
	DryRun    bool      `json:"dryRun"`
	// Complete is set when the pass did all that it was asked for.
	Complete bool `json:"complete"`
	// DeletedOnly is set when nothing was copied because a complete pass had been
	// made before: see MigrateOptions.DeleteSource.
	DeletedOnly bool `json:"deletedOnly"`

	// Namespaces are the counts of those that the pass looked at.
	Namespaces map[Namespace]Counts `json:"namespaces"`
	// Orphans are items of messages that no log refers to. They are neither copied
	// nor deleted. At most MaxListed are listed; Counts has their number.
	Orphans []string `json:"orphans"`
	// Skipped are keys that do not hold what their names say: items that do not
	// belong to their chat or are not there, values of another type, unreadable
	// tokens; of the target, keys of another type that are in the way. They are neither copied nor deleted. At most MaxListed are listed.
	Skipped []string `json:"skipped"`
	// Pruned is how many legacy records the source no longer has were deleted, or
	// made tombstones.
	Pruned int64 `json:"pruned"`
	// Deleted is how many records were deleted from the source.
	Deleted int64 `json:"deleted"`
	// LayoutMarker is what happened to the marker.
	LayoutMarker MarkerOutcome `json:"layoutMarker"`
	Elapsed      time.Duration `json:"elapsed"`
}

// MaxListed is how many keys each list of a Report and of an Inspection holds.
const MaxListed = 10_000

// Counts are what was found and done in one namespace. They count records: of
// messages the entries of logs, of locks and leaderships their fences and terms.
// A record that a walk met twice is counted twice.
type Counts struct {
	// Found is how many the source has.
	Found int64 `json:"found"`
	// Copied were written to the target; of fences and terms, those that it raised.
	Copied int64 `json:"copied"`
	// Kept were in the target already, and won.
	Kept int64 `json:"kept"`
	// Skipped do not hold what their names say.
	Skipped int64 `json:"skipped"`
	// Orphans are items that no log refers to.
	Orphans int64 `json:"orphans"`
	// Pruned were deleted from the legacy target, or made tombstones.
	Pruned int64 `json:"pruned"`
	// Deleted were deleted from the source.
	Deleted int64 `json:"deleted"`
}

// MarkerOutcome is what a pass did to the marker of the layout.
type MarkerOutcome string

const (
	// MarkerUntouched: the pass was limited by Include or did not end, or it only
	// deleted.
	MarkerUntouched MarkerOutcome = "untouched"
	// MarkerWritten: a complete pass to the cluster layout wrote it.
	MarkerWritten MarkerOutcome = "written"
	// MarkerDeleted: a complete rollback deleted it.
	MarkerDeleted MarkerOutcome = "deleted"
)

// Phase is a part of a pass.
type Phase string

const (
	PhaseChecking Phase = "checking"
	PhaseCopying  Phase = "copying"
	PhasePruning  Phase = "pruning"
	PhaseDeleting Phase = "deleting"
)

// Progress is how far a phase has come.
type Progress struct {
	Phase Phase
	// Keys is how many of the keys under the prefix were looked at, and Total how
	// many there were at the beginning; 0 while that is being found out. A phase ends
	// with as many as it saw.
	Keys, Total int64
	// Records is how many records the phase found, pruned or deleted.
	Records int64
}

// tally is a Report in the making, by several goroutines.
type tally struct {
	mu     sync.Mutex
	report Report
}

// count changes the counts of a namespace.
func (t *tally) count(ns Namespace, change func(*Counts)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.report.Namespaces[ns]
	change(&c)
	t.report.Namespaces[ns] = c
}

// skip counts and lists a key that does not hold what its name says.
func (t *tally) skip(ns Namespace, key string) {
	t.count(ns, func(c *Counts) {
		c.Skipped++
		t.report.Skipped = listed(t.report.Skipped, key)
	})
}

// orphan counts and lists an item that no log refers to.
func (t *tally) orphan(key string) {
	t.count(NamespaceMessages, func(c *Counts) {
		c.Orphans++
		t.report.Orphans = listed(t.report.Orphans, key)
	})
}

func (t *tally) pruned(ns Namespace, n int64) {
	t.count(ns, func(c *Counts) {
		c.Pruned += n
		t.report.Pruned += n
	})
}

func (t *tally) deleted(ns Namespace, n int64) {
	t.count(ns, func(c *Counts) {
		c.Deleted += n
		t.report.Deleted += n
	})
}

func listed(list []string, key string) []string {
	if len(list) == MaxListed {
		return list
	}
	return append(list, key)
}

// records is how many records were found, pruned and deleted.
func (t *tally) records() (n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.report.Namespaces {
		n += c.Found + c.Pruned + c.Deleted
	}
	return n
}
