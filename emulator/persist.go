package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/slots"
)

// ErrRDB is wrapped by the errors of LoadRDB about the file itself.
var ErrRDB = keyspace.ErrFile

// RDB is the node's data, functions included, as Redis writes it into a file.
func (n *Node) RDB() []byte { return n.server.File() }

// OnSave hands over the data of a node, as RDB returns it, whenever a client says
// SAVE, BGSAVE or SHUTDOWN SAVE. An error is the client's, too. The node waits
// meanwhile: keep must not ask it anything.
func OnSave(keep func(n *Node, rdb []byte) error) Option {
	return func(o *options) error {
		o.saved = keep
		return nil
	}
}

// keeper is what the node's server calls to save.
func (n *Node) keeper() func(rdb []byte) error {
	keep := n.cluster.options.saved
	if keep == nil {
		return nil
	}
	return func(rdb []byte) error { return keep(n, rdb) }
}

// LoadRDB puts what an RDB file holds into the cluster, every key at the master
// that owns its slot and every function at all masters, in the place of what is
// there. Keys that have expired are left out. progress, which may be nil, is
// told now and then how many of the file's bytes have been read. It returns how
// many keys have been loaded, those before an error too.
func (c *Cluster) LoadRDB(file []byte, progress func(bytes int)) (keys int, err error) {
	limits := c.Node(0).server.Limits()
	now := c.Now().UnixMilli()
	err = keyspace.ReadFile(file, &limits, keyspace.Visitor{
		Progress: progress,
		Entry: func(e keyspace.FileEntry) error {
			if e.ExpireAt != 0 && e.ExpireAt < now {
				return nil
			}
			owner := c.NodeForSlot(slots.Of(e.Key))
			if owner == nil {
				return fmt.Errorf("emulator: key %q: no master that runs owns slot %d", e.Key, slots.Of(e.Key))
			}
			if err := owner.server.RestoreEntry(e); err != nil {
				return fmt.Errorf("emulator: %v: %w", owner, err)
			}
			keys++
			return nil
		},
		Library: func(code []byte) error {
			var errs []error
			for _, n := range c.Nodes() {
				if !n.Down() && n.Role() == "master" {
					errs = append(errs, n.server.RestoreLibrary(code))
				}
			}
			return errors.Join(errs...)
		},
	})
	return keys, err
}

// Restored starts a cluster as it was: like FromNodes, but the nodes listen in
// the order of the ports they had, and those that had failed are back.
func Restored(clusterNodes string) Option {
	return func(o *options) error {
		var b strings.Builder
		for line := range strings.Lines(clusterNodes) {
			fields := strings.Fields(line)
			if len(fields) > 2 {
				flags := slices.DeleteFunc(strings.Split(fields[2], ","), func(f string) bool { return f == "fail" || f == "fail?" })
				fields[2] = strings.Join(flags, ",")
			}
			b.WriteString(strings.Join(fields, " ") + "\n")
		}
		members, err := topology.ParseNodes(b.String())
		if err != nil {
			return badOption("%v", err)
		}
		o.shape = ordered(members, func(a, b topology.Member) int { return cmp.Compare(a.Addr.Port, b.Addr.Port) })
		return nil
	}
}
