// Package redisserver starts real redis-server processes for tests: a
// standalone server, or a cluster of masters and replicas. Real Redis is the
// judge of everything this module emulates, so many test packages need one.
//
// Every process listens on free loopback ports, works in its own temporary
// folder, is killed by its pid when the test ends, and fails the test when it
// dies before that. Nothing is shared between two tests.
package redisserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

// RequireEnv names the environment variable that turns a missing redis-server
// into a failure.
const RequireEnv = "FAKECLUSTER_REQUIRE_ORACLES"

// startDeadline bounds how long a server or a cluster may take to answer.
const startDeadline = 30 * time.Second

// Find returns the path of redis-server. Without one it skips the test, or
// fails it when FAKECLUSTER_REQUIRE_ORACLES=1.
func Find(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("redis-server")
	if err == nil {
		return path
	}
	if os.Getenv(RequireEnv) == "1" {
		tb.Fatalf("%s=1 and redis-server is not in PATH: %v", RequireEnv, err)
	}
	tb.Skip("redis-server is not in PATH; install the package redis-server to run this comparison")
	return ""
}

// Server is one running redis-server process.
type Server struct {
	// Port is the TCP port on 127.0.0.1.
	Port int

	cmd     *exec.Cmd
	output  *lockedBuffer
	exited  chan struct{}
	stopped bool // set before the process is killed on purpose
	mu      sync.Mutex
}

// Addr returns the server's host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Pid returns the process id of the server.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Log returns the end of what the server wrote.
func (s *Server) Log() string { return s.output.tail() }

// Alive returns an error with the end of the server's log when the process is
// gone.
func (s *Server) Alive() error {
	select {
	case <-s.exited:
		return fmt.Errorf("redis-server on port %d died (%v); its log ends:\n%s", s.Port, s.cmd.ProcessState, s.output.tail())
	default:
		return nil
	}
}

// Start runs a standalone redis-server without persistence and returns once it
// answers. args are further command line options (--name value). The process
// ends with the test, which fails if the process died earlier.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	binary := Find(tb)
	var failures []error
	for range 5 { // another process may take the port between choosing and binding
		s, err := launch(tb, binary, args)
		if err == nil {
			tb.Cleanup(func() { s.stop(tb) })
			return s
		}
		failures = append(failures, err)
	}
	tb.Fatalf("redis-server does not start: %v", errors.Join(failures...))
	return nil
}

func launch(tb testing.TB, binary string, args []string) (*Server, error) {
	port := freeport.InARow(tb, 2)
	options := []string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", tb.TempDir(),
		"--save", "", "--appendonly", "no", "--daemonize", "no",
		"--enable-debug-command", "yes", "--enable-protected-configs", "yes",
	}
	if slices.Contains(args, "--cluster-enabled") {
		options = append(options, "--cluster-port", strconv.Itoa(port+1))
	}
	s := &Server{
		Port:   port,
		cmd:    exec.Command(binary, append(options, args...)...),
		output: &lockedBuffer{},
		exited: make(chan struct{}),
	}
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	go func() {
		// The exit status is read from ProcessState where it matters.
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	err := poll(func() error {
		if err := s.Alive(); err != nil {
			return permanent{err}
		}
		return s.answers()
	})
	if err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

// answers returns nil once this very process answers at the port: between choosing
// and binding, the server of another test may have taken it.
func (s *Server) answers() error {
	info, err := s.Do("INFO", "server")
	if err == nil && !strings.Contains(info, fmt.Sprintf("\r\nprocess_id:%d\r\n", s.Pid())) {
		return fmt.Errorf("another server answers at port %d", s.Port)
	}
	return err
}

// stop ends the process and fails the test if it had ended by itself.
func (s *Server) stop(tb testing.TB) {
	s.mu.Lock()
	stopped := s.stopped
	s.mu.Unlock()
	if err := s.Alive(); err != nil && !stopped {
		tb.Error(err)
		return
	}
	s.kill()
}

// Kill ends the process at once, as a crash would; the test does not fail for it.
func (s *Server) Kill() { s.kill() }

func (s *Server) kill() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	// The process may just have ended by itself; then there is nothing to kill.
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// Do sends one command over a fresh connection and returns the text of its
// reply: a status, a number or a bulk string. An error reply is an error.
func (s *Server) Do(args ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.Addr(), time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	if _, err := conn.Write(encode(args)); err != nil {
		return "", err
	}
	return readText(bufio.NewReader(conn))
}

func encode(args []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b.Bytes()
}

// readText reads the few reply forms that starting a cluster needs.
func readText(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return "", errors.New("empty reply line")
	}
	switch line[0] {
	case '-':
		return "", errors.New(line[1:])
	case '$':
		size, err := strconv.Atoi(line[1:])
		if err != nil || size < 0 {
			return "", err
		}
		body := make([]byte, size+2)
		for read := 0; read < len(body); {
			n, err := r.Read(body[read:])
			if err != nil {
				return "", err
			}
			read += n
		}
		return string(body[:size]), nil
	default:
		return line[1:], nil
	}
}

// permanent wraps an error that polling again cannot cure.
type permanent struct{ error }

// poll calls check until it returns nil, fails for good or time runs out.
func poll(check func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startDeadline)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := check()
		var final permanent
		if err == nil {
			return nil
		} else if errors.As(err, &final) {
			return final.error
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up after %v: %w", startDeadline, err)
		case <-time.After(pause):
		}
	}
}

// lockedBuffer keeps the end of a process' output.
type lockedBuffer struct {
	mu  sync.Mutex
	buf []byte
}

const keptOutput = 8 << 10

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p...)
	if extra := len(b.buf) - keptOutput; extra > 0 {
		b.buf = append(b.buf[:0], b.buf[extra:]...)
	}
	return len(p), nil
}

func (b *lockedBuffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf)
}
