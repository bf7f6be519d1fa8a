package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/redcon"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

var migrateCommands = map[string]command.Handler{"migrate": migrate}

// migration is a MIGRATE to be carried out.
type migration struct {
	addr           string
	db             int
	targetDB       int64
	timeout        time.Duration
	copy, replace  bool
	user, password []byte
	keys           [][]byte
}

func parseMigrate(c *command.Call) (*migration, string) {
	m := &migration{
		addr: net.JoinHostPort(string(c.Args[1]), string(c.Args[2])), db: c.DB.ID(),
		keys: [][]byte{bytes.Clone(c.Args[3])},
	}
options:
	for i := 6; i < len(c.Args); i++ {
		left := len(c.Args) - 1 - i
		switch {
		case is(c.Args[i], "copy"):
			m.copy = true
		case is(c.Args[i], "replace"):
			m.replace = true
		case is(c.Args[i], "auth") && left >= 1:
			m.user, m.password = nil, bytes.Clone(c.Args[i+1])
			i++
			c.Redact(i)
		case is(c.Args[i], "auth2") && left >= 2:
			m.user, m.password = bytes.Clone(c.Args[i+1]), bytes.Clone(c.Args[i+2])
			c.Redact(i + 1)
			c.Redact(i + 2)
			i += 2
		case is(c.Args[i], "keys"):
			if len(c.Args[3]) != 0 {
				return nil, "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"
			}
			m.keys = nil
			for _, key := range c.Args[i+1:] {
				m.keys = append(m.keys, bytes.Clone(key))
			}
			break options
		default:
			return nil, errSyntax
		}
	}
	timeout, ok := number.ParseInt(c.Args[5])
	if !ok {
		return nil, errNotInteger
	}
	if m.targetDB, ok = number.ParseInt(c.Args[4]); !ok {
		return nil, errNotInteger
	}
	if timeout <= 0 {
		timeout = 1000
	}
	m.timeout = time.Duration(min(timeout, int64(time.Hour/time.Millisecond))) * time.Millisecond
	return m, ""
}

// migrate moves keys to another server. The node stands still meanwhile, as
// Redis does, but the cluster's network must too: so a command on its own is
// carried out after the node's lock has been released and the cluster's taken.
func migrate(c *command.Call) {
	s := c.Client.(*session)
	m, msg := parseMigrate(c)
	if msg != "" {
		c.Reply.Error(msg)
		return
	}
	if c.DenyBlocking || s.conn == nil {
		s.node.migrate(m, c.Reply)
		return
	}
	spec := c.Spec
	s.finishLater(spec.Name, func() {
		reply := s.newReply()
		s.node.exclusively(func() {
			s.node.migrate(m, reply)
			if reply.Errors > 0 {
				s.node.stats.countError(reply.LastError)
				s.node.stats.perCommand[spec.ID].failed++
			}
		})
		s.answerLate(reply)
	})
}

// exclusively runs do under the node's lock while the cluster's network is at
// rest.
func (n *Node) exclusively(do func()) {
	if n.cluster != nil {
		n.cluster.mu.Lock()
		defer n.cluster.mu.Unlock()
	}
	n.lock()
	defer n.unlock()
	do()
}

// transfer is a key on its way.
type transfer struct {
	key     []byte
	request []byte
}

func (n *Node) migrate(m *migration, reply resp.Sink) {
	transfers := n.pack(m)
	if len(transfers) == 0 {
		reply.Status("NOKEY")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.timeout)
	defer cancel()
	conn, err := n.connect(ctx, m.addr)
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown):
		reply.Error("IOERR error or timeout connecting to the client")
		return
	case err != nil:
		// Redis connects in the background and notices when it writes.
		reply.Error("IOERR error or timeout writing to target instance")
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(m.timeout))
	arrived, failure := m.send(conn, transfers)
	if !m.copy && len(arrived) > 0 {
		effect := [][]byte{[]byte("DEL")}
		db := n.ks.DB(m.db)
		for _, key := range arrived {
			db.Delete(key)
			db.Modified(key)
			n.ks.Dirty++
			effect = append(effect, key)
		}
		if n.replicating() {
			n.effects.add(m.db, effect)
		}
	}
	if failure != "" {
		reply.Error(failure)
		return
	}
	reply.Status("OK")
}

// pack builds the requests that create the keys at the target. Keys that are
// not here are left out.
func (n *Node) pack(m *migration) []transfer {
	var transfers []transfer
	db := n.ks.DB(m.db)
	name := "RESTORE"
	if n.clustered {
		name = "RESTORE-ASKING"
	}
	for _, key := range m.keys {
		value := db.Read(key)
		if value == nil {
			continue
		}
		ttl := int64(0)
		if at, _ := db.ExpireAt(key); at != 0 {
			ttl = max(1, at-n.ks.Now())
		}
		words := 4
		if m.replace {
			words++
		}
		b := redcon.AppendArray(nil, words)
		b = redcon.AppendBulkString(b, name)
		b = redcon.AppendBulk(b, key)
		b = redcon.AppendBulkString(b, strconv.FormatInt(ttl, 10))
		b = redcon.AppendBulk(b, keyspace.Dump(value, &n.ks.Limits))
		if m.replace {
			b = redcon.AppendBulkString(b, "REPLACE")
		}
		transfers = append(transfers, transfer{key, b})
	}
	return transfers
}

// send hands the keys over and returns those that have arrived. failure is the
// error to answer with if some did not.
func (m *migration) send(conn net.Conn, transfers []transfer) (arrived [][]byte, failure string) {
	var out []byte
	preamble := 0
	if m.password != nil {
		login := [][]byte{[]byte("AUTH"), m.password}
		if m.user != nil {
			login = [][]byte{[]byte("AUTH"), m.user, m.password}
		}
		out = appendCommand(out, login...)
		preamble++
	}
	if m.targetDB != 0 {
		out = appendCommand(out, []byte("SELECT"), strconv.AppendInt(nil, m.targetDB, 10))
		preamble++
	}
	for _, t := range transfers {
		out = append(out, t.request...)
	}
	// The target may answer before it has read everything.
	written := make(chan error, 1)
	go func() {
		_, err := conn.Write(out)
		written <- err
	}()
	defer func() {
		conn.Close()
		<-written
	}()
	r := bufio.NewReader(conn)
	for range preamble {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, "IOERR error or timeout reading to target instance"
		}
		if line[0] == '-' && failure == "" {
			failure = targetError(line)
		}
	}
	welcome := failure == ""
	for _, t := range transfers {
		line, err := r.ReadString('\n')
		if err != nil {
			return arrived, "IOERR error or timeout reading to target instance"
		}
		switch {
		case line[0] != '-' && welcome: // also behind one that was refused
			arrived = append(arrived, t.key)
		case line[0] == '-' && failure == "":
			failure = targetError(line)
		}
	}
	return arrived, failure
}

func targetError(line string) string {
	return fmt.Sprintf("ERR Target instance replied with error: %s", strings.TrimRight(line[1:], "\r\n"))
}

func appendCommand(b []byte, args ...[]byte) []byte {
	b = redcon.AppendArray(b, len(args))
	for _, arg := range args {
		b = redcon.AppendBulk(b, arg)
	}
	return b
}
