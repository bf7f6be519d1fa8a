// Package broker runs typed handlers on Redis lists, streams and pub/sub
// channels, on one server or on a cluster:
//
//	type Job struct{ ID int }
//
//	func runJob(ctx context.Context, job *Job) broker.Outcome { return broker.Ack() }
//
//	func Service(b *broker.Broker) *broker.App {
//		return broker.NewApp("shop", "0.1.0", b,
//			broker.Subscribe(broker.List("{jobs}").Reliable(), runJob))
//	}
//
//	err := Service(broker.Cluster("redis-1:6379", "redis-2:6379")).Run(ctx)
//
// The one idea is that Redis decides what happened, never a second try: what
// settles a message is one command, one transaction or one script in the slot of
// its queue, guarded so that it does nothing when it runs again, and a reply that
// was lost is answered by asking what is pending.
//
// # What may come twice, and what may be lost
//
//	transport      twice                                        lost
//	simple list    never                                        whatever was popped when a process, a
//	                                                            connection or a master died
//	reliable list  an entry that its claim outlived: a handler  with a master, as below; without Claims an
//	               slower than Claims' idle time, or an ack     entry of a dead process waits in the
//	               whose reply was lost                         processing list for somebody to move it
//	stream         an entry that was idle for longer than       with a master, as below; entries trimmed by
//	               Reclaim's time, or whose ack did not come    MaxLen before they were read
//	               through; a retry or dead letter never
//	stream,        the handler may run twice, its commands      as for streams
//	atomic window  commit once: see Atomic
//	pub/sub        never, except by Retry                       what is published while nobody is subscribed,
//	                                                            or around a gap: a lost connection, a slot
//	                                                            that moves, a failover
//	publishing     never by itself; a *shim.LostReplyError      nothing that was acknowledged, but by a master
//	               says that it may have been, and sending
//	               again may double it
//
// Redis replicates asynchronously: a master that dies takes with it what it had
// acknowledged and not yet replicated. Then an entry may be lost with its queue's
// tail, and an acknowledged one may come again. A consumer group that is lost so is
// made anew, and what is still in the stream comes again.
//
// # Retries
//
// A message carries how often it was retried in a header, so MaxDeliveries counts
// over processes. An immediate retry goes to the end of its queue. RetryAfter waits
// in the subscription's DelayQueue, or, if it has none, in this process: then the
// message of a stream or a reliable list stays pending, so a crash does not lose it,
// and a Reclaim or Claims time shorter than the delay lets another process have it
// meanwhile.
package broker
