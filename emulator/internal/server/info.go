package server

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// infoFiles hold the sections and fields of INFO as each version prints them,
// with the values of those this server has nothing to say about.
//
//go:embed infofields/*.txt
var infoFiles embed.FS

type infoSection struct {
	name   string
	fields []infoField
}

type infoField struct{ name, value string }

var infoLayouts = map[string]func() []infoSection{
	"7.0": sync.OnceValue(func() []infoSection { return readInfoLayout("7.0") }),
	"7.2": sync.OnceValue(func() []infoSection { return readInfoLayout("7.2") }),
	"7.4": sync.OnceValue(func() []infoSection { return readInfoLayout("7.4") }),
}

// readInfoLayout reads an embedded file; that it is there is tested.
func readInfoLayout(v string) []infoSection {
	text, err := infoFiles.ReadFile("infofields/" + v + ".txt")
	if err != nil {
		panic(err)
	}
	var layout []infoSection
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# "); ok {
			layout = append(layout, infoSection{name: name})
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		last := &layout[len(layout)-1]
		last.fields = append(last.fields, infoField{name, value})
	}
	return layout
}

func (n *Node) infoLayout() []infoSection {
	switch {
	case n.version.AtLeast(7, 4):
		return infoLayouts["7.4"]()
	case n.version.AtLeast(7, 2):
		return infoLayouts["7.2"]()
	}
	return infoLayouts["7.0"]()
}

// notByDefault are the sections a plain INFO leaves out.
var notByDefault = map[string]bool{"commandstats": true, "latencystats": true}

func info(c *command.Call) {
	n := c.Client.(*session).node
	wanted := map[string]bool{}
	for _, arg := range c.Args[1:] {
		wanted[strings.ToLower(string(arg))] = true
	}
	plain := len(wanted) == 0 || wanted["default"]
	whole := wanted["all"] || wanted["everything"]
	c.Reply.Verbatim("txt", n.info(func(section string) bool {
		name := strings.ToLower(section)
		return wanted[name] || whole || plain && !notByDefault[name]
	}))
}

// info prints the sections that are wanted.
func (n *Node) info(wanted func(section string) bool) string {
	var b strings.Builder
	values := n.infoValues()
	for _, section := range n.infoLayout() {
		if !wanted(section.name) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("# " + section.name + "\r\n")
		switch section.name {
		case "Commandstats":
			n.writeCommandStats(&b)
			continue
		case "Latencystats":
			n.writeLatencyStats(&b)
			continue
		case "Errorstats":
			for _, code := range slices.Sorted(maps.Keys(n.stats.errors)) {
				fmt.Fprintf(&b, "errorstat_%s:count=%d\r\n", code, n.stats.errors[code])
			}
			continue
		case "Replication":
			n.writeReplication(&b)
			continue
		case "Keyspace":
			n.writeKeyspace(&b)
			continue
		}
		for _, f := range section.fields {
			value := f.value
			if v, ok := values[f.name]; ok {
				value = fmt.Sprint(v)
			}
			b.WriteString(f.name + ":" + value + "\r\n")
		}
	}
	return b.String()
}

// infoValues are the fields this server knows something about.
func (n *Node) infoValues() map[string]any {
	st := &n.stats
	uptime := int64(n.now.Sub(n.started).Seconds())
	memory := n.usedMemory()
	st.peakMemory = max(st.peakMemory, memory)
	maxMemory := n.config.Int("maxmemory")
	values := map[string]any{
		"redis_version": n.version, "redis_mode": n.mode(), "os": runtime.GOOS + " " + runtime.GOARCH,
		"process_id": os.Getpid(), "run_id": n.runID, "tcp_port": n.port,
		"server_time_usec": n.now.UnixMicro(), "uptime_in_seconds": uptime, "uptime_in_days": uptime / 86400,
		"lru_clock": n.now.Unix() & (1<<24 - 1), "hz": n.config.String("hz"), "configured_hz": n.config.String("hz"),
		"listener0": fmt.Sprintf("name=tcp,bind=%s,port=%d", n.config.String("bind"), n.port),

		"connected_clients": len(n.sessions), "maxclients": n.config.String("maxclients"),
		"blocked_clients": n.blockedClients(), "total_blocking_keys": len(n.blocked.queues),
		"pubsub_clients": n.pubsubClients(), "watching_clients": n.watchingClients(), "total_watched_keys": len(n.watched),

		"used_memory": memory, "used_memory_human": human(memory), "used_memory_dataset": n.ks.UsedMemory(),
		"used_memory_rss": memory, "used_memory_rss_human": human(memory),
		"used_memory_peak": st.peakMemory, "used_memory_peak_human": human(st.peakMemory),
		"total_system_memory_human": "0B", "maxmemory": maxMemory, "maxmemory_human": human(maxMemory),
		"maxmemory_policy":         n.config.String("maxmemory-policy"),
		"number_of_cached_scripts": n.scripts.count(), "number_of_functions": n.scripts.functionCount(), "number_of_libraries": n.scripts.libraryCount(),

		"rdb_changes_since_last_save": n.ks.Dirty - n.lastSave.changes, "rdb_last_save_time": n.lastSave.at.Unix(),
		"rdb_saves": n.lastSave.count, "rdb_last_bgsave_status": okOrErr(n.lastSave.failed),

		"total_connections_received": st.connections, "total_commands_processed": st.commands,
		"rejected_connections": st.refused, "expired_keys": n.ks.Stats.Expired, "evicted_keys": st.evicted, "evicted_clients": st.evictedClients, "lazyfreed_objects": n.ks.Stats.LazyFreed, "expired_subkeys": n.ks.Stats.ExpiredFields,
		"keyspace_hits": n.ks.Stats.Hits, "keyspace_misses": n.ks.Stats.Misses,
		"pubsub_channels": len(n.pubsub.channels), "pubsub_patterns": len(n.pubsub.patterns),
		"pubsubshard_channels": len(n.pubsub.shards), "total_error_replies": st.errorReplies,

		"tracking_clients": n.tracking.clients, "tracking_total_keys": n.tracking.readers.Len(),
		"tracking_total_items": n.tracking.items, "tracking_total_prefixes": len(n.tracking.prefixes),

		"cluster_enabled": boolInt(n.clustered),
	}
	return values
}

func (n *Node) mode() string {
	if n.clustered {
		return "cluster"
	}
	return "standalone"
}

func okOrErr(failed bool) string {
	if failed {
		return "err"
	}
	return "ok"
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (n *Node) blockedClients() int {
	count := 0
	for _, s := range n.sessions {
		if s.waiting != nil {
			count++
		}
	}
	return count
}

func (n *Node) pubsubClients() int {
	count := 0
	for _, s := range n.sessions {
		count += boolInt(s.subs.any())
	}
	return count
}

func (n *Node) watchingClients() int {
	count := 0
	for _, s := range n.sessions {
		count += boolInt(len(s.tx.watched) > 0)
	}
	return count
}

func (n *Node) writeCommandStats(b *strings.Builder) {
	for _, spec := range n.table.Rows() {
		cs := n.stats.perCommand[spec.ID]
		if cs.calls+cs.rejected+cs.failed == 0 {
			continue
		}
		usec, perCall := cs.spent.Microseconds(), 0.0
		if cs.calls > 0 {
			perCall = float64(usec) / float64(cs.calls)
		}
		fmt.Fprintf(b, "cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d\r\n",
			spec.Name, cs.calls, usec, perCall, cs.rejected, cs.failed)
	}
}

func (n *Node) writeKeyspace(b *strings.Builder) {
	for i := range n.ks.Databases() {
		db := n.ks.DB(i)
		if db.Len() == 0 {
			continue
		}
		fmt.Fprintf(b, "db%d:keys=%d,expires=%d,avg_ttl=%d", i, db.Len(), db.Volatile(), db.AverageTTL())
		if n.version.AtLeast(7, 4) {
			fmt.Fprintf(b, ",subexpiry=%d", db.TimedHashes())
		}
		b.WriteString("\r\n")
	}
}

// human prints bytes as INFO does: "895.14K".
func human(bytes int64) string {
	units := []string{"K", "M", "G", "T", "P"}
	if bytes < 1024 {
		return fmt.Sprintf("%dB", bytes)
	}
	value, unit := float64(bytes)/1024, 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.2f%s", value, units[unit])
}
