package queue

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const secret = "s3cret-t0ken"

// No secret comes in by the URL or goes over an open wire, and no error repeats one.
func TestAccess(t *testing.T) {
	t.Parallel()
	const inURL = "queue: the URL is malformed or holds a user, a password or a token: want nats://host:port or tls://host:port, and secrets in a file or the environment"
	for _, tt := range []struct{ name, url, token, want string }{
		{"token in the URL", "nats://" + secret + "@127.0.0.1:4222", "", inURL},
		{"password in the URL", "tls://me:" + secret + "@queue:4222", "", inURL},
		{"second of a cluster", "tls://a:4222,tls://me:" + secret + "@b:4222", "", inURL},
		{"malformed", "nats://%zz" + secret, "", inURL},
		{"another scheme", "http://127.0.0.1:4222", "", `queue: found the URL "http://127.0.0.1:4222", want nats://host:port or tls://host:port`},
		{"no scheme", "127.0.0.1", "", `queue: found the URL "127.0.0.1", want nats://host:port or tls://host:port`},
		{"token as plain text", "nats://queue:4222", secret, "queue: the token would go to queue:4222 as plain text: want tls://queue:4222"},
		{"no server there", "nats://127.0.0.1:1", secret, "queue nats://127.0.0.1:1: nats: no servers available for connection"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Dial(t.Context(), Access{URL: tt.url, Token: tt.token})
			if err == nil || err.Error() != tt.want {
				t.Errorf("error\n%v, want\n%s", err, tt.want)
			}
		})
	}
}

// Whoever listens for others needs a token and a certificate.
func TestListen(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	for _, tt := range []struct {
		name string
		o    ServerOptions
		want string
	}{
		{"all addresses", ServerOptions{Listen: ":4222"}, ":4222 can be reached from other machines: want a token and a certificate with its key"},
		{"token alone", ServerOptions{Listen: "0.0.0.0:4222", Token: secret}, "0.0.0.0:4222 can be reached from other machines: want a token and a certificate with its key"},
		{"certificate alone", ServerOptions{Listen: "[::]:4222", Cert: cert, Key: key}, "[::]:4222 can be reached from other machines: want a token and a certificate with its key"},
		{"certificate without key", ServerOptions{Listen: "127.0.0.1:4222", Cert: cert}, "a certificate and its key go together"},
		{"no port", ServerOptions{Listen: "127.0.0.1"}, `found the address "127.0.0.1", want host:port`},
		{"port", ServerOptions{Listen: "127.0.0.1:nats"}, `found the port "nats", want a number up to 65535`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Store = filepath.Join(t.TempDir(), "store")
			err := Serve(t.Context(), tt.o, func(string) { t.Error("it listens") })
			if err == nil || err.Error() != tt.want {
				t.Errorf("error\n%v, want\n%s", err, tt.want)
			}
			if _, err := os.Stat(tt.o.Store); err == nil {
				t.Error("it made a store")
			}
		})
	}
}

// With a certificate and a token, only who knows both gets in.
func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	said := make(chan string, 1000)
	url := serve(t, ServerOptions{Token: secret, Cert: cert, Key: key, Log: func(s string) { said <- s }})
	if !strings.HasPrefix(url, "tls://127.0.0.1:") {
		t.Fatalf("it listens on %s, want tls://127.0.0.1", url)
	}
	c := dial(t, Access{URL: url, Token: secret, CA: cert})
	if n := left(t, c); n != 0 {
		t.Errorf("a new queue holds %d messages, want 0", n)
	}
	for _, tt := range []struct {
		name string
		a    Access
		want string
	}{
		{"no token", Access{URL: url, CA: cert}, "queue " + url + ": nats: Authorization Violation"},
		{"wrong token", Access{URL: url, Token: "wr0ng", CA: cert}, "queue " + url + ": nats: Authorization Violation"},
		{"unknown authority", Access{URL: url, Token: secret}, "queue " + url + ": nats: tls error: tls: failed to verify certificate: x509: certificate signed by unknown authority"},
	} {
		_, err := Dial(t.Context(), tt.a)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: error\n%v, want\n%s", tt.name, err, tt.want)
		}
	}
	for range len(said) {
		if s := <-said; strings.Contains(s, secret) || strings.Contains(s, "wr0ng") {
			t.Errorf("the server said a token: %s", s)
		}
	}
}

// One store is for one server.
func TestStoreLocked(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	o := ServerOptions{Listen: "127.0.0.1:0", Store: store}
	go func() { ended <- Serve(ctx, o, func(url string) { ready <- url }) }()
	<-ready
	err := Serve(ctx, o, func(string) { t.Error("a second server uses the store") })
	if want := "store " + store + ": another process uses it"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// certificate writes one for 127.0.0.1, signed by itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "queue"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &pair.PublicKey, pair)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
