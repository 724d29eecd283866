package vsphere_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/vim25/mo"

	"example.org/homenode/source/vsphere"
)

// impatient is a CallTimeout that a server on loopback keeps with ease when it
// wants to answer, also on a busy machine.
const impatient = 3 * time.Second

// TestServerFails checks the texts of what goes wrong with a server: where it
// happened, how far the read was, and what it was.
func TestServerFails(t *testing.T) {
	vc := startLab(t, newFleet(20))
	release := make(chan struct{})
	defer close(release)
	for _, tt := range []struct {
		name      string
		intercept func(w http.ResponseWriter, r request) bool
		want      string
	}{
		{"hangs between pages", func(w http.ResponseWriter, r request) bool {
			if r.method == "ContinueRetrievePropertiesEx" {
				select {
				case <-r.Context().Done():
				case <-release:
				}
			}
			return r.method == "ContinueRetrievePropertiesEx"
		}, "HOST: read VMs after 6 of 20: no answer within 3s"},
		{"drops the connection", func(w http.ResponseWriter, r request) bool {
			if r.method == "ContinueRetrievePropertiesEx" {
				panic(http.ErrAbortHandler)
			}
			return false
		}, "HOST: read VMs after 6 of 20: connection dropped: EOF"},
		{"stops in the middle of an answer", func(w http.ResponseWriter, r request) bool {
			if r.method != "ContinueRetrievePropertiesEx" {
				return false
			}
			fmt.Fprint(w, `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>`)
			return true
		}, "HOST: read VMs after 6 of 20: connection dropped: unexpected EOF"},
		{"is overloaded", func(w http.ResponseWriter, r request) bool {
			if r.method == "CreateContainerView" {
				http.Error(w, "", http.StatusServiceUnavailable)
			}
			return r.method == "CreateContainerView"
		}, "HOST: read folders: 503 Service Unavailable"},
		{"knows no such user", func(w http.ResponseWriter, r request) bool {
			if r.method == "Login" {
				fault(w, "InvalidLogin", "")
			}
			return r.method == "Login"
		}, "HOST: log in: the user name or the password is wrong"},
		{"lets the account do nothing", func(w http.ResponseWriter, r request) bool {
			if r.method == "CreateContainerView" {
				fault(w, "NoPermission", "<privilegeId>System.View</privilegeId>")
			}
			return r.method == "CreateContainerView"
		}, "HOST: read folders: the account lacks the privilege System.View"},
		{"redirects", func(w http.ResponseWriter, r request) bool {
			http.Redirect(w, r.Request, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
			return true
		}, "HOST: connect: 307 Temporary Redirect"},
		{"is no vCenter", func(w http.ResponseWriter, r request) bool {
			fmt.Fprint(w, "<html><body>It works!</body></html>")
			return true
		}, "HOST: connect: expected element type <Envelope> but have <html>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := startProxy(t, vc, tt.intercept)
			if got := readError(t, t.Context(), u, vsphere.Options{PageSize: 6, CallTimeout: impatient}); got != tt.want {
				t.Errorf("Read() = %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestServerNeverAnswers covers servers that hang from the start: in HTTP, and
// in the TLS handshake.
func TestServerNeverAnswers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // connections wait in its queue
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			u := &url.URL{Scheme: scheme, Host: silent.Addr().String(), User: url.UserPassword("user", labPassword)}
			want := "HOST: connect: no answer within 50ms"
			if got := readError(t, t.Context(), u, vsphere.Options{CallTimeout: 50 * time.Millisecond}); got != want {
				t.Errorf("Read() = %q, want %q", got, want)
			}
		})
	}
}

// TestArguments checks what is refused before anything is sent.
func TestArguments(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"", "found a URL without a host, want one such as https://vc01.example.com/sdk"},
		{"https://vc01.example.com/sdk", "vc01.example.com: no user name"},
		{"http://user:lab-password@vc01.example.com/sdk", "vc01.example.com: http would show the password to the network, want https"},
		{"ftp://user:lab-password@vc01.example.com", `vc01.example.com: found the scheme "ftp", want https`},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = vsphere.Read(t.Context(), u, vsphere.Options{})
		if err == nil || err.Error() != tt.want {
			t.Errorf("Read(%q) = %v; want %s", tt.url, err, tt.want)
		}
	}
}

// expiring returns an intercept that forgets the session at the given requests
// for a further page, counted from 1.
func expiring(at func(page int) bool) func(http.ResponseWriter, request) bool {
	pages, expired := 0, false
	return func(w http.ResponseWriter, r request) bool {
		if r.method == "ContinueRetrievePropertiesEx" {
			pages++
			expired = expired || at(pages)
		}
		if expired {
			r.Header.Del("Cookie")
		}
		if r.method == "Login" {
			expired = false
		}
		return false
	}
}

func TestSessionExpires(t *testing.T) {
	vc := startLab(t, newFleet(20))
	want, err := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("once", func(t *testing.T) {
		u := startProxy(t, vc, expiring(func(page int) bool { return page == 2 }))
		got, err := vsphere.Read(t.Context(), u, vsphere.Options{PageSize: 6})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.VMs) != len(want.VMs) || len(got.Hosts) != len(want.Hosts) || len(got.Notes) != 0 {
			t.Errorf("Read() = %d hosts, %d VMs and the notes %v; want %d, %d and none",
				len(got.Hosts), len(got.VMs), got.Notes, len(want.Hosts), len(want.VMs))
		}
	})
	t.Run("again and again", func(t *testing.T) {
		u := startProxy(t, vc, expiring(func(int) bool { return true }))
		want := "HOST: read VMs after 6 of 20: session expired"
		if got := readError(t, t.Context(), u, vsphere.Options{PageSize: 6}); got != want {
			t.Errorf("Read() = %q, want %q", got, want)
		}
	})
}

// sessions returns the number of sessions that the lab knows, its own included.
func sessions(t *testing.T, u *url.URL) int {
	t.Helper()
	c, err := govmomi.NewClient(t.Context(), u, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Logout(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	var m mo.SessionManager
	if err := c.RetrieveOne(t.Context(), c.SessionManager.Reference(), []string{"sessionList"}, &m); err != nil {
		t.Fatal(err)
	}
	return len(m.SessionList)
}

// TestSessionsEnd reads a hundred times, to the end, cancelled while it logs in
// and at every stage, and failing: no session may stay behind.
func TestSessionsEnd(t *testing.T) {
	vc := startLab(t, newFleet(20))
	failing := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
		if r.method == "ContinueRetrievePropertiesEx" {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	var cancelLogin context.CancelFunc
	interrupted := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
		if r.method == "Login" {
			cancelLogin()
		}
		return false
	})
	before := sessions(t, vc.URL)
	stages := []string{"folders", "clusters", "cluster usage", "hosts", "VMs"}
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		switch i % 10 {
		case 0:
			if _, err := vsphere.Read(ctx, vc.URL, vsphere.Options{}); err != nil {
				t.Fatal(err)
			}
		case 1:
			readError(t, ctx, failing, vsphere.Options{PageSize: 6})
		case 2:
			cancelLogin = cancel
			want := "HOST: read the time: context canceled"
			if got := readError(t, ctx, interrupted, vsphere.Options{}); got != want {
				t.Fatalf("Read() cancelled while it logs in = %q, want %q", got, want)
			}
		default:
			stage := stages[i%len(stages)]
			got := readError(t, ctx, vc.URL, vsphere.Options{PageSize: 6, Progress: func(s string, _, _ int) {
				if s == stage {
					cancel()
				}
			}})
			if !strings.HasPrefix(got, "HOST: read "+stage+" after ") || !strings.HasSuffix(got, ": context canceled") {
				t.Fatalf("Read() cancelled at the %s = %q", stage, got)
			}
		}
		cancel()
	}
	if after := sessions(t, vc.URL); after != before {
		t.Errorf("%d sessions before 100 reads, %d after", before, after)
	}
}

// TestOlderServer reads from a server that refuses requests for properties of
// newer releases, as vCenter 7.0 does with those of 8.0.
func TestOlderServer(t *testing.T) {
	vc := startLab(t, newFleet(3))
	newer := []string{"config.numaInfo", "config.hardware.autoCoresPerSocket"}
	u := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
		for _, p := range newer {
			if strings.Contains(r.body, "<pathSet>"+p+"</pathSet>") {
				fault(w, "InvalidProperty", "<name>"+p+"</name>")
				return true
			}
		}
		return false
	})
	f, err := vsphere.Read(t.Context(), u, vsphere.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := f.VMs[0]; v.AutoCoresPerSocket.Known() || v.AutoCoresPerNUMANode.Known() || v.CoresPerSocket.Value != 12 || v.VCPUs.Value != 24 {
		t.Errorf("Read() = %+v; want no facts of 8.0, 24 vCPUs and 12 cores per socket", v)
	}
	version := vc.Model.ServiceContent.About.ApiVersion
	want := []string{
		"HOST: API version " + version + " does not know config.hardware.autoCoresPerSocket of VMs: left unknown",
		"HOST: API version " + version + " does not know config.numaInfo of VMs: left unknown",
	}
	got := noteTexts(f, u)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("notes %q\nwant %q", got, want)
	}
}

// TestRedirectsDoNotCarryTheLogin would fail with a login at the second server.
func TestRedirectsDoNotCarryTheLogin(t *testing.T) {
	vc := startLab(t, newFleet(1))
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s reached a server that was not named", r.Method, r.URL)
	}))
	defer other.Close()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} { // Go follows only the first without a copy of the body
		u := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
			if r.method == "Login" {
				http.Redirect(w, r.Request, other.URL, status)
			}
			return r.method == "Login"
		})
		want := fmt.Sprintf("HOST: log in: %d %s", status, http.StatusText(status))
		if got := readError(t, t.Context(), u, vsphere.Options{}); got != want {
			t.Errorf("Read() = %q, want %q", got, want)
		}
	}
}

// TestRedirectsDoNotCarryTheTags: the login of the tags, and questions with its session, go to no other server either.
func TestRedirectsDoNotCarryTheTags(t *testing.T) {
	fleet := newFleet(1)
	fleet.VMs[0].Tags = []string{"sql"}
	vc := startLab(t, fleet)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s reached a server that was not named", r.Method, r.URL)
	}))
	defer other.Close()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		for _, path := range []string{"/rest/com/vmware/cis/session", "/rest/com/vmware/cis/tagging/"} {
			redirected := 0
			u := startProxy(t, vc, func(w http.ResponseWriter, r request) bool {
				here := strings.HasPrefix(r.URL.Path, path)
				if here {
					redirected++
					http.Redirect(w, r.Request, other.URL, status)
				}
				return here
			})
			f, err := vsphere.Read(t.Context(), u, vsphere.Options{})
			if err != nil || redirected == 0 || len(f.VMs[0].Tags) > 0 {
				t.Errorf("%d of %s: %v, %d redirects; want a fleet without tags", status, path, err, redirected)
			} else if notes := strings.Join(noteTexts(f, u), "\n"); !strings.Contains(notes, "the tags of the VMs could not be read") {
				t.Errorf("%d of %s: notes %q", status, path, notes)
			}
		}
	}
}
