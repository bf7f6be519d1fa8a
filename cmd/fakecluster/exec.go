package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"golang.org/x/term"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

// Exit codes for a command that could not be run, as shells have them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignal        = 128 // plus the signal's number
)

// execute is the command exec: another command beside a cluster of its own.
type execute struct {
	Masters      int    `default:"3" help:"Masters, which share the hash slots."`
	Replicas     int    `default:"0" help:"Replicas of every master."`
	Standalone   bool   `help:"One ordinary Redis instead of a cluster."`
	Password     string `help:"Password that clients must authenticate with. In the environment other users of the machine do not see it, as they see arguments."`
	RedisVersion string `default:"7.2" placeholder:"VERSION" help:"Redis version to emulate: 6.2, 7.0, 7.2 or 7.4."`
	Load         string `type:"path" placeholder:"FILE" help:"File to load first: an RDB dump, or Redis commands in RESP or one a line."`
	readinessFlags
	accessFlags
	Command []string `arg:"" passthrough:"" name:"command" help:"What to run, with its arguments."`
}

// Help is what kong adds to --help.
func (e *execute) Help() string {
	return `The nodes listen on free ports of 127.0.0.1. The command finds them in its environment:

  REDIS_CLUSTER_URL    redis://127.0.0.1:PORT, of the first node; rediss with --tls-cert
  REDIS_CLUSTER_NODES  host:port of every node, separated by commas
  REDIS_URL            the same as REDIS_CLUSTER_URL, with --standalone only

Signals are passed on to it, and its exit code is the one of fakecluster.

  fakecluster exec -- npm test
  fakecluster exec --masters 3 --replicas 1 -- pytest -x
  fakecluster exec --standalone --readiness report.html --readiness-fail -- npm test
  fakecluster exec -- sh -c 'redis-cli -c -u $REDIS_CLUSTER_URL ping'`
}

// run runs the command. The context does not count once it runs: what ends it
// are signals, and they are the command's.
func (e *execute) run(ctx context.Context, stdout, stderr io.Writer) error {
	words := e.Command
	if words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return usagef("exec: say what to run, as in: fakecluster exec -- npm test")
	}
	if err := e.readinessFlags.check(e.Standalone); err != nil {
		return err
	}
	outliveReaders()
	opts := []emulator.Option{
		emulator.TCP("127.0.0.1", 0), emulator.RedisVersion(e.RedisVersion), emulator.Password(e.Password), control.Option(),
	}
	if e.Standalone {
		opts = append(opts, emulator.Standalone())
	} else {
		opts = append(opts, emulator.Masters(e.Masters), emulator.Replicas(e.Replicas))
	}
	secure, err := e.accessFlags.options()
	if err != nil {
		return err
	}
	opts = append(opts, secure...)
	recorder := e.recorder()
	if recorder != nil {
		opts = append(opts, emulator.Observe(recorder.See))
	}
	cluster, err := emulator.Start(opts...)
	if err != nil {
		return startError(err)
	}
	defer cluster.Close()

	if e.Load != "" {
		if err := load(ctx, cluster, e.Load, slog.New(slog.NewTextHandler(stderr, nil))); err != nil {
			return err
		}
	}
	child := exec.Command(words[0], words[1:]...)
	child.Env = append(os.Environ(), e.environment(cluster.Addrs())...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, stdout, stderr
	if err := runPassingSignals(child, stderr); err != nil {
		return errors.Join(err, e.judge(recorder, stderr)) // the command's exit code comes first
	}
	return e.judge(recorder, stderr)
}

// environment tells a command where the nodes are.
func (e *execute) environment(addrs []string) []string {
	first := url.URL{Scheme: "redis", Host: addrs[0]}
	if e.TLSCert != "" {
		first.Scheme = "rediss"
	}
	if e.Password != "" {
		first.User = url.UserPassword("", e.Password)
	}
	env := []string{"REDIS_CLUSTER_URL=" + first.String(), "REDIS_CLUSTER_NODES=" + strings.Join(addrs, ",")}
	if e.Standalone {
		env = append(env, "REDIS_URL="+first.String())
	}
	return env
}

// runPassingSignals runs a command and returns its exit code, if it is not 0, as
// an exitCode.
func runPassingSignals(child *exec.Cmd, stderr io.Writer) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, passedOn...)
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return notStarted(stderr, err)
	}
	exited := make(chan error, 1)
	go func() { exited <- child.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == os.Interrupt && fromTerminal() {
				continue // the terminal has sent it to both
			}
			if err := child.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return fmt.Errorf("exec: pass on %v: %w", s, err)
			}
		case err := <-exited:
			return childError(err)
		}
	}
}

// fromTerminal reports whether Ctrl-C can be typed at the program.
func fromTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd()))
}

func notStarted(stderr io.Writer, err error) error {
	fmt.Fprintf(stderr, "fakecluster: exec: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return exitCode(exitNotFound)
	}
	return exitCode(exitNotExecutable)
}

func childError(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return fmt.Errorf("exec: %w", err)
	}
	if number, killed := killedBy(exit.ProcessState); killed {
		return exitCode(exitSignal + number)
	}
	return exitCode(exit.ExitCode())
}
