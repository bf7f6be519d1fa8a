package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/dataset"
	"github.com/fakecluster/fakecluster/emulator"
)

// dataFlags are the flags about what is in a cluster from the start and what
// stays of it.
type dataFlags struct {
	Load      string        `type:"path" placeholder:"FILE" help:"File to load at the start: an RDB dump, or Redis commands in RESP or one a line. With --data, only into an empty directory."`
	Data      string        `type:"path" placeholder:"DIR" help:"Directory that keeps data and topology across restarts: an RDB and a nodes file per node. What it holds counts more than --masters and --replicas."`
	DataEvery time.Duration `default:"1m" help:"How often to write to --data, 0 for at the end only."`
}

// kept is the directory of --data and the topology in it.
type kept struct {
	*dataset.Dir
	topology emulator.Option // nil if there is none
}

// open opens the directory of --data; it returns nil without one.
func (f *dataFlags) open(log *slog.Logger) (*kept, error) {
	if f.Data == "" {
		return nil, nil
	}
	dir, err := dataset.Open(f.Data, log)
	if err != nil {
		return nil, usagef("--data: %w", err)
	}
	topology, err := dir.Topology()
	if err != nil {
		return nil, usagef("--data: %w", err)
	}
	return &kept{dir, topology}, nil
}

// fill brings in what is kept, or else what is to be loaded.
func (f *dataFlags) fill(ctx context.Context, dir *kept, clusters []*emulator.Cluster, log *slog.Logger) error {
	if dir != nil {
		restored := 0
		for _, c := range clusters {
			keys, err := dir.Restore(c)
			if err != nil {
				return usagef("--data: %w", err)
			}
			restored += keys
		}
		if restored > 0 {
			return nil
		}
	}
	if f.Load == "" {
		return nil
	}
	return load(ctx, clusters[0], f.Load, log)
}

// load loads a file and tells how far it is once a second.
func load(ctx context.Context, c *emulator.Cluster, file string, log *slog.Logger) error {
	began := time.Now()
	told := began
	count, what, err := dataset.Load(ctx, c, file, func(done, total int) {
		if time.Since(told) >= time.Second {
			told = time.Now()
			log.Info("loading", "file", file, "percent", done*100/max(1, total))
		}
	})
	if err != nil {
		return usagef("--load: %w", err)
	}
	log.Info("loaded", "file", file, what, count, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// stay waits for the end, and writes to the directory meanwhile and then.
func (f *dataFlags) stay(ctx context.Context, dir *kept, clusters []*emulator.Cluster) error {
	if dir == nil {
		<-ctx.Done()
		return nil
	}
	if err := dir.Keep(ctx, f.DataEvery, clusters...); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	return nil
}
