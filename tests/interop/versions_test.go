package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// versionsPage is docs/versions.md.
func versionsPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "versions.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tableRows are the rows of a page's tables that have a number of cells.
func tableRows(page string, cells int) (rows [][]string) {
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || !strings.HasSuffix(line, " |") {
			continue
		}
		row := strings.Split(strings.Trim(line, "|"), " | ")
		if len(row) != cells {
			continue
		}
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		rows = append(rows, row)
	}
	return rows
}

// oneNode is a master of a cluster of one in a version, or in the version that
// is emulated if none is chosen.
func oneNode(t *testing.T, version string) *redis.Client {
	t.Helper()
	options := []emulator.Option{emulator.Masters(1)}
	if version != "" {
		options = append(options, emulator.RedisVersion(version))
	}
	c := emulator.RunT(t, options...)
	client := redis.NewClient(&redis.Options{Addr: c.Addrs()[0], Dialer: c.Dialer(), Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { client.Close() })
	return client
}

func redisVersion(t *testing.T, client *redis.Client) string {
	t.Helper()
	info, err := client.Info(t.Context(), "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`redis_version:(\S+)`).FindStringSubmatch(info)[1]
}

var versions = []string{"6.2", "7.0", "7.2", "7.4"}

// The page lists the versions that can be chosen, and the release each says it is.
func TestVersionsPageListsTheVersions(t *testing.T) {
	page := versionsPage(t)
	_, err := emulator.Start(emulator.RedisVersion("none"))
	if want := "choose one of " + strings.Join(versions, ", "); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("an unknown version: %v, want … %s", err, want)
	}
	var listed []string
	for _, row := range tableRows(page, 3)[1:] {
		listed = append(listed, row[0])
		if says := redisVersion(t, oneNode(t, row[0])); says != row[1] {
			t.Errorf("%s says it is %s, and by the page %s", row[0], says, row[1])
		}
	}
	if diff := cmp.Diff(versions, listed); diff != "" {
		t.Errorf("the versions and those of the page:\n%s", diff)
	}
	standard := redisVersion(t, oneNode(t, ""))
	if minor := standard[:3]; !strings.Contains(page, minor+" is emulated if nobody asks for another.") {
		t.Errorf("the page does not say that %s is emulated if nobody asks for another", minor)
	}
	if says := redisVersion(t, oneNode(t, "7.2.4")); says != "7.2.4" {
		t.Errorf("7.2.4 says it is %s", says)
	}
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	argument = regexp.MustCompile(`"[^"]*"|\S+`)
)

// lastReply sends commands as the page writes them, and puts the reply to the
// last as the page does.
func lastReply(t *testing.T, client *redis.Client, cell string) string {
	t.Helper()
	commands := codeSpan.FindAllStringSubmatch(cell, -1)
	for i, command := range commands {
		var args []any
		for _, arg := range argument.FindAllString(command[1], -1) {
			args = append(args, strings.Trim(arg, `"`))
		}
		reply, err := client.Do(t.Context(), args...).Result()
		switch {
		case err == redis.Nil:
			reply = "nil"
		case err != nil && i < len(commands)-1:
			t.Fatalf("%s: %v", command[1], err)
		case err != nil && strings.HasPrefix(err.Error(), "ERR unknown command"):
			return "unknown"
		case err != nil:
			return "refused"
		}
		if i == len(commands)-1 {
			return fmt.Sprint(reply)
		}
	}
	t.Fatalf("%s has no command", cell)
	return ""
}

// Each row of the page's table gives, in each version, what the page says, and
// on a real 7.0 what it says of 7.0.
func TestVersionsPageSaysWhatChanges(t *testing.T) {
	rows := tableRows(versionsPage(t), 1+len(versions))
	if !slices.Equal(rows[0][1:], versions) || len(rows) < 15 {
		t.Fatalf("the table begins with %q and has %d rows", rows[0], len(rows))
	}
	compare := func(t *testing.T, client *redis.Client, column int) {
		for _, row := range rows[1:] {
			if got := lastReply(t, client, row[0]); got != row[column] {
				t.Errorf("%s: %s, and by the page %s", row[0], got, row[column])
			}
		}
	}
	for i, version := range versions {
		t.Run(version, func(t *testing.T) { compare(t, oneNode(t, version), 1+i) })
	}
	t.Run("real 7.0", func(t *testing.T) {
		real := redisserver.StartCluster(t, 1, 0)
		client := redis.NewClient(&redis.Options{Addr: real.Addrs()[0], Protocol: 2, DisableIdentity: true})
		defer client.Close()
		compare(t, client, 1+slices.Index(versions, "7.0"))
	})
}

// The page lists all commands and parameters that came or went.
func TestVersionsPageListsCommandsAndParameters(t *testing.T) {
	page := versionsPage(t)
	for i, version := range versions[1:] {
		before := versions[i]
		_, section, found := strings.Cut(page, fmt.Sprintf("### %s after %s\n", version, before))
		if !found {
			t.Errorf("the page does not say what is new in %s", version)
			continue
		}
		section, _, _ = strings.Cut(section, "\n##")
		older, newer := oneNode(t, before), oneNode(t, version)
		subcommands := before != "6.2"
		commandsBefore, commands := commandNames(t, older, subcommands), commandNames(t, newer, subcommands)
		parametersBefore, parameters := parameterNames(t, older), parameterNames(t, newer)
		for _, list := range []struct {
			name string
			want []string
		}{
			{"new commands", without(commands, commandsBefore)},
			{"ended commands", without(commandsBefore, commands)},
			{"new parameters", without(parameters, parametersBefore)},
			{"ended parameters", without(parametersBefore, parameters)},
		} {
			_, text, _ := strings.Cut(section, "- "+list.name+": ")
			text, _, _ = strings.Cut(text, "\n- ")
			var got []string
			for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
				got = append(got, span[1])
			}
			if diff := cmp.Diff(list.want, got); diff != "" || got == nil && !strings.HasPrefix(text, "none") {
				t.Errorf("%s of %s, by the servers and by the page:\n%s", list.name, version, diff)
			}
		}
	}
}

// without is what is in one list and not in another, in order.
func without(list, other []string) (rest []string) {
	for _, name := range list {
		if !slices.Contains(other, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return rest
}

func commandNames(t *testing.T, client *redis.Client, subcommands bool) (names []string) {
	t.Helper()
	reply, err := client.Do(t.Context(), "COMMAND").Slice()
	if err != nil {
		t.Fatal(err)
	}
	add := func(list []any) {
		for _, entry := range list {
			names = append(names, strings.ToUpper(strings.ReplaceAll(entry.([]any)[0].(string), "|", " ")))
		}
	}
	add(reply)
	for _, entry := range reply {
		if fields := entry.([]any); subcommands {
			add(fields[9].([]any))
		}
	}
	return names
}

func parameterNames(t *testing.T, client *redis.Client) (names []string) {
	t.Helper()
	all, err := client.ConfigGet(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for name := range all {
		names = append(names, name)
	}
	return names
}

// What the page says that clients of Valkey see.
func TestVersionsPageSaysWhatValkeyClientsSee(t *testing.T) {
	page, client := versionsPage(t), oneNode(t, "")
	hello, err := client.Do(t.Context(), "HELLO").Slice()
	if err != nil {
		t.Fatal(err)
	}
	if row := fmt.Sprintf("| `HELLO` | names the server `%v`, the version %v |", hello[1], hello[3]); !strings.Contains(page, row) {
		t.Errorf("the page lacks %s", row)
	}
	info, err := client.Info(t.Context(), "server").Result()
	if err != nil || !strings.Contains(info, "redis_version:") || strings.Contains(info, "server_name:") || strings.Contains(info, "valkey_version:") {
		t.Errorf("INFO server: %v\n%s", err, info)
	}
	for _, command := range []string{"`CLUSTER SLOT-STATS SLOTSRANGE 0 1`", "`SET k v IFEQ x`"} {
		if reply := lastReply(t, client, command); reply != "refused" || !strings.Contains(page, "| "+command+" | refused") {
			t.Errorf("%s: %s, or the page does not say so", command, reply)
		}
	}
}
