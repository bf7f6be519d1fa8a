package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

// Whoever asks a command for help sees how it is used.
func TestHelpHasExamples(t *testing.T) {
	for _, command := range []string{"serve", "ctl", "status", "watch", "slot", "exec", "completion"} {
		var out bytes.Buffer
		if code := run(t.Context(), []string{command, "--help"}, &out, &out); code != 0 {
			t.Errorf("%s: exit code %d", command, code)
		}
		if !strings.Contains(out.String(), "    fakecluster ") && !strings.Contains(out.String(), "<(fakecluster ") {
			t.Errorf("%s --help has no example:\n%s", command, &out)
		}
	}
}
