package serve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/rules"
)

// write writes a file of the test with a mode.
func write(t *testing.T, mode os.FileMode, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRefusals starts no server that others reach without TLS and a token, or a proxy.
func TestRefusals(t *testing.T) {
	const secret = "s3cret0123456789abcdef0123456789"
	token, open, short, two := write(t, 0o600, secret+"\n"), write(t, 0o640, secret), write(t, 0o600, secret[1:]), write(t, 0o600, secret+"\n"+secret)
	const here, away, ours = "127.0.0.1:0", "0.0.0.0:9275", "https://homenode.example.com"
	for _, tt := range []struct {
		door
		want string
	}{
		{door{listen: here}, ""},
		{door{listen: "localhost:0"}, ""},
		{door{listen: "[::1]:9275"}, ""},
		{door{listen: here, token: token}, ""},
		{door{listen: here, url: ours, proxy: "127.0.0.1"}, ""},
		{door{listen: here, url: ours, token: token}, ""},
		{door{listen: away, cert: "c", key: "k", token: token, url: ours}, ""},
		{door{listen: away, proxy: "10.0.0.5", url: ours}, ""},
		{door{listen: away, proxy: "2001:db8::1=Remote-User", url: ours}, ""},
		{door{listen: away, cert: "c", key: "k", proxy: "10.0.0.5", token: token, url: ours}, ""},
		{door{listen: "9275"}, `--listen: found "9275", want host:port`},
		{door{listen: away}, "--listen: other machines reach 0.0.0.0:9275: want --token-file with --tls-cert and --tls-key, or --trusted-proxy (docs/watch.md)"},
		{door{listen: ":9275"}, "--listen: other machines reach :9275: want --token-file"},
		{door{listen: away, cert: "c", key: "k", url: ours}, "--listen: other machines reach 0.0.0.0:9275: want --token-file"},
		{door{listen: "10.0.0.1:80", token: token, url: ours}, "--listen: other machines reach 10.0.0.1:80: want --tls-cert and --tls-key"},
		{door{listen: "homenode.example.com:80", token: token, url: ours}, "want --tls-cert and --tls-key: the token would be readable on the way"},
		{door{listen: away, token: token, proxy: "10.0.0.5", url: ours}, "want --tls-cert and --tls-key"},
		{door{listen: away, cert: "c", key: "k", token: token}, "want --url, the https address that browsers use"},
		{door{listen: away, proxy: "10.0.0.5"}, "want --url, the https address that browsers use"},
		{door{listen: away, cert: "c", key: "k", token: token, url: "http://homenode.example.com"}, "want --url, the https address that browsers use"},
		{door{listen: here, cert: "c"}, "--tls-cert and --tls-key: want both"},
		{door{listen: here, key: "k"}, "--tls-cert and --tls-key: want both"},
		{door{listen: here, url: ours}, "--url: want --token-file or --trusted-proxy"},
		{door{listen: here, token: token, url: "http://homenode.example.com"}, "--url: want https"},
		{door{listen: here, token: token, url: "https://u:s3cret@homenode.example.com"}, "--url: want a URL without a path"},
		{door{listen: here, token: token, url: "https://homenode.example.com/x"}, "--url: want a URL without a path"},
		{door{listen: here, proxy: "proxy.example.com"}, `--trusted-proxy: found "proxy.example.com", want the address of one machine`},
		{door{listen: here, proxy: "10.0.0.0/24"}, `--trusted-proxy: found "10.0.0.0/24", want the address of one machine`},
		{door{listen: here, proxy: "0.0.0.0"}, `--trusted-proxy: found "0.0.0.0", want the address of one machine`},
		{door{listen: here, proxy: "10.0.0.5="}, `--trusted-proxy: found "10.0.0.5=", want the address of one machine`},
		{door{listen: here, token: open}, "others may read it (mode 0640): chmod 600 it"},
		{door{listen: here, token: short}, "--token-file: want one line of at least 32 characters"},
		{door{listen: here, token: two}, "--token-file: want one line of at least 32 characters"},
		{door{listen: here, token: token + "x"}, "--token-file: "},
	} {
		_, err := tt.check()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "s3cret") {
			t.Errorf("%+v: %q, want %q", tt.door, got, tt.want)
		}
	}
	if _, err := (&door{listen: here, cert: token, key: token}).open(&cobra.Command{}); err == nil || !strings.HasPrefix(err.Error(), "--tls-cert: ") {
		t.Errorf("no certificate: %v", err)
	}
	busy, err := (&door{listen: "127.0.0.1:0"}).open(&cobra.Command{})
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	address := busy.Addr().String()
	if _, err := (&door{listen: address}).open(&cobra.Command{}); err == nil || !strings.HasPrefix(err.Error(), "cannot listen on "+address+": ") || !strings.HasSuffix(err.Error(), ": choose another port with --listen, such as --listen 127.0.0.1:0 for any that is free") {
		t.Errorf("a port in use: %v", err)
	}
	cert, key, _ := certificate(t, -24*time.Hour)
	var printed bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&printed)
	o, err := (&door{listen: here, cert: cert, key: key}).open(cmd)
	if err != nil {
		t.Fatal(err)
	}
	o.Close()
	if !strings.Contains(printed.String(), "the certificate expired on "+time.Now().UTC().Add(-24*time.Hour).Format(time.DateOnly)) {
		t.Errorf("a certificate of yesterday: %s", printed.String())
	}
}

// certificate returns the files of one for localhost that is valid for so long, and who trusts it.
func certificate(t *testing.T, valid time.Duration) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(valid), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &of, &of, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return write(t, 0o600, string(text)), write(t, 0o600, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))), pool
}

// TestTokenOverTLS starts a server with TLS and a token: whoever has the token is let in. It is in nothing that the server prints or answers.
func TestTokenOverTLS(t *testing.T) {
	const token = "s3cret0123456789abcdef0123456789"
	cert, key, pool := certificate(t, time.Hour)
	d := door{listen: "127.0.0.1:0", cert: cert, key: key, token: write(t, 0o600, token+"\n")}
	var printed bytes.Buffer
	out, in := io.Pipe()
	cmd := &cobra.Command{}
	ctx, cancel := context.WithCancel(t.Context())
	cmd.SetContext(ctx)
	cmd.SetOut(in)
	cmd.SetErr(&printed)
	done := make(chan error)
	go func() {
		done <- (&command{fleet: []string{"demo"}, door: d}).serveFleet(cmd, rules.Options{}, nil)
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	base := strings.Replace(regexp.MustCompile(`https://[0-9.:]+`).FindString(string(line[:n])), "127.0.0.1", "localhost", 1)
	if base == "" {
		t.Fatalf("printed %s", line[:n])
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	var bodies bytes.Buffer
	for _, tt := range []struct {
		path, authorization string
		want                int
	}{{"/metrics", "", 401}, {"/metrics", "Bearer " + token[1:], 401}, {"/metrics", "Bearer " + token, 200}, {"/status", "Bearer " + token, 200}, {"/healthz", "", 200}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", tt.authorization)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(&bodies, res.Body)
		res.Body.Close()
		if res.StatusCode != tt.want || res.ProtoMajor != 2 || res.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s with %q: %s %s %v, want %d", tt.path, tt.authorization, res.Proto, res.Status, res.Header, tt.want)
		}
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if strings.Contains(printed.String()+string(line[:n])+bodies.String(), "s3cret") {
		t.Errorf("the token is printed or answered:\n%s\n%s", printed.String(), bodies.String())
	}
}
