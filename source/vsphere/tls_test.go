package vsphere_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vmware/govmomi/vim25/soap"

	"example.org/homenode/internal/golden"
	"example.org/homenode/source/vsphere"
)

// TestCertificates reads from a server whose certificate no CA of the system
// vouches for.
func TestCertificates(t *testing.T) {
	vc := startLab(t, newFleet(1))
	s := httptest.NewUnstartedServer(proxy(vc, nil))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are what is tested
	s.StartTLS()
	t.Cleanup(s.Close)
	u := serverURL(t, s, vc.URL.User)
	cert := s.Certificate()
	sha256, sha1 := soap.ThumbprintSHA256(cert), soap.ThumbprintSHA1(cert)
	const wrong = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33"

	write := func(name, text string) string {
		name = filepath.Join(t.TempDir(), name)
		golden.Write(t, name, []byte(text))
		return name
	}
	ca := write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})))
	other := write("other", "other.example.com "+sha256+"\n")
	broken := write("broken", "# comment\n\nHOST\n")
	for _, tt := range []struct {
		name string
		o    vsphere.Options
		want string // empty means the read succeeds
	}{
		{"unknown CA", vsphere.Options{}, "HOST: connect: the certificate of HOST is not trusted: x509: certificate signed by unknown authority; " +
			"its thumbprint is " + sha256 + ": verify it, then add the line `HOST " + sha256 + "` to a file and name it in GOVC_TLS_KNOWN_HOSTS"},
		{"any certificate", vsphere.Options{Insecure: true}, ""},
		{"CA file", vsphere.Options{CACerts: ca}, ""},
		{"CA file without a certificate", vsphere.Options{CACerts: other}, "HOST: read CA certificates: " + other + ": found no certificate in PEM form"},
		{"known host", vsphere.Options{KnownHosts: write("sha256", u.Host+" "+sha256+"\n")}, ""},
		{"known host by SHA-1 in the second file", vsphere.Options{KnownHosts: other + string(filepath.ListSeparator) + write("sha1", u.Host+" "+sha1+"\n")}, ""},
		{"known under another name", vsphere.Options{KnownHosts: other}, "HOST: connect: the certificate of HOST is not trusted: x509: certificate signed by unknown authority; " +
			"its thumbprint is " + sha256 + ": verify it, then add the line `HOST " + sha256 + "` to a file and name it in GOVC_TLS_KNOWN_HOSTS"},
		{"changed certificate", vsphere.Options{KnownHosts: write("changed", u.Host+" "+wrong+"\n")}, "HOST: connect: the certificate of HOST has the thumbprint " + sha256 +
			" but the known hosts list " + wrong + ": it was renewed, or somebody stands in between; verify it, then correct the line `HOST " + sha256 + "`"},
		{"broken file of known hosts", vsphere.Options{KnownHosts: broken}, "HOST: read known hosts: " + broken + ":3: found 1 words, want a host and a thumbprint"},
		{"no file of known hosts", vsphere.Options{KnownHosts: "no-such-file"}, "HOST: read known hosts: open no-such-file: no such file or directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want != "" {
				if got := readError(t, t.Context(), u, tt.o); got != tt.want {
					t.Errorf("Read() = %q\nwant %q", got, tt.want)
				}
				return
			}
			f, err := vsphere.Read(t.Context(), u, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.VMs) != 1 {
				t.Errorf("Read() = %d VMs, want 1", len(f.VMs))
			}
		})
	}
}

// TestCertificateOfAnother refuses a certificate of a trusted CA that is for another name than that of the URL.
func TestCertificateOfAnother(t *testing.T) {
	vc := startLab(t, newFleet(1))
	s := httptest.NewUnstartedServer(proxy(vc, nil))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	golden.Write(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	u := serverURL(t, s, vc.URL.User)
	u.Host = "localhost:" + u.Port()
	if _, err := vsphere.Read(t.Context(), u, vsphere.Options{CACerts: ca}); err == nil || !strings.Contains(err.Error(), "not localhost") {
		t.Errorf("a certificate for %v: %v", s.Certificate().DNSNames, err)
	}
}
