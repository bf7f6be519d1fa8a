package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

// authority makes certificates for a test.
type authority struct {
	dir         string
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	file        string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	var der []byte
	a.key, der = sign(t, template, template, nil)
	a.certificate, _ = x509.ParseCertificate(der)
	a.file = a.write(t, "ca.crt", "CERTIFICATE", der)
	return a
}

func sign(t *testing.T, template, parent *x509.Certificate, by *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return key, der
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) (file string) {
	t.Helper()
	file = filepath.Join(a.dir, name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// issue makes a certificate and its key.
func (a *authority) issue(t *testing.T, name string) (certFile, keyFile string) {
	t.Helper()
	key, der := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.certificate, a.key)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return a.write(t, name+".crt", "CERTIFICATE", der), a.write(t, name+".key", "PRIVATE KEY", keyDER)
}

// redis-cli, go-redis and our own commands reach a cluster that speaks TLS, and
// nobody does without a certificate when one is asked for.
func TestTLS(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue(t, "server")
	clientCert, clientKey := a.issue(t, "client")
	port := freeport.InARow(t, 3)
	r := start(t, "redis-cli", "--port", strconv.Itoa(port), "--tls-cert", cert, "--tls-key", key, "--tls-ca", a.file)
	if !strings.Contains(r.stdout.String(), fmt.Sprintf("redis-cli -c -p %d --tls\n", port)) {
		t.Errorf("banner: %s", r.stdout)
	}

	pair, err := tls.LoadX509KeyPair(clientCert, clientKey)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := certificates(a.file)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{fmt.Sprintf("127.0.0.1:%d", port)}, TLSConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}},
	})
	defer client.Close()
	for i := range 50 {
		name, value := fmt.Sprint("key", i), strings.Repeat("x", i*1000)
		if err := client.Set(t.Context(), name, value, 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := client.Get(t.Context(), name).Result(); got != value || err != nil {
			t.Fatalf("%d bytes come back, %v", len(got), err)
		}
	}

	flags := []string{"--tls-ca", a.file, "--tls-cert", clientCert, "--tls-key", clientKey}
	if code, out, errs := runAt(t, port, "status", flags...); code != 0 || !strings.Contains(out, "50 keys") {
		t.Errorf("status: %d, %s%s", code, out, errs)
	}
	if code, out, errs := runAt(t, port, "ctl", append(flags, "failover", "n9")...); code != 1 {
		t.Errorf("ctl: %d, %s%s", code, out, errs)
	}
	for _, refused := range [][]string{{}, {"--insecure"}, {"--tls-ca", a.file}, {"--tls", "--tls-cert", clientCert, "--tls-key", clientKey}} {
		if code, out, _ := runAt(t, port, "status", append(refused, "--timeout", "2s")...); code != 2 {
			t.Errorf("status %v: exit code %d, %s", refused, code, out)
		}
	}
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		if os.Getenv("FAKECLUSTER_REQUIRE_ORACLES") == "1" {
			t.Fatal(err)
		}
		t.Skip("redis-cli is not installed")
	}
	out, err := exec.Command(cli, "-c", "-p", strconv.Itoa(port), "--tls", "--cacert", a.file, "--cert", clientCert, "--key", clientKey,
		"GET", "key1").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != strings.Repeat("x", 1000) {
		t.Errorf("redis-cli: %v, %d bytes", err, len(out))
	}
}

func TestTLSWithoutClientCertificates(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue(t, "server")
	for _, flags := range [][]string{{}, {"--tls-ca", a.file, "--tls-auth-clients", "no"}, {"--tls-ca", a.file, "--tls-auth-clients", "optional"}} {
		port := freeport.InARow(t, 1)
		r := start(t, "redis-cli", append([]string{"--masters", "1", "--port", strconv.Itoa(port), "--tls-cert", cert, "--tls-key", key}, flags...)...)
		if code, out, errs := runAt(t, port, "status", "--tls-ca", a.file); code != 0 {
			t.Errorf("%v: %d, %s%s", flags, code, out, errs)
		}
		if code, _, _ := runAt(t, port, "status", "--timeout", "2s"); code != 2 {
			t.Errorf("%v, without TLS: %d", flags, code)
		}
		r.stop()
	}
}

func TestUsersFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	const users = "user default on >secret ~* &* +@all\nuser alice on >pw ~a:* +get\n"
	if err := os.WriteFile(file, []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freeport.InARow(t, 3)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--users", file)
	for i := range 2 {
		client := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", port+2), Username: "alice", Password: "pw", DisableIdentity: true})
		if err := client.Get(t.Context(), "a:{foo}").Err(); err != redis.Nil && !(i == 1 && strings.HasPrefix(err.Error(), "CLUSTERDOWN")) {
			t.Errorf("GET a:{foo}: %v", err)
		}
		if err := client.Get(t.Context(), "b:{foo}").Err(); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
			t.Errorf("GET b:{foo}: %v", err)
		}
		client.Close()
		if got := do(t, port, "PING"); got != "NOAUTH Authentication required." {
			t.Errorf("PING: %s", got)
		}
		if i == 0 { // users are back after a restart, as those of a file are
			if code, _, errs := runAt(t, port, "ctl", "--password", "secret", "restart", "n3"); code != 0 {
				t.Fatalf("restart: %d, %s", code, errs)
			}
		}
	}
}

// ACL LOAD and ACL SAVE are about the file, which all nodes share.
func TestUsersFileIsLoadedAndSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte("user alice on >pw ~a:* +get\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freeport.InARow(t, 3)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--users", file)
	if got := do(t, port, "ACL", "SETUSER", "bob", "on", ">pw", "+ping"); got != "OK" {
		t.Fatal(got)
	}
	if got := do(t, port, "ACL", "SAVE"); got != "OK" {
		t.Fatal(got)
	}
	if got := do(t, port+1, "AUTH", "bob", "pw"); !strings.HasPrefix(got, "WRONGPASS") {
		t.Errorf("bob at another node: %s", got)
	}
	if got := do(t, port+1, "ACL", "LOAD"); got != "OK" {
		t.Fatal(got)
	}
	if got := do(t, port+1, "AUTH", "bob", "pw"); got != "OK" {
		t.Errorf("bob at another node that has loaded: %s", got)
	}
	if got := do(t, port+1, "AUTH", "alice", "pw"); got != "OK" {
		t.Errorf("alice: %s", got)
	}
}

func TestNonsenseAboutAccess(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue(t, "server")
	bad := filepath.Join(t.TempDir(), "bad")
	for content, says := range map[string]string{
		"nonsense": "bad:1 should start with user", "user bob on\n\nuser bob off": "Duplicate user 'bob' found on line 3", "user bob +nosuch": "bad:1: Error in applying operation '+nosuch'",
	} {
		if err := os.WriteFile(bad, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		out := newOutput()
		if code := run(t.Context(), []string{"--port", strconv.Itoa(freeport.InARow(t, 3)), "--users", bad}, out, out); code != 2 || !strings.Contains(out.String(), says) {
			t.Errorf("%q: %d, %s", content, code, out)
		}
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--tls-key", key}, "need --tls-cert"},
		{[]string{"--tls-cert", cert}, "--tls-key"},
		{[]string{"--tls-cert", cert, "--tls-key", key, "--tls-ca", key}, "no certificate"},
		{[]string{"--users", "/nosuch"}, "--users"},
		{[]string{"status", "--tls-ca", "/nosuch"}, "--tls-ca"},
	} {
		out := newOutput()
		if code := run(t.Context(), c.args, out, out); code != 2 || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q: %d, %s", c.args, code, out)
		}
	}
}
