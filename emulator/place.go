package emulator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"syscall"

	"github.com/fakecluster/fakecluster/emulator/internal/pipe"
	"github.com/fakecluster/fakecluster/emulator/internal/server"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
)

// place is where a node is: the address it is reached at, the one it announces,
// and what listens there.
type place struct {
	host          string
	port          int
	announcedHost string
	announcedPort int
	hostname      string
	nat           bool
	local         *pipe.Listener
	tcp           net.Listener // nil unless over TCP
}

func (p *place) announced() string {
	return net.JoinHostPort(p.announcedHost, strconv.Itoa(p.announcedPort))
}

func (p *place) addr() string {
	if p.nat {
		return net.JoinHostPort(p.host, strconv.Itoa(p.port))
	}
	return p.announced()
}

func (p *place) close() {
	p.local.Close()
	if p.tcp != nil {
		p.tcp.Close()
	}
}

// newPlace opens the listeners of the node of a number, counted from 1, at a
// port, or for port 0 at a free one.
func (o *options) newPlace(number, port int) (*place, error) {
	p := &place{host: o.reached(), nat: o.nat, announcedHost: o.announced()}
	if o.tcp {
		ln, err := net.Listen("tcp", net.JoinHostPort(o.bind, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("emulator: listening for node %d: %w", number, err)
		}
		p.tcp = ln
		port = ln.Addr().(*net.TCPAddr).Port
		if o.tls != nil {
			p.tcp = tls.NewListener(ln, o.tls)
		}
	}
	p.port, p.announcedPort = port, port
	if o.announceBase != 0 {
		p.announcedPort = o.announceBase + number - 1
	}
	if o.hostname != "" {
		p.hostname = fmt.Sprintf(o.hostname, number)
	}
	p.local = pipe.Listen(&net.TCPAddr{IP: net.ParseIP(p.host), Port: port})
	return p, nil
}

// portOf is the port of the node of a number, 0 for a free one.
func (o *options) portOf(number int) int {
	if o.port == 0 {
		return 0
	}
	return o.port + number - 1
}

// newNode makes a node that answers nobody yet.
func (c *Cluster) newNode() (*Node, error) {
	o := &c.options
	c.made++
	n := &Node{cluster: c, number: c.made}
	n.index.Store(int64(n.number - 1))
	p, err := o.newPlace(n.number, o.portOf(n.number))
	if err != nil {
		return nil, err
	}
	n.home = p.port
	n.place.Store(p)
	source := rand.NewPCG(o.seed, uint64(n.number-1))
	outside := map[string]server.Outside{}
	for name, run := range o.outside {
		outside[name] = func(args []string) (string, error) { return run(n, args) }
	}
	n.server, err = server.NewNode(server.Options{
		Version: o.version, Cluster: o.standalone == 0, Password: o.password, Port: p.announcedPort,
		Rand: rand.New(source), Source: source, Clock: c.clock, Log: o.log.With("node", n.Addr()),
		OnShutdown: n.kill, Dial: c.reach, Harness: c.harness, Outside: outside, Config: o.config, InOrder: o.inOrder,
		DeclaredKeysOnly: o.declaredKeysOnly, Observe: n.observer(), Users: o.users, ACLFile: o.aclFile, Keep: n.keeper(),
	})
	if errors.Is(err, server.ErrUser) {
		p.close()
		return nil, badOption("%v", err)
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("emulator: node %d: %w", n.number, err)
	}
	if p.open() && n.server.DeniesStrangers() {
		p.close()
		return nil, fmt.Errorf("%w: %w at %s: ask for a Password, or set protected-mode to no with ConfigSet", ErrOption, ErrUnprotected, o.bind)
	}
	return n, nil
}

// ErrUnprotected is wrapped, as ErrOption is, by the error of starting nodes that
// listen beyond loopback and ask nobody for a password. Redis starts and turns
// away everyone from elsewhere; here it is known before anyone wonders.
var ErrUnprotected = errors.New("the nodes would be open to other machines")

// open reports whether other machines reach the place.
func (p *place) open() bool {
	return p.tcp != nil && !p.tcp.Addr().(*net.TCPAddr).IP.IsLoopback()
}

// serve lets the node answer at its place.
func (n *Node) serve() error {
	p := n.place.Load()
	if err := n.server.Serve(p.local); err != nil {
		return err
	}
	if p.tcp != nil {
		return n.server.Serve(p.tcp)
	}
	return nil
}

// reopen listens again after the node was down.
func (n *Node) reopen(port int) error {
	p, err := n.cluster.options.newPlace(n.number, port)
	if err != nil {
		return err
	}
	n.place.Store(p)
	return nil
}

func (n *Node) topologyAddr() topology.Addr {
	p := n.place.Load()
	return topology.Addr{
		Host: p.announcedHost, Port: p.announcedPort, BusPort: p.announcedPort + server.BusPortOffset, Hostname: p.hostname,
	}
}

// announces reports whether the node tells clients to connect to addr.
func (n *Node) announces(addr string) bool {
	p := n.place.Load()
	return addr == p.announced() || p.hostname != "" && addr == net.JoinHostPort(p.hostname, strconv.Itoa(p.announcedPort))
}

// dial connects to the node in process.
func (n *Node) dial(ctx context.Context) (net.Conn, error) {
	p := n.place.Load()
	if n.server.Refuses() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: p.local.Addr(), Err: syscall.ECONNREFUSED}
	}
	return p.local.Dial(ctx)
}

func (n *Node) close() {
	if n.server != nil {
		n.server.Close()
	}
	n.place.Load().close()
}

// everyNode is all nodes that have anything to close, and gone is closed when
// those that were removed have nothing any more.
func (c *Cluster) everyNode() (nodes []*Node, gone <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes = slices.Clone(c.first)
	for _, n := range c.Nodes() {
		if !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes, c.gone
}
