package resp

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator/internal/pipe"
)

// serve answers all connections of a new listener until the test ends, and
// returns a client that dials it.
func serve(tb testing.TB, answer func(net.Conn)) *redis.Client {
	tb.Helper()
	l := pipe.Listen(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6379})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answer(conn)
		}
	}()
	client := redis.NewClient(&redis.Options{
		Addr: l.Addr().String(), Protocol: 2, DisableIdentity: true, MaxRetries: -1, ReadTimeout: 3 * time.Second,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) },
	})
	tb.Cleanup(func() { client.Close(); l.Close() })
	return client
}

// BenchmarkGoRedis measures what protocol and pipe leave of a client's
// microseconds: a GET by go-redis, answered without looking anything up.
func BenchmarkGoRedis(b *testing.B) {
	client := serve(b, answer)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if v, err := client.Get(ctx, "key").Result(); err != nil || v != "value" {
			b.Fatal(v, err)
		}
	}
}

// TestGoRedisInABubble runs a client and a server on a bubble's clock: an
// answer, and three seconds of waiting for none.
func TestGoRedisInABubble(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			client := serve(t, func(conn net.Conn) {
				defer conn.Close()
				answerUntil(conn, "silence")
				io.Copy(io.Discard, conn) // until the client gives up
			})
			ctx := t.Context()
			if v, err := client.Get(ctx, "key").Result(); err != nil || v != "value" {
				t.Fatal(v, err)
			}
			start := time.Now()
			err := client.Do(ctx, "silence").Err()
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			if waited := time.Since(start); waited != 3*time.Second {
				t.Errorf("gave up after %v", waited)
			}
		})
	}
}

// answer serves one connection: an error to HELLO, which go-redis tries first,
// a value to everything else.
func answer(conn net.Conn) {
	defer conn.Close()
	answerUntil(conn, "")
}

// answerUntil serves a connection until the client hangs up or sends the
// command last, which it leaves unanswered.
func answerUntil(conn net.Conn, last string) {
	p, e := NewParser(), NewEncoder(2)
	for {
		if _, err := p.Read(conn); err != nil {
			return
		}
		e.Reset()
		for {
			args, err := p.Next()
			if err != nil {
				return
			}
			if args == nil {
				break
			}
			switch string(args[0]) {
			case "hello", "client":
				e.Error("ERR unknown command")
			case last:
				return
			default:
				e.BulkString("value")
			}
		}
		if _, err := conn.Write(e.Bytes()); err != nil {
			return
		}
	}
}
