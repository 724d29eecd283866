// Package vcenter opens vCenters and standalone ESXi hosts as sources of package open: it determines
// the account and names each source after its host. It is separate from open because of its
// dependencies.
package vcenter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/open"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// Options configure the access to vCenters.
type Options struct {
	vsphere.Options // for all vCenters; the account and Progress are not set

	// Env returns the value of a variable. Variables of govc take precedence over those of Terraform,
	// PowerCLI scripts and Ansible: GOVC_URL before VSPHERE_SERVER.
	Env             func(name string) string
	CredentialsFile string // lines "host user password"; "" without one
	// Ask completes the account if it is neither in files nor in variables.
	Ask func(host string, a *Account) error
}

// An Account is a user of a vCenter.
type Account struct{ User, Password string }

// Dial returns the source for an https URL, "vcenter" (the URL in GOVC_URL) or open.Demo; it
// implements open.Options.Dial. Credentials are accepted in GOVC_URL but rejected in a URL argument,
// because other users can see the arguments of a program.
func (o Options) Dial(name string) (open.Source, error) {
	if name == open.Demo {
		return open.Source{Names: []string{name}, Read: o.demo}, nil
	}
	u, names, own, err := o.target(name)
	if err != nil {
		return open.Source{}, err
	}
	return open.Source{Names: names, Read: func(ctx context.Context, progress func(string, int, int)) (*numa.Fleet, error) {
		own.Progress = progress
		return vsphere.Read(ctx, u, own)
	}}, nil
}

// Live returns the host of an https URL or "vcenter", parsed as in Dial, and a function that opens a
// permanent session.
func (o Options) Live(name string) (host string, open func(context.Context) (*vsphere.Live, error), err error) {
	u, _, own, err := o.target(name)
	if err != nil {
		return "", nil, err
	}
	return u.Host, func(ctx context.Context) (*vsphere.Live, error) { return vsphere.Open(ctx, u, own) }, nil
}

// Address returns the URL for an https URL or "vcenter", without an account.
func (o Options) Address(name string) (*url.URL, error) {
	u, err := o.locate(name)
	if err != nil {
		return nil, err
	}
	u.User = nil
	return u, nil
}

// locate returns the URL for a name. It contains a password only if it comes from a variable.
func (o Options) locate(name string) (*url.URL, error) {
	raw, fromEnv := name, name == "vcenter"
	if fromEnv {
		if raw = o.first("GOVC_URL", "VSPHERE_SERVER"); raw == "" {
			return nil, errors.New("vcenter: neither GOVC_URL nor VSPHERE_SERVER is set")
		}
		if !strings.Contains(raw, "://") {
			raw = "https://" + raw
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // parse.URL may contain a password
		}
		return nil, fmt.Errorf("the URL is malformed: %w", err)
	}
	if _, has := u.User.Password(); has && !fromEnv {
		return nil, errors.New("found a password in the URL: other users can see it there; use GOVC_PASSWORD, --credentials or the prompt")
	}
	return u, nil
}

// target returns the URL of a vCenter without its account, its names, and the options for connecting
// to it.
func (o Options) target(name string) (u *url.URL, names []string, own vsphere.Options, err error) {
	if u, err = o.locate(name); err != nil {
		return nil, nil, own, err
	}
	password, _ := u.User.Password()
	account := Account{u.User.Username(), password}
	names = hostNames(u)
	u.User = nil
	if err := o.account(u.Host, &account); err != nil {
		return nil, nil, own, err
	}
	own = o.Options
	own.Username, own.Password = account.User, account.Password
	own.KnownHosts, own.CACerts = o.Env("GOVC_TLS_KNOWN_HOSTS"), o.Env("GOVC_TLS_CA_CERTS")
	if v, err := strconv.ParseBool(strings.ToLower(o.first("GOVC_INSECURE", "VSPHERE_ALLOW_UNVERIFIED_SSL"))); err == nil && v {
		own.Insecure = true
	}
	return u, names, own, nil
}

// first returns the value of the first variable that is set.
func (o Options) first(names ...string) string {
	for _, name := range names {
		if v := o.Env(name); v != "" {
			return v
		}
	}
	return ""
}

// account completes the account: from the credentials file and the govc variables, then by asking.
func (o Options) account(host string, a *Account) error {
	if o.CredentialsFile != "" {
		list, err := readCredentials(o.CredentialsFile)
		if err != nil {
			return err
		}
		if c, ok := findCredential(list, host, a.User); ok {
			*a = Account{c.user, c.password}
			return nil
		}
	}
	a.User = cmp.Or(o.first("GOVC_USERNAME", "VSPHERE_USER"), a.User)
	a.Password = cmp.Or(o.first("GOVC_PASSWORD", "VSPHERE_PASSWORD"), a.Password)
	if a.User != "" && a.Password != "" {
		return nil
	}
	return o.Ask(host, a)
}

// hostNames returns the names of a vCenter: vc01, vc01.example.com, and the one with port and user.
func hostNames(u *url.URL) []string {
	host := strings.ToLower(u.Hostname())
	short, _, _ := strings.Cut(host, ".")
	if net.ParseIP(host) != nil {
		short = host
	}
	full := net.JoinHostPort(host, cmp.Or(u.Port(), "443"))
	if user := u.User.Username(); user != "" {
		return []string{short, host, full, user + "@" + full}
	}
	return []string{short, host, full}
}

// demo starts a simulated vCenter with the demo fleet on loopback and reads it like a real one.
func (o Options) demo(ctx context.Context, progress func(stage string, done, total int)) (*numa.Fleet, error) {
	fleet, err := demo.Fleet()
	if err != nil {
		return nil, err
	}
	vc, err := lab.Start(fleet)
	if err != nil {
		return nil, err
	}
	defer vc.Close()
	own := o.Options
	own.Progress, own.Insecure = progress, true // the simulator generates a new certificate each time
	got, err := vsphere.Read(ctx, vc.URL, own)
	if err != nil {
		return nil, err
	}
	got.Source = "demo (simulated vCenter)"
	// The simulator provides an inventory; observations are added separately, as with --evidence.
	for i := range got.VMs {
		v := &got.VMs[i]
		for _, same := range fleet.FindVMs(v.Name) {
			v.Observed = same.Observed
		}
	}
	renameSource(got, vc.URL.Host, open.Demo)
	return got, nil
}

// renameSource gives the simulator a fixed name, because its port varies.
func renameSource(f *numa.Fleet, from, to string) {
	rename := func(at *string) { *at = strings.Replace(*at, from, to, 1) }
	for i := range f.Clusters {
		rename(&f.Clusters[i].At)
	}
	for i := range f.Hosts {
		rename(&f.Hosts[i].At)
	}
	for i := range f.VMs {
		rename(&f.VMs[i].At)
	}
	for i := range f.Notes {
		rename(&f.Notes[i].At)
	}
}
