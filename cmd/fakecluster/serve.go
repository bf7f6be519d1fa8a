package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/readiness"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

// serve is the command that runs a cluster. Flags and environment variables
// are named after the fields.
type serve struct {
	Masters           int           `default:"3" help:"Masters, which share the hash slots."`
	Replicas          int           `default:"0" help:"Replicas of every master."`
	Port              int           `default:"7000" help:"Port of the first node; the others follow."`
	Bind              string        `default:"127.0.0.1" help:"Address to listen at."`
	AnnounceHost      string        `placeholder:"HOST" help:"Host that clients are told, if not the one listened at."`
	AnnouncePortBase  int           `default:"0" placeholder:"PORT" help:"Port of the first node that clients are told, if not --port."`
	Standalone        bool          `help:"Run one ordinary Redis: cluster mode off, 16 databases."`
	Empty             bool          `help:"Run nodes that have not met and own no slots, for redis-cli --cluster create."`
	Nodes             string        `type:"path" placeholder:"FILE" help:"File with what CLUSTER NODES said of a cluster: run one of the same shape, with its ids and slots."`
	NodeTimeout       time.Duration `default:"15s" help:"After how long a node that does not answer is held for failed."`
	Hostnames         string        `placeholder:"FORMAT" help:"Host names the nodes announce, such as redis-%d.local."`
	PreferredEndpoint string        `default:"ip" enum:"ip,hostname,unknown-endpoint" help:"What clients are told to connect to: ${enum}."`
	Control           bool          `default:"true" negatable:"" help:"Understand the command FAKECLUSTER, with which clients and fakecluster ctl steer the cluster."`
	Password          string        `help:"Password that clients must authenticate with. In the environment other users of the machine do not see it, as they see arguments."`
	Seed              uint64        `default:"1" help:"Makes random choices, node ids first, repeatable."`
	InOrder           bool          `help:"Serve clients in the order in which they wrote, as one event loop does."`
	DeclaredKeysOnly  bool          `help:"Refuse scripts every key they did not declare, even on the same node."`
	RedisVersion      string        `default:"7.2" placeholder:"VERSION" help:"Redis version to emulate: 6.2, 7.0, 7.2 or 7.4."`
	readinessFlags
	dataFlags
	accessFlags
	LogLevel      string `default:"info" enum:"debug,info,warn,error" help:"What to log on standard error: ${enum}."`
	LogFormat     string `default:"text" enum:"text,json" help:"How to log: ${enum}. With json the ready message is JSON, too."`
	ReadyFile     string `placeholder:"PATH" help:"File to write once everything answers; removed at the end."`
	ProtectedMode string `default:"yes" enum:"yes,no" help:"Refuse to listen beyond loopback without a password: ${enum}."`
	Grokzen       bool   `help:"Understand the environment of the image grokzen/redis-cluster (MASTERS, SLAVES_PER_MASTER, INITIAL_PORT, IP, BIND_ADDRESS, STANDALONE, PASSWORD, PROTECTED_MODE); SENTINEL starts none."`

	Console consoleFlags `embed:""`

	controllers control.Controllers // however a verb comes, they are the same
}

// Help is what kong adds to --help.
func (s *serve) Help() string {
	return `Every flag is an environment variable too; other commands are in: fakecluster help.

  fakecluster --masters 3 --replicas 1
  fakecluster --standalone --port 6379
  fakecluster --standalone --readiness report.html --readiness-fail
  fakecluster --bind 0.0.0.0 --password secret --announce-host 192.168.1.5
  fakecluster --load seed.redis --data ./data
  fakecluster --nodes production.txt`
}

// run serves until ctx ends.
func (s *serve) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	outliveReaders()
	log := s.logger(stderr)
	recorder := s.recorder()
	dir, err := s.open(log)
	if err != nil {
		return err
	}
	starts, err := s.clusters(log, recorder, dir)
	if err != nil {
		return err
	}
	var clusters []*emulator.Cluster
	defer func() {
		for _, c := range clusters {
			c.Close()
		}
	}()
	for _, opts := range starts {
		c, err := emulator.Start(opts...)
		if err != nil {
			return startError(err)
		}
		clusters = append(clusters, c)
	}
	url, closeConsole, err := s.openConsole(clusters[0], s.controllers.Of(clusters[0]), log, stdout)
	if err != nil {
		return err
	}
	defer closeConsole()
	if err := s.fill(ctx, dir, clusters, log); err != nil {
		return err
	}
	report := newReport(clusters)
	report.Console = url
	if err := s.announce(report, stdout); err != nil {
		return err
	}
	defer s.removeReadyFile(log)
	log.Info("ready", "nodes", len(report.Nodes), "version", s.RedisVersion)
	if err := s.stay(ctx, dir, clusters); err != nil {
		return err
	}
	log.Info("closing")
	return s.judge(recorder, stdout)
}

// check refuses what the emulator itself would not know to refuse.
func (s *serve) check() error {
	if s.Port < 1 || s.Port > 65535 {
		return usagef("--port %d is not between 1 and 65535", s.Port)
	}
	if s.Standalone && s.Empty {
		return usagef("--standalone and --empty exclude each other")
	}
	if s.Standalone && s.Replicas > 0 {
		return usagef("--standalone is one server, which has no --replicas")
	}
	return s.readinessFlags.check(s.Standalone)
}

// clusters are the options of what to start: the cluster or the standalone
// server, and in the image's manner plain servers behind a cluster.
func (s *serve) clusters(log *slog.Logger, recorder *readiness.Recorder, dir *kept) ([][]emulator.Option, error) {
	shared := []emulator.Option{
		emulator.RedisVersion(s.RedisVersion), emulator.Password(s.Password), emulator.Logger(log),
		emulator.NodeTimeout(s.NodeTimeout),
	}
	if s.ProtectedMode == "no" {
		shared = append(shared, emulator.ConfigSet("protected-mode", "no"))
	}
	if s.Control {
		shared = append(shared, s.controllers.Option())
	}
	if s.DeclaredKeysOnly {
		shared = append(shared, emulator.DeclaredKeysOnly())
	}
	if recorder != nil {
		shared = append(shared, emulator.Observe(recorder.See))
	}
	if dir != nil {
		shared = append(shared, emulator.OnSave(dir.KeepNode))
	}
	secure, err := s.accessFlags.options()
	if err != nil {
		return nil, err
	}
	shared = append(shared, secure...)
	if s.InOrder {
		shared = append(shared, emulator.InOrder())
	}
	at := func(offset int) []emulator.Option {
		announced := s.AnnouncePortBase
		if announced != 0 {
			announced += offset
		}
		return []emulator.Option{
			emulator.TCP(s.Bind, s.Port+offset), emulator.Announce(s.AnnounceHost, announced),
			emulator.Seed(s.Seed + uint64(offset)),
		}
	}
	first := append(at(0), shared...)
	switch {
	case s.Standalone:
		return [][]emulator.Option{append(first, emulator.Standalone())}, nil
	case s.Empty:
		first = append(first, emulator.Empty())
	}
	first = append(first, emulator.Masters(s.Masters), emulator.Replicas(s.Replicas))
	if s.Hostnames != "" {
		first = append(first, emulator.Hostnames(s.Hostnames))
	}
	if s.PreferredEndpoint != "ip" {
		first = append(first, emulator.PreferredEndpoint(s.PreferredEndpoint))
	}
	if s.Nodes != "" {
		text, err := os.ReadFile(s.Nodes)
		if err != nil {
			return nil, usagef("--nodes: %w", err)
		}
		first = append(first, emulator.FromNodes(string(text)))
	}
	if dir != nil && dir.topology != nil {
		first = append(first, dir.topology)
	}
	if !s.Grokzen {
		return [][]emulator.Option{first}, nil
	}
	if grokzenSentinel() {
		log.Warn("SENTINEL=true counts for nothing: sentinels are not emulated")
	}
	plain, err := grokzenStandalone()
	if err != nil || plain == 0 {
		return [][]emulator.Option{first}, err
	}
	second := append(at(s.Masters*(1+s.Replicas)), shared...)
	return [][]emulator.Option{first, append(second, emulator.Servers(plain))}, nil
}

// asksPassword reports whether clients must log in, who then must not get round
// that by the console.
func (s *serve) asksPassword() bool { return s.Password != "" || s.Users != "" }

// startError tells apart what the user can put right.
func startError(err error) error {
	if open := emulator.ErrUnprotected; errors.Is(err, open) {
		return usagef("--bind: %w: set a --password, or --protected-mode no to do without", open)
	}
	if bad := emulator.ErrOption; errors.Is(err, bad) {
		return usagef("%s", strings.TrimPrefix(err.Error(), bad.Error()+": "))
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "listen" {
		if errors.Is(err, syscall.EADDRINUSE) {
			return usagef("%v is taken by another process: choose another --port", op.Addr)
		}
		return usageError{op}
	}
	return fmt.Errorf("start: %w", err)
}

// isLoopback reports whether only this machine reaches host.
func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s *serve) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		panic(err) // the enum of LogLevel names no other
	}
	options := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
