package layoutkit_test

import (
	"context"
	"fmt"
	"log"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
)

func Example() {
	ctx := context.Background()
	cluster, err := emulator.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), Dialer: cluster.Dialer()})
	defer client.Close()

	type Text struct{ Text string }
	store, err := layoutkit.New(layoutkit.Options{Client: client, Prefix: "mybot"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := store.Start(ctx); err != nil {
		log.Fatal(err)
	}
	messages := layoutkit.Messages[Text](store)
	for range 2 { // once more, as after a lost reply
		saved, err := messages.Save(ctx, "chat-1", layoutkit.Message[Text]{Member: "m1", Score: 12, Value: Text{"hello"}})
		fmt.Println(saved, err)
	}
	page, err := messages.Page(ctx, "chat-1", layoutkit.Query{Reverse: true, Limit: 10})
	fmt.Println(page.Messages, err)
	// Output:
	// true <nil>
	// false <nil>
	// [{m1 12 {hello}}] <nil>
}

// Whoever changes a record says which version it has read, and reads again when
// somebody else was faster.
func ExampleRecords_CompareAndSet() {
	ctx := context.Background()
	cluster, err := emulator.Start(emulator.Standalone())
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	client := redis.NewClient(&redis.Options{Addr: cluster.Addrs()[0], Dialer: cluster.Dialer()})
	defer client.Close()
	store, err := layoutkit.New(layoutkit.Options{Client: client, Prefix: "mybot"})
	if err != nil {
		log.Fatal(err)
	}

	visits := layoutkit.Contacts[int](store)
	fmt.Println(visits.CompareAndSet(ctx, "ana", 0, 1))
	ana, err := visits.Get(ctx, "ana")
	fmt.Println(ana, err)
	fmt.Println(visits.CompareAndSet(ctx, "ana", ana.Version, ana.Value+1))
	_, err = visits.CompareAndSet(ctx, "ana", ana.Version, ana.Value+1)
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// {ana 1 1} <nil>
	// 2 <nil>
	// layoutkit: written by somebody else: contact "ana" has version 2, not 1
}
