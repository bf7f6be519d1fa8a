// Command fakecluster runs a whole Redis Cluster in one process:
//
//	fakecluster --masters 3 --replicas 1 --port 7000
//
// Every flag is also an environment variable, FAKECLUSTER_MASTERS and so on.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2 // flags that make no sense, a port that is taken
)

func main() {
	os.Exit(run(untilStopped(), os.Args[1:], os.Stdout, os.Stderr))
}

// cli is the command line.
type cli struct {
	Serve       serve            `cmd:"" default:"withargs" help:"Run a cluster until interrupted (the default command)."`
	Ctl         ctl              `cmd:"" help:"Steer a running cluster: fail over, cut, move slots, inject faults …"`
	Status      status           `cmd:"" help:"Print how a cluster is, as a table."`
	Watch       watch            `cmd:"" help:"Show how a cluster is, live."`
	Slot        slot             `cmd:"" help:"Tell the slots of keys and their owners."`
	Exec        execute          `cmd:"" help:"Run a command beside a cluster of its own: fakecluster exec -- npm test."`
	Healthcheck healthcheck      `cmd:"" help:"Tell a container's runtime whether the cluster in it answers."`
	Layout      layout           `cmd:"" help:"Inspect, migrate and roll back the layout of a bot's keys."`
	Completion  completion       `cmd:"" help:"Print the script that completes commands and flags in a shell."`
	Complete    complete         `cmd:"" hidden:"" name:"__complete"`
	Version     kong.VersionFlag `help:"Print the version and exit." env:"-"`
}

// run executes a command line until ctx ends, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	code, exited := exitOK, false
	app := &cli{}
	parser, err := newParser(app, stdout, stderr, func(c int) { code, exited = c, true })
	if err != nil {
		panic(err) // the tags of cli are wrong, which no user can cause
	}
	app.Complete.model = parser.Model.Node
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		args = []string{"serve", "--help"} // what most who ask want to know
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	parsed, err := parser.Parse(args)
	switch {
	case exited: // --help, --version
		return code
	case err != nil:
		err = usageError{err}
	default:
		err = parsed.Selected().Target.Addr().Interface().(command).run(ctx, stdout, stderr)
	}
	var done exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return int(done)
	}
	fmt.Fprintln(stderr, "fakecluster:", strings.ReplaceAll(err.Error(), "\n", " "))
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return exitError
}

// newParser returns what reads command lines into app. Flags that end the program
// call exit.
func newParser(app *cli, stdout, stderr io.Writer, exit func(code int)) (*kong.Kong, error) {
	return kong.New(app,
		kong.Name("fakecluster"),
		kong.Description("A whole Redis Cluster in one process."),
		kong.DefaultEnvars("FAKECLUSTER"),
		kong.Resolvers(kong.ResolverFunc(grokzenValue)),
		kong.Writers(stdout, stderr),
		kong.Vars{"version": version(), "consoleAddr": consoleAddr},
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
}

// command is what every subcommand is.
type command interface {
	run(ctx context.Context, stdout, stderr io.Writer) error
}

// exitCode ends the program without a message: all has been said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError is what the user can put right: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// stamped is the version that make release builds; other builds say theirs
// themselves.
var stamped string

func version() string {
	if stamped != "" {
		return "fakecluster " + stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return "fakecluster " + info.Main.Version
	}
	return "fakecluster (unknown version)"
}
