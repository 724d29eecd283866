package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHealth asks servers that are up, with and without TLS, one that is not well, and none.
func TestHealth(t *testing.T) {
	well := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			_, _ = io.WriteString(w, "ok\n")
		}
	})
	plain, secure := httptest.NewServer(well), httptest.NewTLSServer(well)
	ill := httptest.NewServer(http.NotFoundHandler())
	gone := httptest.NewServer(well)
	gone.Close()
	defer plain.Close()
	defer secure.Close()
	defer ill.Close()
	for _, tt := range []struct{ address, said string }{
		{plain.Listener.Addr().String(), ""},
		{secure.Listener.Addr().String(), ""},
		{ill.Listener.Addr().String(), "answered 404 Not Found"},
		{gone.Listener.Addr().String(), "connection refused"},
		{"192.0.2.1:9275", `found the address "192.0.2.1:9275", want one of this machine`},
		{"127.0.0.1", `found the address "127.0.0.1", want`},
	} {
		var out, said bytes.Buffer
		code := run(t.Context(), []string{"health", tt.address}, strings.NewReader(""), &out, &said)
		if (code == exitClean) != (tt.said == "") || !strings.Contains(said.String(), tt.said) {
			t.Errorf("%s: exit code %d, %s", tt.address, code, said.String())
		}
	}
}
