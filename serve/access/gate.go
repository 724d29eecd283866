package access

import (
	"context"
	"crypto/cipher"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"
)

// Of sessions.
const (
	sessionLongest = 8 * time.Hour
	sessionIdle    = time.Hour
)

// Options say how a Gate lets in.
type Options struct {
	// Config says who may sign in; nil for a server that listens on loopback alone: its viewers are everybody on this machine,
	// and an operator has the token that the Gate makes.
	Config *Config
	// Proxies are the addresses whose headers are believed.
	Proxies []netip.Prefix
	// URL is how browsers reach the server; nil for its own address.
	URL *url.URL
	// Secure is whether browsers reach it by https.
	Secure bool
	// Port is that of the server, for the names of cookies: browsers share them between the ports of a host.
	Port string
	// Audit is nil when none is kept.
	Audit *Audit
	// Warn is told what goes wrong with a provider; nil for nothing.
	Warn func(error)
}

// A Login is what a page to sign in shows.
type Login struct {
	Password, OIDC, Token bool   // what one can sign in with
	Next                  string // the address to go to after it
	Message               string // why it is shown
	Done                  bool   // one is signed in
}

// A Gate lets requests in.
type Gate struct {
	// Token makes an operator of who has it; "" with a Config.
	Token string
	// Page writes a page to sign in; nil for plain text.
	Page func(w http.ResponseWriter, r *http.Request, status int, l Login)

	o         Options
	rows      map[string]*Route
	tokenSum  string
	users     map[string]*Local // by name in lower case
	tokens    map[string]*Token // by sum
	now       func() time.Time
	sessions  *scs.SessionManager
	changing  sync.Mutex // of sessions: none that was ended is kept again by a request that runs
	limits    limits
	verifying chan struct{}
	seal      cipher.AEAD // of the cookie of a flow with a provider
	provider  provider
}

// New returns a Gate.
func New(o Options) (*Gate, error) {
	g := &Gate{o: o, rows: map[string]*Route{}, users: map[string]*Local{}, tokens: map[string]*Token{}, now: time.Now, verifying: make(chan struct{}, verifyAtOnce)}
	for i := range Routes {
		g.rows[Routes[i].Pattern] = &Routes[i]
	}
	if o.Config == nil {
		g.Token, g.tokenSum = NewToken()
	} else {
		for i := range o.Config.Users {
			g.users[strings.ToLower(o.Config.Users[i].Name)] = &o.Config.Users[i]
		}
		for i := range o.Config.Tokens {
			g.tokens[strings.ToLower(o.Config.Tokens[i].SHA256)] = &o.Config.Tokens[i]
		}
	}
	var err error
	if g.seal, err = newSeal(); err != nil {
		return nil, err
	}
	s := scs.New() // in memory: a start of the process ends all
	s.Lifetime, s.IdleTimeout = sessionLongest, sessionIdle
	s.HashTokenInStore = true
	s.Cookie = scs.SessionCookie{Name: g.cookieName("session"), Path: "/", HttpOnly: true, Secure: o.Secure, SameSite: http.SameSiteStrictMode}
	g.sessions = s
	return g, nil
}

// Closed returns a Gate that shows everything to this machine and makes no operator.
func Closed() *Gate {
	g, err := New(Options{})
	if err != nil {
		panic(err) // a cipher with a key of its own length
	}
	return g
}

// cookieName returns the name of a cookie, with the prefix that browsers take from this very host and by https only.
func (g *Gate) cookieName(what string) string {
	if g.o.Secure {
		return "__Host-homenode-" + what
	}
	return "homenode-" + what + "-" + g.o.Port
}

// Wrap lets requests for the routes of a mux in. The mux has the routes of Handlers too.
func (g *Gate) Wrap(mux *http.ServeMux) http.Handler {
	cross := http.NewCrossOriginProtection()
	if g.o.URL != nil {
		_ = cross.AddTrustedOrigin(g.o.URL.Scheme + "://" + g.o.URL.Host) // a URL with both is an origin
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "a page of another site sent this request", http.StatusForbidden)
	}))
	inner := cross.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.serve(w, r, mux) }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'") // a page says what it has
		if g.o.Secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if fromElsewhere(r) {
			http.Error(w, "a page of another site sent this request", http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// fromElsewhere reports whether a page of another site has the browser of a reader send the request: one that follows no link of it.
func fromElsewhere(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") != "cross-site" {
		return false
	}
	to := r.Header.Get("Sec-Fetch-Dest")
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || to != "" && to != "document" // a frame is a navigation too
}

// serve answers a request when its user has the role that its route wants.
func (g *Gate) serve(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	_, pattern := mux.Handler(r)
	ctx, user, err := g.who(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if user.SignsOut() { // what streams ends with the session
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, g.sessions.Deadline(ctx))
		defer cancel()
	}
	r = r.WithContext(with(ctx, user, g.o.Audit))
	row := g.rows[pattern]
	switch {
	case pattern == "": // nothing answers to it: the mux says that it is not found, or not with this method
	case row == nil:
		http.Error(w, "no rule says who may ask for this", http.StatusForbidden)
		return
	case row.Methods != "" && !slices.Contains(strings.Fields(row.Methods), r.Method):
		w.Header().Set("Allow", strings.ReplaceAll(row.Methods, " ", ", "))
		http.Error(w, "not with this method", http.StatusMethodNotAllowed)
		return
	case user.Role >= row.Least, user.Via == ViaLocal && slices.Contains(LocalToo, pattern):
	case user.Name == "":
		w.Header().Set("WWW-Authenticate", `Bearer realm="homenode"`)
		text := "Sign in: this needs the role " + row.Least.String() + "."
		if user.Via == viaBadToken {
			text = "This token is unknown, or its last day is over."
		}
		g.refuse(w, r, http.StatusUnauthorized, text)
		return
	default:
		g.note(r.Context(), "refused", map[string]string{"result": "needs the role " + row.Least.String(), "route": pattern})
		g.refuse(w, r, http.StatusForbidden, "This needs the role "+row.Least.String()+".")
		return
	}
	mux.ServeHTTP(w, r)
}

// viaBadToken is a user whose token is not known.
const viaBadToken = "unknown token"

// who returns who sends a request, and a context with the session. It removes the headers that only a proxy may set.
func (g *Gate) who(w http.ResponseWriter, r *http.Request) (context.Context, User, error) {
	peer := addressOf(r.RemoteAddr)
	believed := g.believed(peer)
	from := User{From: peer.String()}
	if believed {
		from.From = g.forwarded(r, peer).String()
	}
	ctx, kept, err := g.session(w, r, from)
	if err != nil {
		return nil, User{}, err
	}
	if c := g.o.Config; c != nil && c.Proxy != nil {
		user, groups := r.Header.Values(c.Proxy.User), r.Header.Values(c.Proxy.Groups)
		if !believed {
			r.Header.Del(c.Proxy.User)
			r.Header.Del(c.Proxy.Groups)
		} else if len(user) == 1 && user[0] != "" {
			from.Name, from.Via, from.Role = user[0], ViaProxy, c.roleOf(splitGroups(groups))
			return ctx, from, nil
		}
	}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return ctx, g.bearer(strings.TrimSpace(token), from), nil
	}
	switch {
	case kept.Name != "":
		return ctx, kept, nil
	case g.o.Config == nil:
		from.Role, from.Via = Viewer, ViaLocal
	}
	return ctx, from, nil
}

// bearer returns the user of a token.
func (g *Gate) bearer(token string, from User) User {
	sum := sumOf(token)
	t := g.tokens[sum]
	switch {
	case g.tokenSum != "" && subtle.ConstantTimeCompare([]byte(sum), []byte(g.tokenSum)) == 1:
		return operator(from)
	case t != nil && g.now().Before(t.end):
		from.Name, from.Role, from.Via = t.Name, t.Role, ViaToken
	default:
		from.Via = viaBadToken
	}
	return from
}

// operator returns the user of the token that is printed at the start.
func operator(from User) User {
	from.Name, from.Role, from.Via = "local operator", Operator, ViaOperator
	return from
}

// session returns a context with the session of a request and its user, and says that it is in use.
func (g *Gate) session(w http.ResponseWriter, r *http.Request, from User) (context.Context, User, error) {
	var cookie string
	if c, err := r.Cookie(g.sessions.Cookie.Name); err == nil {
		cookie = c.Value
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	ctx, err := g.sessions.Load(r.Context(), cookie)
	if err != nil {
		return nil, User{}, err
	}
	from.Name = g.sessions.GetString(ctx, "name")
	if from.Name == "" {
		return ctx, User{}, nil
	}
	from.Via = g.sessions.GetString(ctx, "via")
	from.Role = Role(g.sessions.GetInt(ctx, "role"))
	_, expiry, err := g.sessions.Commit(ctx)
	if err != nil {
		return nil, User{}, err
	}
	g.sessions.WriteSessionCookie(ctx, w, cookie, expiry)
	return ctx, from, nil
}

// refuse answers a browser with the page to sign in, and others with text.
func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	if g.Page == nil || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, text, status)
		return
	}
	next := "/"
	if r.Method == http.MethodGet {
		next = r.URL.RequestURI()
	}
	g.show(w, r, status, Login{Message: text, Next: next})
}

// show writes the page to sign in.
func (g *Gate) show(w http.ResponseWriter, r *http.Request, status int, l Login) {
	if c := g.o.Config; c != nil {
		l.Password, l.OIDC = len(c.Users) > 0, c.OIDC != nil
	} else {
		l.Token = true
	}
	l.Next = LocalPath(l.Next)
	w.Header().Set("Cache-Control", "no-store")
	if g.Page == nil {
		http.Error(w, l.Message, status)
		return
	}
	g.Page(w, r, status, l)
}

// note writes to the audit log what changes nothing; that it cannot be written is said elsewhere.
func (g *Gate) note(ctx context.Context, what string, details map[string]string) {
	if err := Log(ctx, what, details); err != nil {
		g.warn(err)
	}
}

func (g *Gate) warn(err error) {
	if g.o.Warn != nil {
		g.o.Warn(err)
	}
}

// believed reports whether an address is that of a proxy.
func (g *Gate) believed(a netip.Addr) bool {
	return slices.ContainsFunc(g.o.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// forwarded returns whom a proxy asks for: the last address of X-Forwarded-For that is of no proxy, for what stands before it
// could be written by anyone.
func (g *Gate) forwarded(r *http.Request, peer netip.Addr) netip.Addr {
	all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, one := range slices.Backward(all) {
		a, err := netip.ParseAddr(strings.TrimSpace(one))
		if err != nil {
			return peer
		}
		if peer = a.Unmap(); !g.believed(peer) {
			return peer
		}
	}
	return peer
}

// addressOf returns the address of host:port.
func addressOf(remote string) netip.Addr {
	a, _ := netip.ParseAddrPort(remote) // net/http writes it; the zero Addr is of no proxy
	return a.Addr().Unmap().WithZone("")
}

func splitGroups(headers []string) (out []string) {
	for _, h := range headers {
		for _, g := range strings.Split(h, ",") {
			out = append(out, strings.TrimSpace(g))
		}
	}
	return out
}

// LocalPath returns an address of this server, / for any other.
func LocalPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
