package emulator_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

// In a test, RunT(t) does the same and closes the cluster with the test.
func ExampleStart() {
	c, err := emulator.Start(emulator.Masters(3))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()})
	defer rdb.Close()

	ctx := context.Background()
	rdb.Set(ctx, "greeting", "hello", 0)
	fmt.Println(rdb.Get(ctx, "greeting").Val())
	fmt.Println(rdb.MSet(ctx, "one", 1, "two", 2).Err())
	// Output:
	// hello
	// CROSSSLOT Keys in request don't hash to the same slot
}

func ExampleCluster_Advance() {
	c, err := emulator.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	owner := c.NodeForKey("session")
	if _, err := owner.Do("SET", "session", "data", "EX", "3600"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(owner.Exists("session"))
	c.Advance(time.Hour + time.Second)
	fmt.Println(owner.Exists("session"))
	// Output:
	// true
	// false
}
