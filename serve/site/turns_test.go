package site

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/turns"
	"example.org/homenode/rules"
	"example.org/homenode/serve/held"
	"example.org/homenode/source/scenario/given"
)

// busySite serves a small fleet, with so many places.
func busySite(t *testing.T, atOnce, waiting int) *httptest.Server {
	t.Helper()
	f := given.Fleet(t, "test", []byte("release 7.0U3\ncluster c\nhost esx[1-4] cluster=c nodes=2 cores=18 memory=512GB\nvm db[1-60] host=esx1 vcpus=24 memory=16GB\n"))
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{}), Sources: []string{"fleet.txt"}}
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }}
	before := asking
	asking = turns.New(atOnce, waiting)
	t.Cleanup(func() { asking = before })
	mux := http.NewServeMux()
	for pattern, h := range s.Handlers() {
		mux.Handle(pattern, h)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// TestBusy answers those who come when too many wait at once with a page, or with JSON, that says when to come again.
func TestBusy(t *testing.T) {
	server := busySite(t, 1, 0)
	end, err := asking.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"/vm?vm=db1": "This server is busy.", "/api/homenode/v1/vm?vm=db1": `{"error":"too much is asked at once: ask again in some seconds"}`} {
		begin := time.Now()
		res, err := http.Get(server.URL + address)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		_, _ = bufio.NewReader(res.Body).WriteTo(&b)
		res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "10" || !strings.Contains(b.String(), want) || time.Since(begin) > 5*time.Second {
			t.Errorf("%s: status %d, %v, after %s: %s", address, res.StatusCode, res.Header, time.Since(begin), b.String())
		}
	}
	end()
	if res, err := http.Get(server.URL + "/vm?vm=db1"); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("with a place that is free: %v, %v", res, err)
	}
}

// TestGone asks a long question and goes: its place is free soon, and who waited for it has an answer.
func TestGone(t *testing.T) {
	server := busySite(t, 1, 10)
	const long = "/simulate?part=c&hours=48"
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	taken := func() bool {
		end, err := asking.Take(gone)
		if err == nil {
			end()
		}
		return err != nil
	}
	becomes := func(want bool, within time.Duration) bool {
		for end := time.Now().Add(within); taken() != want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				return false
			}
		}
		return true
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET " + long + " HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if !becomes(true, 10*time.Second) {
		t.Fatal("the question does not begin")
	}
	time.Sleep(300 * time.Millisecond)
	if !taken() {
		t.Skip("this machine answers at once")
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if !becomes(false, 5*time.Second) {
		t.Fatal("the question goes on after its client has gone")
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/vm?vm=db1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(req); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the next one: %v, %v", res, err)
	}
}
