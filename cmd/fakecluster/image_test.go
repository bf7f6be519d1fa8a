//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

// dockerfile is what the image is, as its file says.
type dockerfile struct {
	environment             []string
	entrypoint, healthcheck []string
	user                    int
}

func readDockerfile(t *testing.T) (d dockerfile) {
	t.Helper()
	content, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, image, _ := strings.Cut(string(content), "FROM scratch\n")
	list := func(pattern string) (words []string) {
		t.Helper()
		found := regexp.MustCompile(`(?m)^` + pattern + `$`).FindStringSubmatch(image)
		if found == nil {
			t.Fatalf("the Dockerfile has no %s", pattern)
		}
		if err := json.Unmarshal([]byte(found[1]), &words); err != nil {
			t.Fatal(err)
		}
		return words
	}
	d.entrypoint, d.healthcheck = list(`ENTRYPOINT (.*)`), list(`HEALTHCHECK .*CMD (.*)`)
	for _, found := range regexp.MustCompile(`(?m)^ENV (.*)$`).FindAllStringSubmatch(image, -1) {
		d.environment = append(d.environment, found[1])
	}
	user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(image)
	if user == nil || user[1] == "0" {
		t.Fatalf("the Dockerfile's user is %v", user)
	}
	d.user, _ = strconv.Atoi(user[1])
	return d
}

// The program does with what the image has: a folder with itself and /data, no
// libraries, no shell, no rights.
func TestImage(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may change the root folder")
	}
	d := readDockerfile(t)
	root := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(root, "fakecluster"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := os.Mkdir(filepath.Join(root, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(root, "data"), d.user, d.user); err != nil {
		t.Fatal(err)
	}
	port := freeport.InARow(t, 6)
	container := func(words ...string) *exec.Cmd {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = "/", append([]string{"IP=127.0.0.1", "INITIAL_PORT=" + strconv.Itoa(port)}, d.environment...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(d.user), Gid: uint32(d.user)}}
		return cmd
	}
	if out, err := container(d.healthcheck...).CombinedOutput(); err == nil {
		t.Fatalf("the health check succeeds where nothing runs: %s", out)
	}
	serve := container(append(d.entrypoint, "--data", "/data")...)
	output := newOutput()
	serve.Stdout, serve.Stderr = output, output
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- serve.Wait() }()
	deadline := time.After(time.Minute)
	for {
		out, err := container(d.healthcheck...).CombinedOutput()
		if err == nil {
			break
		}
		select {
		case err := <-exited:
			t.Fatalf("it has ended: %v\n%s", err, output)
		case <-deadline:
			serve.Process.Kill()
			t.Fatalf("it is not healthy: %s\n%s", out, output)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if got := do(t, port+3, "INFO", "replication"); !strings.HasPrefix(got, "# Replication\r\nrole:slave\r\n") {
		t.Errorf("the fourth node: %s", got)
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil { // as docker stop does
		t.Fatal(err)
	}
	if err := <-exited; err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, output)
	}
	if kept, err := filepath.Glob(filepath.Join(root, "data", "nodes-*.conf")); len(kept) != 6 || err != nil {
		t.Errorf("in /data are %v, %v", kept, err)
	}
}
