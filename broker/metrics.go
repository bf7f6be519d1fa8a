package broker

import (
	"errors"
	"fmt"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the broker's. They count also when nobody collects them.
type metrics struct {
	handled        *prometheus.CounterVec
	seconds        *prometheus.HistogramVec
	inFlight       *prometheus.GaugeVec
	published      *prometheus.CounterVec
	reclaimed      *prometheus.CounterVec
	fetchErrors    *prometheus.CounterVec
	secondAcks     *prometheus.CounterVec
	lostCommits    *prometheus.CounterVec
	failedCommands *prometheus.CounterVec
	shim           []prometheus.Collector
}

func newMetrics(registerer prometheus.Registerer, s *shim.Metrics) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "broker", Name: name, Help: help}, labels)
	}
	count := func(name, help string, value func() int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "broker", Name: name, Help: help},
			func() float64 { return float64(value()) })
	}
	m := &metrics{
		handled: counter("messages_handled_total", "Messages by what became of them.", "subscription", "settled"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "broker", Name: "handler_seconds", Help: "How long handlers took.", Buckets: prometheus.DefBuckets,
		}, []string{"subscription"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "broker", Name: "in_flight", Help: "Messages in work.",
		}, []string{"subscription"}),
		published:      counter("messages_published_total", "Messages published, by kind of destination and whether it succeeded.", "kind", "result"),
		reclaimed:      counter("messages_reclaimed_total", "Messages taken over from consumers that seemed dead.", "subscription"),
		fetchErrors:    counter("fetch_errors_total", "Reads that failed and were tried again.", "subscription"),
		secondAcks:     counter("window_second_acks_total", "Windows whose XACK returned 0: the entry was reclaimed and settled by another consumer, so its commands ran twice.", "subscription"),
		lostCommits:    counter("window_lost_replies_total", "Windows whose EXEC got no reply, resolved by the pending list.", "subscription"),
		failedCommands: counter("window_failed_commands_total", "Commands of committed windows that failed when they ran.", "subscription"),
		shim: []prometheus.Collector{
			count("redis_retries_total", "Commands sent again after a refusal.", s.Retries),
			count("redis_redirects_total", "Commands sent to where a redirection said.", s.Redirects),
			count("redis_lost_replies_total", "Commands whose reply did not come.", s.LostReplies),
			count("subscription_gaps_total", "Times that a sharded channel may have missed messages.", s.Gaps),
		},
	}
	if registerer == nil {
		return m, nil
	}
	for i, c := range m.collectors() {
		if err := registerer.Register(c); err != nil {
			for _, registered := range m.collectors()[:i] {
				registerer.Unregister(registered)
			}
			var already prometheus.AlreadyRegisteredError
			if errors.As(err, &already) {
				return nil, fmt.Errorf("broker: the registry has the metrics of another broker already, give each its own by prometheus.WrapRegistererWith: %w", err)
			}
			return nil, fmt.Errorf("broker: registering metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) collectors() []prometheus.Collector {
	return append([]prometheus.Collector{
		m.handled, m.seconds, m.inFlight, m.published, m.reclaimed, m.fetchErrors, m.secondAcks, m.lostCommits, m.failedCommands,
	}, m.shim...)
}

func (m *metrics) unregister(registerer prometheus.Registerer) {
	if registerer == nil {
		return
	}
	for _, c := range m.collectors() {
		registerer.Unregister(c)
	}
}

func (m *metrics) onHandled(h Handled) {
	m.handled.WithLabelValues(h.Subscription, string(h.Settled)).Inc()
	m.seconds.WithLabelValues(h.Subscription).Observe(h.Took.Seconds())
}

func (m *metrics) onPublished(to Destination, err error) {
	result := "ok"
	var lost *shim.LostReplyError
	switch {
	case errors.As(err, &lost):
		result = "unknown"
	case err != nil:
		result = "failed"
	}
	m.published.WithLabelValues(to.kind(), result).Inc()
}
