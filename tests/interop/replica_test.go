package interop

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// A real Redis that replicates from ours, with the old SYNC, ends up with the
// same data: what was there before, and what commands changed afterwards.
func TestRealReplica(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ours := emulator.RunT(t, emulator.Standalone(), emulator.TCP("127.0.0.1", 0), emulator.RedisVersion("7.0"))
	master := redis.NewClient(&redis.Options{Addr: ours.Addrs()[0]})
	defer master.Close()
	replica := redis.NewClient(&redis.Options{Addr: redisserver.Start(t, "--enable-debug-command", "yes").Addr()})
	defer replica.Close()
	send := func(client *redis.Client, args ...any) any {
		t.Helper()
		reply, err := client.Do(ctx, args...).Result()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return reply
	}

	send(master, "SET", "string", "value", "EX", 1000)
	send(master, "RPUSH", "list", "a", "b", 3)
	send(master, "SADD", "ints", 1, 2, 3)
	send(master, "ZADD", "zset", 1.5, "a", "inf", "b")
	send(master, "HSET", "hash", "f", "v", "g", 2)
	send(master, "XADD", "stream", "1-1", "f", "v")
	send(master, "XGROUP", "CREATE", "stream", "group", 0)
	send(master, "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function{function_name='f', callback=function() return 1 end, flags={'no-writes'}}")
	host, port, err := net.SplitHostPort(ours.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	send(replica, "REPLICAOF", host, port)
	for send(replica, "EXISTS", "string") == int64(0) {
		if err := ctx.Err(); err != nil {
			t.Fatalf("the replica has not got the data: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}

	send(master, "SPOP", "ints")
	send(master, "INCRBYFLOAT", "float", "1.1")
	send(master, "EVAL", "redis.call('SET', 'a', 1) redis.call('INCR', 'a') return redis.call('LPOP', 'list')", 0)
	send(master, "XREADGROUP", "GROUP", "group", "me", "STREAMS", "stream", ">")
	send(master, "PEXPIRE", "hash", 1)
	send(master, "SET", "last", "one")
	want := send(master, "DEBUG", "DIGEST")
	for send(replica, "DEBUG", "DIGEST") != want {
		if err := ctx.Err(); err != nil {
			t.Fatalf("the replica's data differ: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
		want = send(master, "DEBUG", "DIGEST")
	}
	if got := send(replica, "FCALL_RO", "f", 0); got != int64(1) {
		t.Errorf("the function on the replica returns %v", got)
	}
}
