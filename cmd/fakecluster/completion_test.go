package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// suggested are the words offered behind what has been typed.
func suggested(t *testing.T, words ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{completeCommand}, words...), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	var found []string
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(line, "\t")
		found = append(found, word)
	}
	return strings.Join(found, " ")
}

func TestSuggestions(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"st", "status"},
		{"ctl fail", "failover"},
		{"ctl --addr 127.0.0.1:1 migrate-", "migrate-keys migrate-finish migrate-abort"},
		{"ctl failover ", ""},
		{"--masters 2 --stand", "--standalone"},
		{"serve --log-format ", "text json"},
		{"serve --log-format=j", "--log-format=json"},
		{"serve --log-format = j", "json"},
		{"serve --log-format =", "text json"},
		{"--no-con", "--no-control"},
		{"serve --standalone --log-level d", "debug"},
		{"serve --port ", ""},
		{"completion ", "bash zsh fish"},
		{"completion bash ", ""},
		{"exec --rep", "--replicas"},
		{"status --j", "--json"},
		{"__", ""},
	} {
		if got := suggested(t, strings.Split(c.typed, " ")...); got != c.want {
			t.Errorf("%q is completed by %q, want %q", c.typed, got, c.want)
		}
	}
	for _, command := range []string{"serve", "ctl", "status", "watch", "slot", "exec", "completion"} {
		if got := suggested(t, ""); !strings.Contains(" "+got+" ", " "+command+" ") {
			t.Errorf("%s is not among %q", command, got)
		}
	}
}

// The scripts at work in the shells that are installed.
func TestCompletionInShells(t *testing.T) {
	dir := filepath.Dir(built(t))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", dir)
	for _, c := range []struct {
		shell, script string
	}{
		{"bash", `source <(fakecluster completion bash)
			COMP_WORDS=(fakecluster ctl migrate-a); COMP_CWORD=2; _fakecluster; echo "${COMPREPLY[@]}"`},
		{"fish", `fakecluster completion fish | source; complete -C "fakecluster ctl migrate-a"`},
		{"zsh", `zmodload zsh/zpty
			zpty shell zsh -f -i
			zpty -w shell "PS1= ; autoload -U compinit; compinit -u -D; source <(fakecluster completion zsh)"
			zpty -n -w shell $'fakecluster ctl migrate-a\t'
			zpty -r shell line '*migrate-abort*' && print -r -- "$line"
			zpty -d shell`},
	} {
		t.Run(c.shell, func(t *testing.T) {
			shell, err := exec.LookPath(c.shell)
			if err != nil {
				t.Skipf("%s is not installed", c.shell)
			}
			out, err := exec.Command(shell, "-c", c.script).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "migrate-abort") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Whoever asks a command for help sees how it is used, in lines that it takes.
func TestHelpHasExamples(t *testing.T) {
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	parser := func() *kong.Kong {
		p, err := newParser(&cli{}, io.Discard, io.Discard, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, command := range parser().Model.Leaves(true) {
		path := strings.Fields(command.Path())
		if command.Hidden {
			continue
		}
		code, help, errs := ended(t, append(path, "--help")...)
		if code != 0 {
			t.Errorf("%q: exit code %d: %s", path, code, errs)
		}
		examples := 0
		for line := range strings.Lines(help) {
			example, found := strings.CutPrefix(line, "    ")
			if !found || strings.HasPrefix(example, " ") || !strings.Contains(example, "fakecluster ") {
				continue
			}
			_, example, _ = strings.Cut(example, "fakecluster ")
			example, _, _ = strings.Cut(example, ")\n") // of <(fakecluster completion bash)
			examples++
			for _, args := range typed(t, sh, "fakecluster "+example) {
				if _, err := parser().Parse(args); err != nil {
					t.Errorf("%s shows an example that it does not take: %q: %v", command.Path(), args, err)
				}
			}
		}
		if examples == 0 {
			t.Errorf("%s --help has no example:\n%s", command.Path(), help)
		}
	}
}

// typed is what a shell hands to fakecluster for a line.
func typed(t *testing.T, sh, line string) (calls [][]string) {
	t.Helper()
	shell := exec.Command(sh, "-c", `fakecluster() { printf '%s\0' "$@" >&3; printf '\n\0' >&3; }; `+line)
	shell.Dir = t.TempDir() // an example may write a file
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	shell.ExtraFiles = []*os.File{write}
	err = shell.Run() // jq may not be installed
	write.Close()
	all, readErr := io.ReadAll(read)
	if readErr != nil || len(all) == 0 {
		t.Fatalf("%s: %v, %v", line, err, readErr)
	}
	var args []string
	for _, arg := range strings.Split(strings.TrimSuffix(string(all), "\x00"), "\x00") {
		if arg == "\n" {
			calls, args = append(calls, args), nil
			continue
		}
		args = append(args, arg)
	}
	return calls
}
