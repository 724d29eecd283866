package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/internal/loopback"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/serve/access"
	"example.org/homenode/source/open/vcenter"
)

// A door has the flags about listening and authorization.
type door struct {
	listen, url, cert, key, token, proxy string
}

func (d *door) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&d.listen, "listen", "127.0.0.1:9275", "address and port of pages and metrics; one that other machines reach needs --url, and --token-file with TLS or --trusted-proxy")
	fl.StringVar(&d.url, "url", "", "address that browsers use, such as https://homenode.example.com")
	fl.StringVar(&d.cert, "tls-cert", "", "certificate of the server and those between it and the root, PEM; read again when it changes")
	fl.StringVar(&d.key, "tls-key", "", "its key, PEM")
	fl.StringVar(&d.token, "token-file", "", "file with the token that requests need (mode 0600): openssl rand -hex 32 > token")
	fl.StringVar(&d.proxy, "trusted-proxy", "", "address of the proxy that signs people in: 10.0.0.5 sets X-Forwarded-User, 10.0.0.5=Remote-User another header")
}

// An opened is the listener of a door.
type opened struct {
	net.Listener
	gate    *access.Gate
	outside *url.URL    // nil for the address of the listener
	tls     *tls.Config // nil for none
}

// address returns the URL of the server.
func (o *opened) address() string {
	switch {
	case o.outside != nil:
		return strings.TrimSuffix(o.outside.String(), "/")
	case o.tls != nil:
		return "https://" + o.Addr().String()
	}
	return "http://" + o.Addr().String()
}

// leastToken is the minimum length of a token, so that it cannot be guessed.
const leastToken = 32

// check parses the flags and rejects settings that would give everybody access.
func (d *door) check() (o access.Options, err error) {
	host, _, err := net.SplitHostPort(d.listen)
	if err != nil {
		return o, fmt.Errorf("--listen: found %q, want host:port", d.listen)
	}
	if d.token != "" {
		b, err := vcenter.ReadSecret(d.token)
		if err != nil {
			return o, fmt.Errorf("--token-file: %w", err)
		}
		if o.Token = strings.TrimSpace(string(b)); len(o.Token) < leastToken || strings.ContainsAny(o.Token, " \t\r\n") {
			return o, fmt.Errorf("--token-file: want one line of at least %d characters: openssl rand -hex 32 makes one", leastToken)
		}
	}
	if d.proxy != "" {
		address, header, named := strings.Cut(d.proxy, "=")
		if !named {
			header = "X-Forwarded-User"
		}
		o.Header = header
		if o.Proxy, err = netip.ParseAddr(address); err != nil || header == "" || o.Proxy.IsUnspecified() {
			return o, fmt.Errorf("--trusted-proxy: found %q, want the address of one machine, such as 10.0.0.5", d.proxy)
		}
	}
	if d.url != "" {
		if o.URL, err = url.Parse(d.url); err != nil || o.URL.Host == "" || o.URL.Scheme != "https" && o.URL.Scheme != "http" || strings.Trim(o.URL.Path, "/") != "" || o.URL.User != nil || o.URL.RawQuery != "" {
			return o, errors.New("--url: want a URL without a path, such as https://homenode.example.com")
		}
	}
	o.Secure = d.cert != "" || o.URL != nil && o.URL.Scheme == "https"
	return o, d.refuse(o, loopback.Host(host))
}

// refuse returns an error for missing settings of a server that other machines reach, directly
// or through a proxy.
func (d *door) refuse(o access.Options, local bool) error {
	others := fmt.Sprintf("--listen: other machines reach %s: ", d.listen)
	switch {
	case (d.cert == "") != (d.key == ""):
		return errors.New("--tls-cert and --tls-key: want both")
	case !local && o.Token == "" && !o.Proxy.IsValid():
		return errors.New(others + "want --token-file with --tls-cert and --tls-key, or --trusted-proxy (docs/watch.md)")
	case !local && o.Token != "" && d.cert == "":
		return errors.New(others + "want --tls-cert and --tls-key: the token would be readable on the way")
	case !local && (o.URL == nil || o.URL.Scheme != "https"):
		return errors.New(others + "want --url, the https address that browsers use: requests for other names are refused")
	case o.URL != nil && !loopback.Host(o.URL.Hostname()) && o.Token == "" && !o.Proxy.IsValid():
		return errors.New("--url: want --token-file or --trusted-proxy: other machines use this address")
	case o.URL != nil && !loopback.Host(o.URL.Hostname()) && o.URL.Scheme != "https":
		return errors.New("--url: want https: pages would be readable on the way")
	}
	return nil
}

// open starts to listen.
func (d *door) open(cmd *cobra.Command) (*opened, error) {
	options, err := d.check()
	if err != nil {
		return nil, err
	}
	o := &opened{outside: options.URL}
	if d.cert != "" {
		c := &access.Certificate{Cert: d.cert, Key: d.key, Warn: func(err error) {
			fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", texttab.Clean(err.Error()))
		}}
		if _, err := c.Get(nil); err != nil {
			return nil, fmt.Errorf("--tls-cert: %w", err)
		}
		o.tls = &tls.Config{GetCertificate: c.Get, MinVersion: tls.VersionTLS12}
	}
	if host, _, _ := net.SplitHostPort(d.listen); loopback.Host(host) {
		o.Listener, err = loopback.Listen(d.listen)
	} else {
		o.Listener, err = net.Listen("tcp", d.listen)
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = failed.Err // without the address
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w: choose another port with --listen, such as --listen 127.0.0.1:0 for any that is free", d.listen, err)
	}
	options.Listen = o.Addr().String()
	o.gate = access.New(options)
	return o, nil
}

// tell prints the address of the server.
func (o *opened) tell(cmd *cobra.Command) {
	fmt.Fprintf(cmd.OutOrStdout(), "homenode: %s, metrics at /metrics, until Ctrl-C\n", o.address())
}
