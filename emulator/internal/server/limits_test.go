package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// onBoth runs a test on a real server and on ours, both over TCP.
func onBoth(t *testing.T, password string, clustered bool, test func(t *testing.T, dial func() *client)) {
	t.Run("redis", func(t *testing.T) {
		var args []string
		if clustered {
			args = append(args, "--cluster-enabled", "yes")
		}
		server := redisserver.Start(t, args...)
		if password != "" { // not before: it is asked without one whether it has started
			if _, err := server.Do("CONFIG", "SET", "requirepass", password); err != nil {
				t.Fatal(err)
			}
		}
		test(t, func() *client { return connectTo(t, server.Addr()) })
	})
	t.Run("ours", func(t *testing.T) {
		opts := []emulator.Option{emulator.RedisVersion("7.0"), emulator.TCP("127.0.0.1", 0)}
		if password != "" {
			opts = append(opts, emulator.Password(password))
		}
		if clustered {
			opts = append(opts, emulator.Masters(1))
		} else {
			opts = append(opts, emulator.Standalone())
		}
		c := start(t, opts...)
		test(t, func() *client { return connectTo(t, c.Node(0).Addr()) })
	})
}

// A subscriber that does not read is cut off, and another one loses nothing.
func TestSlowSubscriberIsCutOff(t *testing.T) {
	onBoth(t, "", false, func(t *testing.T, dial func() *client) {
		publisher, slow, fast := dial(), dial(), dial()
		publisher.expect("+OK", "CONFIG", "SET", "client-output-buffer-limit", "pubsub 1048576 0 0")
		slow.expect("*[subscribe news :1]", "SUBSCRIBE", "news")
		fast.expect("*[subscribe news :1]", "SUBSCRIBE", "news")
		message := strings.Repeat("x", 100_000)
		for i := 0; ; i++ {
			said := fmt.Sprint(i, message)
			receivers := publisher.do("PUBLISH", "news", said)
			if got := fast.reply(); got != "*[message news "+said+"]" {
				t.Fatalf("message %d is %.40q", i, got)
			}
			if receivers == ":1" {
				break
			}
			if i == 3000 {
				t.Fatal("300 MB later the slow subscriber is still there")
			}
		}
		slow.ended()
		publisher.expect("+PONG", "PING")
	})
}

// A client whose reply exceeds its limit gets nothing of it.
func TestReplyBeyondTheLimit(t *testing.T) {
	onBoth(t, "", false, func(t *testing.T, dial func() *client) {
		other, greedy := dial(), dial()
		other.expect(":8000001", "SETRANGE", "big", "8000000", "x")
		other.expect("+OK", "CONFIG", "SET", "client-output-buffer-limit", "normal 1048576 0 0")
		greedy.send("GET", "big")
		if got := greedy.ended(); got != "" {
			t.Errorf("it was sent %d bytes", len(got))
		}
		other.expect("+PONG", "PING")
	})
}

// What exceeds the soft limit of a class may do so for a time, which counts anew
// for who has caught up. Nothing else than the time that passes ends a client.
func TestSoftOutputLimits(t *testing.T) {
	value := strings.Repeat("x", 100_000)
	for _, test := range []struct {
		class string
		begin func(slow *client)
		// fill makes 10 MB and a word that is last wait for the slow client.
		fill func(slow, other *client, round int, last string)
	}{
		{"normal", func(*client) {}, func(slow, other *client, round int, last string) {
			other.expect("+OK", "SET", "key", value)
			slow.write(strings.Repeat(request("GET", "key"), 100) + request("ECHO", last))
			for done := fmt.Sprint("cmdstat_echo:calls=", round, ","); !strings.Contains(other.do("INFO", "commandstats"), done); {
			}
		}},
		{"replica", (*client).attach, func(_, other *client, _ int, last string) {
			for range 100 {
				other.expect("+OK", "SET", "key", value)
			}
			other.expect("+OK", "SET", "key", last)
		}},
		{"pubsub", func(slow *client) { slow.expect("*[subscribe news :1]", "SUBSCRIBE", "news") }, func(_, other *client, _ int, last string) {
			for range 100 {
				other.expect(":1", "PUBLISH", "news", value)
			}
			other.expect(":1", "PUBLISH", "news", last)
		}},
	} {
		t.Run(test.class, func(t *testing.T) {
			c := start(t, emulator.Standalone())
			other, slow := connect(t, c), connect(t, c)
			other.expect("+OK", "CONFIG", "SET", "client-output-buffer-limit", test.class+" 0 1000000 1000")
			slow.expect("+OK", "CLIENT", "SETNAME", "slow")
			listed := func(what string) bool {
				for line := range strings.Lines(other.do("CLIENT", "LIST")) {
					if strings.Contains(line, " name=slow ") {
						return strings.Contains(line, what)
					}
				}
				return false
			}
			test.begin(slow)
			test.fill(slow, other, 1, "first")
			c.Advance(900 * time.Second)
			if !listed("") {
				t.Fatal("it is cut off before its time")
			}
			for !strings.Contains(slow.reply(), "first") {
			}
			for !listed(" omem=0 ") { // what it has read is counted after that
			}
			c.Advance(50 * time.Second)
			test.fill(slow, other, 2, "second")
			c.Advance(900 * time.Second)
			if !listed("") {
				t.Fatal("it is cut off before its time, which counts anew")
			}
			c.Advance(200 * time.Second)
			if listed("") {
				t.Fatal("after its time it is still there")
			}
			slow.ended()
		})
	}
}

// A client of which more waits to be executed than client-query-buffer-limit is
// ended. What is exactly as much is executed.
func TestQueryBufferLimit(t *testing.T) {
	const limit = 1 << 20
	onBoth(t, "", false, func(t *testing.T, dial func() *client) {
		other := dial()
		other.expect("+OK", "CONFIG", "SET", "client-query-buffer-limit", fmt.Sprint(limit))
		for _, test := range []struct {
			name, rest string // behind ECHO
			want       string // nothing if it is ended
		}{
			{"as much", fmt.Sprintf("$%d\r\n%s\r\n", limit-2, strings.Repeat("x", limit-2)), strings.Repeat("x", limit-2)},
			{"a byte more", fmt.Sprintf("$%d\r\n%s\r\n", limit-1, strings.Repeat("x", limit-1)), ""},
			{"unfinished", "$2000000\r\n" + strings.Repeat("x", limit+1), ""},
		} {
			c := dial()
			c.write("*2\r\n$4\r\nECHO\r\n" + test.rest)
			if test.want != "" {
				if got := c.reply(); got != test.want {
					t.Errorf("%s: %.40q, %d bytes", test.name, got, len(got))
				}
				c.expect("+PONG", "PING")
			} else if got := c.ended(); got != "" {
				t.Errorf("%s: it is answered %.40q", test.name, got)
			}
			other.expect("+PONG", "PING")
		}
	})
}

// timeout ends clients that say nothing, half a command too, but none that has
// a reason to be silent.
func TestIdleClients(t *testing.T) {
	silent := func(dial func() *client) (ends, stays []*client) {
		idle, half, subscriber, blocked, monitor := dial(), dial(), dial(), dial(), dial()
		idle.expect("+PONG", "PING")
		half.write("*2\r\n$4\r\nECHO\r\n")
		subscriber.expect("*[subscribe news :1]", "SUBSCRIBE", "news")
		monitor.expect("+OK", "MONITOR")
		blocked.send("BLPOP", "queue", "0")
		return []*client{idle, half}, []*client{subscriber, blocked, monitor}
	}
	awake := func(t *testing.T, dial func() *client, stays []*client) {
		other := dial()
		other.expect(":1", "PUBLISH", "news", "x")
		other.expect(":1", "RPUSH", "queue", "x")
		for i, want := range []string{"*[message news x]", "*[queue x]"} {
			if got := stays[i].reply(); got != want {
				t.Errorf("a client that may be silent gets %q, want %q", got, want)
			}
		}
		if got := stays[2].reply(); !strings.Contains(got, "PUBLISH") && !strings.Contains(got, "BLPOP") {
			t.Errorf("the monitor sees %q", got)
		}
	}
	t.Run("redis", func(t *testing.T) {
		server := redisserver.Start(t, "--timeout", "2")
		dial := func() *client { return connectTo(t, server.Addr()) }
		ends, stays := silent(dial)
		for _, s := range ends {
			s.ended()
		}
		awake(t, dial, stays)
	})
	t.Run("ours", func(t *testing.T) {
		c := start(t, emulator.Standalone(), emulator.ConfigSet("timeout", "1000"))
		dial := func() *client { return connect(t, c) }
		ends, stays := silent(dial)
		for blocked := false; !blocked; {
			info, err := c.Node(0).Do("INFO", "clients")
			if err != nil {
				t.Fatal(err)
			}
			blocked = strings.Contains(info.(string), "blocked_clients:1")
		}
		c.Advance(500 * time.Second)
		ends[0].expect("+PONG", "PING") // counts anew
		c.Advance(600 * time.Second)
		ends[1].ended()
		ends[0].expect("+PONG", "PING")
		c.Advance(1002 * time.Second)
		ends[0].ended()
		awake(t, dial, stays)
	})
}

// Before they log in clients may ask for little; afterwards as others.
func TestBeforeAuthentication(t *testing.T) {
	for _, sent := range []string{
		"*10\r\n$1\r\nx\r\n", "*11\r\n", "*1\r\n$16384\r\n", "*1\r\n$16385\r\n", "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n*11\r\n$4\r\nMGET\r\n" + strings.Repeat("$1\r\na\r\n", 10),
		"AUTH wrong\r\n*11\r\n", "AUTH secret\r\nRESET\r\n*11\r\n", "HELLO 3 AUTH default secret\r\n*2\r\n$4\r\nECHO\r\n$20000\r\n" + strings.Repeat("x", 20000) + "\r\nQUIT\r\n",
		strings.Repeat("x", 65*1024+1), "PING\r\nGET a\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\nQUIT\r\n",
	} {
		var ours, real string
		onBoth(t, "secret", false, func(t *testing.T, dial func() *client) {
			c := dial()
			c.write(sent)
			if err := c.conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if _, name, _ := strings.Cut(t.Name(), "/"); strings.HasPrefix(name, "ours") {
				ours = c.ended()
			} else {
				real = c.ended()
			}
		})
		if cut := func(s string) string { at, _, _ := strings.Cut(s, "id\r\n"); return at }; cut(ours) != cut(real) {
			t.Errorf("%.60q: %.200q, want %.200q", sent, ours, real)
		}
	}
}

func TestTooManyClients(t *testing.T) {
	for _, clustered := range []bool{false, true} {
		text := map[bool]string{false: "-ERR max number of clients reached\r\n", true: "-ERR max number of clients + cluster connections reached\r\n"}[clustered]
		onBoth(t, "", clustered, func(t *testing.T, dial func() *client) {
			first := dial()
			first.expect("+OK", "CONFIG", "SET", "maxclients", "1")
			first.expect("+OK", "CONFIG", "RESETSTAT")
			if got := dial().ended(); got != text {
				t.Errorf("one too many is told %q, want %q", got, text)
			}
			first.expect("+OK", "CONFIG", "SET", "maxclients", "2")
			dial().expect("+PONG", "PING")
			if got := dial().ended(); got != text {
				t.Errorf("one too many is told %q, want %q", got, text)
			}
			info := first.do("INFO")
			for name, want := range map[string]string{
				"total_connections_received": "1", "rejected_connections": "2", "connected_clients": "2", "maxclients": "2",
			} {
				if got := field(info, name); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
		})
	}
}
