package layoutkit

import (
	"crypto/tls"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

// connect makes a cluster client without I/O.
func (c *ClusterOptions) connect(retry shim.RetryOptions) (*redis.ClusterClient, error) {
	d := c.Defaults
	opt := redis.ClusterOptions{
		ClientName: d.ClientName, Dialer: d.Dialer, TLSConfig: d.TLSConfig, Protocol: d.Protocol,
		Username: d.Username, Password: d.Password,
		CredentialsProvider: d.CredentialsProvider, CredentialsProviderContext: d.CredentialsProviderContext,
		DialTimeout: d.DialTimeout, ReadTimeout: d.ReadTimeout, WriteTimeout: d.WriteTimeout,
		PoolSize: d.PoolSize, PoolTimeout: d.PoolTimeout, MinIdleConns: d.MinIdleConns,
		MaxIdleConns: d.MaxIdleConns, ConnMaxIdleTime: d.ConnMaxIdleTime, ConnMaxLifetime: d.ConnMaxLifetime,
	}
	for _, root := range c.RootNodes {
		addr, err := rootNode(root, &opt)
		if err != nil {
			return nil, err
		}
		opt.Addrs = append(opt.Addrs, addr)
	}
	if c.MaxRedirections > 0 {
		retry.Attempts = c.MaxRedirections
	}
	return shim.NewCluster(opt, shim.Options{Retry: retry, AddressMap: c.NodeAddressMap})
}

// rootNode is the address of a root node; credentials and TLS of a URL are for
// all nodes unless Defaults say otherwise.
func rootNode(root string, opt *redis.ClusterOptions) (string, error) {
	u, err := shim.ParseNode(root)
	if err != nil {
		return "", fmt.Errorf("%w: root node: %w", ErrInvalid, err)
	}
	if opt.Username == "" && opt.Password == "" {
		opt.Username, opt.Password = u.Username, u.Password
	}
	if opt.TLSConfig == nil && u.TLSConfig != nil {
		// The name to verify differs from node to node: it is the one dialled.
		opt.TLSConfig = &tls.Config{MinVersion: u.TLSConfig.MinVersion, InsecureSkipVerify: u.TLSConfig.InsecureSkipVerify}
	}
	return u.Addr, nil
}
