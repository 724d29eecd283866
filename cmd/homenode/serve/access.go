package serve

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"homenode/internal/loopback"
	"homenode/internal/texttab"
	"homenode/serve/access"
	"homenode/serve/config"
	"homenode/source/open/vcenter"
)

// A door is where requests come in, and who is let in: the flags of it.
type door struct {
	file, cert, key, url, audit string
	proxies                     []string
}

func (d *door) register(fl *pflag.FlagSet) {
	fl.StringVar(&d.file, "access", "", "file (mode 0600) that says who may sign in: users, OIDC, proxy, API tokens (docs/access.md); without one everybody on this machine sees the pages")
	fl.StringVar(&d.cert, "tls-cert", "", "certificate of the server and those between it and the root, PEM; read again when it changes")
	fl.StringVar(&d.key, "tls-key", "", "its key, PEM")
	fl.StringVar(&d.url, "url", "", "how browsers reach the server, such as https://homenode.example.com")
	fl.StringVar(&d.audit, "audit", "", "file to append who changed what to, and who signed in; JSON lines, mode 0600")
	fl.StringSliceVar(&d.proxies, "behind-proxy", nil, "addresses of proxies, such as 10.0.0.5 or 10.0.1.0/24, whose X-Forwarded-For and whose headers of the file of --access are believed")
}

// An opened door is listened at.
type opened struct {
	net.Listener
	gate    *access.Gate
	outside *url.URL    // nil for the address of the listener
	tls     *tls.Config // nil for none
	audit   *access.Audit
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

// settings are what the flags of a door say.
type settings struct {
	config  *access.Config
	proxies []netip.Prefix
	outside *url.URL
	local   bool // others do not reach the address
}

// check reads what the flags name and refuses what would let everybody in.
func (d *door) check(listen string) (s settings, err error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return s, fmt.Errorf("--listen: found %q, want host:port", listen)
	}
	s.local = loopback.Host(host)
	if d.file != "" {
		if s.config, err = readAccess(d.file); err != nil {
			return s, fmt.Errorf("--access: %w", err)
		}
	}
	for _, p := range d.proxies {
		prefix, err := netip.ParsePrefix(p)
		if a, errAddr := netip.ParseAddr(p); errAddr == nil {
			prefix, err = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
		}
		if err != nil {
			return s, fmt.Errorf("--behind-proxy: found %q, want an address or a network such as 10.0.1.0/24", p)
		}
		s.proxies = append(s.proxies, prefix)
	}
	if d.url != "" {
		if s.outside, err = url.Parse(d.url); err != nil || s.outside.Host == "" || s.outside.Scheme != "https" && s.outside.Scheme != "http" || strings.Trim(s.outside.Path, "/") != "" || s.outside.User != nil || s.outside.RawQuery != "" {
			return s, errors.New("--url: want a URL without a path, such as https://homenode.example.com")
		}
	}
	secure := s.outside != nil && s.outside.Scheme == "https"
	switch {
	case (d.cert == "") != (d.key == ""):
		return s, errors.New("--tls-cert and --tls-key: want both")
	case !s.local && d.cert == "":
		return s, fmt.Errorf("--listen: others reach %s: want --tls-cert and --tls-key, and who may sign in with --access (docs/access.md)", listen)
	case !s.local && s.config == nil:
		return s, fmt.Errorf("--listen: others reach %s: want who may sign in, with --access (docs/access.md)", listen)
	case !s.local && !secure:
		return s, fmt.Errorf("--listen: others reach %s: want --url, how browsers reach it by https: requests for other names are refused", listen)
	case len(s.proxies) > 0 && s.config == nil:
		return s, errors.New("--behind-proxy: want who may sign in, with --access: what comes through a proxy is not of this machine")
	case s.outside != nil && s.config == nil && !loopback.Host(s.outside.Hostname()):
		return s, errors.New("--url: want who may sign in, with --access: what comes by another name is not of this machine")
	case s.outside != nil && !secure && !loopback.Host(s.outside.Hostname()):
		return s, errors.New("--url: want https: sessions would be read on the way")
	case s.config != nil && s.config.Proxy != nil && len(s.proxies) == 0:
		return s, errors.New("--access: proxy: want the addresses of the proxies, with --behind-proxy")
	case s.config != nil && s.config.OIDC != nil && s.outside == nil:
		return s, errors.New("--access: oidc: want --url: the provider sends browsers back there")
	}
	return s, nil
}

// readAccess reads the file of --access and the secret that it names.
func readAccess(path string) (*access.Config, error) {
	b, err := vcenter.ReadSecret(path)
	if err != nil {
		return nil, err
	}
	c, err := config.Access(path, b)
	if err != nil || c.OIDC == nil || c.OIDC.SecretFile == "" {
		return c, err
	}
	secret, err := vcenter.ReadSecret(c.OIDC.SecretFile)
	if err != nil {
		return nil, fmt.Errorf("oidc: secretFile: %w", err)
	}
	c.OIDC.Secret = strings.TrimSpace(string(secret))
	return c, nil
}

// open listens.
func (d *door) open(cmd *cobra.Command, listen string) (_ *opened, err error) {
	s, err := d.check(listen)
	if err != nil {
		return nil, err
	}
	o := &opened{outside: s.outside}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.audit.Close())
		}
	}()
	warn := func(err error) {
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", texttab.Clean(err.Error()))
	}
	if d.cert != "" {
		c := &access.Certificate{Cert: d.cert, Key: d.key, Warn: warn}
		if _, err := c.Get(nil); err != nil {
			return nil, fmt.Errorf("--tls-cert: %w", err)
		}
		o.tls = &tls.Config{GetCertificate: c.Get, MinVersion: tls.VersionTLS12}
	}
	if d.audit != "" {
		if o.audit, err = access.OpenAudit(d.audit); err != nil {
			return nil, fmt.Errorf("--audit: %w", err)
		}
	}
	if s.local {
		o.Listener, err = loopback.Listen(listen)
	} else {
		o.Listener, err = net.Listen("tcp", listen)
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	_, port, _ := net.SplitHostPort(o.Addr().String())
	o.gate, err = access.New(access.Options{Config: s.config, Proxies: s.proxies, URL: s.outside, Port: port, Audit: o.audit, Warn: warn,
		Secure: o.tls != nil || s.outside != nil && s.outside.Scheme == "https"})
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// tell says where the server answers, and the token of an operator.
func (o *opened) tell(cmd *cobra.Command) {
	fmt.Fprintf(cmd.OutOrStdout(), "homenode: %s, metrics at /metrics, until Ctrl-C\n", o.address())
	if o.gate.Token != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: to change something, sign in at %s/login with the token %s (new at each start)\n", o.address(), o.gate.Token)
	}
}

// newPassword returns the command that makes the hash of a password.
func newPassword() *cobra.Command {
	return &cobra.Command{
		Use:   "password",
		Short: "Makes the hash of a password for the file of serve --access",
		Long: `password asks for a password twice at the terminal, or reads one line of its standard input, and prints what the file of
serve --access has as hash of a user (docs/access.md). It is an argon2id hash.`,
		Example: `  homenode serve password
  pass show homenode/anna | homenode serve password`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, err := askPassword(cmd)
			if err != nil {
				return err
			}
			hash, err := access.HashPassword(password)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), hash)
			return err
		},
	}
}

// askPassword reads a password at the terminal, twice, or a line of what is no terminal.
func askPassword(cmd *cobra.Command) (string, error) {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 4<<10)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2]string
	for i, what := range []string{"password: ", "again: "} {
		fmt.Fprint(cmd.ErrOrStderr(), what)
		b, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		if err != nil {
			return "", err
		}
		typed[i] = string(b)
	}
	if typed[0] != typed[1] {
		return "", errors.New("the two are not the same")
	}
	return typed[0], nil
}

// newToken returns the command that makes a token.
func newToken() *cobra.Command {
	var role, until string
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Makes a token for a program, and its lines for the file of serve --access",
		Long: `token makes a random token for a program such as Prometheus or Grafana. It prints the token, which is kept nowhere, to
standard output, and the lines that the file of serve --access has for it to standard error (docs/access.md). The program
sends it as Authorization: Bearer TOKEN.`,
		Example: `  homenode serve token grafana --until 2027-01-31
  homenode serve token deploy --role operator --until 2026-12-31 > deploy.token`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if until == "" {
				until = time.Now().UTC().AddDate(0, 3, 0).Format(time.DateOnly)
			}
			token, sum := access.NewToken()
			t := access.Token{Name: args[0], SHA256: sum, Until: until}
			if err := t.Role.UnmarshalText([]byte(role)); err != nil {
				return fmt.Errorf("--role: found %q, want viewer or operator", role)
			}
			c := access.Config{Tokens: []access.Token{t}}
			if err := c.Check(); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "tokens:\n  - {name: %q, role: %s, until: %s, sha256: %s}\n", t.Name, t.Role, t.Until, t.SHA256)
			_, err := fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		},
	}
	cmd.Flags().StringVar(&role, "role", "viewer", "what it may do: viewer or operator")
	cmd.Flags().StringVar(&until, "until", "", "its last day, such as 2027-01-31, in UTC (three months from now)")
	return cmd
}
