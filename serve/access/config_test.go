package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	good, err := HashPassword(password)
	if err != nil {
		t.Fatal(err)
	}
	_, sum := NewToken()
	for _, tt := range []struct {
		set  func(*Config)
		want string
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { *c = Config{} }, "found none of users, tokens, oidc and proxy: nothing says who may sign in"},
		{func(c *Config) { c.Users[0].Name = "" }, "users: number 1: want a name"},
		{func(c *Config) { c.Users[0].Role = 0 }, "users: number 1: want role: viewer or operator"},
		{func(c *Config) { c.Users[0].Hash = "s3cret" }, "users: number 1: hash: want argon2id, as homenode serve password writes it"},
		{func(c *Config) { c.Users[0].Hash = good + "!" }, "users: number 1: hash: want argon2id, as homenode serve password writes it"},
		{func(c *Config) { c.Users[0].Hash = strings.Replace(good, "m=19456", "m=4194304", 1) }, "users: number 1: hash: want m from 19456 to 262144, t from 1 to 16, p from 1 to 16, a salt of 16 bytes and a key of 32"},
		{func(c *Config) { c.Users = append(c.Users, Local{Name: "ANNA", Role: Viewer, Hash: good}) }, "users: number 2: the name of another again"},
		{func(c *Config) { c.Tokens[0].SHA256 = "s3cret" }, "tokens: number 1: sha256: want 64 hexadecimal digits, as homenode serve token writes them"},
		{func(c *Config) { c.Tokens[0].Until = "never" }, "tokens: number 1: until: want its last day, such as 2027-01-31"},
		{func(c *Config) { c.Tokens[0].Role = 0 }, "tokens: number 1: want role: viewer or operator"},
		{func(c *Config) { c.Proxy = &Proxy{} }, "proxy: want user: the header that names the user"},
		{func(c *Config) { c.Proxy = &Proxy{User: "X-User"} }, "roles: want the groups that are viewer or operator: without any, no user of oidc or proxy may do anything"},
		{func(c *Config) { c.OIDC = &OIDC{Issuer: "http://id.example.com", ClientID: "x"} }, "oidc: issuer: want an https URL"},
		{func(c *Config) { c.OIDC = &OIDC{Issuer: "https://id.example.com"} }, "oidc: want clientID"},
	} {
		c := Config{Users: []Local{{Name: "anna", Role: Viewer, Hash: good}}, Tokens: []Token{{Name: "x", Role: Viewer, SHA256: sum, Until: "2027-01-31"}}}
		tt.set(&c)
		got := ""
		if err := c.Check(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	for _, short := range []string{"", "12345678901", strings.Repeat("x", passwordMost+1)} {
		if _, err := HashPassword(short); err == nil {
			t.Errorf("a password of %d bytes", len(short))
		}
	}
}

func TestRoleOf(t *testing.T) {
	var c Config
	c.Roles.Viewer, c.Roles.Operator = []string{"*"}, []string{"admins"}
	for groups, want := range map[string]Role{"": Viewer, "x,admins": Operator, "Admins": Viewer} {
		if got := c.roleOf(strings.Split(groups, ",")); got != want {
			t.Errorf("%s: %v, want %v", groups, got, want)
		}
	}
	if got := (&Config{}).roleOf([]string{"", "*"}); got != Anyone {
		t.Errorf("without roles: %v", got)
	}
}

// writeCertificate writes one and its key, as of a time.
func writeCertificate(t *testing.T, cert, key string, serial int64, at time.Time) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, &of, &of, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCertificate reads a certificate again when it changes, and keeps the one before while there is a broken one.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	var warned []error
	c := Certificate{Cert: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "k.pem"), Warn: func(err error) { warned = append(warned, err) }}
	if _, err := c.Get(nil); err == nil {
		t.Error("no file, and no error")
	}
	serial := func() int64 {
		t.Helper()
		c.looked = time.Time{}
		pair, err := c.Get(nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return x.SerialNumber.Int64()
	}
	now := time.Now()
	writeCertificate(t, c.Cert, c.Key, 1, now)
	if got := serial(); got != 1 {
		t.Errorf("serial %d", got)
	}
	writeCertificate(t, c.Cert, c.Key, 2, now.Add(time.Second))
	if got := serial(); got != 2 {
		t.Errorf("serial %d after a change", got)
	}
	if err := os.WriteFile(c.Key, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 || len(warned) != 1 || strings.Contains(warned[0].Error(), "s3cret") {
		t.Errorf("serial %d, warned %v with a broken key", got, warned)
	}
	writeCertificate(t, c.Cert, c.Key, 3, now.Add(2*time.Second))
	if err := os.Chmod(c.Key, 0o604); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 2 || len(warned) != 2 || !strings.Contains(warned[1].Error(), "everybody may read it") {
		t.Errorf("serial %d, warned %v with a key for everybody", got, warned)
	}
}
