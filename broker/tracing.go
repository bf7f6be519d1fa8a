package broker

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// scope names the instrumentation in spans.
const scope = "github.com/fakecluster/fakecluster/broker"

// tracer makes the spans of publishing and handling, if anybody wants them.
func (b *Broker) tracer() trace.Tracer {
	if b.o.Tracer == nil {
		return noop.NewTracerProvider().Tracer(scope)
	}
	return b.o.Tracer.Tracer(scope)
}

// attributes are those of OpenTelemetry's conventions for messaging.
func attributes(operation, destination string) trace.SpanStartEventOption {
	return trace.WithAttributes(
		attribute.String("messaging.system", "redis"),
		attribute.String("messaging.operation.type", operation),
		attribute.String("messaging.destination.name", destination),
	)
}

func (b *Broker) startPublish(ctx context.Context, to Destination) (context.Context, func(error)) {
	ctx, span := b.tracer().Start(ctx, "publish "+to.Name(), trace.WithSpanKind(trace.SpanKindProducer), attributes("send", to.Name()))
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// startHandling makes the span of a handler a child of the one that published.
func (s *Subscription) startHandling(ctx context.Context, d *delivery) (context.Context, func(Outcome, Settled, error)) {
	ctx = s.b.o.Propagator.Extract(ctx, propagation.MapCarrier(d.Headers))
	ctx, span := s.b.tracer().Start(ctx, "process "+s.name, trace.WithSpanKind(trace.SpanKindConsumer), attributes("process", d.channel),
		trace.WithAttributes(attribute.String("messaging.message.id", d.ID()), attribute.Int("messaging.redis.delivery_count", d.count)))
	return ctx, func(outcome Outcome, settled Settled, err error) {
		span.SetAttributes(attribute.String("messaging.redis.settled", string(settled)))
		if err == nil && !outcome.IsAck() {
			err = outcome.Err()
		}
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}
