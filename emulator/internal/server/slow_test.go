package server_test

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

// A replica that does not read is cut off at its limit, though not below the
// size of the backlog. Another one gets every command.
func TestSlowReplicaIsCutOff(t *testing.T) {
	onBoth(t, "", false, func(t *testing.T, dial func() *client) {
		writer, slow, fast := dial(), dial(), dial()
		writer.expect("+OK", "CONFIG", "SET", "repl-diskless-sync", "no")
		writer.expect("+OK", "CONFIG", "SET", "client-output-buffer-limit", "replica 65536 0 0")
		writer.expect("+OK", "CONFIG", "SET", "repl-backlog-size", "2000000")
		slow.conn.(*net.TCPConn).SetReadBuffer(16 << 10) // so that the system keeps less
		slow.attach()
		fast.attach()
		value := strings.Repeat("x", 100_000)
		most := 0
		for i := 0; ; i++ {
			writer.expect("+OK", "SET", "key", fmt.Sprint(i, value))
			for want := fmt.Sprint("*[SET key ", i, value, "]"); ; {
				got := fast.reply()
				if got == want {
					break
				}
				if strings.ToUpper(got) != "*[SELECT 0]" && got != "*[PING]" {
					t.Fatalf("instead of command %d came %.60q", i, got)
				}
			}
			waiting, there := writer.waitingFor(slow)
			if !there {
				break
			}
			most = max(most, waiting)
			if i == 3000 {
				t.Fatal("300 MB later the slow replica is still there")
			}
		}
		if most < 1_500_000 || most > 2_000_000 {
			t.Errorf("it was cut off when more than %d bytes waited; with a backlog of 2 MB the limit is that", most)
		}
		slow.ended()
		writer.expect("+PONG", "PING")
	})
}

// attach makes the client receive the replication stream.
func (c *client) attach() {
	c.t.Helper()
	c.write("SYNC\r\n")
	for {
		b, err := c.r.Peek(1)
		if err != nil {
			c.t.Fatalf("SYNC: %v", failure(err))
		}
		if b[0] != '\n' { // Redis' sign of life while it saves
			break
		}
		c.r.Discard(1)
	}
	var size int
	if _, err := fmt.Fscanf(c.r, "$%d\r\n", &size); err != nil {
		c.t.Fatalf("SYNC: %v", failure(err))
	}
	if _, err := c.r.Discard(size); err != nil {
		c.t.Fatalf("SYNC: %v", failure(err))
	}
}

// waitingFor returns how many bytes the server keeps for another client, if
// that is there.
func (c *client) waitingFor(other *client) (omem int, there bool) {
	c.t.Helper()
	for line := range strings.Lines(c.do("CLIENT", "LIST")) {
		if !strings.Contains(line, " addr="+other.conn.LocalAddr().String()+" ") {
			continue
		}
		_, after, _ := strings.Cut(line, " omem=")
		if _, err := fmt.Sscan(after, &omem); err != nil {
			c.t.Fatalf("%v: %q", err, line)
		}
		return omem, true
	}
	return 0, false
}

// Clients that say a byte and no more, or as much as they may before they log
// in, cost little and hinder nobody. timeout rids the server of them.
func TestSlowLoris(t *testing.T) {
	const clients = 500
	for _, says := range []string{"*", "*10\r\n$16384\r\n" + strings.Repeat("x", 2000)} {
		onBoth(t, "secret", false, func(t *testing.T, dial func() *client) {
			other := dial()
			other.expect("+OK", "AUTH", "secret")
			before := heap()
			for range clients {
				dial().write(says)
			}
			other.expect("+OK", "SET", "key", "value")
			for seen := 0; seen < clients+1; {
				if _, err := fmt.Sscanf(field(other.do("INFO", "clients"), "connected_clients"), "%d", &seen); err != nil {
					t.Fatal(err)
				}
			}
			dial().expect("-NOAUTH Authentication required.", "GET", "key")
			if grown := heap() - before; grown > clients*64<<10 {
				t.Errorf("%d clients take %d KB each", clients, grown>>10/clients)
			}
			other.expect("value", "GET", "key")
		})
	}
}

// heap is how many bytes are in use. It counts this process, in which the real
// server is not.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// field is a line of INFO.
func field(info, name string) string {
	_, after, _ := strings.Cut(info, name+":")
	value, _, _ := strings.Cut(after, "\r\n")
	return value
}

func TestTimeoutEndsSlowLoris(t *testing.T) {
	c := start(t, emulator.Standalone(), emulator.Password("secret"), emulator.ConfigSet("timeout", "1000"))
	var slow []*client
	for range 100 {
		one := connect(t, c)
		one.write("*1\r\n$4\r\nPI")
		slow = append(slow, one)
	}
	// Who is heard only after the clock was moved has not been silent for as long,
	// so it is moved until all have ended.
	ended := make(chan struct{})
	var moving sync.WaitGroup
	moving.Go(func() {
		for pace := time.NewTicker(100 * time.Millisecond); ; {
			c.Advance(2000 * time.Second)
			select {
			case <-ended:
				pace.Stop()
				return
			case <-pace.C:
			}
		}
	})
	defer moving.Wait()
	defer close(ended)
	for _, s := range slow {
		s.ended()
	}
}
