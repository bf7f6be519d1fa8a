package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
)

// layout are the commands about the layout of a bot's keys; see package layoutkit.
type layout struct {
	Inspect  layoutInspect  `cmd:"" help:"Count the keys of a prefix by layout."`
	Migrate  layoutMigrate  `cmd:"" help:"Copy a keyspace from the legacy layout to the cluster layout."`
	Rollback layoutRollback `cmd:"" help:"Make a legacy keyspace equal to one in the cluster layout."`
}

// layoutSource is where the keys are.
type layoutSource struct {
	Source        string   `required:"" xor:"source" placeholder:"URL" help:"The server they are on, redis://user:password@host:port/db."`
	SourceCluster []string `required:"" xor:"source" placeholder:"HOST:PORT" help:"Nodes of the cluster they are on, also as redis:// URLs."`
	Prefix        string   `required:"" help:"What the keys begin with, without the colon."`
	JSON          bool     `name:"json" help:"Print the report as JSON."`
}

// layoutTarget is where they go, and what is the same for both ways.
type layoutTarget struct {
	Target        string   `xor:"target" placeholder:"URL" help:"The server they go to; the source itself if no target is given."`
	TargetCluster []string `xor:"target" placeholder:"HOST:PORT" help:"Nodes of the cluster they go to."`
	TargetPrefix  string   `help:"What they begin with there; the same if not given."`
	DryRun        bool     `env:"-" help:"Write nothing, and count what would happen."`
	Include       []string `placeholder:"NAMESPACE" help:"Limit the pass to some namespaces, such as chats or messages."`
	Overwrite     bool     `env:"-" help:"Let records of the source win over those of the target."`
	AllowLive     bool     `env:"-" help:"Go on although replicas are at work."`
	DeleteSource  bool     `env:"-" help:"Delete from the source what was copied; only that, if a complete pass was made before."`
	Yes           bool     `env:"-" short:"y" help:"Answer yes before anything is deleted."`
}

type layoutInspect struct {
	layoutSource `embed:""`
}

type layoutMigrate struct {
	layoutSource `embed:""`
	layoutTarget `embed:""`
}

type layoutRollback struct {
	layoutSource `embed:""`
	layoutTarget `embed:""`
	CopyOnly     bool `env:"-" help:"Keep legacy records that exist, and delete none."`
}

// Help is what kong adds to --help.
func (l *layoutInspect) Help() string {
	return `It only reads.

  fakecluster layout inspect --source redis://127.0.0.1:6379/0 --prefix bot
  fakecluster layout inspect --source-cluster 127.0.0.1:7000 --prefix bot --json`
}

// Help is what kong adds to --help.
func (l *layoutMigrate) Help() string {
	return `Try with --dry-run first. A pass may be repeated: it carries over what has changed.

  fakecluster layout migrate --source redis://127.0.0.1:6379/0 --target-cluster 127.0.0.1:7000 --prefix bot --dry-run
  fakecluster layout migrate --source redis://127.0.0.1:6379/0 --target-cluster 127.0.0.1:7000 --prefix bot`
}

// Help is what kong adds to --help.
func (l *layoutRollback) Help() string {
	return `Try with --dry-run first: what the cluster does not have is deleted from the legacy keyspace, unless --copy-only is given.

  fakecluster layout rollback --source-cluster 127.0.0.1:7000 --target redis://127.0.0.1:6379/0 --prefix bot --dry-run
  fakecluster layout rollback --source-cluster 127.0.0.1:7000 --target redis://127.0.0.1:6379/0 --prefix bot --copy-only`
}

func (l *layoutInspect) run(ctx context.Context, stdout, stderr io.Writer) error {
	client, err := layoutClient(ctx, "--source", l.Source, l.SourceCluster)
	if err != nil {
		return err
	}
	defer client.Close()
	progress := newLayoutProgress(stderr)
	found, err := layoutkit.Inspect(ctx, layoutkit.InspectOptions{Client: client, Prefix: l.Prefix, Progress: progress.show})
	progress.end()
	if err != nil {
		return layoutError(err)
	}
	if l.JSON {
		return printJSON(stdout, found)
	}
	return printInspection(stdout, found)
}

func (l *layoutMigrate) run(ctx context.Context, stdout, stderr io.Writer) error {
	return runMigration(ctx, &l.layoutSource, &l.layoutTarget, layoutkit.MigrateOptions{Direction: layoutkit.LegacyToCluster}, stdout, stderr)
}

func (l *layoutRollback) run(ctx context.Context, stdout, stderr io.Writer) error {
	o := layoutkit.MigrateOptions{Direction: layoutkit.ClusterToLegacy, CopyOnly: l.CopyOnly}
	return runMigration(ctx, &l.layoutSource, &l.layoutTarget, o, stdout, stderr)
}

// runMigration makes a pass in the direction of o and prints its report.
func runMigration(ctx context.Context, from *layoutSource, to *layoutTarget, o layoutkit.MigrateOptions, stdout, stderr io.Writer) error {
	o.Prefix, o.TargetPrefix = from.Prefix, to.TargetPrefix
	o.DryRun, o.Overwrite, o.AllowLive, o.DeleteSource = to.DryRun, to.Overwrite, to.AllowLive, to.DeleteSource
	for _, ns := range to.Include {
		o.Include = append(o.Include, layoutkit.Namespace(ns))
	}
	var err error
	if o.Source, err = layoutClient(ctx, "--source", from.Source, from.SourceCluster); err != nil {
		return err
	}
	defer o.Source.Close()
	if to.Target != "" || len(to.TargetCluster) > 0 {
		if o.Target, err = layoutClient(ctx, "--target", to.Target, to.TargetCluster); err != nil {
			return err
		}
		defer o.Target.Close()
	}
	if loss := deletes(o); loss != "" && !o.DryRun && !to.Yes {
		if err := confirm(loss, os.Stdin, fromTerminal(), stderr); err != nil {
			return err
		}
	}
	progress := newLayoutProgress(stderr)
	o.Progress = progress.show
	report, err := layoutkit.Migrate(ctx, o)
	progress.end()
	if report != nil {
		if from.JSON {
			err = errors.Join(err, printJSON(stdout, report))
		} else {
			err = errors.Join(err, printMigration(stdout, report))
		}
	}
	return layoutError(err)
}

// deletes says what a pass deletes, empty if nothing.
func deletes(o layoutkit.MigrateOptions) string {
	var losses []string
	if o.Direction == layoutkit.ClusterToLegacy && !o.CopyOnly {
		losses = append(losses, "legacy records that the source no longer has")
	}
	if o.DeleteSource {
		losses = append(losses, "the source's keys of the layout that is left")
	}
	return strings.Join(losses, ", and ")
}

// confirm asks before something is deleted.
func confirm(loss string, stdin io.Reader, terminal bool, stderr io.Writer) error {
	if !terminal {
		return usagef("this deletes %s: see what with --dry-run, then say --yes, since nobody is here to be asked", loss)
	}
	fmt.Fprintf(stderr, "This deletes %s. --dry-run says how many.\nGo on? [y/N] ", loss)
	answer, err := bufio.NewReader(stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was done")
}

// layoutClient connects to a server or a cluster, named by the flags that begin
// with flag.
func layoutClient(ctx context.Context, flag, url string, nodes []string) (redis.UniversalClient, error) {
	client, err := newLayoutClient(url, nodes)
	if err != nil {
		return nil, usagef("%s: %w", flag, err)
	}
	redis.SetLogger(silence{}) // what it would log of a connection is returned
	const within = 3 * time.Second
	if err := shim.Connect(ctx, client, within); err != nil {
		client.Close()
		return nil, usagef("%s: %w", flag, err)
	}
	return client, nil
}

func newLayoutClient(url string, nodes []string) (redis.UniversalClient, error) {
	if url != "" {
		o, err := shim.ParseURL(url)
		if err != nil {
			return nil, err
		}
		return shim.NewSingle(*o, shim.Options{})
	}
	var o redis.ClusterOptions
	for _, node := range nodes {
		u, err := shim.ParseNode(node)
		if err != nil {
			return nil, err
		}
		o.Addrs = append(o.Addrs, u.Addr)
		if strings.Contains(node, "://") {
			o.Username, o.Password, o.TLSConfig = u.Username, u.Password, u.TLSConfig
		}
	}
	return shim.NewCluster(o, shim.Options{})
}

// silence is a logger of go-redis.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// layoutError tells what the user can put right from the rest.
func layoutError(err error) error {
	if errors.Is(err, layoutkit.ErrInvalid) {
		return usageError{err}
	}
	return err
}
