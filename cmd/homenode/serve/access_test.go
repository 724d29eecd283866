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
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/rules"
	"homenode/serve/access"
	"homenode/serve/site"
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

// TestRefusals starts no server that others reach without TLS and without who may sign in.
func TestRefusals(t *testing.T) {
	token, sum := access.NewToken()
	users := fmt.Sprintf("tokens: [{name: x, role: viewer, until: 2999-01-01, sha256: %s}]\n", sum)
	roles := "roles: {viewer: ['*']}\n"
	file, open := write(t, 0o600, users), write(t, 0o644, users)
	oidc := write(t, 0o600, roles+"oidc: {issuer: 'https://id.example.com', clientID: x}\n")
	secret := write(t, 0o600, roles+"oidc: {issuer: 'https://id.example.com', clientID: x, secretFile: "+open+"}\n")
	proxy := write(t, 0o600, roles+"proxy: {user: X-User}\n")
	bad := write(t, 0o600, "users: [{name: anna, role: s3cret, hash: s3cret}]\n")
	const here, away, ours = "127.0.0.1:0", "0.0.0.0:9275", "https://homenode.example.com"
	for _, tt := range []struct {
		listen string
		door
		want string
	}{
		{here, door{}, ""},
		{"localhost:0", door{}, ""},
		{"[::1]:9275", door{}, ""},
		{here, door{file: file}, ""},
		{here, door{file: file, url: ours, proxies: []string{"127.0.0.1"}}, ""},
		{away, door{cert: "c", key: "k", file: file, url: ours}, ""},
		{away, door{cert: "c", key: "k", file: proxy, url: ours, proxies: []string{"10.0.0.0/24", "2001:db8::1"}}, ""},
		{"9275", door{}, `--listen: found "9275", want host:port`},
		{away, door{}, "--listen: others reach 0.0.0.0:9275: want --tls-cert and --tls-key, and who may sign in with --access (docs/access.md)"},
		{":9275", door{}, "--listen: others reach :9275: want --tls-cert and --tls-key"},
		{"10.0.0.1:80", door{file: file, url: ours}, "--listen: others reach 10.0.0.1:80: want --tls-cert and --tls-key"},
		{"homenode.example.com:80", door{file: file, url: ours}, "--listen: others reach homenode.example.com:80: want --tls-cert"},
		{away, door{cert: "c", key: "k", url: ours}, "--listen: others reach 0.0.0.0:9275: want who may sign in, with --access (docs/access.md)"},
		{away, door{cert: "c", key: "k", file: file}, "want --url, how browsers reach it by https"},
		{away, door{cert: "c", key: "k", file: file, url: "http://homenode.example.com"}, "want --url, how browsers reach it by https"},
		{here, door{cert: "c"}, "--tls-cert and --tls-key: want both"},
		{here, door{proxies: []string{"10.0.0.1"}}, "--behind-proxy: want who may sign in"},
		{here, door{file: file, proxies: []string{"proxy.example.com"}}, `--behind-proxy: found "proxy.example.com", want an address or a network`},
		{here, door{url: ours}, "--url: want who may sign in"},
		{here, door{file: file, url: "http://homenode.example.com"}, "--url: want https"},
		{here, door{file: file, url: "https://u:s3cret@homenode.example.com"}, "--url: want a URL without a path"},
		{here, door{file: file, url: "https://homenode.example.com/x"}, "--url: want a URL without a path"},
		{here, door{file: proxy}, "--access: proxy: want the addresses of the proxies, with --behind-proxy"},
		{here, door{file: oidc}, "--access: oidc: want --url"},
		{here, door{file: open}, "others may read it (mode 0644): chmod 600 it"},
		{here, door{file: secret, url: ours}, "--access: oidc: secretFile: "},
		{here, door{file: bad}, "want viewer or operator"},
		{here, door{file: file + "x"}, "--access: "},
	} {
		_, err := tt.check(tt.listen)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "s3cret") || strings.Contains(got, token) {
			t.Errorf("%s %+v: %q, want %q", tt.listen, tt.door, got, tt.want)
		}
	}
	if _, err := (&door{audit: open}).open(&cobra.Command{}, here); err == nil || !strings.HasPrefix(err.Error(), "--audit: ") {
		t.Errorf("an audit log for everybody: %v", err)
	}
	if _, err := (&door{cert: file, key: file}).open(&cobra.Command{}, here); err == nil || !strings.HasPrefix(err.Error(), "--tls-cert: ") {
		t.Errorf("no certificate: %v", err)
	}
}

// certificate returns the files of one for localhost, and who trusts it.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
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

// TestSignIn makes a password and a token by the commands, starts a server with TLS, and signs in as a browser does. No secret
// is in what the server prints, answers or keeps.
func TestSignIn(t *testing.T) {
	const password = "correct horse battery"
	var hash, token, row bytes.Buffer
	made := newPassword()
	made.SetIn(strings.NewReader(password + "\n"))
	made.SetArgs(nil)
	made.SetOut(&hash)
	if err := made.Execute(); err != nil {
		t.Fatal(err)
	}
	made = newToken()
	made.SetArgs([]string{"grafana", "--until=2999-01-01"})
	made.SetOut(&token)
	made.SetErr(&row)
	if err := made.Execute(); err != nil {
		t.Fatal(err)
	}
	cert, key, pool := certificate(t)
	audit := filepath.Join(t.TempDir(), "audit.log")
	d := door{cert: cert, key: key, audit: audit, file: write(t, 0o600, fmt.Sprintf("%susers:\n  - {name: anna, role: operator, hash: %q}\n", row.String(), strings.TrimSpace(hash.String())))}

	var printed bytes.Buffer
	out, in := io.Pipe()
	cmd := &cobra.Command{}
	ctx, cancel := context.WithCancel(t.Context())
	cmd.SetContext(ctx)
	cmd.SetOut(in)
	cmd.SetErr(&printed)
	done := make(chan error)
	go func() {
		done <- serveFleet(cmd, &flags.Source{}, []string{"demo"}, &d, "127.0.0.1:0", rules.Options{}, nil, nil, site.Ask(nil))
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
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	defer browser.CloseIdleConnections()
	var bodies bytes.Buffer
	want := func(status int, header string, req func() (*http.Response, error)) {
		t.Helper()
		res, err := req()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, _ = io.Copy(&bodies, res.Body)
		if res.StatusCode != status || res.ProtoMajor != 2 || res.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: %s %s %v, want %d", res.Request.URL, res.Proto, res.Status, res.Header, status)
		}
		fmt.Fprintln(&bodies, res.Header.Values(header))
	}
	login := func(password string) func() (*http.Response, error) {
		return func() (*http.Response, error) {
			return browser.PostForm(base+"/login", url.Values{"name": {"anna"}, "password": {password}, "next": {"/healthz"}})
		}
	}
	want(401, "", func() (*http.Response, error) { return browser.Get(base + "/metrics") })
	want(401, "", login("wrong "+password))
	want(200, "", login(password))
	want(200, "", func() (*http.Response, error) { return browser.Get(base + "/metrics") })
	want(200, "", func() (*http.Response, error) { return browser.Get(base + "/status") })
	session := jar.Cookies(&url.URL{Scheme: "https", Host: strings.TrimPrefix(base, "https://"), Path: "/"})
	if len(session) != 1 || session[0].Name != "__Host-homenode-session" {
		t.Fatalf("cookies %v", session)
	}
	want(401, "", func() (*http.Response, error) { return browser.PostForm(base+"/logout", nil) }) // sent on to /
	want(401, "", func() (*http.Response, error) { return browser.Get(base + "/metrics") })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token.String()))
	want(200, "", func() (*http.Response, error) { return browser.Do(req) })
	browser.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	kept, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(kept), `"who":"anna","role":"operator","via":"password","from":"127.0.0.1","what":"sign in","result":"ok"`) {
		t.Errorf("audit log %s", kept)
	}
	for _, secret := range []string{password, strings.TrimSpace(token.String()), strings.TrimSpace(hash.String()), session[0].Value, "token "} {
		if strings.Contains(string(kept)+printed.String()+string(line[:n]), secret) || secret != "token " && strings.Contains(bodies.String(), secret) {
			t.Errorf("a secret is printed, answered or kept:\n%s\n%s", printed.String(), kept)
		}
	}
	if info, err := os.Stat(audit); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("audit log: %v, %v", info, err)
	}
}
