// Package access says who may do what: it lets requests of people, programs and proxies in, gives each a user with a role, and
// keeps a log of what they changed.
package access

import (
	"context"
	"errors"
	"slices"
)

// A Role is what a user may do. Each has the rights of those before it.
type Role int

// Roles, the least first.
const (
	Anyone   Role = iota // not signed in
	Viewer               // sees pages, metrics and the API
	Operator             // changes what is kept, and starts plans
)

var roleNames = [...]string{"anyone", "viewer", "operator"}

func (r Role) String() string { return roleNames[r] }

// MarshalText returns the name of the role.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the role of a user: viewer or operator. Its error does not repeat the text.
func (r *Role) UnmarshalText(b []byte) error {
	i := slices.Index(roleNames[:], string(b))
	if i < int(Viewer) {
		return errors.New("role: want viewer or operator")
	}
	*r = Role(i)
	return nil
}

// How a user is known.
const (
	ViaLocal    = "local"          // a request of this machine to a server that listens on loopback alone
	ViaOperator = "operator token" // the token printed at the start of such a server
	ViaPassword = "password"
	ViaOIDC     = "oidc"
	ViaProxy    = "proxy"
	ViaToken    = "token" // of the API
)

// A User is who sent a request.
type User struct {
	Name string // "" for one who is not signed in
	Role Role
	Via  string // how the user is known; "" for one who is not
	From string // the address of the request, as far as proxies are believed
}

// SignsOut reports whether the user has a session that can be ended.
func (u User) SignsOut() bool {
	return u.Via == ViaOperator || u.Via == ViaPassword || u.Via == ViaOIDC
}

// known is the key of what a context has of the request.
type known struct{}

// visit is what a context has.
type visit struct {
	user User
	log  *Audit
}

// Of returns who sent the request of a context; the zero User, who may do nothing, for a context that is of no request.
func Of(ctx context.Context) User {
	v, _ := ctx.Value(known{}).(visit)
	return v.user
}

// with returns a context of a request.
func with(ctx context.Context, u User, log *Audit) context.Context {
	return context.WithValue(ctx, known{}, visit{u, log})
}

// Log writes what the user of the context did to the audit log: what in a word or two ("plan start"), details such as the
// subject, what was before and after, and "result" ("ok" without one). Details hold no secrets. It does nothing where no log is
// kept. When the log cannot be written it returns an error, and the caller does not do what it was about to: call it before a
// change, and again with its result. What goes on after its request keeps the user with context.WithoutCancel.
func Log(ctx context.Context, what string, details map[string]string) error {
	v, _ := ctx.Value(known{}).(visit)
	return v.log.write(v.user, what, details)
}
