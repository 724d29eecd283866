package vsphere

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/vmware/govmomi/vim25/soap"

	"example.org/homenode/internal/bounded"
)

// An UntrustedError reports that the certificate of a server is not trusted.
type UntrustedError struct {
	Host       string // in the form of the file of known hosts
	Thumbprint string // SHA-256 of the server's certificate
	Listed     string // thumbprint in the file of known hosts for Host; empty when none
	Err        error  // error of the verification by CA
}

func (e *UntrustedError) Error() string {
	if e.Listed != "" {
		return fmt.Sprintf("the certificate of %s has the thumbprint %s but the known hosts list %s: "+
			"it was renewed, or somebody stands in between; verify it, then correct the line `%s %s`",
			e.Host, e.Thumbprint, e.Listed, e.Host, e.Thumbprint)
	}
	return fmt.Sprintf("the certificate of %s is not trusted: %v; its thumbprint is %s: "+
		"verify it, then add the line `%s %s` to a file and name it in GOVC_TLS_KNOWN_HOSTS",
		e.Host, e.Err, e.Thumbprint, e.Host, e.Thumbprint)
}

// Unwrap returns the error of the verification by CA.
func (e *UntrustedError) Unwrap() error { return e.Err }

// newTLSConfig returns a configuration that trusts a certificate signed by a trusted CA or with the thumbprint listed for the host.
func newTLSConfig(u *url.URL, o Options) (*tls.Config, error) {
	if o.Insecure {
		return &tls.Config{InsecureSkipVerify: true}, nil
	}
	roots, err := certificates(o.CACerts)
	if err != nil {
		return nil, fmt.Errorf("read CA certificates: %w", err)
	}
	known, err := loadKnownHosts(o.KnownHosts)
	if err != nil {
		return nil, err
	}
	// The verification of crypto/tls comes first and cannot be overridden, so it is disabled and done here.
	return &tls.Config{
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			// No server name is sent to an IP address; use the one in the URL.
			return verify(s.PeerCertificates, cmp.Or(s.ServerName, u.Hostname()), u, roots, known)
		},
	}, nil
}

// verify checks a server's chain like crypto/tls, and falls back to the thumbprint listed for the host.
func verify(chain []*x509.Certificate, name string, u *url.URL, roots *x509.CertPool, known map[string]string) error {
	intermediates := x509.NewCertPool()
	for _, c := range chain[1:] {
		intermediates.AddCert(c)
	}
	leaf := chain[0]
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: intermediates})
	if err == nil {
		return nil
	}
	listed := known[hostKey(u.Host)]
	thumbprint := soap.ThumbprintSHA256(leaf)
	if strings.EqualFold(listed, thumbprint) || strings.EqualFold(listed, soap.ThumbprintSHA1(leaf)) && listed != "" {
		return nil
	}
	return &UntrustedError{Host: u.Host, Thumbprint: thumbprint, Listed: listed, Err: err}
}

// hostKey returns the host in lower case with its port, 443 when it has none.
func hostKey(host string) string {
	host = strings.ToLower(host)
	if _, _, err := net.SplitHostPort(host); err != nil {
		return net.JoinHostPort(strings.Trim(host, "[]"), "443")
	}
	return host
}

// loadKnownHosts parses files with lines "host thumbprint", like govc; empty lines and comments starting with # are skipped.
func loadKnownHosts(files string) (map[string]string, error) {
	known := make(map[string]string)
	for _, name := range filepath.SplitList(files) {
		if err := loadKnownHostsFile(name, known); err != nil {
			return nil, fmt.Errorf("read known hosts: %w", err)
		}
	}
	return known, nil
}

func loadKnownHostsFile(name string, known map[string]string) error {
	b, err := bounded.File(name, bounded.List)
	if err != nil {
		return err
	}
	line := 0
	for text := range strings.Lines(string(b)) {
		line++
		fields := strings.Fields(text)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case len(fields) == 2:
			known[hostKey(fields[0])] = fields[1]
		default:
			err = errors.Join(err, fmt.Errorf("%s:%d: found %d words, want a host and a thumbprint", name, line, len(fields)))
		}
	}
	return err
}

// certificates returns the CA certificates in PEM form from one or several files, separated as in PATH; nil without a file,
// which means those of the system.
func certificates(files string) (pool *x509.CertPool, err error) {
	for _, path := range filepath.SplitList(files) {
		pem, err := bounded.File(path, bounded.List)
		if err != nil {
			return nil, err
		}
		if pool == nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: found no certificate in PEM form", path)
		}
	}
	return pool, nil
}
