package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// orderUnsubscribed sorts the confirmations of an UNSUBSCRIBE without channels,
// which Redis sends in the order of a hash table: channels and counts apart.
func orderUnsubscribed(args []string, replies []Reply) []Reply {
	if len(args) > 1 || !strings.HasSuffix(strings.ToUpper(args[0]), "UNSUBSCRIBE") {
		return replies
	}
	var channels []Reply
	for _, r := range replies {
		if len(r.Items) != 3 {
			return replies
		}
		channels = append(channels, r.Items[1])
	}
	sortReplies(channels)
	out := make([]Reply, len(replies))
	for i, r := range replies {
		r.Items = []Reply{r.Items[0], channels[i], r.Items[2]}
		out[i] = r
	}
	return out
}

// maskedFields forgives the values that follow the given names, at any depth.
func maskedFields(names ...string) func(*check) bool {
	return func(c *check) bool { return mask(c.a, names).equal(mask(c.b, names)) }
}

func mask(r Reply, names []string) Reply {
	if len(r.Items) == 0 {
		return r
	}
	items := slices.Clone(r.Items)
	for i, item := range items {
		items[i] = mask(item, names)
		if i > 0 && slices.Contains(names, r.Items[i-1].Text) {
			items[i] = shape(item)
		}
	}
	r.Items = items
	return r
}

// streamTimes forgives the times in replies about streams: idle ones by name,
// points in time by their size, IDs made of them too, wherever they stand.
func streamTimes(c *check) bool {
	clean := func(r Reply) Reply {
		return mask(r, []string{"idle", "inactive"}).transform(func(r Reply) Reply {
			if millis, _, _ := strings.Cut(r.Text, "-"); len(millis) == len("1700000000000") && isDigits(millis) {
				r.Text = "<time>"
			}
			return r
		})
	}
	return clean(c.a).equal(clean(c.b))
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// pendingTimes forgives the idle times of XPENDING's extended form.
func pendingTimes(c *check) bool {
	strip := func(r Reply) Reply {
		r.Items = slices.Clone(r.Items)
		for i, entry := range r.Items {
			if len(entry.Items) == 4 && entry.Items[2].Kind == ':' {
				entry.Items = slices.Clone(entry.Items)
				entry.Items[2].Text = ""
				r.Items[i] = entry
			}
		}
		return r
	}
	return strip(c.a).equal(strip(c.b))
}

// sameLines compares texts line by line after simplify, and notes the first
// lines that differ.
func (c *check) sameLines(separator string, simplify func(line string) string) bool {
	if c.a.Kind != c.b.Kind {
		return false
	}
	linesA, linesB := strings.Split(c.a.Text, separator), strings.Split(c.b.Text, separator)
	for i := range max(len(linesA), len(linesB)) {
		var a, b string
		if i < len(linesA) {
			a = simplify(linesA[i])
		}
		if i < len(linesB) {
			b = simplify(linesB[i])
		}
		if a != b || i >= len(linesA) || i >= len(linesB) {
			c.note = fmt.Sprintf(", line %d: %q is %q", i+1, a, b)
			return false
		}
	}
	return true
}

// clientFields are the fields of CLIENT LIST that must agree; the others must
// be there, in order.
var clientFields = []string{"name", "flags", "db", "sub", "psub", "ssub", "multi", "cmd", "user", "resp", "lib-name", "lib-ver"}

// clientLines compares CLIENT LIST and CLIENT INFO without the connections
// that real Redis keeps for a while to nodes it has migrated keys to.
func clientLines(c *check) bool {
	clean := func(r Reply) Reply {
		var lines []string
		for line := range strings.Lines(strings.TrimPrefix(r.Text, "txt:")) {
			if strings.Contains(line, " cmd=restore-asking ") {
				continue
			}
			// u is a client whose wait has just ended, until the event loop turns.
			line = strings.Replace(line, " flags=u ", " flags=N ", 1)
			lines = append(lines, cleanFields(line, " ", "=", clientFields))
		}
		slices.Sort(lines)
		r.Text = strings.Join(lines, "")
		return r
	}
	return clean(c.a).equal(clean(c.b))
}

// cleanFields blanks the values of a line of name=value fields but for those
// kept.
func cleanFields(line, separator, equals string, kept []string) string {
	fields := strings.Split(line, separator)
	for i, f := range fields {
		name, value, found := strings.Cut(f, equals)
		if found && !slices.Contains(kept, name) {
			fields[i] = name + equals + strings.Repeat("\n", strings.Count(value, "\n"))
		}
	}
	return strings.Join(fields, separator)
}

// localParameters are CONFIG parameters that name a machine, a process or how
// the target was started.
var localParameters = []string{
	"port", "bind", "dir", "pidfile", "logfile", "cluster-port", "tls-port", "unixsocket", "maxclients",
	"cluster-config-file", "cluster-node-timeout", "cluster-announce-ip", "cluster-announce-port", "cluster-announce-bus-port",
	"enable-debug-command", "enable-protected-configs", "save", "repl-diskless-sync-delay", "daemonize", "proc-title-template",
	"server_cpulist", "supervised", "always-show-logo", "loglevel", "io-threads",
}

func configPairs(c *check) bool {
	a, b := mask(c.a, localParameters), mask(c.b, localParameters)
	return sortedPairs(a).equal(sortedPairs(b))
}

// infoFields are the fields of INFO whose values must agree.
var infoFields = []string{
	"redis_version", "redis_mode", "arch_bits", "blocked_clients", "tracking_clients", "cluster_enabled", "role",
	"connected_slaves", "maxmemory_policy", "loading", "aof_enabled", "expired_keys", "evicted_keys", "evicted_clients",
	"pubsub_channels", "pubsub_patterns", "number_of_cached_scripts", "number_of_functions", "number_of_libraries", "maxmemory_human", "maxmemory",
}

// infoText compares INFO: the same sections and fields in the same order, and
// the values that both can know.
func infoText(c *check) bool {
	c.a.Text, c.b.Text = sortStatistics(c.a.Text), sortStatistics(c.b.Text)
	return c.sameLines("\r\n", func(line string) string {
		name, value, _ := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(name, "db"):
			return name + ":" + cleanFields(value, ",", "=", []string{"keys", "expires"})
		case strings.HasPrefix(name, "errorstat_"):
			return line
		case strings.HasPrefix(name, "cmdstat_"):
			return name + ":" + cleanFields(value, ",", "=", []string{"rejected_calls", "failed_calls"})
		}
		return cleanFields(line, "\x00", ":", infoFields)
	})
}

// sortStatistics sorts the lines about commands, which come in hash table
// order, without those of the runner's own doing.
func sortStatistics(info string) string {
	lines := slices.DeleteFunc(strings.Split(info, "\r\n"), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.ContainsFunc(rejoining, func(command string) bool {
			return name == "cmdstat_"+command || name == "latency_percentiles_usec_"+command
		})
	})
	isStatistic := func(line string) bool {
		return strings.HasPrefix(line, "cmdstat_") || strings.HasPrefix(line, "latency_percentiles_usec_")
	}
	for start := 0; start < len(lines); start++ {
		end := start
		for end < len(lines) && isStatistic(lines[end]) {
			end++
		}
		slices.Sort(lines[start:end])
		start = end
	}
	return strings.Join(lines, "\r\n")
}

// commandTable compares COMMAND and COMMAND INFO: subcommands and the commands
// of the whole table come in hash table order.
func commandTable(c *check) bool { return sortTables(c.a).equal(sortTables(c.b)) }

func sortTables(r Reply) Reply {
	items := make([]Reply, len(r.Items))
	nested := len(r.Items) > 0
	for i, item := range r.Items {
		items[i] = sortTables(item)
		nested = nested && item.isAggregate()
	}
	if nested {
		sortReplies(items)
	}
	r.Items = items
	return r
}

// commandDocs compares COMMAND DOCS: names and documents alternate, in hash
// table order, as do subcommands within.
func commandDocs(c *check) bool { return sortDocs(c.a).equal(sortDocs(c.b)) }

func sortDocs(r Reply) Reply {
	r.Items = slices.Clone(r.Items)
	for i := 1; i < len(r.Items); i += 2 {
		document := r.Items[i]
		document.Items = slices.Clone(document.Items)
		for j := 1; j < len(document.Items); j += 2 {
			if document.Items[j-1].Text == "subcommands" {
				document.Items[j] = sortDocs(document.Items[j])
			}
		}
		r.Items[i] = document
	}
	return sortedPairs(r)
}

// memoryUsage accepts two sizes when neither is more than twice the other. Of
// a hash table Redis samples a few random elements, of a list the first nodes;
// then it is any size.
func memoryUsage(c *check) bool {
	a, okA := c.a.number()
	b, okB := c.b.number()
	sampled := c.hashed() || slices.ContainsFunc(c.probes, func(r Reply) bool { return r.Text == "quicklist" })
	return okA && okB && (sampled || a <= 2*b && b <= 2*a)
}

// sameFieldNames compares the names of a flat list of names and values.
func sameFieldNames(c *check) bool {
	names := func(r Reply) Reply {
		r.Items = slices.Clone(r.Items)
		for i := 1; i < len(r.Items); i += 2 {
			r.Items[i] = Reply{}
		}
		return r
	}
	return names(c.a).equal(names(c.b))
}

// debugObject compares DEBUG OBJECT without address and clock.
func debugObject(c *check) bool {
	kept := []string{"refcount", "encoding", "ql_nodes", "ql_listpack_max", "ql_compressed"}
	clean := func(r Reply) Reply {
		r.Text = cleanFields(r.Text, " ", ":", kept)
		return r
	}
	return clean(c.a).equal(clean(c.b))
}

// slowlogEntries compares the commands of SLOWLOG GET: id, time, duration and
// the client's address are masked.
func slowlogEntries(c *check) bool {
	strip := func(r Reply) Reply {
		r.Items = slices.Clone(r.Items)
		for i, entry := range r.Items {
			entry.Items = slices.Clone(entry.Items)
			for j := range entry.Items {
				if j < 3 || j == 4 {
					entry.Items[j] = shape(entry.Items[j])
				}
			}
			r.Items[i] = entry
		}
		return r
	}
	return strip(c.a).equal(strip(c.b))
}

// sameLastLine compares what stands under a random drawing.
func sameLastLine(c *check) bool {
	last := func(r Reply) string {
		lines := strings.Split(strings.TrimSuffix(r.Text, "\n"), "\n")
		return lines[len(lines)-1]
	}
	return c.a.Kind == c.b.Kind && last(c.a) == last(c.b)
}

// clusterNodes compares CLUSTER NODES and CLUSTER REPLICAS. By now addresses
// and ids are names; ping and pong times and the bus port remain.
func clusterNodes(c *check) bool {
	clean := func(text string) Reply {
		lines := Reply{Kind: '*'}
		text = strings.TrimPrefix(text, "txt:") // of a verbatim string
		for line := range strings.Lines(text) {
			fields := strings.Fields(line)
			if len(fields) >= 8 {
				addr, _, _ := strings.Cut(fields[1], "@")
				fields[1], fields[4], fields[5] = addr, "", ""
			}
			lines.Items = append(lines.Items, Reply{Kind: '+', Text: strings.Join(fields, " ")})
		}
		sortReplies(lines.Items)
		return lines
	}
	if c.a.Kind == '*' { // one bulk per replica
		return c.a.Kind == c.b.Kind && clean(strings.Join(c.a.texts(), "\n")).equal(clean(strings.Join(c.b.texts(), "\n")))
	}
	return c.a.Kind == c.b.Kind && clean(c.a.Text).equal(clean(c.b.Text))
}

// withoutPorts replaces the ports of a side's nodes by their index.
func withoutPorts(s *side, r Reply) Reply {
	return r.transform(func(r Reply) Reply {
		if r.Kind != ':' {
			return r
		}
		for node := range s.Addrs {
			if r.Text == s.port(node) {
				r.Text = "<port" + strconv.Itoa(node) + ">"
			}
		}
		return r
	})
}

func clusterSlots(c *check) bool {
	c.a, c.b = withoutPorts(c.x.a, c.a), withoutPorts(c.x.b, c.b)
	return unordered(c)
}

func clusterShards(c *check) bool {
	c.a, c.b = withoutPorts(c.x.a, c.a), withoutPorts(c.x.b, c.b)
	c.a, c.b = mask(c.a, []string{"replication-offset"}), mask(c.b, []string{"replication-offset"})
	return unordered(c)
}

// clusterInfo compares CLUSTER INFO without epochs and traffic counters.
func clusterInfo(c *check) bool {
	c.a.Text, c.b.Text = withoutTraffic(c.a.Text), withoutTraffic(c.b.Text)
	return c.sameLines("\r\n", func(line string) string {
		name, _, _ := strings.Cut(line, ":")
		if strings.HasSuffix(name, "_epoch") || name == "cluster_stats_messages_sent" || name == "cluster_stats_messages_received" {
			return name
		}
		return line
	})
}

// withoutTraffic drops the counters of single message types, of which only
// those above zero are printed.
func withoutTraffic(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, "cluster_stats_messages_"); !found || strings.HasPrefix(rest, "sent") || strings.HasPrefix(rest, "received") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// sameKind compares no more than the types of two replies.
func sameKind(c *check) bool { return c.a.Kind == c.b.Kind }

// clusterLinks forgives real Redis links that it does not list yet: one from
// another node belongs to it only once that has said something.
func clusterLinks(c *check) bool {
	volatile := []string{"create-time", "events", "send-buffer-allocated", "send-buffer-used"}
	if c.a.Kind != '*' || c.b.Kind != '*' {
		return c.a.equal(c.b)
	}
	for _, link := range c.a.Items {
		same := func(other Reply) bool { return mask(link, volatile).equal(mask(other, volatile)) }
		if !slices.ContainsFunc(c.b.Items, same) {
			return false
		}
	}
	return true
}

// aclRules sorts the command rules of a user and of each of its selectors,
// which Redis prints in the order of a hash table.
func aclRules(c *check) bool {
	clean := func(r Reply) Reply {
		return r.transform(func(r Reply) Reply {
			if strings.ContainsAny(r.Text, "+-") {
				groups := strings.Split(r.Text, "(")
				for i, group := range groups {
					words := strings.Fields(strings.ReplaceAll(group, ")", ""))
					slices.Sort(words)
					groups[i] = strings.Join(words, " ")
				}
				r.Text = strings.Join(groups, "(")
			}
			return r
		})
	}
	return clean(c.a).equal(clean(c.b))
}

// functionList sorts libraries and, within, their functions.
func functionList(c *check) bool { return sortFunctions(c.a).equal(sortFunctions(c.b)) }

func sortFunctions(r Reply) Reply {
	items := slices.Clone(r.Items)
	for i, library := range items {
		library.Items = slices.Clone(library.Items)
		for j := 1; j < len(library.Items); j += 2 {
			if library.Items[j-1].Text == "functions" {
				functions := library.Items[j]
				functions.Items = slices.Clone(functions.Items)
				for k := range functions.Items {
					functions.Items[k] = sortFlags(functions.Items[k])
				}
				sortReplies(functions.Items)
				library.Items[j] = functions
			}
		}
		items[i] = library
	}
	sortReplies(items)
	r.Items = items
	return r
}

// sortFlags sorts the sets of a function's description.
func sortFlags(r Reply) Reply {
	r.Items = slices.Clone(r.Items)
	for i, item := range r.Items {
		if item.isAggregate() {
			item.Items = slices.Clone(item.Items)
			sortReplies(item.Items)
			r.Items[i] = item
		}
	}
	return r
}

func sameLength(c *check) bool { return c.a.Kind == c.b.Kind && len(c.a.Text) == len(c.b.Text) }

// sameButNames compares errors about one of several libraries or functions: a
// hash table decides which is met first.
func sameButNames(c *check) bool {
	clean := func(r Reply) string { return libraryName.ReplaceAllString(r.Text, "<name>") }
	return clean(c.a) == clean(c.b)
}

var libraryName = regexp.MustCompile(`\b(lib|f)\d\b`)

// rejoining are the commands that only one side gets when the sides are brought
// together after a random choice, and the SELECT that Redis sends ahead over a
// new connection to a node it migrates keys to.
var rejoining = []string{"sadd", "srem", "smembers", "del", "pexpireat", "pexpiretime", "select"}

// histograms compares the names in LATENCY HISTOGRAM: times are the machine's
// doing, and the runner's own questions are counted, too.
func histograms(c *check) bool {
	names := func(r Reply) []string {
		var found []string
		for pair := range slices.Chunk(r.Items, 2) {
			if !slices.Contains(rejoining, pair[0].Text) {
				found = append(found, pair[0].Text)
			}
		}
		slices.Sort(found)
		return found
	}
	return c.a.Kind == c.b.Kind && slices.Equal(names(c.a), names(c.b))
}
