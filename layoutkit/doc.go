// Package layoutkit is the Redis side of a program that runs as several replicas:
// messages, chats, contacts, checkpoints, conversations and user data, with the
// locks, turns, schedules and journals that replicas need to share them.
//
// The one idea is the layout of its keys. A cluster runs a script only on keys of
// one slot, and shows KEYS and SCAN one node's share. So in the Cluster layout
// all keys that one script touches share a hash tag, and listings read indexes
// that live in the slot of their records; they are exact while slots move. The
// Legacy layout has flat names for a single server. README.md lists every key of
// both.
//
//	store, err := layoutkit.New(layoutkit.Options{Client: client, Prefix: "mybot"})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	if err := store.Start(ctx); err != nil {
//		return err
//	}
//	messages := layoutkit.Messages[Text](store)
//	saved, err := messages.Save(ctx, "chat-1", layoutkit.Message[Text]{Member: "m1", Score: 12, Value: Text{"hello"}})
//
// # Change all replicas at once
//
// Replicas with different layouts on one prefix see different keyspaces, and their
// turns and locks stop excluding each other. Stop all of them, run Migrate, and
// start all of them with the new layout.
//
// # Nothing here is Redlock
//
// Redis replicates asynchronously, on a cluster as with Sentinel. A failover can
// lose the last acknowledged writes: a lock granted twice, a compare-and-set
// undone, a fence or term given out again. Set min-replicas-to-write 1, which
// makes that rare, give fences and terms to whatever the lock protects, and lean
// on idempotent members and keys for what must not happen twice.
//
// # Errors
//
// Errors are tested with errors.Is and the Err variables. Those of the client are
// wrapped, and say whether the command may have run; see package shim.
//
// # Values and ids
//
// Values are stored as encoding/json writes them, which takes text for UTF-8: keep
// other bytes in a []byte. Ids are any bytes, but must not be empty.
package layoutkit
