package emulator_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// A trace shows what was refused, queued or misspelled, too, but no secrets.
func TestTracesTellNoSecrets(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.Password("sesame"))
	trace := c.Trace(100)
	w := dial(t, c, 0)
	for _, line := range []string{
		"AUTH s3cret", "AUTH bob s3cret", "HELLO 3 AUTH bob s3cret", "ACL SETUSER bob >s3cret", "CONFIG SET requirepass s3cret", // refused
		"AUTH sesame", "ACL SETUSR bob >s3cret", "CONFIG SET masterauth s3cret", "MIGRATE 127.0.0.1 1 k 0 1 AUTH s3cret",
		"MULTI", "ACL SETUSER bob >s3cret", "CONFIG SET masterauth s3cret", "DISCARD",
		"AUT s3cret", "AUTHH default s3cret", "CONFIGSET requirepass s3cret", "CONFIG REQUIREPASS s3cret", "CLUSTER AUTH s3cret",
		"SENTINEL SET x auth-pass s3cret", "HELLO AUTH default s3cret", "HELLO 9 AUTH default s3cret",
		"COMMAND GETKEYS AUTH s3cret", "COMMAND GETKEYS MIGRATE h 1 k 0 1 AUTH s3cret", "COMMAND GETKEYSANDFLAGS CONFIG SET requirepass s3cret",
	} {
		w.send("%s\r\n", line)
		w.reply()
	}
	seen := 0
	for e := range trace.All() {
		seen++
		if strings.Contains(e.Text, "s3cret") || strings.Contains(e.Text, "sesame") {
			t.Errorf("the trace has %s", e.Text)
		}
	}
	if seen != 24 {
		t.Errorf("the trace has %d commands, want 24", seen)
	}
}

// The words are those of redis-server 7.0.15.
func TestProtectedMode(t *testing.T) {
	host := ""
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			host = ip.IP.String()
		}
	}
	if host == "" {
		if os.Getenv(redisserver.RequireEnv) == "1" {
			t.Fatal("this machine has no address beside loopback")
		}
		t.Skip("this machine has no address beside loopback")
	}
	password := emulator.Password("sesame")
	for _, test := range []struct {
		name, want string
		option     emulator.Option
	}{
		{"open", "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. ", password},
		{"password", "-NOAUTH Authentication required.", password},
		{"off", "+PONG", emulator.ConfigSet("protected-mode", "no")},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := emulator.RunT(t, test.option, emulator.Standalone(), emulator.TCP("0.0.0.0", 0), control.Option())
			if test.name == "open" { // which none can be from the start
				if _, err := c.Node(0).Do("CONFIG", "SET", "requirepass", ""); err != nil {
					t.Fatal(err)
				}
			}
			_, port, err := net.SplitHostPort(c.Node(0).Addr())
			if err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("tcp", net.JoinHostPort(host, port))
			if err != nil {
				t.Fatal(err)
			}
			w := onWire(t, conn)
			if test.name != "open" {
				w.send("PING\r\n")
			}
			if got := w.reply(); !strings.HasPrefix(got, test.want) {
				t.Errorf("%q, want %q…", got, test.want)
			}
			if test.name == "password" { // the control verbs follow the same rule
				w.send("FAKECLUSTER NODES\r\n")
				w.expect(test.want)
			}
			if test.name != "open" {
				return
			}
			if conn, err = net.Dial("tcp", net.JoinHostPort("127.0.0.1", port)); err != nil {
				t.Fatal(err)
			}
			w = onWire(t, conn)
			w.send("PING\r\n")
			w.expect("+PONG")
		})
	}
}

// Who may not run a command may not steer the cluster either, and scripts of no one
// may.
func TestControlWantsRights(t *testing.T) {
	c := emulator.RunT(t, emulator.Masters(1), emulator.RedisVersion("7.0"), control.Option())
	admin, bob := dial(t, c, 0), dial(t, c, 0)
	const refused = "-NOPERM this user has no permissions to run the 'fakecluster' command"
	const inScript = "-ERR This Redis command is not allowed from script script: "
	admin.do("+OK", "ACL", "SETUSER", "bob", "on", "nopass", "-@all")
	bob.do("+OK", "AUTH", "bob", "x")
	bob.do(refused, "FAKECLUSTER", "NODES")
	bob.do(refused, "FAKECLUSTER", "KILL", "0")
	for _, script := range []string{"return redis.call('FAKECLUSTER','NODES')", "return redis.call('fakecluster','kill','0')"} {
		admin.command("EVAL", script, "0")
		if got := admin.reply(); !strings.HasPrefix(got, inScript) {
			t.Errorf("%s: %q, want %q…", script, got, inScript)
		}
	}
	for _, without := range []string{"-@admin", "-@dangerous", "-fakecluster"} {
		admin.do("+OK", "ACL", "SETUSER", "bob", "+@all", without)
		bob.do(refused, "FAKECLUSTER", "NODES")
	}
	admin.command("ACL", "LIST")
	if got := admin.reply(); !strings.Contains(got, "+@all -fakecluster") {
		t.Errorf("ACL LIST: %q", got)
	}
	admin.do("+OK", "ACL", "SETUSER", "bob", "+fakecluster")
	bob.command("FAKECLUSTER", "NODES")
	if got := bob.reply(); strings.HasPrefix(got, "-") {
		t.Errorf("who may: %q", got)
	}
}

// Whoever would be open to other machines does not start.
func TestStartBeyondLoopback(t *testing.T) {
	everywhere := emulator.TCP("0.0.0.0", 0)
	for _, test := range []struct {
		name    string
		options []emulator.Option
		starts  bool
	}{
		{"0.0.0.0", []emulator.Option{everywhere}, false},
		{"cluster", []emulator.Option{emulator.Masters(3), emulator.Replicas(1), everywhere}, false},
		{"loopback", []emulator.Option{emulator.TCP("127.0.0.1", 0)}, true},
		{"localhost", []emulator.Option{emulator.TCP("localhost", 0)}, true},
		{"password", []emulator.Option{everywhere, emulator.Password("sesame")}, true},
		{"default user", []emulator.Option{everywhere, emulator.Users("user default on >sesame ~* +@all")}, true},
		{"other user", []emulator.Option{everywhere, emulator.Users("user bob on >sesame ~* +@all")}, false},
		{"protected mode off", []emulator.Option{everywhere, emulator.ConfigSet("protected-mode", "no")}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := emulator.Start(test.options...)
			if err == nil {
				c.Close()
			}
			switch {
			case test.starts && err != nil:
				t.Error(err)
			case !test.starts && !(errors.Is(err, emulator.ErrUnprotected) && errors.Is(err, emulator.ErrOption)):
				t.Errorf("error %v, want ErrUnprotected, an ErrOption", err)
			}
		})
	}
}
