package emulator_test

import (
	"net"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
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
	if seen != 13 {
		t.Errorf("the trace has %d commands, want 13", seen)
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
		t.Skip("this machine has no address beside loopback")
	}
	for _, test := range []struct {
		name, want string
		options    []emulator.Option
	}{
		{"open", "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. ", nil},
		{"password", "-NOAUTH Authentication required.", []emulator.Option{emulator.Password("sesame")}},
		{"off", "+PONG", []emulator.Option{emulator.ConfigSet("protected-mode", "no")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := emulator.RunT(t, append(test.options, emulator.Standalone(), emulator.TCP("0.0.0.0", 0), control.Option())...)
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
