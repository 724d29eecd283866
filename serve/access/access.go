// Package access says who may do what: it lets requests of people, programs and proxies in, gives each a user with a role, and
// keeps a log of what they changed.
package access

import (
	"context"
	"fmt"
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

// UnmarshalText reads the role of a user: viewer or operator.
func (r *Role) UnmarshalText(b []byte) error {
	for role := Viewer; role <= Operator; role++ {
		if role.String() == string(b) {
			*r = role
			return nil
		}
	}
	return fmt.Errorf("found %q, want viewer or operator", b)
}

// A User is who sent a request.
type User struct {
	Name string // "" for one who is not signed in
	Role Role
	Via  string // how the user is known: local, token, password, oidc or proxy
	From string // the address of the request, as far as proxies are believed
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
