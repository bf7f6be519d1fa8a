package resp

import (
	"context"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator/internal/pipe"
)

// BenchmarkGoRedis measures what protocol and pipe leave of a client's
// microseconds: a GET by go-redis, answered without looking anything up.
func BenchmarkGoRedis(b *testing.B) {
	l := pipe.Listen(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6379})
	defer l.Close()
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
		Addr: "127.0.0.1:6379", Protocol: 2, DisableIdentity: true,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) },
	})
	defer client.Close()
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if v, err := client.Get(ctx, "key").Result(); err != nil || v != "value" {
			b.Fatal(v, err)
		}
	}
}

// answer serves one connection: an error to HELLO, which go-redis tries first,
// a value to everything else.
func answer(conn net.Conn) {
	defer conn.Close()
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
			default:
				e.BulkString("value")
			}
		}
		if _, err := conn.Write(e.Bytes()); err != nil {
			return
		}
	}
}
