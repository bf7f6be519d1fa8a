package facts

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

func fact(t *testing.T, version, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "redis-"+version, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// node starts one node of a cluster, as the tables were recorded from.
func node(t *testing.T, version string) *redis.Client {
	t.Helper()
	c := emulator.RunT(t, emulator.Masters(1), emulator.RedisVersion(version))
	client := redis.NewClient(&redis.Options{Addr: c.Addrs()[0], Dialer: c.Dialer()})
	t.Cleanup(func() { client.Close() })
	return client
}

func eachVersion(t *testing.T, test func(t *testing.T, version string, client *redis.Client)) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) { test(t, version, node(t, version)) })
	}
}

// row is what a command says of itself.
type row struct {
	Arity, First, Last, Step int64
	Flags, ACL, Tips         []string
	Subcommands              map[string]row
}

func TestCommands(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string, client *redis.Client) {
		var want map[string]row
		if err := json.Unmarshal([]byte(fact(t, version, "commands.json")), &want); err != nil {
			t.Fatal(err)
		}
		reply, err := client.Do(t.Context(), "COMMAND").Slice()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sorted(want), rowsOf(reply)); diff != "" {
			t.Errorf("COMMAND, recorded and ours:\n%s", diff)
		}
		var names []string
		for name, r := range want {
			names = append(append(names, name), slices.Collect(maps.Keys(r.Subcommands))...)
		}
		list, err := client.Do(t.Context(), "COMMAND", "LIST").StringSlice()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		slices.Sort(list)
		if diff := cmp.Diff(names, list); diff != "" {
			t.Errorf("COMMAND LIST, recorded and ours:\n%s", diff)
		}
	})
}

// rowsOf reads what COMMAND replies.
func rowsOf(reply []any) map[string]row {
	rows := map[string]row{}
	for _, entry := range reply {
		e := entry.([]any)
		rows[e[0].(string)] = row{
			Arity: e[1].(int64), Flags: texts(e[2]), First: e[3].(int64), Last: e[4].(int64), Step: e[5].(int64),
			ACL: texts(e[6]), Tips: texts(e[7]), Subcommands: rowsOf(e[9].([]any)),
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return sorted(rows)
}

func texts(list any) []string {
	var all []string
	for _, item := range list.([]any) {
		all = append(all, item.(string))
	}
	return all
}

// sorted puts what has no order into one.
func sorted(rows map[string]row) map[string]row {
	for name, r := range rows {
		for _, list := range []*[]string{&r.Flags, &r.ACL, &r.Tips} {
			slices.Sort(*list)
			if len(*list) == 0 {
				*list = nil
			}
		}
		sorted(r.Subcommands)
		rows[name] = r
	}
	return rows
}

func TestConfigDefaults(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string, client *redis.Client) {
		got, err := client.ConfigGet(t.Context(), "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		recorded := map[string]bool{}
		for line := range strings.Lines(fact(t, version, "config.tsv")) {
			name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			recorded[name] = true
			if ofTheRecording[name] {
				continue
			}
			if value, ok := got[name]; !ok || value != want {
				t.Errorf("%s: got %q (there: %t), recorded %q", name, value, ok, want)
			}
		}
		for name := range got {
			if !recorded[name] && !ofTheHost[name] {
				t.Errorf("%s is not in the recorded configuration", name)
			}
		}
	})
}

// ofTheRecording are parameters that were not left at their defaults.
var ofTheRecording = map[string]bool{"daemonize": true, "enable-debug-command": true}

// ofTheHost are parameters whose values say where the recorded server ran, and
// which were not recorded.
var ofTheHost = map[string]bool{
	"port": true, "dir": true, "pidfile": true, "logfile": true, "dbfilename": true, "save": true,
}

func TestInfoFields(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string, client *redis.Client) {
		text, err := client.Info(t.Context(), "everything").Result()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		section := ""
		for _, line := range strings.Split(text, "\r\n") {
			if strings.HasPrefix(line, "# ") {
				section = line
				got = append(got, line)
			} else if name, _, ok := strings.Cut(line, ":"); ok && !perUse[section] {
				got = append(got, name)
			}
		}
		var want []string
		for _, line := range strings.Split(strings.TrimSpace(fact(t, version, "info-fields.txt")), "\n") {
			if strings.HasPrefix(line, "# ") {
				section = line
				want = append(want, line)
			} else if !perUse[section] {
				want = append(want, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("INFO everything, recorded and ours:\n%s", diff)
		}
	})
}

// perUse are the sections whose fields are what was done and kept.
var perUse = map[string]bool{"# Commandstats": true, "# Errorstats": true, "# Latencystats": true, "# Keyspace": true}

func TestACLCategories(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string, client *redis.Client) {
		var names []string
		for line := range strings.Lines(fact(t, version, "acl-categories.txt")) {
			name, commands, _ := strings.Cut(line, ":")
			names = append(names, name)
			got, err := client.Do(t.Context(), "ACL", "CAT", name).StringSlice()
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			if diff := cmp.Diff(strings.Fields(commands), got); diff != "" {
				t.Errorf("ACL CAT %s, recorded and ours:\n%s", name, diff)
			}
		}
		got, err := client.Do(t.Context(), "ACL", "CAT").StringSlice()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("ACL CAT, recorded and ours:\n%s", diff)
		}
	})
}
