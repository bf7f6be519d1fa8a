package server

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// File is all data of the node as Redis writes it into an RDB file.
func (n *Node) File() []byte {
	n.lockIdle()
	defer n.unlock()
	return n.ks.File(n.scripts.functions.code())
}

// Limits are those of the node's values.
func (n *Node) Limits() keyspace.Limits {
	n.lock()
	defer n.unlock()
	return n.ks.Limits
}

// RestoreEntry puts a key of an RDB file in the place of what is there. One
// that has expired is left out.
func (n *Node) RestoreEntry(e keyspace.FileEntry) error {
	if e.DB >= databases || n.clustered && e.DB != 0 {
		return fmt.Errorf("key %q is in database %d, which this server does not have", e.Key, e.DB)
	}
	reply := n.ExecuteIn(e.DB, [][]byte{
		[]byte("RESTORE"), e.Key, strconv.AppendInt(nil, e.ExpireAt, 10), e.Payload, []byte("REPLACE"), []byte("ABSTTL"),
	})
	if len(reply) == 0 || reply[0] == '-' {
		return fmt.Errorf("key %q: %w", e.Key, errors.New(string(reply)))
	}
	return nil
}

// RestoreLibrary loads a library of functions in the place of one of its name.
func (n *Node) RestoreLibrary(code []byte) error {
	reply := n.Execute([][]byte{[]byte("FUNCTION"), []byte("LOAD"), []byte("REPLACE"), code})
	if len(reply) == 0 || reply[0] == '-' {
		return fmt.Errorf("library of functions: %w", errors.New(string(reply)))
	}
	return nil
}
