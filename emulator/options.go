package emulator

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"unicode"

	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/slots"
)

// Option configures a cluster.
type Option func(*options) error

// ErrOption is wrapped by every error that an option causes in Start.
var ErrOption = errors.New("emulator: bad option")

func badOption(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...)
}

type options struct {
	masters    int
	replicas   int
	standalone int
	empty      bool
	version    version.Version
	seed       uint64
	password   string
	log        *slog.Logger

	inOrder bool

	declaredKeysOnly bool
	tcp              bool
	bind             string
	port             int
	announceHost     string
	announceBase     int
	nat              bool
	hostname         string // a format with the node's number

	shape   []topology.Member // of FromNodes
	owned   [][]slots.Range   // by master
	config  map[string]string
	tls     *tls.Config // nil without
	users   string      // the text of an ACL file
	aclFile string      // or its name
	saved   func(n *Node, rdb []byte) error
	observe func(Executed)
	outside map[string]func(at *Node, args []string) (string, error)
}

// Port numbers of nodes that are reached in process only: names, nothing
// listens there.
const inProcessPort = 7000

func defaults() options {
	return options{
		masters: 3, version: version.Default, seed: 1, log: slog.New(slog.DiscardHandler),
		bind: "127.0.0.1", port: inProcessPort,
	}
}

// Masters sets the number of masters, which share the slots evenly: 3 unless
// said otherwise.
func Masters(n int) Option {
	return func(o *options) error {
		if n < 1 || n > 1000 {
			return badOption("%d masters: a cluster has 1 to 1000", n)
		}
		o.masters = n
		return nil
	}
}

// Replicas sets the number of replicas of every master: 0 unless said
// otherwise.
func Replicas(perMaster int) Option {
	return func(o *options) error {
		if perMaster < 0 || perMaster > 100 {
			return badOption("%d replicas per master: a master has 0 to 100", perMaster)
		}
		o.replicas = perMaster
		return nil
	}
}

// Standalone starts one ordinary server instead of a cluster: cluster mode off,
// 16 databases.
func Standalone() Option { return Servers(1) }

// Servers starts n servers that know nothing of each other, each as Standalone
// does.
func Servers(n int) Option {
	return func(o *options) error {
		if n < 1 || n > 1000 {
			return badOption("%d servers: there can be 1 to 1000", n)
		}
		o.standalone = n
		return nil
	}
}

// Empty starts nodes in cluster mode that have not met and own no slots, as
// fresh servers are before "redis-cli --cluster create".
func Empty() Option {
	return func(o *options) error {
		o.empty = true
		return nil
	}
}

// RedisVersion chooses the Redis version to emulate: "6.2", "7.0", "7.2" or
// "7.4", a patch release of these too. Commands, options and replies are those
// of that version. The default is 7.2.
func RedisVersion(v string) Option {
	return func(o *options) error {
		parsed, err := version.Parse(v)
		if err != nil {
			return badOption("%v", err)
		}
		o.version = parsed
		return nil
	}
}

// DeclaredKeysOnly makes every key that a script or function uses without having
// declared it in KEYS an error that names the key. Redis lets such scripts pass
// as long as the key happens to be on the same node; they break when it moves.
func DeclaredKeysOnly() Option {
	return func(o *options) error {
		o.declaredKeysOnly = true
		return nil
	}
}

// Seed makes random choices (node ids, SPOP, elections) repeatable: two runs
// with the same seed make the same ones. The default is 1.
func Seed(seed uint64) Option {
	return func(o *options) error {
		o.seed = seed
		return nil
	}
}

// Password makes clients authenticate, as requirepass does.
func Password(password string) Option {
	return func(o *options) error {
		o.password = password
		return nil
	}
}

// Logger receives what the nodes log. The default discards it.
func Logger(log *slog.Logger) Option {
	return func(o *options) error {
		if log == nil {
			return badOption("the logger is nil")
		}
		o.log = log
		return nil
	}
}

// TCP makes the nodes listen at host, on consecutive ports from port on, or
// each on a free port when port is 0. Without it a cluster is reached in
// process only, through Cluster.Dialer. Beyond loopback it needs a password, of
// Password or of the user default in Users, or ConfigSet("protected-mode", "no");
// the error is ErrUnprotected otherwise.
func TCP(host string, port int) Option {
	return func(o *options) error {
		if host == "" {
			return badOption("the host to listen at is empty; use 127.0.0.1")
		}
		if port < 0 || port > 65535 {
			return badOption("port %d is not between 0 and 65535", port)
		}
		o.tcp, o.bind, o.port = true, host, port
		return nil
	}
}

// InOrder serves clients that come by TCP in the order in which they wrote, on
// Linux, as the one event loop of Redis does: BLPOP sent on one connection
// precedes LPUSH sent on another right after it. It costs some microseconds per
// request. Without it a program has to see that the one is blocked first.
func InOrder() Option {
	return func(o *options) error {
		o.inOrder = true
		return nil
	}
}

// Announce makes the nodes tell clients another host, and consecutive ports
// from portBase on, than those they listen at, for clients behind NAT. An empty
// host or a portBase of 0 leaves that part as it is.
func Announce(host string, portBase int) Option {
	return func(o *options) error {
		if portBase < 0 || portBase > 65535 {
			return badOption("announced port %d is not between 0 and 65535", portBase)
		}
		if err := checkHost("announced host", host); err != nil {
			return err
		}
		o.announceHost, o.announceBase = host, portBase
		return nil
	}
}

// checkHost refuses a host that CLUSTER NODES could not name so that all parsers
// read it: there it stands between blanks, colons and commas.
func checkHost(what, host string) error {
	odd := func(r rune) bool {
		return !(r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune(".-_:", r))
	}
	if strings.ContainsFunc(host, odd) {
		return badOption("%s %q has more than letters, digits, dots, hyphens, underscores and colons in it", what, host)
	}
	return nil
}

// nodes is how many nodes the options ask for.
func (o *options) nodes() int {
	if o.standalone > 0 {
		return o.standalone
	}
	if o.shape != nil {
		return len(o.shape)
	}
	return o.masters * (1 + o.replicas)
}

// check refuses combinations that make no sense.
func (o *options) check() error {
	switch {
	case o.standalone > 0 && (o.empty || o.replicas > 0 || o.shape != nil):
		return badOption("a standalone server has no replicas and meets no others")
	case o.empty && o.shape != nil:
		return badOption("nodes that have not met have no slots")
	case o.tls != nil && !o.tcp:
		return badOption("TLS is for nodes that listen over TCP")
	case o.masters > slots.Count:
		return badOption("%d masters for %d slots", o.masters, slots.Count)
	case o.tcp && o.port != 0 && o.port+o.nodes()-1 > 65535:
		return badOption("%d nodes from port %d on need ports beyond 65535", o.nodes(), o.port)
	case o.announceBase != 0 && o.announceBase+o.nodes()-1 > 65535:
		return badOption("%d nodes announced from port %d on need ports beyond 65535", o.nodes(), o.announceBase)
	}
	return nil
}

// announced is the host clients are told.
func (o *options) announced() string {
	if o.announceHost != "" {
		return o.announceHost
	}
	if ip := net.ParseIP(o.bind); ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return o.bind
}

// reached is the host where the nodes themselves are reached.
func (o *options) reached() string {
	if !o.nat {
		return o.announced()
	}
	inside := *o
	inside.announceHost = ""
	return inside.announced()
}
