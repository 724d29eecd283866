package access

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"homenode/internal/loopback"
)

// A Config is the file of --access: who may sign in, and how.
type Config struct {
	Users  []Local `yaml:"users"`
	Tokens []Token `yaml:"tokens"`
	OIDC   *OIDC   `yaml:"oidc"`
	Proxy  *Proxy  `yaml:"proxy"`
	// Roles are the groups of OIDC and proxies that have each role; "*" is everybody who can sign in.
	Roles struct {
		Viewer   []string `yaml:"viewer"`
		Operator []string `yaml:"operator"`
	} `yaml:"roles"`
}

// A Local is a user with a password.
type Local struct {
	Name string `yaml:"name"`
	Role Role   `yaml:"role"`
	Hash string `yaml:"hash"` // as homenode serve password writes it

	hash passwordHash
}

// A Token is for a program.
type Token struct {
	Name   string `yaml:"name"`
	Role   Role   `yaml:"role"`
	SHA256 string `yaml:"sha256"` // as homenode serve token writes it
	Until  string `yaml:"until"`  // its last day, 2027-01-31, in UTC

	end time.Time
}

// An OIDC is a provider that people sign in with. Only what this issuer signed for this client is believed.
type OIDC struct {
	Issuer     string   `yaml:"issuer"`
	ClientID   string   `yaml:"clientID"`
	SecretFile string   `yaml:"secretFile"` // mode 0600; "" for a client without a secret
	Scopes     []string `yaml:"scopes"`     // beside openid; profile and email without any
	NameClaim  string   `yaml:"nameClaim"`  // preferred_username without one
	RoleClaim  string   `yaml:"roleClaim"`  // groups without one; realm_access.roles is one within another

	Secret string `yaml:"-"` // what SecretFile holds
}

// A Proxy says by which headers the proxies of --behind-proxy name a user.
type Proxy struct {
	User   string `yaml:"user"`   // header, such as X-Forwarded-User
	Groups string `yaml:"groups"` // header with groups, with commas between
}

// Check refuses what cannot be, and completes the rest. No error repeats what may be a secret.
func (c *Config) Check() error {
	seen := map[string]bool{}
	name := func(what string, i int, name string) error {
		switch key := what + " " + strings.ToLower(name); {
		case strings.TrimSpace(name) != name || name == "":
			return fmt.Errorf("%ss: number %d: want a name", what, i+1)
		case seen[key]:
			return fmt.Errorf("%ss: number %d: the name of another again", what, i+1)
		default:
			seen[key] = true
		}
		return nil
	}
	for i := range c.Users {
		u := &c.Users[i]
		if err := name("user", i, u.Name); err != nil {
			return err
		}
		if u.Role < Viewer {
			return fmt.Errorf("users: number %d: want role: viewer or operator", i+1)
		}
		var err error
		if u.hash, err = parseHash(u.Hash); err != nil {
			return fmt.Errorf("users: number %d: hash: %w", i+1, err)
		}
	}
	for i := range c.Tokens {
		t := &c.Tokens[i]
		if err := name("token", i, t.Name); err != nil {
			return err
		}
		if t.Role < Viewer {
			return fmt.Errorf("tokens: number %d: want role: viewer or operator", i+1)
		}
		if !isSHA256(t.SHA256) {
			return fmt.Errorf("tokens: number %d: sha256: want 64 hexadecimal digits, as homenode serve token writes them", i+1)
		}
		day, err := time.Parse(time.DateOnly, t.Until)
		if err != nil {
			return fmt.Errorf("tokens: number %d: until: want its last day, such as 2027-01-31", i+1)
		}
		t.end = day.AddDate(0, 0, 1)
	}
	if c.Proxy != nil && c.Proxy.User == "" {
		return errors.New("proxy: want user: the header that names the user")
	}
	if c.OIDC != nil {
		if err := c.OIDC.check(); err != nil {
			return fmt.Errorf("oidc: %w", err)
		}
	}
	if (c.OIDC != nil || c.Proxy != nil) && len(c.Roles.Viewer)+len(c.Roles.Operator) == 0 {
		return errors.New("roles: want the groups that are viewer or operator: without any, no user of oidc or proxy may do anything")
	}
	if len(c.Users)+len(c.Tokens) == 0 && c.OIDC == nil && c.Proxy == nil {
		return errors.New("found none of users, tokens, oidc and proxy: nothing says who may sign in")
	}
	return nil
}

// check refuses what cannot be.
func (o *OIDC) check() error {
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback.Host(u.Hostname())) {
		return errors.New("issuer: want an https URL")
	}
	if o.ClientID == "" {
		return errors.New("want clientID")
	}
	return nil
}

// roleOf returns the role that groups have.
func (c *Config) roleOf(groups []string) Role {
	in := func(wanted []string) bool {
		for _, w := range wanted {
			if w == "*" {
				return true
			}
			for _, g := range groups {
				if g == w {
					return true
				}
			}
		}
		return false
	}
	switch {
	case in(c.Roles.Operator):
		return Operator
	case in(c.Roles.Viewer):
		return Viewer
	}
	return Anyone
}
