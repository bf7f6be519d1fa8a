package layoutkit

import (
	"context"
	"fmt"
)

// sizes are how many keys each side has under its prefix.
type sizes struct{ source, target int64 }

// checkIdle counts the keys of both sides, and refuses to go on while replicas
// are at work on one of them (rule 1).
func (m *migration) checkIdle(ctx context.Context) (n sizes, err error) {
	if n.source, err = m.survey(ctx, m.source, 0); err != nil {
		return n, err
	}
	if m.inPlace {
		n.target = n.source
		return n, nil
	}
	n.target, err = m.survey(ctx, m.target, n.source)
	return n, err
}

// survey counts the keys of a side. It ends in ErrLive at the first sign of life.
func (m *migration) survey(ctx context.Context, s side, before int64) (keys int64, err error) {
	err = scanBatches(ctx, s, func(batch []keyClass, seen int64) error {
		keys = seen
		m.progress(Progress{Phase: PhaseChecking, Keys: before + seen})
		for _, c := range batch {
			if c.isLive() && !m.o.AllowLive {
				return fmt.Errorf("%w: %q is there: stop all replicas and wait until it expires, or set AllowLive", ErrLive, c.key)
			}
		}
		return nil
	})
	return keys, err
}

// isLive reports whether a key says that a replica is at work: it is a heartbeat or
// holds pending tickets.
func (c keyClass) isLive() bool {
	return c.namespace == NamespaceHeartbeats || c.namespace == NamespaceTurns && c.ids[1] == "tix"
}
