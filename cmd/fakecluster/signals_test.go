package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

// process is the program as users get it, at work.
type process struct {
	*exec.Cmd
	stdout *output
	exited chan error
}

// begin starts a program and waits until it has printed ready.
func begin(t *testing.T, cmd *exec.Cmd, ready string) *process {
	t.Helper()
	if signal.Ignored(syscall.SIGHUP) { // by whoever runs the tests; children would ignore it, too
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		t.Cleanup(func() { signal.Ignore(syscall.SIGHUP) })
	}
	p := &process{cmd, newOutput(), make(chan error, 1)}
	cmd.Stdout = p.stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan struct{})
	go func() {
		p.exited <- cmd.Wait()
		close(reaped)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-reaped
	})
	deadline := time.After(time.Minute)
	for !strings.Contains(p.stdout.String(), ready) {
		select {
		case <-p.stdout.grew:
		case <-deadline:
			p.Process.Kill()
			t.Fatalf("no %q after a minute", ready)
		}
	}
	return p
}

// end sends a signal until the program has ended, at most so many times, and
// returns how it ended.
func (p *process) end(t *testing.T, s syscall.Signal, times int) error {
	t.Helper()
	deadline := time.After(time.Minute)
	for sent := 0; ; {
		again := make(<-chan time.Time)
		if sent < times {
			if err := p.Process.Signal(s); err != nil && sent == 0 {
				t.Fatal(err)
			}
			sent++
			again = time.After(time.Millisecond)
		}
		select {
		case err := <-p.exited:
			return err
		case <-again:
		case <-deadline:
			p.Process.Kill()
			t.Fatalf("still there long after %v", s)
		}
	}
}

// endedBy starts a program, sends it a signal once it has printed ready, and
// returns what it printed and how it ended.
func endedBy(t *testing.T, signal syscall.Signal, cmd *exec.Cmd, ready string) (printed string, err error) {
	t.Helper()
	p := begin(t, cmd, ready)
	err = p.end(t, signal, 1)
	return p.stdout.String(), err
}

// The program as users get it ends with 0 on SIGTERM, on Ctrl-C and when its
// terminal goes.
func TestSignals(t *testing.T) {
	binary := built(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		cmd := exec.Command(binary, "--port", strconv.Itoa(freeport.InARow(t, 3)))
		if _, err := endedBy(t, signal, cmd, "redis-cli"); err != nil {
			t.Errorf("after %v: %v", signal, err)
		}
	}
}

// Those who run the program under others may tell it to end more than once.
func TestDataIsKeptHoweverOftenTheEndIsAskedFor(t *testing.T) {
	binary := built(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		port, dir := freeport.InARow(t, 1), t.TempDir()
		args := []string{"--standalone", "--port", strconv.Itoa(port), "--data", dir, "--data-every", "0"}
		p := begin(t, exec.Command(binary, args...), "redis-cli")
		ask(t, port, "DEBUG", "POPULATE", 50000, "key", 200)
		ask(t, port, "SET", "precious", "1")
		if err := p.end(t, signal, 1000); err != nil {
			t.Errorf("after %v again and again: %v", signal, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
			t.Errorf("after %v again and again there are %v", signal, left)
		}
		p = begin(t, exec.Command(binary, args...), "redis-cli")
		if got := ask(t, port, "GET", "precious"); got != "1" {
			t.Errorf("after %v again and again: %q", signal, got)
		}
		if err := p.end(t, syscall.SIGTERM, 1); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
}

// Under nohup the program stays when its terminal goes.
func TestNohup(t *testing.T) {
	port := freeport.InARow(t, 1)
	p := begin(t, exec.Command("sh", "-c", `trap "" HUP; exec "$0" "$@"`, built(t), "--standalone", "--port", strconv.Itoa(port)), "redis-cli")
	for range 3 {
		if err := p.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(t, port, "PING"); got != "PONG" {
		t.Errorf("PING: %q", got)
	}
	if err := p.end(t, syscall.SIGTERM, 1); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// Whoever reads the log may end first; the next line must not end the program.
func TestLogWithoutReader(t *testing.T) {
	port, dir := freeport.InARow(t, 1), t.TempDir()
	read, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	cmd := exec.Command(built(t), "--standalone", "--port", strconv.Itoa(port), "--data", dir)
	cmd.Stderr = written
	p := begin(t, cmd, "redis-cli")
	read.Close()
	for range 3 { // a line each: this is logged as an attack
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\n\r\n")
		io.Copy(io.Discard, conn)
		conn.Close()
	}
	if got := ask(t, port, "SET", "precious", "1"); got != "OK" {
		t.Errorf("SET: %q", got)
	}
	if err := p.end(t, syscall.SIGTERM, 1); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if kept, err := filepath.Glob(filepath.Join(dir, "*.rdb")); err != nil || len(kept) != 1 {
		t.Errorf("kept %v, %v", kept, err)
	}
}

// ask runs a command on the server at a port and returns its reply as text.
func ask(t *testing.T, port int, command string, args ...any) string {
	t.Helper()
	conn, err := redis.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reply, err := redis.String(conn.Do(command, args...))
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return reply
}
