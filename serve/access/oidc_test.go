package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"

	browserpage "homenode/internal/browser"
)

// A realProvider is an OpenID provider: a library that is certified as one.
type realProvider struct {
	*httptest.Server
	mu   sync.Mutex
	last string              // the ID token that it gave
	swap func(string) string // nil to give the one that it made
	host string              // that it takes itself for; "" for how it is called
	asks bool                // a person clicks there
}

// providerStore asserts what it knows of a user in the ID token.
type providerStore struct{ *storage.Storage }

func (s providerStore) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	c, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return providerClientOf{c}, nil
}

type providerClientOf struct{ op.Client }

func (providerClientOf) IDTokenUserinfoClaimsAssertion() bool { return true }

// startProvider starts one with the clients homenode and other.
func startProvider(t *testing.T, back string) *realProvider {
	t.Helper()
	p := &realProvider{}
	clients := map[string]*storage.Client{}
	for _, id := range []string{"homenode", "other"} {
		clients[id] = storage.WebClient(id, "client-s3cret", back)
	}
	var handler http.Handler
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		host, swap := p.host, p.swap
		p.mu.Unlock()
		if host != "" {
			r.Host = host
		}
		if r.URL.Path != "/oauth/token" {
			handler.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		var fields map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &fields); err != nil {
			t.Errorf("the provider answered %s", answer.Body)
		}
		if id, ok := fields["id_token"].(string); ok {
			p.mu.Lock()
			p.last = id
			p.mu.Unlock()
			if swap != nil {
				fields["id_token"] = swap(id)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.Code)
		_ = json.NewEncoder(w).Encode(fields)
	}))
	t.Cleanup(p.Close)
	store := providerStore{storage.NewStorageWithClients(storage.NewUserStore("http://localhost:1"), clients)}
	provider, err := op.NewProvider(&op.Config{CryptoKey: sha256.Sum256([]byte("test")), CryptoKeyId: "key1", CodeMethodS256: true, AuthMethodPost: true}, store, op.IssuerFromHost(""), op.WithAllowInsecure())
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", provider)
	// What a person does there: the name and the password are right.
	mux.Handle("GET /login/username", op.NewIssuerInterceptor(provider.IssuerFromRequest).HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("authRequestID")
		if p.asks && !r.URL.Query().Has("clicked") {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<form><input type="hidden" name="authRequestID" value="%s"><button name="clicked" value="yes">Sign in</button></form>`, html.EscapeString(id))
			return
		}
		if err := store.CheckUsernamePassword("test-user2", "verysecure", id); err != nil {
			t.Error(err)
		}
		http.Redirect(w, r, op.AuthCallbackURL(provider)(r.Context(), id), http.StatusFound)
	}))
	handler = mux
	return p
}

// A flowLab is a gate with a provider.
type flowLab struct {
	*lab
	server *httptest.Server
	warned []string
	bodies bytes.Buffer
}

// startFlow returns a gate that takes users of an issuer for a client. Its role is that of the client ID, a claim within another one.
func startFlow(t *testing.T, server *httptest.Server, issuer, client string) *flowLab {
	t.Helper()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := &Config{OIDC: &OIDC{Issuer: issuer, ClientID: client, Secret: "client-s3cret", RoleClaim: storage.CustomClaim + ".client", Scopes: []string{"profile", storage.CustomScope}}}
	c.Roles.Operator = []string{"homenode"}
	l := &flowLab{server: server}
	l.lab = newLab(t, Options{Config: c, URL: at, Port: at.Port(), Warn: func(err error) { l.warned = append(l.warned, err.Error()) }})
	server.Config.Handler = l.handler
	return l
}

// run signs in, and returns the status of coming back and the client after it. Change rewrites the addresses that the browser is
// sent to.
func (l *flowLab) run(t *testing.T, change func(*url.URL)) (int, *http.Client) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	next := l.server.URL + "/login/oidc?next=/x%3Fa%3Db"
	for range 10 {
		u, err := url.Parse(next)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(u)
		}
		res, err := browser.Get(u.String())
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if strings.HasPrefix(u.String(), l.server.URL) {
			l.bodies.Write(b)
		}
		to, err := res.Location()
		if err != nil {
			if res.StatusCode == http.StatusOK && (res.Header.Get("Refresh") != "0; url=/x?a=b" || res.Header.Get("Location") != "") {
				t.Errorf("back with %v", res.Header)
			}
			return res.StatusCode, browser
		}
		next = to.String()
	}
	t.Fatal("sent about without end")
	return 0, nil
}

// who returns what the page says to a browser.
func (l *flowLab) who(t *testing.T, browser *http.Client) string {
	t.Helper()
	res, err := browser.Get(l.server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// TestOIDC signs in with a real provider, and refuses whatever is not its answer to this attempt.
func TestOIDC(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	p := startProvider(t, server.URL+"/login/oidc/return")
	issuer := p.URL
	on := func(path, name string, set func(string) string) func(*url.URL) {
		return func(u *url.URL) {
			if q := u.Query(); strings.HasSuffix(u.Path, path) && q.Has(name) {
				q.Set(name, set(q.Get(name)))
				u.RawQuery = q.Encode()
			}
		}
	}
	wrong := func(string) string { return "wrong-wrong-wrong-wrong-wrong-wrong-wrong-wrong-wrong" }

	// Tokens of this provider that are of another client, and by another name of it.
	other := startFlow(t, server, issuer, "other")
	if status, _ := other.run(t, nil); status != http.StatusForbidden || len(other.warned) > 0 {
		t.Errorf("a client whose users have no role: status %d, %v", status, other.warned)
	}
	forOther := p.last
	byOther := startFlow(t, server, strings.Replace(issuer, "127.0.0.1", "localhost", 1), "homenode")
	if status, browser := byOther.run(t, nil); status != http.StatusOK || byOther.who(t, browser) != "test-user2|operator|oidc|127.0.0.1|" {
		t.Errorf("by another name: status %d, %s, %v", status, byOther.who(t, browser), byOther.warned)
	}
	elsewhere := p.last
	unsigned := func(id string) string {
		none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`))
		return none + "." + strings.Split(id, ".")[1] + "."
	}
	changed := func(id string) string {
		parts := strings.Split(id, ".")
		b, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err != nil {
			t.Error(err)
		}
		parts[1] = base64.RawURLEncoding.EncodeToString(bytes.Replace(b, []byte("test-user2"), []byte("test-root2"), 1))
		return strings.Join(parts, ".")
	}

	for _, tt := range []struct {
		name   string
		change func(*url.URL)
		swap   func(string) string
		later  time.Duration // between leaving and coming back
		want   string        // in the warning
	}{
		{name: "right"},
		{name: "state", change: on("/login/oidc/return", "state", wrong), want: "the state is of another attempt"},
		{name: "nonce", change: on("/authorize", "nonce", wrong), want: "the nonce is of another attempt"},
		{name: "verifier", change: on("/authorize", "code_challenge", wrong), want: "the provider refused the code: invalid_grant"},
		{name: "code", change: on("/login/oidc/return", "code", wrong), want: "the provider refused the code: invalid_grant"},
		{name: "no code", change: on("/login/oidc/return", "code", func(string) string { return "" }), want: "the provider gave no code"},
		{name: "audience", swap: func(string) string { return forOther }, want: `expected audience "homenode" got ["other"]`},
		{name: "issuer", swap: func(string) string { return elsewhere }, want: "issued by a different provider"},
		{name: "unsigned", swap: unsigned, want: "ID token: "},
		{name: "changed", swap: changed, want: "failed to verify"},
		{name: "no token", swap: func(string) string { return "" }, want: "ID token: "},
		{name: "late", later: flowLongest, want: "no attempt to sign in was begun by this browser"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := startFlow(t, server, issuer, "homenode")
			p.mu.Lock()
			p.swap = tt.swap
			p.mu.Unlock()
			change := func(u *url.URL) {
				if tt.change != nil {
					tt.change(u)
				}
				if strings.HasSuffix(u.Path, "/return") {
					l.now = func() time.Time { return time.Now().Add(tt.later) }
				}
			}
			status, browser := l.run(t, change)
			who, want, result := l.who(t, browser), "Sign in: this needs the role viewer.", http.StatusUnauthorized
			if tt.want == "" {
				want, result = "test-user2|operator|oidc|127.0.0.1|", http.StatusOK
			}
			if status != result || who != want || !strings.Contains(strings.Join(l.warned, "\n"), tt.want) || (tt.want == "") != (len(l.warned) == 0) {
				t.Errorf("status %d, %s, warned %q; want %d, %s, %q", status, who, l.warned, result, want, tt.want)
			}
			all, text := l.lines(t)
			if len(all) != 1 || all[0].What != "sign in" || (all[0].Result == "ok") != (tt.want == "") {
				t.Errorf("audit log %s", text)
			}
			for _, secret := range []string{"client-s3cret", "verysecure", p.last} {
				if strings.Contains(text+l.bodies.String()+strings.Join(l.warned, ""), secret) {
					t.Error("a secret is in an answer, a warning or the log")
				}
			}
		})
	}

	// Who never left for the provider leaves no line, and who comes back wrongly again and again leaves few.
	flood := startFlow(t, server, issuer, "homenode")
	b := flood.browser()
	for range 50 {
		b.want(t, http.StatusUnauthorized, "GET", "/login/oidc/return?code=x&state=y", nil)
		b.do(t, "POST", "/logout", nil)
	}
	if all, text := flood.lines(t); len(all) > 0 {
		t.Errorf("audit log %s", text)
	}
	b.want(t, http.StatusFound, "GET", "/login/oidc", nil)
	flow := b.cookies[flood.cookieName("oidc")]
	for range 50 {
		b.want(t, http.StatusUnauthorized, "GET", "/login/oidc/return?code=x&state=y", nil, "Cookie", flood.cookieName("oidc")+"="+flow)
	}
	if all, text := flood.lines(t); len(all) != triesAtOnce {
		t.Errorf("audit log %s", text)
	}

	// Discovery that names another issuer than the one that is allowed.
	l := startFlow(t, server, issuer, "homenode")
	p.host = "evil.example.com"
	if status, _ := l.run(t, nil); status != http.StatusUnauthorized || !strings.Contains(strings.Join(l.warned, ""), "did not match") {
		t.Errorf("status %d, warned %q", status, l.warned)
	}
	// It is asked again some seconds later.
	p.host, p.swap = "", nil
	if status, _ := l.run(t, nil); status != http.StatusUnauthorized {
		t.Errorf("status %d at once after it failed", status)
	}
	l.now = func() time.Time { return time.Now().Add(providerAgain) }
	if status, _ := l.run(t, nil); status != http.StatusOK {
		t.Errorf("status %d after it is right again, warned %q", status, l.warned)
	}
}

// TestOIDCInBrowser signs in with a browser, which takes no Strict cookie along on what a page of another site began.
func TestOIDCInBrowser(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	p := startProvider(t, server.URL+"/login/oidc/return")
	p.asks = true
	l := startFlow(t, server, strings.Replace(p.URL, "127.0.0.1", "localhost", 1), "homenode") // for a browser another site than 127.0.0.1
	b := browserpage.Open(t, server.URL+"/login/oidc?next=/")
	b.Do(t, chromedp.Click(chromedp.CSS("button")))
	var text string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var err error
		if text, err = chromedp.Run(b.Context, chromedp.Evaluate[string]("location.pathname + ' ' + document.body.innerText.trim()")); err == nil && strings.HasPrefix(text, "/ ") && len(text) > 2 { // loaded
			break
		}
	}
	if want := "/ test-user2|operator|oidc|127.0.0.1|"; text != want {
		t.Errorf("%q, want %q; warned %q", text, want, l.warned)
	}
}

func TestClaims(t *testing.T) {
	var claims map[string]any
	if err := json.Unmarshal([]byte(`{"groups": ["a", 1, "b"], "realm_access": {"roles": "x"}, "https://example.com/roles": ["u"]}`), &claims); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"groups": "a b", "realm_access.roles": "x", "https://example.com/roles": "u", "none": "", "groups.x": "", "realm_access": ""} {
		if got := strings.Join(texts(claimOf(claims, name)), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
