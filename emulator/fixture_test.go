package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func hasBlocked(clients string) bool {
	return strings.Contains(clients, " flags=b ")
}

func TestStart(t *testing.T) {
	ctx := context.Background()
	c := emulator.RunT(t, emulator.Masters(3), emulator.Replicas(1))
	if n := len(c.Addrs()); n != 6 {
		t.Fatalf("%d nodes, want 6", n)
	}
	var roles []string
	for _, n := range c.Nodes() {
		roles = append(roles, n.Role())
	}
	if want := []string{"master", "master", "master", "replica", "replica", "replica"}; !slices.Equal(roles, want) {
		t.Errorf("roles %v, want %v", roles, want)
	}
	rdb := client(t, c)
	for i := range 100 {
		key := fmt.Sprint("key", i)
		if err := rdb.Set(ctx, key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.NodeForKey(key).Get(key); !ok || got != fmt.Sprint(i) {
			t.Fatalf("the owner of %s holds %q, %v", key, got, ok)
		}
	}
	if err := rdb.MSet(ctx, "a", 1, "b", 2).Err(); err == nil || !strings.HasPrefix(err.Error(), "CROSSSLOT") {
		t.Errorf("MSET over two slots: %v, want CROSSSLOT", err)
	}
}

func TestReplicasServeReads(t *testing.T) {
	ctx := context.Background()
	c := emulator.RunT(t, emulator.Replicas(1))
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer(), ReadOnly: true})
	defer rdb.Close()
	for i := range 50 {
		key := fmt.Sprint("key", i)
		if err := rdb.Set(ctx, key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := rdb.Get(ctx, key).Int(); err != nil || got != i {
			t.Fatalf("GET %s from a replica: %v, %v", key, got, err)
		}
	}
	held := 0
	for _, n := range c.Nodes()[3:] {
		if n.Role() != "replica" {
			t.Errorf("node %d is a %s", n.Index(), n.Role())
		}
		held += len(n.Keys())
	}
	if held != 50 {
		t.Errorf("the replicas hold %d keys, want 50", held)
	}
}

func TestStandalone(t *testing.T) {
	ctx := context.Background()
	c := emulator.RunT(t, emulator.Standalone())
	rdb := redis.NewClient(&redis.Options{Addr: c.Addrs()[0], Dialer: c.Dialer(), DB: 15})
	defer rdb.Close()
	if err := rdb.MSet(ctx, "a", 1, "b", 2).Err(); err != nil {
		t.Error(err)
	}
	if err := rdb.Do(ctx, "CLUSTER", "INFO").Err(); err == nil || err.Error() != "ERR This instance has cluster support disabled" {
		t.Errorf("CLUSTER INFO: %v", err)
	}
}

func TestPassword(t *testing.T) {
	ctx := context.Background()
	c := emulator.RunT(t, emulator.Password("sesame"))
	for password, want := range map[string]string{
		"": "NOAUTH Authentication required.", "wrong": "WRONGPASS invalid username-password pair or user is disabled.", "sesame": "",
	} {
		rdb := redis.NewClient(&redis.Options{Addr: c.Addrs()[0], Dialer: c.Dialer(), Password: password, Protocol: 2})
		err := rdb.Ping(ctx).Err()
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("PING with password %q: %v, want %q", password, err, want)
		}
		rdb.Close()
	}
}

func TestTCP(t *testing.T) {
	ctx := context.Background()
	c := emulator.RunT(t, emulator.TCP("127.0.0.1", 0))
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()[:1]})
	defer rdb.Close()
	for i := range 50 {
		if err := rdb.Incr(ctx, fmt.Sprint("key", i)).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPortTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	port := ln.Addr().(*net.TCPAddr).Port
	c, err := emulator.Start(emulator.Masters(1), emulator.TCP("127.0.0.1", port))
	if err == nil {
		c.Close()
		t.Fatal("a cluster started on a port that is taken")
	}
	if !strings.Contains(err.Error(), fmt.Sprint(port)) {
		t.Errorf("the error does not name port %d: %v", port, err)
	}
}

func TestBadOptions(t *testing.T) {
	for name, opts := range map[string][]emulator.Option{
		"no masters":            {emulator.Masters(0)},
		"negative replicas":     {emulator.Replicas(-1)},
		"unknown version":       {emulator.RedisVersion("5.0")},
		"replica of standalone": {emulator.Standalone(), emulator.Replicas(1)},
		"no host":               {emulator.TCP("", 7000)},
		"port too high":         {emulator.TCP("127.0.0.1", 65534)},
		"announced too high":    {emulator.Announce("", 65535)},
		"no logger":             {emulator.Logger(nil)},
	} {
		if c, err := emulator.Start(opts...); !errors.Is(err, emulator.ErrOption) {
			t.Errorf("%s: %v, want an ErrOption", name, err)
			if err == nil {
				c.Close()
			}
		}
	}
}

func TestDialingNobody(t *testing.T) {
	c := emulator.RunT(t)
	if _, err := c.Dialer()(context.Background(), "tcp", "10.0.0.1:1"); !errors.Is(err, emulator.ErrNoNode) {
		t.Errorf("dialing an address of no node: %v, want ErrNoNode", err)
	}
}

func TestNodesByKeyAndSlot(t *testing.T) {
	c := emulator.RunT(t)
	for slot, want := range map[slots.Slot]int{0: 0, 5460: 0, 5461: 1, 10922: 1, 10923: 2, 16383: 2} {
		if n := c.NodeForSlot(slot); n.Index() != want {
			t.Errorf("slot %d is node %d's, want %d", slot, n.Index(), want)
		}
	}
	if n := c.NodeForKey("foo"); n.Index() != 2 {
		t.Errorf("foo (slot 12182) is node %d's, want 2", n.Index())
	}
}

func TestTwoHundredClustersLeaveNothingBehind(t *testing.T) {
	ctx := context.Background()
	before := runtime.NumGoroutine()
	for i := range 200 {
		c, err := emulator.Start(emulator.Replicas(i % 2))
		if err != nil {
			t.Fatal(err)
		}
		rdb := redis.NewClient(&redis.Options{Addr: c.Addrs()[i%3], Dialer: c.Dialer()})
		if err := rdb.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		sub := rdb.Subscribe(ctx, "channel")
		if _, err := sub.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 { // sometimes the clients go first
			sub.Close()
			rdb.Close()
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		sub.Close()
		rdb.Close()
	}
	if err := goleak.Find(); err != nil {
		t.Errorf("%d goroutines before, %d after: %v", before, runtime.NumGoroutine(), err)
	}
}

func TestClustersRunSideBySide(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			c := emulator.RunT(t, emulator.Seed(uint64(i)))
			rdb := client(t, c)
			for j := range 20 {
				if err := rdb.Set(context.Background(), fmt.Sprint(j), i, 0).Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestSameSeedSameIDs(t *testing.T) {
	ids := func(seed uint64) (ids []string) {
		for _, n := range emulator.RunT(t, emulator.Seed(seed)).Nodes() {
			ids = append(ids, n.ID())
		}
		return ids
	}
	if a, b := ids(7), ids(7); !slices.Equal(a, b) {
		t.Errorf("two clusters with one seed have ids %v and %v", a, b)
	}
	if a, b := ids(7), ids(8); slices.Equal(a, b) {
		t.Error("two seeds give the same ids")
	}
}
