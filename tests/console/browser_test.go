// Package console tests the console in a browser: what people see and do there,
// against the program as it is built. Debian's Chromium runs it; without one the
// tests are skipped, unless FAKECLUSTER_REQUIRE_ORACLES=1.
package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/fakecluster/fakecluster/tests/freeport"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// patience bounds how long a test waits for the page on a busy machine.
const patience = time.Minute

var errNoChromium = errors.New("chromium is not installed; make console installs it")

// chromium is where the browser is.
func chromium() (path string, err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoChromium
}

// program builds fakecluster once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fakecluster-console")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "fakecluster")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/fakecluster")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	atTheEnd = append(atTheEnd, func() { os.RemoveAll(dir) })
	return binary, nil
})

// browser starts Chromium once for all tests. Its own traffic is switched off:
// the tests need no network.
var browser = sync.OnceValues(func() (context.Context, error) {
	path, err := chromium()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "fakecluster-chromium")
	if err != nil {
		return nil, err
	}
	allocated, cancel := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(patience),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("force-color-profile", "srgb"),
		chromedp.Flag("disable-renderer-backgrounding", true), chromedp.Flag("disable-background-timer-throttling", true),
	)
	ctx, _ := chromedp.NewContext(allocated)
	atTheEnd = append(atTheEnd, func() {
		chromedp.Cancel(ctx) // waits until it has ended
		cancel()
		os.RemoveAll(profile)
	})
	return ctx, chromedp.Do(ctx)
})

var atTheEnd []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range atTheEnd {
		end()
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// running is the program at work.
type running struct {
	URL    string
	Addrs  []string
	client *redis.ClusterClient
}

// start runs the program on free ports until the test ends.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(t.TempDir(), "ready.json")
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, append([]string{"--http", "127.0.0.1:0", "--ready-file", ready, "--port", fmt.Sprint(freeport.InARow(t, 12))}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() { stop(); <-exited })
	deadline := time.After(patience)
	for {
		if content, err := os.ReadFile(ready); err == nil {
			return connect(t, content)
		}
		select {
		case err := <-exited:
			exited <- err
			t.Fatalf("the program has ended: %v: %s", err, &output)
		case <-deadline:
			t.Fatal("the program is not ready")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func connect(t *testing.T, ready []byte) *running {
	t.Helper()
	var report struct {
		Console string
		Nodes   []struct{ Addr string }
	}
	if err := json.Unmarshal(ready, &report); err != nil {
		t.Fatal(err)
	}
	r := &running{URL: report.Console}
	for _, n := range report.Nodes {
		r.Addrs = append(r.Addrs, n.Addr)
	}
	r.client = redis.NewClusterClient(&redis.ClusterOptions{Addrs: r.Addrs})
	t.Cleanup(func() { r.client.Close() })
	return r
}

// page is a tab of a browser, which tells of every error on the page.
type page struct {
	*testing.T
	ctx context.Context
}

func visit(t *testing.T, url string, width, height int64) *page {
	t.Helper()
	shared, err := browser()
	switch {
	case errors.Is(err, errNoChromium) && os.Getenv(redisserver.RequireEnv) != "1":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(shared)
	t.Cleanup(cancel)
	err = chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "401") {
				t.Errorf("the page logs: %s %s", e.Entry.Text, e.Entry.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	bounded, cancelBounded := context.WithTimeout(ctx, 3*patience)
	t.Cleanup(cancelBounded)
	p := &page{t, bounded}
	if _, err := chromedp.Call(bounded, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(width, height), chromedp.Navigate(url))
	return p
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.shot("failed-" + p.Name())
		p.Fatal(err)
	}
}

func (p *page) click(selector string) { p.Helper(); p.do(chromedp.Click(chromedp.CSS(selector))) }

func (p *page) write(selector, text string) {
	p.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

func (p *page) choose(selector, value string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const e = document.querySelector(%q); e.value = %q; for (const kind of ["input", "change"]) e.dispatchEvent(new Event(kind, { bubbles: true })) }`, selector, value)))
}

// until waits until an expression is true on the page.
func (p *page) until(expression string) {
	p.Helper()
	err := chromedp.Do(p.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(50*time.Millisecond)))
	if err != nil {
		p.shot("failed-" + p.Name())
		p.Fatalf("%s: %v", expression, err)
	}
}

// text is what an element says.
func (p *page) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

func eval[T any](p *page, expression string) (value T) {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// shot keeps a picture of what is in sight in the folder that
// FAKECLUSTER_SCREENSHOTS names, if it does.
func (p *page) shot(name string) {
	p.Helper()
	p.keep(name, chromedp.CaptureScreenshot())
}

func (p *page) keep(name string, capture chromedp.Action[[]byte]) {
	p.Helper()
	folder := os.Getenv("FAKECLUSTER_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, capture)
	if err != nil {
		p.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		p.Fatal(err)
	}
}
