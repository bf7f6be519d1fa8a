package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/fakecluster/fakecluster/tests/freeport"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// server is a program under measurement: one process, or those of a real
// cluster.
type server struct {
	name  string
	addrs []string
	pids  []int
	// cluster is set if it has to be spoken to as one.
	cluster bool
}

// Names of servers, as they stand on the page.
const (
	ours  = "fakecluster"
	real3 = "real"
	mini  = "miniredis"
)

// binaries builds the program once.
var binaries builder

type builder struct {
	once sync.Once
	dir  string
	err  error
}

func (b *builder) fakecluster(tb testing.TB) string {
	tb.Helper()
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "fakecluster-bench"); b.err != nil {
			return
		}
		output, err := exec.Command("go", "build", "-o", b.path(), "github.com/fakecluster/fakecluster/cmd/fakecluster").CombinedOutput()
		if err != nil {
			b.err = fmt.Errorf("%w\n%s", err, output)
		}
	})
	if b.err != nil {
		tb.Fatalf("build fakecluster: %v", b.err)
	}
	return b.path()
}

func (b *builder) path() string { return filepath.Join(b.dir, "fakecluster") }

func (b *builder) remove() {
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}

// spawn starts a process that ends with the test and returns the lines it
// prints.
func spawn(tb testing.TB, cmd *exec.Cmd) *bufio.Scanner {
	tb.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return bufio.NewScanner(out)
}

// startOurs runs the program with three masters, or as one ordinary server.
func startOurs(tb testing.TB, cluster bool, args ...string) *server {
	tb.Helper()
	args = append([]string{"--port", strconv.Itoa(freeport.InARow(tb, 3)), "--redis-version", "7.0", "--log-format", "json", "--log-level", "error", "--no-http"}, args...)
	if !cluster {
		args = append(args, "--standalone")
	}
	cmd := exec.Command(binaries.fakecluster(tb), args...)
	lines := spawn(tb, cmd)
	for lines.Scan() {
		var ready struct{ Nodes []struct{ Addr string } }
		if json.Unmarshal(lines.Bytes(), &ready) != nil || len(ready.Nodes) == 0 {
			continue
		}
		s := &server{name: ours, pids: []int{cmd.Process.Pid}, cluster: cluster}
		for _, n := range ready.Nodes {
			s.addrs = append(s.addrs, n.Addr)
		}
		go func() { // nobody reads what it says later
			for lines.Scan() {
			}
		}()
		return s
	}
	tb.Fatal("fakecluster did not become ready")
	return nil
}

// startReal runs three real masters, or one ordinary server.
func startReal(tb testing.TB, cluster bool, args ...string) *server {
	tb.Helper()
	s := &server{name: real3, cluster: cluster}
	if !cluster {
		r := redisserver.Start(tb, args...)
		s.addrs, s.pids = []string{r.Addr()}, []int{r.Pid()}
		return s
	}
	for _, r := range redisserver.StartCluster(tb, 3, 0, args...).Nodes {
		s.addrs, s.pids = append(s.addrs, r.Addr()), append(s.pids, r.Pid())
	}
	return s
}

// startMini runs miniredis in a process of its own.
func startMini(tb testing.TB) *server {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=miniredis")
	lines := spawn(tb, cmd)
	if !lines.Scan() {
		tb.Fatal("miniredis did not become ready")
	}
	return &server{name: mini, addrs: []string{lines.Text()}, pids: []int{cmd.Process.Pid}}
}

// serveMiniredis is what the test binary does in the role of miniredis, until
// it is killed.
func serveMiniredis() {
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(m.Addr())
	select {}
}

// cpu is the seconds that the threads of the server's processes have been
// running, 0 where the system does not say.
func (s *server) cpu() float64 {
	total := 0.0
	for _, pid := range s.pids {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil {
			return 0
		}
		for _, file := range threads {
			stat, err := os.ReadFile(file)
			if err != nil {
				continue // the thread has ended
			}
			text, _, _ := strings.Cut(string(stat), " ")
			nanoseconds, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0
			}
			total += nanoseconds / 1e9
		}
	}
	return total
}
