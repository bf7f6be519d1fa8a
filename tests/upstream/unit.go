package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The modes of a server.
const (
	cluster    = "cluster"    // one master that owns all slots
	standalone = "standalone" // cluster mode off
)

// Each job has a hundred ports, and the hundred 10,000 above, where Redis has its
// cluster bus. The server takes the first; the suite looks for one, and the one
// 10,000 above it, among the 32 below its base port.
const (
	portsPerJob = 100
	suiteBase   = 90
)

// runner runs units of the suite.
type runner struct {
	suite   string // folder of runtest
	program string // fakecluster
	logs    string
	port    int
	real    bool // test redis-server instead
}

// result is what became of one unit.
type result struct {
	mode, unit     string
	passed, failed []string // names of tests
	err            error    // the unit did not end as it should
	took           time.Duration
}

// run starts a server for one unit and runs it.
func (r runner) run(ctx context.Context, job int, mode, unit string) result {
	started := time.Now()
	res := result{mode: mode, unit: unit}
	ctx, cancel := context.WithTimeout(ctx, unitLimit)
	defer cancel()
	base := r.port + job*portsPerJob
	name := filepath.Join(r.logs, mode+"-"+strings.ReplaceAll(unit, "/", "-"))
	stop, err := r.serve(ctx, mode, base, name+"-server.log")
	if err != nil {
		res.err = err
		return res
	}
	defer stop()

	args := []string{"--host", "127.0.0.1", "--port", strconv.Itoa(base), "--baseport", strconv.Itoa(base + suiteBase),
		"--tags", "-slow", "--durable", "--dont-clean", "--timeout", "150", "--single", "unit/" + unit}
	if mode == cluster {
		args = append(args, "--cluster-mode")
	}
	suite := exec.CommandContext(ctx, "./runtest", args...)
	suite.Dir = r.suite
	out, err := suite.CombinedOutput()
	res.passed, res.failed = parse(out)
	res.took = time.Since(started)
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && len(res.failed) > 0) {
		res.err = err
	}
	if bytes.Contains(out, []byte("[exception]")) {
		res.err = errors.New("an exception ended the unit")
	}
	if err := os.WriteFile(name+".log", out, 0o644); err != nil {
		res.err = err
	}
	return res
}

// serve starts the server under test and waits until it answers.
func (r runner) serve(ctx context.Context, mode string, port int, log string) (stop func(), err error) {
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return nil, err
	}
	if l, err := net.Listen("tcp", address(port)); err != nil {
		return nil, fmt.Errorf("choose other ports with -port: %w", err)
	} else {
		l.Close()
	}
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "upstream")
	if err != nil {
		return nil, err
	}
	server := r.server(ctx, mode, port, dir)
	server.Dir, server.Stdout, server.Stderr = dir, file, file
	if err := server.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		server.Process.Kill()
		server.Wait()
		file.Close()
		os.RemoveAll(dir)
	}
	if err := answers(ctx, port); err != nil {
		stop()
		return nil, fmt.Errorf("the server does not answer, see %s: %w", log, err)
	}
	if r.real && mode == cluster {
		if err := giveSlots(ctx, port); err != nil {
			stop()
			return nil, err
		}
	}
	return stop, nil
}

func (r runner) server(ctx context.Context, mode string, port int, dir string) *exec.Cmd {
	switch {
	case !r.real && mode == cluster:
		return exec.CommandContext(ctx, r.program, "serve", "--in-order", "--masters", "1", "--redis-version", "7.0", "--port", strconv.Itoa(port))
	case !r.real:
		return exec.CommandContext(ctx, r.program, "serve", "--in-order", "--standalone", "--redis-version", "7.0", "--port", strconv.Itoa(port))
	}
	args := []string{"--port", strconv.Itoa(port), "--dir", dir, "--enable-debug-command", "yes", "--enable-protected-configs", "yes"}
	if mode == cluster {
		args = append(args, "--cluster-enabled", "yes")
	}
	return exec.CommandContext(ctx, "redis-server", args...)
}

// giveSlots makes a cluster of one redis-server.
func giveSlots(ctx context.Context, port int) error {
	cli := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "redis-cli", append([]string{"-p", strconv.Itoa(port), "cluster"}, args...)...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("redis-cli cluster %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return string(out), nil
	}
	if _, err := cli("addslotsrange", "0", "16383"); err != nil {
		return err
	}
	for {
		info, err := cli("info")
		if err != nil || strings.Contains(info, "cluster_state:ok") {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// answers waits until a server answers PING.
func answers(ctx context.Context, port int) error {
	deadline, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		err := ping(port)
		if err == nil {
			return nil
		}
		select {
		case <-deadline.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func ping(port int) error {
	conn, err := net.DialTimeout("tcp", address(port), time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	reply := make([]byte, 7)
	if _, err := conn.Read(reply); err != nil {
		return err
	}
	if string(reply) != "+PONG\r\n" {
		return fmt.Errorf("PING is answered with %q", reply)
	}
	return nil
}

var (
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
	passed = regexp.MustCompile(`(?m)^\[ok\]: (.*) \(\d+ ms\)$`)
	failed = regexp.MustCompile(`(?m)^\[err\]: (.*) in tests/unit/\S+\.tcl$`)
)

// parse finds the tests that passed and failed in what the suite prints.
func parse(out []byte) (ok, bad []string) {
	out = colour.ReplaceAll(out, nil)
	for _, m := range passed.FindAllSubmatch(out, -1) {
		ok = append(ok, string(m[1]))
	}
	for _, m := range failed.FindAllSubmatch(out, -1) {
		bad = append(bad, string(m[1]))
	}
	return ok, bad
}
