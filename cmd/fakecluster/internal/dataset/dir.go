package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/wholefile"
	"github.com/fakecluster/fakecluster/emulator"
)

// Dir is a directory that keeps data and topology across restarts: for every
// node dump-PORT.rdb and, in a cluster, nodes-PORT.conf, each written as a whole.
type Dir struct {
	path string
	log  *slog.Logger
	kept chan struct{} // a node has been kept: its place in the cluster is next

	mu      sync.Mutex
	written map[string][]byte // what the files hold, not to write it again
}

// Open makes the directory if it is not there.
func Open(path string, log *slog.Logger) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	return &Dir{path: path, log: log, kept: make(chan struct{}, 1), written: map[string][]byte{}}, nil
}

var currentEpoch = regexp.MustCompile(`(?m)^vars currentEpoch (\d+)`)

// Topology is the option that brings back the cluster which the directory keeps,
// as the node saw it that had got furthest; nil if there is none.
func (d *Dir) Topology() (emulator.Option, error) {
	files, err := filepath.Glob(filepath.Join(d.path, "nodes-*.conf"))
	if err != nil {
		return nil, err
	}
	var latest string
	newest := -1
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found := currentEpoch.FindSubmatch(text)
		if found == nil {
			return nil, fmt.Errorf("%s has no line with the epoch", file)
		}
		if epoch, err := strconv.Atoi(string(found[1])); err == nil && epoch > newest {
			newest, latest = epoch, string(text)
		}
	}
	if newest < 0 {
		return nil, nil
	}
	return emulator.Restored(latest), nil
}

func portOf(n *emulator.Node) string {
	_, port, err := net.SplitHostPort(n.Addr())
	if err != nil {
		panic(err) // a node's address has a port
	}
	return port
}

func (d *Dir) dump(n *emulator.Node) string {
	return filepath.Join(d.path, "dump-"+portOf(n)+".rdb")
}

func (d *Dir) nodes(n *emulator.Node) string {
	return filepath.Join(d.path, "nodes-"+portOf(n)+".conf")
}

// Restore loads what the directory keeps and returns how many keys. Replicas copy
// their masters; what a node without slots left behind is no longer anybody's.
func (d *Dir) Restore(c *emulator.Cluster) (keys int, err error) {
	for _, n := range c.Nodes() {
		if n.Role() != "master" || len(n.Slots()) == 0 && !standalone(c) {
			continue
		}
		content, err := os.ReadFile(d.dump(n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			var loaded int
			loaded, err = c.LoadRDB(content, nil)
			keys += loaded
			d.log.Info("restored", "node", n.Addr(), "keys", loaded)
		}
		if err != nil {
			return keys, fmt.Errorf("%s: %w", d.dump(n), err)
		}
	}
	return keys, nil
}

// standalone reports whether servers are on their own.
func standalone(c *emulator.Cluster) bool {
	_, err := c.Node(0).Do("CLUSTER", "NODES")
	return err != nil
}

// Save writes the files of all nodes that run, and removes those of nodes that
// are no longer of the cluster. Files that would not change stay untouched.
func (d *Dir) Save(clusters ...*emulator.Cluster) error {
	ours := map[string]bool{}
	var errs []error
	for _, c := range clusters {
		for _, n := range c.Nodes() {
			ours[d.dump(n)], ours[d.nodes(n)] = true, true
			if n.Down() {
				continue // what it had written stays
			}
			errs = append(errs, d.write(d.dump(n), n.RDB()))
			if !standalone(c) {
				errs = append(errs, d.saveTopology(n))
			}
		}
	}
	for _, pattern := range []string{"dump-*.rdb", "nodes-*.conf"} {
		files, err := filepath.Glob(filepath.Join(d.path, pattern))
		errs = append(errs, err)
		for _, file := range files {
			if !ours[file] {
				errs = append(errs, os.Remove(file))
			}
		}
	}
	return errors.Join(errs...)
}

// saveTopology writes what Redis has in its nodes.conf.
func (d *Dir) saveTopology(n *emulator.Node) error {
	view, err := n.Do("CLUSTER", "NODES")
	if err != nil {
		return err
	}
	info, err := n.Do("CLUSTER", "INFO")
	if err != nil {
		return err
	}
	epoch := regexp.MustCompile(`cluster_current_epoch:(\d+)`).FindStringSubmatch(fmt.Sprint(info))
	if epoch == nil {
		return fmt.Errorf("%v does not say its epoch", n)
	}
	text := fmt.Appendf(nil, "%svars currentEpoch %s lastVoteEpoch 0\n", view, epoch[1])
	return d.write(d.nodes(n), text)
}

// KeepNode writes the data of one node, as it is at SAVE. It asks the node
// nothing; the rest of the directory follows while Keep runs.
func (d *Dir) KeepNode(n *emulator.Node, rdb []byte) error {
	d.forget(d.dump(n)) // whoever asks for it may have lost the file
	if err := d.write(d.dump(n), rdb); err != nil {
		return err
	}
	select {
	case d.kept <- struct{}{}:
	default:
	}
	return nil
}

// forget makes a file be written whether it has changed or not.
func (d *Dir) forget(file string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.written, file)
}

func (d *Dir) write(file string, content []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if bytes.Equal(d.written[file], content) {
		return nil
	}
	if err := wholefile.Write(file, content); err != nil {
		return err
	}
	d.written[file] = content
	return nil
}

// Keep saves now and then, and after KeepNode, until ctx ends, and then once more, with the nodes
// frozen so that nothing is acknowledged and lost.
func (d *Dir) Keep(ctx context.Context, interval time.Duration, clusters ...*emulator.Cluster) error {
	var ticks <-chan time.Time
	if interval > 0 {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ticks:
			d.saveOrSay(clusters)
		case <-d.kept:
			d.saveOrSay(clusters)
		case <-ctx.Done():
			for _, c := range clusters {
				for _, n := range c.Nodes() {
					c.Pause(n)
				}
			}
			return d.Save(clusters...)
		}
	}
}

func (d *Dir) saveOrSay(clusters []*emulator.Cluster) {
	if err := d.Save(clusters...); err != nil {
		d.log.Error("data could not be saved", "error", err)
	}
}
