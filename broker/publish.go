package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/propagation"
)

// ErrMode is wrapped by the error for publishing to a channel in the mode that its
// subscription in the same app does not have: nobody there would get the message.
var ErrMode = errors.New("broker: the channel is subscribed in the other mode")

// ErrNoDestination is wrapped by the error of Send for a message type without a
// Destination, and by that of To for a destination without a name.
var ErrNoDestination = errors.New("broker: the message has no destination")

// ErrPattern is wrapped by the error for publishing to a pattern.
var ErrPattern = errors.New("broker: a pattern is no destination")

// Publication is a message on its way.
type Publication struct {
	ctx     context.Context
	b       *Broker
	on      redis.Cmdable // collects commands, or nil to send them
	message any
	headers Headers
	codec   Codec
}

// Publish begins to publish a message: To or Send ends it.
func (b *Broker) Publish(ctx context.Context, message any) *Publication {
	return &Publication{ctx: ctx, b: b, message: message, headers: Headers{}, codec: b.o.Codec}
}

// Header adds a header.
func (p *Publication) Header(name, value string) *Publication {
	p.headers[name] = value
	return p
}

// Codec makes the payload with another codec than the broker's.
func (p *Publication) Codec(codec Codec) *Publication {
	if codec != nil {
		p.codec = codec
	}
	return p
}

// To publishes to a destination, whose name is taken as it is. A
// *shim.LostReplyError says that the message may have been published.
func (p *Publication) To(destination Destination) error {
	if destination == nil || destination.Name() == "" {
		return fmt.Errorf("%w: To(%v) names no key or channel for a %T", ErrNoDestination, destination, p.message)
	}
	if err := p.b.checkMode(destination); err != nil {
		return err
	}
	payload, err := p.codec.Marshal(p.message)
	if err != nil {
		return fmt.Errorf("broker: encoding a %T for %s: %w", p.message, destination.Name(), err)
	}
	if p.headers[HeaderID] == "" {
		p.headers[HeaderID] = newID()
	}
	ctx, end := p.b.startPublish(p.ctx, destination)
	p.b.o.Propagator.Inject(ctx, propagation.MapCarrier(p.headers))
	err = p.send(ctx, destination, Message{p.headers, payload})
	end(err)
	return err
}

// Send publishes to the default destination of the message's type.
func (p *Publication) Send() error {
	destined, ok := asDestined(p.message)
	if !ok {
		return fmt.Errorf("%w: %T has no method Destination", ErrNoDestination, p.message)
	}
	destination, err := expand(destined.Destination(), p.message)
	if err != nil {
		return err
	}
	return p.To(destination)
}

func (p *Publication) send(ctx context.Context, destination Destination, m Message) error {
	if p.on != nil {
		destination.record(ctx, p.on, m)
		return nil
	}
	client, err := p.b.Client()
	if err != nil {
		return err
	}
	if err = publish(ctx, client, destination, m); err != nil {
		err = fmt.Errorf("broker: publishing to %s %s: %w", destination.kind(), destination.Name(), err)
	}
	p.b.metrics.onPublished(destination, err)
	return err
}

// publish sends the commands of a publication: one by itself, several as a
// transaction.
func publish(ctx context.Context, client redis.UniversalClient, destination Destination, m Message) error {
	pipe := client.TxPipeline()
	destination.record(ctx, pipe, m)
	if cmds := pipe.Cmds(); len(cmds) == 1 {
		return client.Process(ctx, cmds[0])
	}
	_, err := pipe.Exec(ctx)
	return err
}

func (b *Broker) checkMode(destination Destination) error {
	channel, ok := destination.(PubSubSource)
	if !ok {
		return nil
	}
	if channel.pattern {
		return fmt.Errorf("%w: %q", ErrPattern, channel.name)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if sharded, known := b.modes[channel.name]; known && sharded != channel.sharded {
		return fmt.Errorf("%w: %q", ErrMode, channel.name)
	}
	return nil
}

// ErrNotTransactional is the error of Transaction in an app that did not ask for it.
var ErrNotTransactional = errors.New("broker: the app has no TransactionalPublish")

// TransactionalPublish is the part of an app that lets it publish several messages
// as one MULTI. Their keys are not bound to one slot, so on a cluster an app with it
// does not start; there an atomic window does it within its stream's slot.
func TransactionalPublish() Part { return transactional{} }

type transactional struct{}

func (transactional) join(a *App) { a.transactional = true }

// Transaction is a number of messages that are published together or not at all.
type Transaction struct {
	b    *Broker
	pipe redis.Pipeliner
}

// Publish adds a message, when its To or Send is called.
func (t *Transaction) Publish(ctx context.Context, message any) *Publication {
	p := t.b.Publish(ctx, message)
	p.on = t.pipe
	return p
}

// Transaction publishes as one MULTI what f publishes by its argument, or nothing if
// f returns an error. The app must have TransactionalPublish.
func (b *Broker) Transaction(ctx context.Context, f func(t *Transaction) error) error {
	client, err := b.Client()
	if err != nil {
		return err
	}
	b.mu.Lock()
	allowed := b.allowed
	b.mu.Unlock()
	if !allowed {
		return ErrNotTransactional
	}
	t := &Transaction{b, client.TxPipeline()}
	if err := f(t); err != nil {
		return err
	}
	if _, err := t.pipe.Exec(ctx); err != nil {
		return fmt.Errorf("broker: publishing %d commands as one: %w", t.pipe.Len(), err)
	}
	return nil
}
