package shim

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// router finds the node clients of a cluster client, which stay its own: their
// pools are shared with it, their hooks run, and it closes them.
type router struct {
	client *redis.ClusterClient

	mu     sync.Mutex
	nodes  map[string]*redis.Client
	listed bool // the nodes from before the router are in nodes
	spares map[string]*spare
}

// spare is a client for a node that the cluster client has and does not hand out. It
// is open while calls use it.
type spare struct {
	node  *redis.Client
	calls int
}

func newRouter(client *redis.ClusterClient) *router {
	r := &router{client: client, nodes: map[string]*redis.Client{}, spares: map[string]*spare{}}
	client.OnNewNode(r.learn)
	return r
}

func (r *router) learn(node *redis.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	addr := node.Options().Addr
	if r.nodes[addr] == node {
		return
	}
	r.nodes[addr] = node
	node.AddHook(introducer{addr})
}

func (r *router) forget(node *redis.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	addr := node.Options().Addr
	if r.nodes[addr] == node {
		delete(r.nodes, addr)
	}
}

func (r *router) known(addr string) *redis.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.nodes[addr]
}

func (r *router) refresh(ctx context.Context) { r.client.ReloadState(ctx) }

// nodeFor returns the node that a call goes to, until it was sent.
func (r *router) nodeFor(ctx context.Context, c *call) (*redis.Client, error) {
	if c.addr != "" {
		return r.at(ctx, c.addr)
	}
	slot := c.slot
	if slot == noSlot {
		slot = rand.IntN(slots.Count)
	}
	key := slots.TagFor(slots.Slot(slot))
	// A refused read goes to the master: a replica may have lost its own.
	if c.readOnly && c.tried == nil && r.client.Options().ReadOnly {
		return r.client.SlaveForKey(ctx, key)
	}
	return r.client.MasterForKey(ctx, key)
}

// at returns the node at an address that a redirection named.
func (r *router) at(ctx context.Context, addr string) (*redis.Client, error) {
	if node := r.known(addr); node != nil {
		return node, nil
	}
	if node := r.lent(addr); node != nil {
		return node, nil
	}
	if !r.isListed() {
		if err := r.list(ctx); err != nil {
			return nil, err
		}
		if node := r.known(addr); node != nil {
			return node, nil
		}
	}
	if err := r.introduce(ctx, addr); err != nil {
		return nil, err
	}
	if node := r.known(addr); node != nil {
		return node, nil
	}
	// The client has met that node already, before the router came, and does not
	// hand it out unless it has got slots by now.
	if err := r.list(ctx); err != nil {
		return nil, err
	}
	if node := r.known(addr); node != nil {
		return node, nil
	}
	return r.lend(addr), nil
}

func (r *router) isListed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed
}

// list learns the nodes that have slots, also those from before the router.
func (r *router) list(ctx context.Context) error {
	err := r.client.ForEachShard(ctx, func(_ context.Context, node *redis.Client) error {
		r.learn(node)
		return nil
	})
	if err == nil {
		r.mu.Lock()
		r.listed = true
		r.mu.Unlock()
	}
	return err
}

// lent returns the spare client of a node for one more call, if there is one.
func (r *router) lent(addr string) *redis.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.spares[addr]; s != nil {
		s.calls++
		return s.node
	}
	return nil
}

// lend returns a spare client of a node for a call.
func (r *router) lend(addr string) *redis.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.spares[addr]
	if s == nil {
		s = &spare{node: r.newSpare(addr)}
		r.spares[addr] = s
	}
	s.calls++
	return s.node
}

// giveBack ends the use of a node by calls.
func (r *router) giveBack(node *redis.Client, calls int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	addr := node.Options().Addr
	s := r.spares[addr]
	if s == nil || s.node != node {
		return
	}
	if s.calls -= calls; s.calls == 0 {
		delete(r.spares, addr)
		_ = node.Close() // its replies have come
	}
}

// newSpare makes a client for a node as the cluster client would.
func (r *router) newSpare(addr string) *redis.Client {
	of := r.client.Options()
	return of.NewClient(&redis.Options{
		Addr: addr, Dialer: of.Dialer, OnConnect: of.OnConnect, TLSConfig: of.TLSConfig,
		ClientName: of.ClientName, Protocol: of.Protocol, Username: of.Username, Password: of.Password,
		CredentialsProvider: of.CredentialsProvider, CredentialsProviderContext: of.CredentialsProviderContext,
		StreamingCredentialsProvider: of.StreamingCredentialsProvider,
		DialTimeout:                  of.DialTimeout, DialerRetries: of.DialerRetries, DialerRetryTimeout: of.DialerRetryTimeout,
		ReadTimeout: orNever(of.ReadTimeout), WriteTimeout: orNever(of.WriteTimeout),
		ContextTimeoutEnabled: of.ContextTimeoutEnabled,
		PoolSize:              of.PoolSize, PoolTimeout: of.PoolTimeout, MaxActiveConns: of.MaxActiveConns, MaxRetries: -1,
		DisableIdentity: of.DisableIdentity, IdentitySuffix: of.IdentitySuffix,
	})
}

// orNever turns the 0 that cluster options hold for "no time-out" into the -1 by
// which a client's options say it.
func orNever(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// introduce makes the cluster client create its client for the node at addr,
// which has no slots yet or is too new to be in CLUSTER SLOTS. The only way in is
// the one by which it meets such nodes itself: a command that is answered by a
// MOVED. The command is a PING that never leaves; the answer is the introducer's.
func (r *router) introduce(ctx context.Context, addr string) error {
	ping := redis.NewStatusCmd(ctx, "ping")
	ping.SetStepCount(1) // or go-redis asks the server for it
	err := r.client.Process(context.WithValue(ctx, introduction{}, addr), ping)
	var given movedTo
	if errors.As(err, &given) {
		return nil // the client follows no redirections, but it has made the node
	}
	return err
}

// introduction is the key under which a context carries the address of a node
// that is to be introduced.
type introduction struct{}

func isIntroduction(ctx context.Context) bool { return ctx.Value(introduction{}) != nil }

// introducer is the hook of a node that answers introductions.
type introducer struct{ addr string }

func (i introducer) DialHook(next redis.DialHook) redis.DialHook { return next }

func (i introducer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (i introducer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		addr, ok := ctx.Value(introduction{}).(string)
		switch {
		case !ok || cmd.Name() != "ping":
			return next(ctx, cmd)
		case addr == i.addr:
			return nil
		default:
			return movedTo(addr)
		}
	}
}

// movedTo is a MOVED to an address, in the words that go-redis looks for.
type movedTo string

func (m movedTo) Error() string { return "MOVED 0 " + string(m) }
