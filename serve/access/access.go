// Package access authorizes requests: everybody on this machine, whoever has the token, or users that a proxy has authenticated. It
// rejects requests that a page of another site makes a browser send.
package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"example.org/homenode/internal/loopback"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
)

// Options define who has access. Without Token and Proxy everybody who can reach the server has; it then listens on loopback only.
type Options struct {
	Listen string   // address of the server, host:port
	URL    *url.URL // URL that browsers use; nil for Listen
	Secure bool     // browsers use https
	Token  string   // "" for none
	// Proxy is the address of an authenticating proxy, the zero Addr for none. Header is the header with the user's name; names are
	// only displayed, and grant nothing.
	Proxy  netip.Addr
	Header string
}

// A Gate authorizes requests.
type Gate struct {
	o   Options
	sum [sha256.Size]byte // of the token
}

// New returns a Gate.
func New(o Options) *Gate {
	return &Gate{o: o, sum: sha256.Sum256([]byte(o.Token))}
}

// user is the context key of the user name.
type user struct{}

// User returns the name that the proxy set for the request of a context; "" for none.
func User(ctx context.Context) string {
	name, _ := ctx.Value(user{}).(string)
	return name
}

// open is the path that needs neither token nor proxy.
const open = "/healthz"

// Wrap returns a handler that passes authorized requests on to next.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if g.o.URL != nil {
		_ = cross.AddTrustedOrigin(g.o.URL.Scheme + "://" + g.o.URL.Host) // a URL with scheme and host is an origin
	}
	cross.SetDenyHandler(http.HandlerFunc(refuseElsewhere))
	inner := cross.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, next) }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.protect(w.Header())
		switch {
		case !g.ours(r.Host): // DNS rebinding: a foreign name that resolves to this address
			http.Error(w, fmt.Sprintf("this server is not %q", r.Host), http.StatusMisdirectedRequest)
		case fromElsewhere(r):
			refuseElsewhere(w, r)
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

// protect sets the headers of every response.
func (g *Gate) protect(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'") // pages override it
	if g.o.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

func refuseElsewhere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "a page of another site sent this request", http.StatusForbidden)
}

// fromElsewhere reports whether a page of another site made the browser send the request, other than by a link that the user
// followed.
func fromElsewhere(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") != "cross-site" {
		return false
	}
	to := r.Header.Get("Sec-Fetch-Dest")
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || to != "" && to != "document" // a frame is a navigation too
}

// ours reports whether a Host header names this server.
func (g *Gate) ours(host string) bool {
	if g.o.URL != nil && strings.EqualFold(host, g.o.URL.Host) {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "80"
	}
	own, ownPort, err := net.SplitHostPort(g.o.Listen)
	if err != nil || port != ownPort {
		return false
	}
	return strings.EqualFold(name, own) || loopback.Host(strings.Trim(name, "[]"))
}

// serve passes an authorized request on.
func (g *Gate) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	name, sent := g.fromProxy(r)
	switch {
	case g.o.Token == "" && !g.o.Proxy.IsValid(), r.URL.Path == open, g.hasToken(r):
	case sent:
		r = r.WithContext(context.WithValue(r.Context(), user{}, name))
	case g.o.Token != "":
		w.Header().Add("WWW-Authenticate", `Bearer realm="homenode"`)
		w.Header().Add("WWW-Authenticate", `Basic realm="homenode: any name, the token as password", charset="UTF-8"`)
		http.Error(w, "This needs the token of the server.", http.StatusUnauthorized)
		return
	default:
		http.Error(w, "Open these pages through the proxy that signs people in.", http.StatusForbidden)
		return
	}
	next.ServeHTTP(w, r)
}

// fromProxy returns the user name set by the proxy. It removes the header, which other clients could forge.
func (g *Gate) fromProxy(r *http.Request) (name string, ok bool) {
	if !g.o.Proxy.IsValid() {
		return "", false
	}
	names := r.Header.Values(g.o.Header)
	r.Header.Del(g.o.Header)
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err != nil || peer.Addr().Unmap().WithZone("") != g.o.Proxy.Unmap() {
		return "", false
	}
	if len(names) != 1 || strings.TrimSpace(names[0]) == "" { // no one has signed in, or the proxy appends to the header of the browser
		return "", false
	}
	return strings.TrimSpace(names[0]), true
}

// hasToken reports whether a request has the token: as a Bearer token, or as the password of basic authentication.
func (g *Gate) hasToken(r *http.Request) bool {
	if g.o.Token == "" {
		return false
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if _, password, ok := r.BasicAuth(); ok {
		token = password
	} else if !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], g.sum[:]) == 1
}

// Fail answers with an error in usual words, as plain text without hidden characters.
func Fail(w http.ResponseWriter, err error, status int) {
	http.Error(w, texttab.Clean(words.Error(err)), status)
}
