// Package shim is what a go-redis program needs between itself and a Redis
// Cluster: commands that are sent again when that is safe and never when it is
// not, keys that are checked for their slots before anything is sent, scripts,
// whole-keyspace walks and sharded subscriptions that hold while slots move and
// masters fail over.
//
// The one idea is that the shim, not go-redis, decides where a command goes and
// whether it goes again. go-redis 9.23 sends a command again after a broken
// connection, although it may have run, and sends a node's whole pipeline again
// when its first command is told to try again. WithRetry therefore routes each
// command to the clients of the nodes itself and sends it there once; existing
// code keeps its client and its types.
//
// # May the command have run?
//
// Every error of a client with WithRetry is one of these:
//
//	*LostReplyError   it MAY have run: it was sent and its reply did not come.
//	                  The shim did not send it again, and counts it.
//	*NotRunError      it did NOT run: TRYAGAIN, CLUSTERDOWN, redirections or
//	                  connections that could not be made, until attempts or the
//	                  context's time were over; it wraps the last of them. LOADING,
//	                  READONLY, MASTERDOWN, NOREPLICAS and the end of a blocking
//	                  command at a failover are treated likewise.
//	*CrossSlotError   it did NOT run: it was not sent.
//	ErrKeyCount       it did NOT run: it was not sent.
//	redis.Error       the server's answer, as it came: WRONGTYPE and its like did
//	                  nothing; a script that fails may have written before it did;
//	                  an EXECABORT says that nothing of the transaction ran.
//	anything else     it ran, but go-redis could not read its reply into the type
//	                  of the command, or it could not be encoded and did not run.
//
// In a pipeline each command has its own error, and only those that were refused
// are sent again; so commands of one slot may run in another order than written.
// Transactions and scripts keep theirs: a transaction is sent again as a whole and
// only if nothing of it was queued for good.
//
// What does not pass through a client's hooks is go-redis' own: Watch, Conn and its
// like, AutoPipeline, and classic subscriptions. A client made here follows no
// redirection in them: a Watch that meets a MOVED ends with it. Commands without keys
// go to any master, also those that go-redis' routing policies would send elsewhere.
//
// Commands that change their connection (MULTI, WATCH, SELECT, SUBSCRIBE, MONITOR,
// CLIENT REPLY and their like) do not belong on a client's shared connections, by Do
// or otherwise: they spoil the one that they were sent on for whoever comes next, as
// without the shim.
//
// A script that itself returns an error that begins with TRYAGAIN, MOVED or such
// cannot be told from a refusal.
package shim
