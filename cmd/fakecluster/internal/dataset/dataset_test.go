package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string // a command each, arguments joined by "|"
		err  string
	}{
		{"", nil, ""},
		{"SET a b", []string{"SET|a|b"}, ""},
		{"  SET  a\tb \r\n\n# comment\nGET a\n", []string{"SET|a|b", "GET|a"}, ""},
		{`SET "a b" 'c d'`, []string{"SET|a b|c d"}, ""},
		{`SET "\x00\xff\n\"\\\q" '\'\n'`, []string{"SET|\x00\xff\n\"\\q|'\\n"}, ""},
		{`SET "" ''`, []string{"SET||"}, ""},
		{`SET "a"b c`, nil, "quotes"},
		{`SET "a`, nil, "quotes"},
		{`SET 'a`, nil, "quotes"},
		{"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\nb\r\nc\r\nGET a\n", []string{"SET|a|b\r\nc", "GET|a"}, ""},
		{"*0\r\nGET a\n", []string{"GET|a"}, ""},
		{"*1\r\n$4\r\nPING", nil, "argument"},
		{"*2\r\n$4\r\nPING\r\n", nil, "unexpected EOF"},
		{"*1\r\n$3\r\nPING\r\n", nil, "longer than the 3 bytes"},
		{"*1\r\nPING\r\n", nil, "no length"},
		{"*x\r\n", nil, "no length"},
	} {
		r := &commandReader{Reader: bufio.NewReader(strings.NewReader(c.file))}
		var got []string
		var err error
		for {
			var args []string
			if args, err = r.next(); err != nil {
				break
			}
			got = append(got, strings.Join(args, "|"))
		}
		if c.err == "" && (!slices.Equal(got, c.want) || !errors.Is(err, io.EOF)) || c.err != "" && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q gives %q, %v", c.file, got, err)
		}
	}
}

func write(t *testing.T, content string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLoadCommands(t *testing.T) {
	var seed strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&seed, "SET key:%d %d\n", i, i)
	}
	seed.WriteString("MULTI\nSELECT 0\nEXEC\nMSET {t}a 1 {t}b 2\nFUNCTION LOAD \"#!lua name=l\\nredis.register_function('f', function() return 7 end)\"\n")
	c := emulator.RunT(t)
	var told []int
	loaded, what, err := Load(t.Context(), c, write(t, seed.String()), func(done, total int) { told = append(told, done*100/total) })
	if loaded != 2505 || what != "commands" || err != nil {
		t.Fatalf("%d %s, %v", loaded, what, err)
	}
	if len(told) != 3 || !slices.IsSorted(told) || told[0] < 20 || told[2] != 100 {
		t.Errorf("progress %v", told)
	}
	for i := range 2500 {
		key := fmt.Sprint("key:", i)
		if value, _ := c.NodeForKey(key).Get(key); value != fmt.Sprint(i) {
			t.Fatalf("%s is %q", key, value)
		}
	}
	for _, n := range c.Nodes() {
		if reply, err := n.Do("FCALL", "f", "0"); reply != int64(7) {
			t.Errorf("the function at %v: %v, %v", n, reply, err)
		}
	}
}

func TestLoadDatabases(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	if _, _, err := Load(t.Context(), c, write(t, "SET a 0\nSELECT 3\nSET a 3\n"), nil); err != nil {
		t.Fatal(err)
	}
	for db, want := range map[int]string{0: "0", 3: "3"} {
		if got, err := c.Node(0).DoIn(db, "GET", "a"); got != want {
			t.Errorf("a of database %d is %v, %v", db, got, err)
		}
	}
}

func TestLoadErrorsNameTheLine(t *testing.T) {
	for _, c := range []struct{ file, says string }{
		{"SET a b\n\nSET a\n", "line 3: SET: "},
		{"SET a b\nNOSUCH\n", "line 2: NOSUCH: "},
		{"SET a b\nLPUSH a c\n", "line 2: LPUSH: WRONGTYPE"},
		{"MSET a 1 b 2\n", "line 1: MSET: its keys are at several masters"},
		{"SELECT 3\n", "line 1: ERR "},
		{"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$3\r\nb\nc\r\nSET \"\n", "line 9: quotes"},
		{"REDIS0099", "format version 99"},
	} {
		cluster := emulator.RunT(t)
		if _, _, err := Load(t.Context(), cluster, write(t, c.file), nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.file, err, c.says)
		}
	}
	if _, _, err := Load(t.Context(), emulator.RunT(t), "/nosuch", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func open(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A slot that moved away, and a master that lost its slots to its replica, do
// not come back with what they had saved before.
func TestDirKeepsOwnersData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	d := open(t, path)
	if topology, err := d.Topology(); topology != nil || err != nil {
		t.Fatalf("an empty directory has a topology, %v", err)
	}
	c := emulator.RunT(t, emulator.Replicas(1))
	owner := c.NodeForKey("foo") // n3
	if err := owner.Set("foo", "old"); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(c); err != nil {
		t.Fatal(err)
	}
	c.Kill(owner)
	c.Settle()
	now := c.NodeForKey("foo")
	if now == nil || now == owner {
		t.Fatal("nobody took over")
	}
	if err := now.Set("foo", "new"); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(c); err != nil {
		t.Fatal(err)
	}
	topology, err := open(t, path).Topology()
	if err != nil || topology == nil {
		t.Fatal(err)
	}
	again := emulator.RunT(t, topology)
	if keys, err := d.Restore(again); keys != 1 || err != nil {
		t.Fatalf("%d keys, %v", keys, err)
	}
	if at := again.NodeForKey("foo"); at.ID() != now.ID() {
		t.Errorf("foo is at %v", at)
	} else if value, _ := at.Get("foo"); value != "new" {
		t.Errorf("foo is %q", value)
	}
}

func TestDirWritesWhatChanged(t *testing.T) {
	path := t.TempDir()
	d := open(t, path)
	c := emulator.RunT(t)
	extra, err := c.AddMaster()
	if err != nil {
		t.Fatal(err)
	}
	names := func() (list []string) {
		files, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			list = append(list, f.Name())
		}
		return list
	}
	if err := d.Save(c); err != nil {
		t.Fatal(err)
	}
	want := []string{"dump-7000.rdb", "dump-7001.rdb", "dump-7002.rdb", "dump-7003.rdb",
		"nodes-7000.conf", "nodes-7001.conf", "nodes-7002.conf", "nodes-7003.conf"}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("files %q", got)
	}
	before, err := os.Stat(filepath.Join(path, "dump-7000.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Remove(extra); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(c); err != nil {
		t.Fatal(err)
	}
	if got := names(); !slices.Equal(got, append(want[:3:3], want[4:7]...)) {
		t.Errorf("files %q after a node was removed", got)
	}
	if after, err := os.Stat(filepath.Join(path, "dump-7000.rdb")); err != nil || !os.SameFile(before, after) {
		t.Errorf("a file without changes was written again, %v", err)
	}
}

func TestDirRefusesDamage(t *testing.T) {
	path := t.TempDir()
	d := open(t, path)
	c := emulator.RunT(t)
	c.NodeForKey("foo").Set("foo", "bar")
	if err := d.Save(c); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(path, "dump-7002.rdb"), 30); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Restore(emulator.RunT(t)); !errors.Is(err, emulator.ErrRDB) || !strings.Contains(err.Error(), "dump-7002.rdb") {
		t.Errorf("a file cut off: %v", err)
	}
	if err := os.WriteFile(filepath.Join(path, "nodes-7000.conf"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Topology(); err == nil || !strings.Contains(err.Error(), "nodes-7000.conf") {
		t.Errorf("a nodes file without an epoch: %v", err)
	}
}
