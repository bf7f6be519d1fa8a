// Package dataset brings data into a cluster and keeps it: from files of
// commands or RDB files, and in a directory across restarts.
package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/emulator"
)

// Progress is told now and then how many of a file's bytes have been read.
type Progress func(done, total int)

// every is after how many commands progress is told.
const every = 1000

// Load puts what a file holds into a cluster: an RDB file, or commands in RESP or
// one a line as redis-cli takes them. It stops at the first error, which names
// the place, and returns how many keys or commands have been loaded.
func Load(ctx context.Context, c *emulator.Cluster, file string, progress Progress) (loaded int, what string, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0, "", err
	}
	tell := func(done int) {
		if progress != nil {
			progress(done, len(content))
		}
	}
	if bytes.HasPrefix(content, []byte("REDIS")) {
		loaded, err = c.LoadRDB(content, tell)
		what = "keys"
	} else {
		loaded, err = runCommands(ctx, c, content, tell)
		what = "commands"
	}
	if err != nil {
		return loaded, what, fmt.Errorf("%s: %w", file, err)
	}
	tell(len(content))
	return loaded, what, nil
}

// runCommands executes the commands of a file.
func runCommands(ctx context.Context, c *emulator.Cluster, content []byte, tell func(done int)) (executed int, err error) {
	source := bytes.NewReader(content)
	r := &commandReader{Reader: bufio.NewReader(source)}
	runner := runner{cluster: c}
	for {
		args, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return executed, nil
		case err == nil:
			err = ctx.Err()
		}
		if err == nil {
			err = runner.run(args)
		}
		if err != nil {
			return executed, fmt.Errorf("line %d: %w", r.began, err)
		}
		if executed++; executed%every == 0 {
			tell(len(content) - source.Len() - r.Buffered())
		}
	}
}

// runner executes commands where they belong.
type runner struct {
	cluster *emulator.Cluster
	db      int
}

func (r *runner) run(args []string) error {
	switch name := strings.ToLower(args[0]); name {
	case "select":
		db, err := strconv.Atoi(args[len(args)-1])
		if err != nil || len(args) != 2 {
			return fmt.Errorf("%q selects no database", args)
		}
		_, err = r.cluster.Node(0).DoIn(0, args...) // it knows whether there is one
		r.db = db
		return err
	case "multi", "exec":
		return nil // nobody else is there yet
	}
	at, err := r.nodes(args)
	if err != nil {
		return err
	}
	for _, n := range at {
		if _, err := n.DoIn(r.db, args...); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	return nil
}

// nodes are where a command is to be executed: at the master of its keys, or, if
// it has none, at all masters.
func (r *runner) nodes(args []string) ([]*emulator.Node, error) {
	reply, err := r.cluster.Node(0).Do(append([]string{"COMMAND", "GETKEYS"}, args...)...)
	keys, _ := reply.([]any)
	switch {
	case err != nil && strings.Contains(err.Error(), "no key arguments") || err == nil && len(keys) == 0:
		var masters []*emulator.Node
		for _, n := range r.cluster.Nodes() {
			if n.Role() == "master" {
				masters = append(masters, n)
			}
		}
		return masters, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	var owner *emulator.Node
	for _, key := range keys {
		n := r.cluster.NodeForKey(fmt.Sprint(key))
		switch {
		case n == nil:
			return nil, fmt.Errorf("%s: nobody owns the slot of key %q", args[0], key)
		case owner != nil && n != owner:
			return nil, fmt.Errorf("%s: its keys are at several masters: %v", args[0], keys)
		}
		owner = n
	}
	return []*emulator.Node{owner}, nil
}
