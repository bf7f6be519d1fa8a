package server

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/config"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// settings are parameters that are looked at with every command, or that have
// another form than their text.
type settings struct {
	maxMemory       int64
	eviction        keyspace.Policy
	evictionSamples int
	clientLimit     int64 // maxmemory-clients in bytes; 0: none
	output          [outputClasses]outputLimit
	idleTimeout     int64 // timeout in seconds; 0: none

	notify   keyspace.Class
	readOnly bool // replica-read-only

	busyThreshold time.Duration // busy-reply-threshold

	observing observing

	minReplicas       int // min-replicas-to-write
	minReplicasMaxLag time.Duration
}

// configure makes the configuration of a new node and keeps what depends on it
// up to date.
func (n *Node) configure(o Options) error {
	n.config = config.New(o.Version)
	n.configureUsers()
	databases := "16"
	if o.Cluster && o.Version.AtLeast(7, 2) {
		databases = "1"
	}
	for name, value := range map[string]string{
		"databases": databases,
		"port":      fmt.Sprint(o.Port), "requirepass": o.Password, "save": "", "cluster-enabled": yesNo(o.Cluster),
		"enable-debug-command": "local", "aclfile": o.ACLFile,
	} {
		if !n.config.Has(name) {
			continue
		}
		if err := n.config.Override(name, value); err != nil {
			return fmt.Errorf("configuring %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Config)) { // so that of two faults the same is told
		if err := n.config.Override(name, o.Config[name]); err != nil {
			return fmt.Errorf("configuring %s: %w", name, err)
		}
	}
	n.config.OnChange("port", n.keepPort)
	n.applyConfig()
	return n.readUsers()
}

// keepPort refuses another port: where a node listens is for whoever started
// it to say.
func (n *Node) keepPort() error {
	if n.config.Int("port") != int64(n.port) {
		return errors.New("Unable to listen on this port. Check server logs.")
	}
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// applyConfig puts all parameters into effect.
func (n *Node) applyConfig() {
	c := n.config
	n.set = settings{
		maxMemory: c.Int("maxmemory"), clientLimit: n.clientLimit(),
		output: outputLimits(c), idleTimeout: c.Int("timeout"),
		notify: keyspace.Class(c.Int("notify-keyspace-events")), readOnly: c.Bool("replica-read-only"),
		busyThreshold:     time.Duration(c.Int("lua-time-limit")) * time.Millisecond,
		observing:         n.observingSettings(),
		minReplicas:       int(c.Int("min-replicas-to-write")),
		minReplicasMaxLag: time.Duration(c.Int("min-replicas-max-lag")) * time.Second,
	}
	if n.ks == nil {
		return
	}
	n.memorySettings()
	n.timesIdle.Store(n.set.idleTimeout > 0)
	if n.set.idleTimeout > 0 {
		n.armWatch()
	}
	n.maxBulk.Store(c.Int("proto-max-bulk-len"))
	n.maxInput.Store(c.Int("client-query-buffer-limit"))
	n.trackingSettings()
	l := &n.ks.Limits
	for _, p := range []struct {
		name  string
		limit *int
	}{
		{"hash-max-listpack-entries", &l.HashMaxListpackEntries},
		{"hash-max-listpack-value", &l.HashMaxListpackValue},
		{"list-max-listpack-size", &l.ListMaxListpackSize},
		{"list-compress-depth", &l.ListCompressDepth},
		{"set-max-intset-entries", &l.SetMaxIntsetEntries},
		{"set-max-listpack-entries", &l.SetMaxListpackEntries},
		{"set-max-listpack-value", &l.SetMaxListpackValue},
		{"zset-max-listpack-entries", &l.ZSetMaxListpackEntries},
		{"zset-max-listpack-value", &l.ZSetMaxListpackValue},
		{"stream-node-max-bytes", &l.StreamNodeMaxBytes},
		{"stream-node-max-entries", &l.StreamNodeMaxEntries},
		{"hll-sparse-max-bytes", &l.HLLSparseMaxBytes},
	} {
		if c.Has(p.name) {
			*p.limit = int(c.Int(p.name))
		}
	}
	l.MaxStringBytes = c.Int("proto-max-bulk-len")
	l.DumpUncompressed = !c.Bool("rdbcompression")
	if n.topo != nil {
		n.topo.Settings = n.topologySettings()
		n.topo.SettingsChanged(n.now.UnixMilli())
		n.announce()
	}
}
