package bench

// explanations say, for each section, how it is measured, and what stands in the
// way of goals that are missed and what it would take to reach them.
var explanations = map[string]struct{ how, misses string }{
	"start": {
		how: "In process. Real Redis is a cluster of six processes that was told who its members are instead of waiting for\n" +
			"gossip; miniredis is one server without a cluster. The size is live heap and stacks, beyond the process.",
		misses: "A start and close takes some 780 allocations of 350 KB in all. The profile shows a third of the time in Start, half of\n" +
			"that for the views that nodes have of the cluster, and the rest in the collector and the scheduler.",
	},
	"in-process": {
		how: "One client of go-redis at a time: the emulator through `Cluster.Dialer`, real Redis and miniredis over loopback.\n" +
			"The goal is a fifth of real Redis' time.",
		misses: "The node takes 0.4 µs of a call; the rest is the client library and two switches between goroutines, which no server\n" +
			"behind a connection can avoid.",
	},
	"tcp": {
		how: "`redis-benchmark --cluster -c 50` against the binary and three real masters, without `--cluster` against miniredis.\n" +
			"Its run time moves in steps of 250 ms. On two cores the servers share the processors with redis-benchmark, so that\n" +
			"what a request costs the server, which hardly depends on what else the machine does, says more than the rate.",
		misses: "A request costs 1.3 to 1.9 times the processor time. The profile at -P 1 is system calls, as Redis' is, and beyond them\n" +
			"what Go's scheduler does to wake one goroutine per connection where Redis walks through all sockets that are ready;\n" +
			"that is also what the medians wait for, and collections are what shows in the p99. Real Redis has three processes to\n" +
			"share out over the cores, too. GOMAXPROCS=1 and GOGC=400 were tried, each and both, in a shorter run: SET at -P 16\n" +
			"then costs 1.25 rather than 1.35 times and its p99 is 1.5 rather than 2.7 times Redis', but the rates stay and the\n" +
			"medians grow, and three masters would have to share a core where there are more, so the program sets neither. What it\n" +
			"would take is one goroutine per node that reads and answers all its sockets from one `epoll_wait`, with a goroutine of\n" +
			"their own only for clients that block; `--in-order` has half of that. Beyond system calls, SET pays for cache misses: a\n" +
			"key is five objects in memory here and three in Redis.",
	},
	"big-keys": {
		how: "One connection without a client library, requests in pipelines. Growth is the power of the size by which the time\n" +
			"grows from the smallest size to the largest: 0 is O(1), 1 is O(N). Up to 0.35 is allowed where O(1) or O(log N) is\n" +
			"documented, since large keys miss caches, and 1.15 for O(N). miniredis is left out where it would take minutes.\n" +
			"A slot is moved as redis-cli does it: SETSLOT, GETKEYSINSLOT and MIGRATE of 1,000 keys at a time, SETSLOT.",
		misses: "What has missed by a little may be the machine's: compare the growth with real Redis', in the column beside it, and the\n" +
			"plots. A collection that falls into a short measurement shows here, as it does in the p99 above.",
	},
	"memory": {
		how: "Live heap per key, after a collection, beside what `used_memory` grows by. The process itself holds more: Go's collector\n" +
			"lets garbage gather in proportion to what is live.",
		misses: "A small hash is its key's node (80 bytes), the key, the hash (80), a listpack's header (24) and its bytes, each rounded\n" +
			"up to a size class of Go's. What a hash needs for fields that expire could move behind a pointer, which saves\n" +
			"32 bytes, and the list of keys by slot (16 bytes) be left out on servers without slots.",
	},
	"crowds": {
		how: "`redis-benchmark -c 20` while the others are connected; then a message to subscribers, whose goroutines in the\n" +
			"measuring process take as long for either server.",
		misses: "Each subscriber has a queue with a lock of its own, and a PUBLISH is put into all of them, one after the other, before it\n" +
			"is answered.",
	},
	"garbage": {
		how: "In process; what the client allocates is not counted as it allocates nothing. The pause is the upper end of a bucket of\n" +
			"`/sched/pauses/total/gc:seconds` during five collections under writes.",
		misses: "Pauses include the time for which the system had put a thread aside that was to stop, so a busy machine makes them\n" +
			"longer.",
	},
}
