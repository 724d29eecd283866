package vsphere

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// cleanUpTimeout bounds the work after a read ended early: finishing a login that is under way, and logging out.
const cleanUpTimeout = 5 * time.Second

// A reader is one session with a vCenter or ESXi host.
type reader struct {
	host   string // of the URL, including any port: the name in errors and positions
	source string // the URL without credentials
	user   *url.Userinfo
	opts   Options // with the defaults applied

	soap     *soap.Client
	client   *vim25.Client    // set by connect
	sessions *session.Manager // set by connect
	answer   *answer
}

// newReader checks the URL and the options and prepares the connection.
func newReader(u *url.URL, o Options) (*reader, error) {
	if u == nil || u.Host == "" {
		return nil, errors.New("found a URL without a host, want one such as https://vc01.example.com/sdk")
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = defaultCallTimeout
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = defaultReadTimeout
	}
	if o.PageSize <= 0 {
		o.PageSize = defaultPageSize
	}
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	r := &reader{host: u.Host, source: plain.String(), user: u.User, opts: o,
		answer: newAnswer(map[string]func(string) bool{"config.extraConfig": keepSetting, "config.option": numa.KeepOption})}
	if o.Username != "" {
		r.user = url.UserPassword(o.Username, o.Password)
	}
	if r.user.Username() == "" {
		return nil, fmt.Errorf("%s: no user name", r.host)
	}
	switch {
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("%s: http would show the password to the network, want https", r.host)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%s: found the scheme %q, want https", r.host, u.Scheme)
	}
	if plain.Path == "" || plain.Path == "/" {
		plain.Path = vim25.Path
	}
	tlsConfig, err := newTLSConfig(u, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.host, err)
	}
	r.soap = soap.NewClient(&plain, o.Insecure)
	r.soap.UserAgent = "homenode"
	// A redirect would send the login to a server that the user did not name.
	r.soap.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t := r.soap.DefaultTransport()
	t.TLSClientConfig = tlsConfig
	t.DialTLSContext = nil // that of govmomi ignores the context and so outlives a hanging handshake
	r.soap.Transport = boundedTransport{t}
	return r, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// connect negotiates the API version and reads the service content.
func (r *reader) connect(ctx context.Context) error {
	if err := r.useServerVersion(ctx); err != nil {
		return err
	}
	return r.call(ctx, func(ctx context.Context) error {
		c, err := vim25.NewClient(ctx, r.soap)
		if err != nil {
			return err
		}
		if c.ServiceContent.SessionManager == nil || c.ServiceContent.ViewManager == nil {
			return errors.New("found no session and view manager, want a vCenter or ESXi host")
		}
		r.client, r.sessions = c, session.NewManager(c)
		return nil
	})
}

// useServerVersion requests the API version of the server and uses it when it is older than the
// library's. A server treats a request with an unknown version as one of a very old client, which
// sees nothing of 7.0 and 8.0.
func (r *reader) useServerVersion(ctx context.Context) error {
	return r.call(ctx, func(ctx context.Context) error {
		u := r.soap.URL()
		u.Path = vim25.Path + "/vimServiceVersions.xml"
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return err
		}
		return r.soap.Do(ctx, req, func(res *http.Response) error {
			if res.StatusCode != http.StatusOK {
				return nil
			}
			var versions struct {
				Namespaces []struct {
					Name    string `xml:"name"`
					Version string `xml:"version"`
				} `xml:"namespace"`
			}
			if err := xml.NewDecoder(res.Body).Decode(&versions); err != nil {
				return fmt.Errorf("%s is no list of API versions: %w", u.Path, err)
			}
			for _, n := range versions.Namespaces {
				if n.Name == "urn:"+vim25.Namespace && olderVersion(n.Version, vim25.Version) {
					r.soap.Version = n.Version
				}
			}
			return nil
		})
	})
}

// olderVersion reports whether API version a, such as 8.0.3.0, is older than b.
func olderVersion(a, b string) bool {
	numbers := func(version string) []int {
		var ns []int
		for _, s := range strings.Split(version, ".") {
			n, err := strconv.Atoi(s)
			if err != nil {
				return nil // some unstable version: older than none
			}
			ns = append(ns, n)
		}
		return ns
	}
	na, nb := numbers(a), numbers(b)
	return na != nil && slices.Compare(na, nb) < 0
}

// login opens the session. Once sent, a login is not cancelled with ctx at once: the lost answer
// contains the key to log out with, and 3,000 forgotten sessions lock everybody out of a vCenter (KB 437427).
func (r *reader) login(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	patient, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(cleanUpTimeout, cancel) })
	defer stop()
	err := r.call(patient, func(ctx context.Context) error { return r.sessions.Login(ctx, r.user) })
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	return err
}

// forget ends the session that a failed login may have left: the server opened it, but its answer
// could not be parsed.
func (r *reader) forget(ctx context.Context, err error) {
	if !errors.As(err, new(refusedError)) && len(r.soap.Jar.Cookies(r.soap.URL())) > 0 {
		_ = r.logout(ctx) // report the failed login instead
	}
}

// logout ends the session, and with it its views, even when ctx has ended.
func (r *reader) logout(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	return r.call(ctx, r.sessions.Logout)
}

// currentTime returns the time of the server's clock.
func (r *reader) currentTime(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := r.call(ctx, func(ctx context.Context) error {
		t, err := methods.GetCurrentTime(ctx, r.client)
		if err == nil {
			now = *t
		}
		return err
	})
	return now, err
}

// at returns the position of an object, such as "vc01.example.com vm-123".
func (r *reader) at(ref types.ManagedObjectReference) string { return r.host + " " + ref.Value }
