// Package access says who is let in: everybody on this machine, whoever has the token, or whom a proxy sends. It refuses what a
// page of another site has a browser send.
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

	"homenode/internal/loopback"
)

// Options say who is let in. Without Token and Proxy that is everybody who reaches the server: it listens on loopback alone.
type Options struct {
	Listen string   // address of the server, host:port
	URL    *url.URL // that browsers use; nil for Listen
	Secure bool     // browsers use https
	Token  string   // "" for none
	// Proxy is the address of a proxy that signs people in, the zero Addr for none. Header is where it writes their names: they are
	// shown, and decide nothing.
	Proxy  netip.Addr
	Header string
}

// A Gate lets requests in.
type Gate struct {
	o   Options
	sum [sha256.Size]byte // of the token
}

// New returns a Gate.
func New(o Options) *Gate {
	return &Gate{o: o, sum: sha256.Sum256([]byte(o.Token))}
}

// user is the key of the name of a user in a context.
type user struct{}

// User returns the name that the proxy gave with the request of a context; "" for none.
func User(ctx context.Context) string {
	name, _ := ctx.Value(user{}).(string)
	return name
}

// open is the path that needs no token and no proxy.
const open = "/healthz"

// Wrap returns a handler that passes on the requests that are let in.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if g.o.URL != nil {
		_ = cross.AddTrustedOrigin(g.o.URL.Scheme + "://" + g.o.URL.Host) // a URL with both is an origin
	}
	cross.SetDenyHandler(http.HandlerFunc(refuseElsewhere))
	inner := cross.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, next) }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.protect(w.Header())
		switch {
		case !g.ours(r.Host): // DNS rebinding: the name of a stranger leads to this address
			http.Error(w, fmt.Sprintf("this server is not %q", r.Host), http.StatusMisdirectedRequest)
		case fromElsewhere(r):
			refuseElsewhere(w, r)
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

// protect sets the headers that every answer has.
func (g *Gate) protect(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'") // pages replace it
	if g.o.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

func refuseElsewhere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "a page of another site sent this request", http.StatusForbidden)
}

// fromElsewhere reports whether a page of another site has the browser of a reader send the request: one that follows no link of it.
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

// serve passes a request on when it is let in.
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

// fromProxy returns the user whom the proxy names. It removes the header, which anybody else could write.
func (g *Gate) fromProxy(r *http.Request) (name string, ok bool) {
	if !g.o.Proxy.IsValid() {
		return "", false
	}
	names := r.Header.Values(g.o.Header)
	r.Header.Del(g.o.Header)
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err != nil || peer.Addr().Unmap().WithZone("") != g.o.Proxy.Unmap() {
		return "", false
	}
	if len(names) != 1 || strings.TrimSpace(names[0]) == "" { // no one has signed in, or the proxy adds to what a browser sent
		return "", false
	}
	return strings.TrimSpace(names[0]), true
}

// hasToken reports whether a request has the token: as Bearer, or as the password that a browser asks for.
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
