// Command embed starts a cluster inside a program, without a port, and shows
// that it is one: keys live on different nodes, and what spans slots is refused.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	cluster, err := emulator.Start(emulator.Masters(3), emulator.RedisVersion("7.2"))
	if err != nil {
		return err
	}
	defer cluster.Close()

	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), Dialer: cluster.Dialer()})
	defer client.Close()
	for _, key := range []string{"apple", "pear", "plum"} {
		if err := client.Set(ctx, key, "a fruit", 0).Err(); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s is at %s\n", key, cluster.NodeForKey(key).Addr())
	}
	err = client.Rename(ctx, "apple", "pear").Err()
	fmt.Fprintf(out, "renaming apple to pear: %v\n", err)
	return nil
}
