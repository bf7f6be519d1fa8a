package emulator_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

// From nothing to the first reply of a cluster of three masters and three
// replicas, and to nothing again.
func BenchmarkStartToFirstReply(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c, err := emulator.Start(emulator.Replicas(1))
		if err != nil {
			b.Fatal(err)
		}
		conn, err := c.Dialer()(context.Background(), "tcp", c.Addrs()[0])
		if err != nil {
			b.Fatal(err)
		}
		if _, err := conn.Write([]byte("PING\r\n")); err != nil {
			b.Fatal(err)
		}
		var reply [7]byte
		if _, err := conn.Read(reply[:]); err != nil {
			b.Fatal(err)
		}
		conn.Close()
		c.Close()
	}
}

// benchmarkEachNetwork runs a benchmark with a go-redis cluster client in
// process and over TCP.
func benchmarkEachNetwork(b *testing.B, run func(b *testing.B, rdb *redis.ClusterClient)) {
	b.Run("pipe", func(b *testing.B) {
		c := emulator.RunT(b)
		rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()})
		defer rdb.Close()
		run(b, rdb)
	})
	b.Run("tcp", func(b *testing.B) {
		c := emulator.RunT(b, emulator.TCP("127.0.0.1", 0))
		rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
		defer rdb.Close()
		run(b, rdb)
	})
}

func BenchmarkGet(b *testing.B) {
	benchmarkEachNetwork(b, func(b *testing.B, rdb *redis.ClusterClient) {
		ctx := context.Background()
		if err := rdb.Set(ctx, "key", "value", 0).Err(); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := rdb.Get(ctx, "key").Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSet(b *testing.B) {
	benchmarkEachNetwork(b, func(b *testing.B, rdb *redis.ClusterClient) {
		ctx := context.Background()
		b.ReportAllocs()
		for b.Loop() {
			if err := rdb.Set(ctx, "key", "value", 0).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A pipeline of 100 INCR on one slot; the figure is that of the whole.
func BenchmarkPipeline100(b *testing.B) {
	benchmarkEachNetwork(b, func(b *testing.B, rdb *redis.ClusterClient) {
		ctx := context.Background()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
				for range 100 {
					p.Incr(ctx, "counter")
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEvalSHA(b *testing.B) {
	script := redis.NewScript(`
		local n = redis.call('INCR', KEYS[1])
		if n % 100 == 0 then redis.call('SET', KEYS[2], n) end
		return n`)
	benchmarkEachNetwork(b, func(b *testing.B, rdb *redis.ClusterClient) {
		ctx := context.Background()
		keys := []string{"{tag}counter", "{tag}mark"}
		b.ReportAllocs()
		for b.Loop() {
			if err := script.Run(ctx, rdb, keys).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The node's own share of a GET: no client library, no parsing of replies.
func BenchmarkRawPipeline(b *testing.B) {
	c := emulator.RunT(b, emulator.Standalone())
	conn, err := c.Dialer()(context.Background(), "tcp", c.Addrs()[0])
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	const batch = 100
	var request []byte
	for range batch {
		request = append(request, "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"...)
	}
	reply := make([]byte, batch*len("$-1\r\n"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		for read := 0; read < len(reply); {
			n, err := conn.Read(reply[read:])
			if err != nil {
				b.Fatal(err)
			}
			read += n
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/command")
}
