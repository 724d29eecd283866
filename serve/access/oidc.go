package access

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Of signing in with a provider.
const (
	flowLongest     = 10 * time.Minute // from leaving for the provider to coming back
	providerLongest = 10 * time.Second // of a request to it
	providerAgain   = 5 * time.Second  // after a discovery that failed; who waited for it is told of its failure
	saysProvider    = "Signing in with the provider failed."
)

// A provider is what is known of the provider. It is asked at the first attempt, so that the server starts without it.
type provider struct {
	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier
	endpoint oauth2.Endpoint
	failed   error     // of the last discovery
	again    time.Time // not before is there another one
}

// A flow is an attempt to sign in with the provider. The browser keeps it, sealed.
type flow struct {
	State, Nonce, Verifier, Next string
	End                          time.Time
}

// newSeal returns what seals flows, under a key of this process.
func newSeal() (cipher.AEAD, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

var providerClient = &http.Client{Timeout: providerLongest}

// client returns what talks to the provider.
func (g *Gate) client(ctx context.Context) (context.Context, *oauth2.Config, *oidc.IDTokenVerifier, error) {
	c, p := g.o.Config.OIDC, &g.provider
	ctx = oidc.ClientContext(ctx, providerClient)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.verifier == nil && g.now().Before(p.again) {
		return nil, nil, nil, p.failed
	}
	if p.verifier == nil {
		// The keys are fetched again later: not with the context of this request.
		found, err := oidc.NewProvider(oidc.ClientContext(context.Background(), providerClient), c.Issuer)
		if err != nil {
			p.failed, p.again = fmt.Errorf("discovery: %w", err), g.now().Add(providerAgain)
			return nil, nil, nil, p.failed
		}
		p.verifier, p.endpoint = found.Verifier(&oidc.Config{ClientID: c.ClientID}), found.Endpoint()
	}
	scopes := c.Scopes
	if scopes == nil {
		scopes = []string{"profile", "email"}
	}
	return ctx, &oauth2.Config{ClientID: c.ClientID, ClientSecret: c.Secret, Endpoint: p.endpoint, RedirectURL: strings.TrimSuffix(g.o.URL.String(), "/") + "/login/oidc/return",
		Scopes: append([]string{oidc.ScopeOpenID}, scopes...)}, p.verifier, nil
}

// toProvider sends the browser to the provider.
func (g *Gate) toProvider(w http.ResponseWriter, r *http.Request) {
	if g.o.Config == nil || g.o.Config.OIDC == nil {
		http.NotFound(w, r)
		return
	}
	_, config, _, err := g.client(r.Context())
	if err != nil {
		g.failed(w, r, err)
		return
	}
	f := flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: LocalPath(r.URL.Query().Get("next")), End: g.now().Add(flowLongest)}
	b, err := json.Marshal(&f)
	if err != nil {
		g.failed(w, r, err)
		return
	}
	g.flowCookie(w, base64.RawURLEncoding.EncodeToString(g.seal.Seal(nil, nil, b, nil)), int(flowLongest.Seconds()))
	http.Redirect(w, r, config.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), http.StatusFound)
}

// flowCookie sets the cookie of a flow. It is Lax, for the browser comes back from another site.
func (g *Gate) flowCookie(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: g.cookieName("oidc"), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: g.o.Secure, SameSite: http.SameSiteLaxMode})
}

// flowOf returns the flow of a browser that comes back; nil for one that never left.
func (g *Gate) flowOf(r *http.Request) *flow {
	c, err := r.Cookie(g.cookieName("oidc"))
	if err != nil {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return nil
	}
	var f flow
	if b, err = g.seal.Open(nil, nil, b, nil); err != nil || json.Unmarshal(b, &f) != nil {
		return nil
	}
	return &f
}

// fromProvider signs in whom the provider names.
func (g *Gate) fromProvider(w http.ResponseWriter, r *http.Request) {
	if g.o.Config == nil || g.o.Config.OIDC == nil {
		http.NotFound(w, r)
		return
	}
	f := g.flowOf(r)
	switch {
	case f == nil: // of anybody: nothing is worth a line
		g.show(w, r, http.StatusUnauthorized, Login{Message: saysProvider})
		return
	case !g.now().Before(f.End):
		g.failed(w, r, errors.New("no attempt to sign in was begun by this browser in the last minutes"))
		return
	}
	g.flowCookie(w, "", -1)
	user, err := g.named(r, f)
	if err != nil {
		g.failed(w, r, err)
		return
	}
	if user.Role == Anyone {
		g.note(with(r.Context(), user, g.o.Audit), "sign in", map[string]string{"result": "no group of the user has a role"})
		g.show(w, r, http.StatusForbidden, Login{Message: "None of your groups has a role here.", Next: f.Next})
		return
	}
	if err := g.signIn(w, r, user); err != nil {
		g.warn(err)
		g.show(w, r, http.StatusServiceUnavailable, Login{Message: saysNoAudit, Next: f.Next})
		return
	}
	g.flowCookie(w, "", -1)
	// A redirect would still belong to the navigation that the provider began, and take no cookie that is Strict with it.
	w.Header().Set("Refresh", "0; url="+f.Next)
	g.show(w, r, http.StatusOK, Login{Done: true, Message: "You are signed in.", Next: f.Next})
}

// named returns whom the provider names in answer to a flow.
func (g *Gate) named(r *http.Request, f *flow) (u User, err error) {
	q := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(f.State)) != 1 {
		return u, errors.New("the state is of another attempt")
	}
	if q.Get("code") == "" {
		return u, errors.New("the provider gave no code")
	}
	ctx, config, verifier, err := g.client(r.Context())
	if err != nil {
		return u, err
	}
	token, err := config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(f.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok { // its text has what the provider answered
		return u, fmt.Errorf("the provider refused the code: %s", cmp.Or(refused.ErrorCode, refused.Response.Status))
	} else if err != nil {
		return u, errors.New("the provider did not take the code")
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return u, fmt.Errorf("ID token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(f.Nonce)) != 1 {
		return u, errors.New("ID token: the nonce is of another attempt")
	}
	var claims map[string]any
	if err := id.Claims(&claims); err != nil {
		return u, fmt.Errorf("ID token: %w", err)
	}
	c := g.o.Config.OIDC
	u = User{Via: ViaOIDC, From: Of(r.Context()).From, Role: g.o.Config.roleOf(texts(claimOf(claims, cmp.Or(c.RoleClaim, "groups"))))}
	u.Name, _ = claimOf(claims, cmp.Or(c.NameClaim, "preferred_username")).(string)
	u.Name = cmp.Or(u.Name, id.Subject)
	return u, nil
}

// failed says that signing in failed, and tells the log and the administrator why; not more often than an address may try.
func (g *Gate) failed(w http.ResponseWriter, r *http.Request, why error) {
	if g.limits.fromAddress(Of(r.Context()).From) {
		g.note(r.Context(), "sign in", map[string]string{"account": "oidc", "result": why.Error()})
		g.warn(fmt.Errorf("oidc: %w", why))
	}
	g.show(w, r, http.StatusUnauthorized, Login{Message: saysProvider})
}

// claimOf returns a claim by its name, or by the names of those that it is within, with dots between.
func claimOf(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	first, rest, ok := strings.Cut(name, ".")
	within, is := claims[first].(map[string]any)
	if !ok || !is {
		return nil
	}
	return claimOf(within, rest)
}

// texts returns a text or a list of them.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if s, ok := one.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}
