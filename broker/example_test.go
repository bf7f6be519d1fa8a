package broker_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/redis/go-redis/v9"
)

type Mail struct {
	To string `json:"to"`
}

// A service, run on a cluster in process; in production the broker would be
// Cluster("redis-1:6379", "redis-2:6379").
func Example() {
	cluster, err := emulator.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()

	mails := broker.List("{mails}").Reliable()
	b := broker.Cluster(cluster.Addrs()...).With(broker.Options{
		Redis: func(o *redis.UniversalOptions) { o.Dialer = cluster.Dialer() },
		Block: 100 * time.Millisecond,
	})
	app := broker.NewApp("post", "0.1.0", b,
		broker.Subscribe(mails, func(_ context.Context, m *Mail) broker.Outcome {
			fmt.Println("mail to", m.To)
			stop()
			return broker.Ack()
		}))
	if err := b.Publish(ctx, Mail{To: "ann@example.com"}).To(mails); err != nil {
		fmt.Println(err)
	}
	fmt.Println("ended:", app.Run(ctx))
	// Output:
	// mail to ann@example.com
	// ended: <nil>
}

// What a service is told whose keys a cluster would keep apart.
func ExampleRefusal() {
	cluster, err := emulator.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	b := broker.Cluster(cluster.Addrs()...).With(broker.Options{
		Redis: func(o *redis.UniversalOptions) { o.Dialer = cluster.Dialer() },
	})
	err = broker.NewApp("post", "0.1.0", b,
		broker.Subscribe(broker.List("mails").Reliable(), func(context.Context, *Mail) broker.Outcome { return broker.Ack() }),
	).Run(context.Background())
	var refusal *broker.Refusal
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Subscription, refusal.Keys, refusal.Slots)
		fmt.Printf("use the tag {%s}\n", refusal.Tag)
	}
	// Output:
	// mails [mails mails.processing] [4745 1809]
	// use the tag {mails}
}
