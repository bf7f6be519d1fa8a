package emulator_test

import (
	"context"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

// A pool notices in process too which of its connections a crash has ended, as it
// does over TCP, and gives none of them away.
func TestPoolsNoticeACrash(t *testing.T) {
	t.Run("in process", func(t *testing.T) {
		c := emulator.RunT(t, emulator.Masters(1))
		outliveACrash(t, c, c.Dialer())
	})
	t.Run("TCP", func(t *testing.T) {
		c := emulator.RunT(t, emulator.Masters(1), emulator.TCP("127.0.0.1", 0))
		outliveACrash(t, c, nil)
	})
}

// outliveACrash fills a pool, has all of its connections ended by a crash, and sends
// one command that must not fail.
func outliveACrash(t *testing.T, c *emulator.Cluster, dialer func(ctx context.Context, network, addr string) (net.Conn, error)) {
	ctx := t.Context()
	client := redis.NewClient(&redis.Options{Addr: c.Node(0).Addr(), Dialer: dialer, MaxRetries: -1, PoolSize: 8})
	defer client.Close()
	var held []*redis.Conn
	for range client.Options().PoolSize {
		conn := client.Conn()
		if err := conn.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	for _, conn := range held {
		conn.Close()
	}
	c.Kill(c.Node(0))
	if err := c.Restart(c.Node(0)); err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(ctx).Err(); err != nil {
		t.Error(err)
	}
}
