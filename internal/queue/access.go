package queue

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"homenode/internal/bounded"
	"homenode/internal/loopback"
)

// Access says where a queue is and how to get in. No secret is part of URL: arguments
// are for all to see in the list of processes.
type Access struct {
	URL   string // nats://host:port or tls://host:port; several with commas, of one cluster
	Token string // of homenode queue, of all roles or of this one
	Role  Role   // empty is Collects
	Creds string // credentials file of a NATS server
	CA    string // file of certificates that a server may be signed by; empty is those of the system
	Name  string // of the connection, as the server lists it
	// AckWait is how long after its last sign of life a worker counts as dead; 0 is 30
	// seconds. It holds for a new queue only.
	AckWait time.Duration
	Log     func(string) // told when the queue is away or back; nil for none
}

// Dial connects to a queue. A connection that breaks later is made again for as long as
// it takes.
func Dial(ctx context.Context, a Access) (*Client, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	say := func(format string, args ...any) {
		if a.Log != nil {
			a.Log(fmt.Sprintf(format, args...))
		}
	}
	opts := []nats.Option{
		nats.Name(a.Name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.Timeout(10 * time.Second),
		// What could not be sent is tried again here, where its outcome is known.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say("the queue is away: %v", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { say("the queue is back") }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // said above, or returned by the call
	}
	role := cmp.Or(a.Role, Collects)
	var secret []byte
	if a.Token != "" {
		own := role.Token(a.Token)
		secret = []byte(own)
		opts = append(opts, nats.UserInfo(string(role), own), nats.CustomInboxPrefix(role.inbox()))
	}
	if a.Creds != "" {
		b, err := bounded.File(a.Creds, bounded.Secret)
		if err != nil {
			return nil, err
		}
		secret = b
		opts = append(opts, nats.UserCredentials(a.Creds))
	}
	if strings.Contains(a.URL, "tls://") || a.CA != "" {
		config, err := a.tls()
		if err != nil {
			return nil, err
		}
		opts = append(opts, nats.Secure(config))
	} else if a.Token != "" {
		// A server may tell of others, which were not allowed to see the token.
		opts = append(opts, nats.IgnoreDiscoveredServers())
	}
	nc, err := connect(ctx, a.URL, role == Works, opts, say)
	if err != nil {
		return nil, fmt.Errorf("queue %s: %w", a.URL, err)
	}
	wait := a.AckWait
	if wait == 0 {
		wait = defaultAckWait
	}
	c, err := open(ctx, nc, wait, a.Log)
	if err != nil {
		nc.Close()
		return nil, err
	}
	c.secret = secret
	return c, nil
}

// connect connects. A worker may be started before its queue: it waits for one that is
// not there yet, but not for one that refuses it.
func connect(ctx context.Context, url string, waits bool, opts []nats.Option, say func(string, ...any)) (*nats.Conn, error) {
	said := false
	for {
		nc, err := nats.Connect(url, opts...)
		if err == nil || !waits || !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrTimeout) {
			return nc, err
		}
		if !said {
			say("no queue is at %s yet: waiting until one is", url)
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// check refuses URLs with secrets, and secrets on open wires. It repeats nothing of a URL
// that may hold one.
func (a *Access) check() error {
	for one := range strings.SplitSeq(a.URL, ",") {
		u, err := url.Parse(one)
		if err != nil || strings.Contains(one, "@") {
			return errors.New("queue: the URL is malformed or holds a user, a password or a token: " +
				"want nats://host:port or tls://host:port, and secrets in a file or the environment")
		}
		if (u.Scheme != "nats" && u.Scheme != "tls") || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return fmt.Errorf("queue: found the URL %q, want nats://host:port or tls://host:port", one)
		}
		if a.Token != "" && u.Scheme != "tls" && !loopback.Host(u.Hostname()) {
			return fmt.Errorf("queue: the token would go to %s as plain text: want tls://%s", u.Host, u.Host)
		}
	}
	return nil
}

func (a *Access) tls() (*tls.Config, error) {
	roots, err := bounded.Certificates(a.CA)
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, err
}
