package shim

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// Dialer connects to addresses. It is the type of go-redis' Dialer option and of
// redigo's DialContextFunc, and of net.Dialer's DialContext.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// AddressMap turns an address that a cluster announces into one that this process
// reaches, for clusters behind NAT or in containers. It must return addresses it
// does not know as they are.
type AddressMap func(addr string) string

// Mapped returns a dialer that connects with d, or over TCP if d is nil, to where
// m says. A nil m changes nothing.
func (d Dialer) Mapped(m AddressMap) Dialer {
	if d == nil {
		d = dialTCP
	}
	if m == nil {
		return d
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return d(ctx, network, m(addr)) }
}

// TLS returns a dialer that speaks TLS over d. A config without a ServerName gets
// the host of the address, before any AddressMap of d.
func (d Dialer) TLS(config *tls.Config) Dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := d(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		own := config.Clone()
		if host, _, err := net.SplitHostPort(addr); err == nil && own.ServerName == "" {
			own.ServerName = host
		}
		secure := tls.Client(conn, own)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return secure, nil
	}
}

// Rueidis returns d as rueidis' ClientOption.DialCtxFn. TLS is spoken as its
// TLSConfig says.
func (d Dialer) Rueidis() func(ctx context.Context, addr string, _ *net.Dialer, config *tls.Config) (net.Conn, error) {
	return func(ctx context.Context, addr string, _ *net.Dialer, config *tls.Config) (net.Conn, error) {
		if config != nil {
			return d.TLS(config)(ctx, "tcp", addr)
		}
		return d(ctx, "tcp", addr)
	}
}

// dialTCP keeps connections alive as go-redis does by itself.
func dialTCP(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{KeepAlive: 5 * time.Minute}
	return dialer.DialContext(ctx, network, addr)
}
