package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/fakecluster/fakecluster/emulator"
)

// serverTLS are the flags of a cluster that speaks TLS.
type serverTLS struct {
	TLSCert        string `name:"tls-cert" type:"path" placeholder:"FILE" help:"Certificate, in PEM: speak TLS, and nothing else."`
	TLSKey         string `name:"tls-key" type:"path" placeholder:"FILE" help:"Key of --tls-cert."`
	TLSCA          string `name:"tls-ca" type:"path" placeholder:"FILE" help:"Certificates that those of clients must be signed by."`
	TLSAuthClients string `name:"tls-auth-clients" default:"yes" enum:"yes,no,optional" help:"Whether, with --tls-ca, clients need a certificate: ${enum}."`
}

// config is what the flags say, nil without TLS.
func (f *serverTLS) config() (*tls.Config, error) {
	if f.TLSCert == "" {
		if f.TLSKey != "" || f.TLSCA != "" {
			return nil, usagef("--tls-key and --tls-ca need --tls-cert")
		}
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(f.TLSCert, f.TLSKey)
	if err != nil {
		return nil, usagef("--tls-cert, --tls-key: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if f.TLSCA == "" {
		return config, nil
	}
	if config.ClientCAs, err = certificates(f.TLSCA); err != nil {
		return nil, err
	}
	config.ClientAuth = map[string]tls.ClientAuthType{
		"yes": tls.RequireAndVerifyClientCert, "no": tls.NoClientCert, "optional": tls.VerifyClientCertIfGiven,
	}[f.TLSAuthClients]
	return config, nil
}

// accessFlags are the flags about who may connect, and how.
type accessFlags struct {
	serverTLS
	Users string `type:"path" placeholder:"FILE" help:"File of users, as Redis' aclfile has them: user alice on >password ~a:* +get. ACL LOAD and ACL SAVE read and write it."`
}

func (f *accessFlags) options() (options []emulator.Option, err error) {
	secure, err := f.config()
	if err != nil {
		return nil, err
	}
	if secure != nil {
		options = append(options, emulator.TLS(secure))
	}
	if f.Users != "" {
		if _, err := os.Stat(f.Users); err != nil {
			return nil, usagef("--users: %w", err)
		}
		options = append(options, emulator.UsersFile(f.Users))
	}
	return options, nil
}

// clientTLS are the flags of commands that connect to a cluster that may speak
// TLS.
type clientTLS struct {
	TLS      bool   `name:"tls" help:"Connect with TLS; any other flag about it says so too."`
	TLSCA    string `name:"tls-ca" type:"path" placeholder:"FILE" help:"Certificates that the cluster's must be signed by, if not the system's."`
	TLSCert  string `name:"tls-cert" type:"path" placeholder:"FILE" help:"Certificate to show the cluster."`
	TLSKey   string `name:"tls-key" type:"path" placeholder:"FILE" help:"Key of --tls-cert."`
	Insecure bool   `help:"Connect with TLS without a look at the cluster's certificate."`
}

// config is what the flags say, nil without TLS.
func (f *clientTLS) config() (*tls.Config, error) {
	if !f.TLS && !f.Insecure && f.TLSCA == "" && f.TLSCert == "" {
		return nil, nil
	}
	config := &tls.Config{InsecureSkipVerify: f.Insecure, MinVersion: tls.VersionTLS12}
	var err error
	if f.TLSCA != "" {
		if config.RootCAs, err = certificates(f.TLSCA); err != nil {
			return nil, err
		}
	}
	if f.TLSCert != "" {
		certificate, err := tls.LoadX509KeyPair(f.TLSCert, f.TLSKey)
		if err != nil {
			return nil, usagef("--tls-cert, --tls-key: %w", err)
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}

// certificates reads a file of certificates.
func certificates(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("--tls-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, usageError{fmt.Errorf("--tls-ca: there is no certificate in %s", file)}
	}
	return pool, nil
}
