package access

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"
)

// mostForm is how large what the page to sign in sends can be, in bytes.
const mostForm = 8 << 10

// Handlers returns the routes to sign in and out by pattern.
func (g *Gate) Handlers() map[string]http.Handler {
	return map[string]http.Handler{
		"GET /login": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g.show(w, r, http.StatusOK, Login{Next: r.URL.Query().Get("next")})
		}),
		"POST /login":            http.HandlerFunc(g.login),
		"POST /logout":           http.HandlerFunc(g.logout),
		"GET /login/oidc":        http.HandlerFunc(g.toProvider),
		"GET /login/oidc/return": http.HandlerFunc(g.fromProvider),
	}
}

// What a page to sign in says. It says the same whether a name is known or not.
const (
	saysWrong   = "The name and the password, or the token, do not match."
	saysLimited = "Too many attempts. Wait some seconds and try again."
	saysNoAudit = "The audit log cannot be written: no one is signed in."
)

// login signs in with a password, or with the token that makes an operator.
func (g *Gate) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "want a form of at most 8 KB", http.StatusBadRequest)
		return
	}
	name, password, next := strings.TrimSpace(r.PostForm.Get("name")), r.PostForm.Get("password"), r.PostForm.Get("next")
	user := User{From: Of(r.Context()).From}
	found := g.users[strings.ToLower(name)]
	// The log has names that are known only: people type passwords into the field of the name.
	tried := map[string]string{"account": "unknown", "result": "wrong"}
	if g.tokenSum != "" {
		name, tried["account"] = "", "operator"
	} else if found != nil {
		tried["account"] = found.Name
	}
	if ok, tell := g.limits.allow(user.From, name, found != nil || g.tokenSum != ""); !ok {
		if tried["result"] = "too many attempts"; tell {
			g.note(r.Context(), "sign in", tried)
		}
		w.Header().Set("Retry-After", "10")
		g.show(w, r, http.StatusTooManyRequests, Login{Message: saysLimited, Next: next})
		return
	}
	if g.tokenSum != "" {
		if subtle.ConstantTimeCompare([]byte(sumOf(strings.TrimSpace(r.PostForm.Get("token")))), []byte(g.tokenSum)) == 1 {
			user = operator(user)
		}
	} else {
		ok, err := g.verify(r.Context(), found, password[:min(len(password), passwordMost+1)])
		if err != nil {
			return // the client is gone
		}
		if ok {
			user.Name, user.Role, user.Via = found.Name, found.Role, ViaPassword
		}
	}
	if user.Name == "" {
		g.note(r.Context(), "sign in", tried)
		g.show(w, r, http.StatusUnauthorized, Login{Message: saysWrong, Next: next})
		return
	}
	if err := g.signIn(w, r, user); err != nil {
		g.warn(err)
		g.show(w, r, http.StatusServiceUnavailable, Login{Message: saysNoAudit, Next: next})
		return
	}
	http.Redirect(w, r, LocalPath(next), http.StatusSeeOther)
}

// signIn begins a session under a new name; one that the browser had ends.
func (g *Gate) signIn(w http.ResponseWriter, r *http.Request, u User) error {
	if err := Log(with(r.Context(), u, g.o.Audit), "sign in", nil); err != nil {
		return err
	}
	ctx := r.Context()
	g.changing.Lock()
	defer g.changing.Unlock()
	if err := errors.Join(g.sessions.RenewToken(ctx), g.sessions.Clear(ctx)); err != nil {
		return err
	}
	g.sessions.Put(ctx, "name", u.Name)
	g.sessions.Put(ctx, "role", int(u.Role))
	g.sessions.Put(ctx, "via", u.Via)
	token, expiry, err := g.sessions.Commit(ctx)
	if err != nil {
		return err
	}
	w.Header().Del("Set-Cookie")
	g.sessions.WriteSessionCookie(ctx, w, token, expiry)
	return nil
}

// logout ends the session.
func (g *Gate) logout(w http.ResponseWriter, r *http.Request) {
	if Of(r.Context()).SignsOut() {
		g.note(r.Context(), "sign out", nil)
	}
	g.changing.Lock()
	err := g.sessions.Destroy(r.Context())
	g.changing.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Del("Set-Cookie")
	g.sessions.WriteSessionCookie(r.Context(), w, "", time.Time{})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
