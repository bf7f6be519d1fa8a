package interop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// recipe is a page of docs/recipes. Its code blocks say in their first line what
// they are for: "```js NAME" is a file, "```sh both" are commands to be run with
// our cluster and a real one, "```sh ours" with ours only. Others are not run.
type recipe struct {
	files      map[string]string
	both, ours []string // shell scripts
}

var codeBlock = regexp.MustCompile("(?ms)^```(\\w+) (\\S+)\n(.*?)^```$")

func readRecipe(t *testing.T, page string) recipe {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "recipes", page))
	if err != nil {
		t.Fatal(err)
	}
	r := recipe{files: map[string]string{}}
	for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
		language, what, body := block[1], block[2], block[3]
		switch {
		case language != "sh":
			r.files[what] = body
		case what == "both":
			r.both = append(r.both, body)
		case what == "ours":
			r.ours = append(r.ours, body)
		}
	}
	return r
}

// The pages of docs/recipes do what they say: their code, run with their
// commands, succeeds on our cluster, and prints the same on a real one.
func TestRecipes(t *testing.T) {
	fakecluster := binary(t)
	redis := redisserver.StartCluster(t, 3, 0)
	for _, c := range []struct {
		page     string
		programs []string
		check    []string // a command that fails if the client is not installed
		commands int      // in the page, so that none is overlooked
	}{
		{page: "README.md", commands: 1},
		{"node.md", []string{"node"}, []string{"node", "-e", "require('redis'), require('ioredis')"}, 3},
		{"python.md", []string{"/usr/bin/python3"}, []string{"/usr/bin/python3", "-c", "import redis"}, 2},
		{"php.md", []string{"php"}, []string{"php", "-r", "exit(extension_loaded('redis') ? 0 : 1);"}, 2},
		{"ruby.md", []string{"ruby"}, []string{"ruby", "-e", "require 'redis'"}, 2},
		{"c.md", []string{"gcc"}, []string{"sh", "-c", "echo '#include <hiredis/hiredis.h>' | gcc -E -"}, 1},
	} {
		t.Run(strings.TrimSuffix(c.page, ".md"), func(t *testing.T) {
			page := kitchen{t, t.TempDir()}
			for _, program := range c.programs {
				page.provide(filepath.Base(program), need(t, program))
			}
			modules, err := filepath.Abs(filepath.Join("node", "node_modules"))
			if err != nil {
				t.Fatal(err)
			}
			page.provide("../node_modules", modules)
			if c.check != nil {
				if out, err := page.command(c.check[0], c.check[1:]...).CombinedOutput(); err != nil {
					missing(t, "the client of %s is not installed: %s", c.page, out)
				}
			}
			r := readRecipe(t, c.page)
			if n := len(r.both) + len(r.ours); n != c.commands {
				t.Fatalf("%d blocks of commands, want %d", n, c.commands)
			}
			for name, body := range r.files {
				page.write(name, body, 0o644)
			}
			for _, script := range slices.Concat(r.both, r.ours) {
				page.provide("fakecluster", fakecluster)
				got := page.run(script)
				if slices.Contains(r.ours, script) {
					continue
				}
				page.standIn(redis)
				if want := page.run(script); withoutTimes(got) != withoutTimes(want) {
					t.Errorf("%s prints\n%s\non real Redis\n%s", script, got, want)
				}
			}
		})
	}
}

// kitchen is a folder where the commands of a page are run, with programs of its
// own in bin.
type kitchen struct {
	t   *testing.T
	dir string
}

func (k kitchen) write(name, body string, mode os.FileMode) {
	k.t.Helper()
	path := filepath.Join(k.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), mode); err != nil {
		k.t.Fatal(err)
	}
}

// provide makes a program known by a name.
func (k kitchen) provide(name, path string) {
	k.t.Helper()
	link := filepath.Join(k.dir, "bin", name)
	if err := os.MkdirAll(filepath.Join(k.dir, "bin"), 0o755); err != nil {
		k.t.Fatal(err)
	}
	os.Remove(link)
	if err := os.Symlink(path, link); err != nil {
		k.t.Fatal(err)
	}
}

// standIn puts a program in the place of fakecluster whose "exec -- COMMAND" runs
// the command with a real cluster, emptied before.
func (k kitchen) standIn(c *redisserver.Cluster) {
	k.t.Helper()
	for _, node := range c.Nodes {
		for _, what := range []string{"FLUSHALL", "SCRIPT FLUSH"} {
			if _, err := node.Do(strings.Fields(what)...); err != nil {
				k.t.Fatal(err)
			}
		}
	}
	os.Remove(filepath.Join(k.dir, "bin", "fakecluster"))
	k.write("bin/fakecluster", fmt.Sprintf(`#!/bin/sh
[ "$1 $2" = "exec --" ] || exit 99
shift 2
REDIS_CLUSTER_URL=redis://%s REDIS_CLUSTER_NODES=%s exec "$@"
`, c.Addrs()[0], strings.Join(c.Addrs(), ",")), 0o755)
}

func (k kitchen) command(program string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(k.t.Context(), 2*time.Minute)
	k.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = k.dir
	cmd.Env = append(cmd.Environ(), "PATH="+filepath.Join(k.dir, "bin")+":"+os.Getenv("PATH"))
	return cmd
}

func (k kitchen) run(script string) string {
	k.t.Helper()
	out, err := k.command("sh", "-ec", script).CombinedOutput()
	if err != nil {
		k.t.Fatalf("%s%v\n%s", script, err, out)
	}
	return string(out)
}

var times = regexp.MustCompile(`duration_ms:? [0-9.]+|[0-9.]+ ?s\b|[0-9.]+ (runs|assertions)/s|--seed [0-9]+`)

// withoutTimes is what a program prints, without what differs from run to run.
func withoutTimes(printed string) string { return times.ReplaceAllString(printed, "…") }
