package console

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics serves what the nodes say of themselves in Prometheus' format.
func (c *Console) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{c}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

type collector struct{ console *Console }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("fakecluster_"+name, help, append([]string{"node"}, labels...), nil)
}

var (
	infoDesc  = desc("node_info", "Always 1; the labels say what the node is.", "addr", "id", "role", "master")
	errorDesc = desc("errors_total", "Error replies by code: MOVED, ASK, CROSSSLOT …", "code")
)

// figure is one number of every node.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(n Node, v *sight) float64
}

var figures = []figure{
	{desc("up", "1 if the node runs and answers."), prometheus.GaugeValue, func(n Node, _ *sight) float64 {
		if n.State == "up" {
			return 1
		}
		return 0
	}},
	{desc("slots", "Slots the node owns."), prometheus.GaugeValue, func(n Node, _ *sight) float64 { return float64(n.Slots) }},
	{desc("config_epoch", "Config epoch of the node."), prometheus.GaugeValue, func(n Node, _ *sight) float64 { return float64(n.Epoch) }},
	{desc("keys", "Keys the node holds."), prometheus.GaugeValue, func(n Node, _ *sight) float64 { return float64(n.Keys) }},
	{desc("memory_bytes", "Memory the node says it uses."), prometheus.GaugeValue, func(n Node, _ *sight) float64 { return float64(n.Memory) }},
	{desc("clients", "Clients connected."), prometheus.GaugeValue, func(n Node, _ *sight) float64 { return float64(n.Clients) }},
	{desc("replication_offset_bytes", "Replication offset."), prometheus.GaugeValue, func(n Node, _ *sight) float64 { return float64(n.Offset) }},
	{desc("replication_lag_bytes", "By how much a replica is behind its master."), prometheus.GaugeValue, func(n Node, _ *sight) float64 { return float64(n.Lag) }},
	{desc("commands_total", "Commands the node has processed."), prometheus.CounterValue, func(_ Node, v *sight) float64 { return float64(v.number("total_commands_processed")) }},
	{desc("connections_total", "Connections the node has received."), prometheus.CounterValue, func(_ Node, v *sight) float64 { return float64(v.number("total_connections_received")) }},
	{desc("expired_keys_total", "Keys that have expired."), prometheus.CounterValue, func(_ Node, v *sight) float64 { return float64(v.number("expired_keys")) }},
}

// Describe is part of prometheus.Collector.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	out <- infoDesc
	out <- errorDesc
	for _, f := range figures {
		out <- f.desc
	}
}

// Collect is part of prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.console.watch.sample()
	st, err := c.console.state(s, "")
	if err != nil {
		return
	}
	for i, n := range st.Nodes {
		v := s.nodes[i]
		out <- prometheus.MustNewConstMetric(infoDesc, prometheus.GaugeValue, 1, n.Name, n.Addr, n.ID, n.Role, n.Master)
		for _, f := range figures {
			out <- prometheus.MustNewConstMetric(f.desc, f.kind, f.of(n, v), n.Name)
		}
		for code, count := range v.errors {
			out <- prometheus.MustNewConstMetric(errorDesc, prometheus.CounterValue, float64(count), n.Name, code)
		}
	}
}
