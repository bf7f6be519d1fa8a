package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/hostile"
)

// What a connection is made with, by the bits of a byte.
const (
	overTCP = 1 << iota
	withPassword
	withRESP3
	inPieces
	inCluster
	inOrder
	unusedPipe // the client does not close its half: the node is closed instead
)

// conversations are what the fuzzer begins with: requests of every form, and
// what is wrong in every way the parser knows.
var conversations = []string{
	"PING\r\n", "ping \"a\\x00b\" 'c'\n", "SET k \"v\r\n", "*1\r\n$4\r\nPING\r\n", "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n",
	"*-1\r\n*0\r\n\r\n*1\r\n$4\r\nPING\r\n", "*1\r\n$-1\r\n", "*1\r\n+PING\r\n", "*abc\r\n", "*2147483648\r\n", "*1\r\n$536870913\r\n",
	"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nva", "*1\r\n$4\r\nQUIT\r\n*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\n",
	"MULTI\r\nSET a 1\r\nGET\r\nEXEC\r\n", "WATCH a\r\nMULTI\r\nINCR a\r\nEXEC\r\nDISCARD\r\n", "SUBSCRIBE a b\r\nPING\r\nGET a\r\nUNSUBSCRIBE\r\nPING\r\n",
	"HELLO 3\r\nPSUBSCRIBE *\r\nPUBLISH a b\r\nHELLO 2\r\nRESET\r\n", "HELLO 3 AUTH default secret SETNAME x\r\nCLIENT TRACKING ON BCAST\r\nSET a 1\r\n",
	"AUTH secret\r\nBLPOP q 0\r\nRPUSH q 1\r\n", "CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY SKIP\r\nPING\r\nCLIENT REPLY ON\r\n",
	"MONITOR\r\nSET a \"\\xff\\n\"\r\nRESET\r\nPING\r\n", "SELECT 5\r\nSWAPDB 0 5\r\nCLIENT LIST\r\n", "ASKING\r\nREADONLY\r\nGET {a}\r\nCLUSTER SLOTS\r\n",
	"CLIENT KILL ID 1\r\nPING\r\n", "WAIT 1 0\r\nPING\r\n", "XREAD BLOCK 0 STREAMS s $\r\n", "COMMAND DOCS GET\r\nCOMMAND GETKEYS MGET a b\r\n",
	"CLIENT PAUSE 100000 WRITE\r\nSET a 1\r\n", "SYNC\r\nSET a 1\r\n", "CLIENT NO-EVICT ON\r\nOBJECT HELP\r\nDEBUG JMAP\r\n",
	strings.Repeat("*1\r\n", 30), strings.Repeat("PING\r\n", 300), "\x00\xff\xfe\r\n", "*1\r\n$4\r\nPI\x00G\r\n", strings.Repeat("x", 70000), "*11\r\n$16385\r\n",
}

// tame reports whether bytes may be sent. Whoever may run scripts, debug a node
// or end it can hold it up for as long as he likes, and Redis too.
func tame(sent []byte) bool {
	lower := bytes.ToLower(sent)
	for _, word := range []string{"eval", "fcall", "function", "script", "debug", "shutdown", "migrate"} {
		if bytes.Contains(lower, []byte(word)) {
			return false
		}
	}
	return true
}

// FuzzConnection sends bytes to a node. Whatever they are, the connection ends,
// what came back is made of whole replies, and the node answers others.
func FuzzConnection(f *testing.F) {
	for i, sent := range conversations {
		for _, how := range []int{0, overTCP, withPassword | inPieces, withRESP3 | inCluster, overTCP | inOrder | inPieces, unusedPipe} {
			if len(sent) < 1000 || i%6 == how%6 {
				f.Add([]byte(sent), byte(how))
			}
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte, how byte) {
		if !tame(sent) {
			t.Skip("it asks for more than bytes can be blamed for")
		}
		hostile.Bound(t)
		c := start(t, append(connectionOptions(how), emulator.Logger(hostile.Logger(t)))...)
		defer c.Close()
		conn := dialFor(t, c, how)
		defer conn.Close()
		if how&withRESP3 != 0 {
			io.WriteString(conn, "HELLO 3\r\n")
		}
		received, raw := make(chan error, 1), bytes.Contains(bytes.ToLower(sent), []byte("sync"))
		go func() { received <- readAll(conn, raw) }()
		for len(sent) > 0 {
			piece := len(sent)
			if how&inPieces != 0 {
				piece = min(piece, 1+len(sent)%7)
			}
			if _, err := conn.Write(sent[:piece]); err != nil {
				break // it has been closed
			}
			sent = sent[piece:]
		}
		if how&unusedPipe != 0 {
			c.Close()
		} else {
			conn.(interface{ CloseWrite() error }).CloseWrite()
		}
		if err := <-received; err != nil {
			t.Fatal(failure(err))
		}
		if how&unusedPipe == 0 {
			lives(t, c, how)
		}
	})
}

func connectionOptions(how byte) []emulator.Option {
	opts := []emulator.Option{emulator.RedisVersion("7.0")}
	if how&overTCP != 0 {
		opts = append(opts, emulator.TCP("127.0.0.1", 0))
	}
	if how&withPassword != 0 {
		opts = append(opts, emulator.Password("secret"))
	}
	if how&inCluster == 0 {
		opts = append(opts, emulator.Standalone())
	}
	if how&inOrder != 0 {
		opts = append(opts, emulator.InOrder())
	}
	return opts
}

func dialFor(t *testing.T, c *emulator.Cluster, how byte) net.Conn {
	t.Helper()
	dial := c.Dialer()
	if how&overTCP != 0 {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(context.Background(), "tcp", c.Node(0).Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(forEver)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// readAll reads replies up to the end of the connection, or anything if it is
// raw.
func readAll(conn net.Conn, raw bool) error {
	r := bufio.NewReader(conn)
	for {
		_, err := readReply(r)
		switch {
		case err == io.EOF, errors.Is(err, syscall.ECONNRESET), raw && errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case raw && !errors.Is(err, os.ErrDeadlineExceeded):
			continue // what follows is no reply, up to the end
		case err != nil:
			return err
		}
	}
}

// lives fails the test unless a new client is answered.
func lives(t *testing.T, c *emulator.Cluster, how byte) {
	t.Helper()
	n := c.Node(0)
	if _, err := n.Do("CLIENT", "UNPAUSE"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Do("CONFIG", "SET", "maxclients", "10000"); err != nil {
		t.Fatal(err)
	}
	conn := dialFor(t, c, how)
	defer conn.Close()
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	reply, err := readReply(bufio.NewReader(conn))
	if err != nil || !strings.Contains(reply, "PONG") && !strings.Contains(reply, "NOAUTH") && !strings.Contains(reply, "NOPERM") {
		t.Fatalf("the node says %q, %v to another client", reply, failure(err))
	}
}
