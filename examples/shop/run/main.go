// Command run starts the shop on a cluster: the one that its arguments are nodes of,
// or REDIS_CLUSTER_NODES names, or the one at 127.0.0.1:7000. With a cluster of its
// own, in one command:
//
//	fakecluster exec -- go run ./examples/shop/run -demo
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/examples/shop"
)

func main() {
	demo := flag.Bool("demo", false, "publish a job, an order and an event")
	flag.Parse()
	seeds := flag.Args()
	if len(seeds) == 0 {
		seeds = strings.Split(cmp.Or(os.Getenv("REDIS_CLUSTER_NODES"), "127.0.0.1:7000"), ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, broker.Cluster(seeds...), *demo); err != nil {
		slog.Error("the shop ended", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, b *broker.Broker, demo bool) error {
	app := shop.Service(b)
	if demo {
		go func() {
			select {
			case <-app.Ready():
				if err := publish(ctx, b); err != nil {
					slog.Error("publishing failed", "error", err)
				}
			case <-ctx.Done():
			}
		}()
	}
	return app.Run(ctx)
}

func publish(ctx context.Context, b *broker.Broker) error {
	return errors.Join(
		b.Publish(ctx, shop.Job{ID: 1, Mail: "ann@example.com"}).To(shop.Jobs),
		b.Publish(ctx, shop.Order{ID: "A-1", Cents: 1999}).To(shop.Orders),
		b.Publish(ctx, shop.Event{Kind: "opened"}).To(shop.Events),
	)
}
