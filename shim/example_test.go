package shim_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
)

func ExampleNewCluster() {
	c, err := emulator.Start()
	if err != nil {
		panic(err)
	}
	defer c.Close()
	ctx := context.Background()

	client, err := shim.NewCluster(redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()}, shim.Options{})
	if err != nil {
		panic(err)
	}
	defer client.Close()

	var lost *shim.LostReplyError
	switch err := client.Incr(ctx, "visits").Err(); {
	case errors.As(err, &lost):
		fmt.Println("it may have been counted")
	case err != nil:
		fmt.Println("it was not counted:", err)
	default:
		fmt.Println("it was counted")
	}
	// Output: it was counted
}

func ExampleSameSlot() {
	fmt.Println(shim.SameSlot("jobs", "jobs.processing"))
	// Output:
	// redis: keys "jobs" (slot 9631) and "jobs.processing" (slot 16232) are in different slots; give them one hash tag, such as "{jobs}" and "{jobs}.processing"
}

func ExampleScript_Run() {
	c, err := emulator.Start()
	if err != nil {
		panic(err)
	}
	defer c.Close()
	client, err := shim.NewCluster(redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()}, shim.Options{})
	if err != nil {
		panic(err)
	}
	defer client.Close()

	take := shim.NewScript(`return redis.call('LMOVE', KEYS[1], KEYS[2], 'LEFT', 'RIGHT')`, "queue", "processing")
	ctx := context.Background()
	client.RPush(ctx, "{jobs}", "one")
	fmt.Println(take.Run(ctx, client, []string{"{jobs}", "{jobs}.processing"}).Text())
	fmt.Println(take.Run(ctx, client, []string{"{jobs}"}).Err())
	// Output:
	// one <nil>
	// shim: wrong number of keys for the script: it takes 2 (queue, processing), got 1
}
