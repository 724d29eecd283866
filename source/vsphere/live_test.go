package vsphere_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.org/homenode/source/demo"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/lab"
)

// TestLive reads the service of hosts over one session: every sign comes through, faults
// are told apart, and a session that the vCenter forgot is said to be so.
func TestLive(t *testing.T) {
	fleet, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	vc, err := lab.Start(fleet)
	if err != nil {
		t.Fatal(err)
	}
	defer vc.Close()
	const signs = "|Server|<a> & \"b\" 'c' \t é €|\n|x|\n"
	if err := vc.ServeEsxtop(func(host, command string) (string, error) {
		if host == fleet.Hosts[1].ID {
			return "", errors.New("the host does not answer")
		}
		return command + " " + host + signs, nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	l, err := vsphere.Open(ctx, vc.URL, vsphere.Options{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Fleet(ctx)
	if err != nil || len(got.Hosts) != len(fleet.Hosts) || len(got.VMs) != len(fleet.VMs) {
		t.Fatalf("fleet: %v", err)
	}
	s, err := l.Esxtop(ctx, fleet.Hosts[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		size, err := l.Execute(ctx, s, "FetchStats", func(text []byte) error {
			if want := "FetchStats " + fleet.Hosts[0].ID + signs; string(text) != want {
				return fmt.Errorf("got %q, want %q", text, want)
			}
			return nil
		})
		if err != nil || size < 200 {
			t.Errorf("%d bytes, %v", size, err)
		}
	}
	if s, err = l.Esxtop(ctx, fleet.Hosts[1].Name); err != nil {
		t.Fatal(err)
	}
	if _, err = l.Execute(ctx, s, "FetchStats", nil); err == nil || !strings.Contains(err.Error(), "FetchStats: ServerFaultCode: the host does not answer") {
		t.Errorf("a fault is %v", err)
	}
	if _, err = l.Esxtop(ctx, "nobody"); !errors.Is(err, vsphere.ErrNoService) {
		t.Errorf("a host without service is %v", err)
	}
	other, err := vsphere.Open(ctx, vc.URL, vsphere.Options{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := other.Execute(ctx, s, "FetchStats", nil); !errors.Is(err, vsphere.ErrExpired) {
		t.Errorf("a session that ended is %v", err)
	}
	wrong := *vc.URL
	if _, err := vsphere.Open(ctx, &wrong, vsphere.Options{Insecure: true, Username: "x", Password: "y"}); !errors.Is(err, vsphere.ErrRefused) {
		t.Errorf("a wrong password is %v", err)
	}
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
}

// TestAnotherInstance logs in again where another vCenter answers at the address by then: it gets no password.
func TestAnotherInstance(t *testing.T) {
	vc := startLab(t, newFleet(2))
	other, logins := false, 0
	s := httptest.NewTLSServer(proxy(vc, func(w http.ResponseWriter, r request) bool {
		if r.method == "Login" {
			logins++
		}
		return other && answerWith("RetrieveServiceContent", envelope+`<RetrieveServiceContentResponse xmlns="urn:vim25"><returnval><about><instanceUuid>another</instanceUuid></about></returnval></RetrieveServiceContentResponse>`+envelopeEnd)(w, r)
	}))
	t.Cleanup(s.Close)
	l, err := vsphere.Open(t.Context(), serverURL(t, s, vc.URL.User), vsphere.Options{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(t.Context()) })
	vc.ExpireSessions()
	if err := l.Login(t.Context()); err != nil || logins != 2 {
		t.Errorf("the same instance: %v, %d logins", err, logins)
	}
	other = true
	if err := l.Login(t.Context()); err == nil || !strings.Contains(err.Error(), `another vCenter answers now: the instance is "another"`) || logins != 2 {
		t.Errorf("another instance: %v, %d logins", err, logins)
	}
}
