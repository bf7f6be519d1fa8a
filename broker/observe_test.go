package broker_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

var quiet = slog.New(slog.DiscardHandler)

type registry struct{ *prometheus.Registry }

func newRegistry() registry { return registry{prometheus.NewRegistry()} }

// value is the sum of a counter over its labels, or of those with one of some values.
func (r registry) value(t testing.TB, name string, labels ...string) (sum int) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			for _, metric := range family.GetMetric() {
				matches := len(labels) == 0
				for _, label := range metric.GetLabel() {
					matches = matches || slices.Contains(labels, label.GetValue())
				}
				if matches {
					sum += int(metric.GetCounter().GetValue())
				}
			}
		}
	}
	return sum
}

// second runs the same service once more, as another process would, and returns its
// metrics.
func second(t *testing.T, h *brokertest.Harness, service brokertest.Service) registry {
	t.Helper()
	metrics := newRegistry()
	o := h.Client().(*redis.ClusterClient).Options()
	b := broker.Cluster(o.Addrs...).With(broker.Options{
		Logger: quiet, Metrics: metrics, Redis: func(u *redis.UniversalOptions) { u.Dialer = o.Dialer },
	})
	a := service(b)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-a.Ready()
	return metrics
}

func TestSpansAndMetrics(t *testing.T) {
	spans, metrics := tracetest.NewInMemoryExporter(), newRegistry()
	got := record()
	h := brokertest.Start(t, app(broker.Subscribe(broker.Stream("traced").Group("g"), got.ack)), brokertest.Options(broker.Options{
		Logger: quiet, Metrics: metrics, Tracer: trace.NewTracerProvider(trace.WithSyncer(spans)),
	}))
	h.Publish(job{ID: 1}, broker.Stream("traced"))
	h.Settled("traced", broker.Acked, 1)
	byName := map[string]tracetest.SpanStub{}
	for _, span := range spans.GetSpans() {
		byName[span.Name] = span
	}
	published, processed := byName["publish traced"], byName["process traced"]
	if !published.SpanContext.IsValid() || processed.Parent.SpanID() != published.SpanContext.SpanID() ||
		processed.SpanContext.TraceID() != published.SpanContext.TraceID() {
		t.Errorf("the handler's span is not a child of the publisher's: %v", byName)
	}
	if xadd := byName["xadd"]; xadd.Parent.SpanID() != published.SpanContext.SpanID() {
		t.Errorf("the command's span is not a child of the publisher's: %v", byName)
	}
	if xack := byName["xack"]; xack.Parent.SpanID() != processed.SpanContext.SpanID() {
		t.Errorf("the XACK's span is not a child of the handler's: %v", byName)
	}
	if metrics.value(t, "broker_messages_handled_total") != 1 || metrics.value(t, "broker_messages_published_total") != 1 {
		t.Error("the messages were not counted")
	}
}
