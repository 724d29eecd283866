package post

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		Address
		want string
	}{
		{Address{URL: "https://db.example.com:8443/write", Authorization: "Bearer s3cret"}, "db.example.com:8443"},
		{Address{URL: "http://db.example.com/write"}, "db.example.com"},
		{Address{URL: "http://[::1]:9090/write", Authorization: "Bearer s3cret"}, "[::1]:9090"},
		{Address{URL: "http://db.example.com/write", Authorization: "Bearer s3cret"}, "want https:// for"},
		{Address{URL: "http://user:s3cret@db.example.com/write"}, "want https:// for"},
		{Address{URL: "http://0.0.0.0/", Authorization: "Bearer s3cret"}, "want https:// for"},
		{Address{URL: "http://127.0.0.1.example.com/", Authorization: "Bearer s3cret"}, "want https:// for"},
		{Address{URL: "ftp://s3cret/"}, "want a url"},
		{Address{URL: "https://db.example.com/", Authorization: "Bearer s3cret\n"}, "want an authorization of one line"},
		{Address{URL: "https://db.example.com/", Authorization: "Bearer s3cret\r\nHost: x"}, "want an authorization of one line"},
		{Address{URL: "https://db.example.com/", Authorization: "Bearer s3cret\x7f"}, "want an authorization of one line"},
		{Address{URL: "http://s3cret:x/"}, "want a url"},
	} {
		got, err := tt.Check()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || strings.Contains(got, "s3cret") {
			t.Errorf("%+v: %s", tt.Address, got)
		}
	}
}

// TestSend tells what is in vain from what can be sent again, and follows no redirect.
func TestSend(t *testing.T) {
	code, calls, location := 0, 0, "/elsewhere"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.Header().Set("Location", location)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(code)
		fmt.Fprintf(w, "out of order, asked for %s with %s", r.URL, r.Header["Authorization"]) // as some targets do
	}))
	defer server.Close()
	a := Address{URL: server.URL + "/token-s3cret", Authorization: "Bearer s3cret"}
	for _, tt := range []struct {
		code int
		is   error
		wait time.Duration
	}{
		{200, nil, 0}, {204, nil, 0}, {301, ErrAddress, 0}, {307, ErrAddress, 0}, {401, ErrAddress, 0}, {403, ErrAddress, 0}, {404, ErrAddress, 0}, {405, ErrAddress, 0},
		{400, ErrRefused, 0}, {413, ErrRefused, 0}, {422, ErrRefused, 0}, {408, nil, 7 * time.Second}, {429, nil, 7 * time.Second}, {500, nil, 7 * time.Second}, {503, nil, 7 * time.Second},
	} {
		code = tt.code
		err := a.Send(t.Context(), nil, []byte("x"))
		l, _ := errors.AsType[*later](err)
		switch {
		case (tt.is != nil || tt.wait > 0) != (err != nil), tt.is != nil && !errors.Is(err, tt.is), (l != nil) != (tt.wait > 0), l != nil && l.wait != tt.wait:
			t.Errorf("%d: %v", tt.code, err)
		case err != nil && strings.Contains(err.Error(), "s3cret"):
			t.Error(err)
		}
	}
	code, location = 301, "http://[/token-s3cret"
	if err := a.Send(t.Context(), nil, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
	if calls != 16 {
		t.Errorf("%d requests", calls)
	}
}

// TestRepeated sends to a target that repeats each part of the address and the authorization, in each form: in bodies, in headers that cannot be read, in a
// status line, and in the names of a certificate. No error has any of it, and the kind of the failure is said.
func TestRepeated(t *testing.T) {
	parts := []string{"/hook%20A/s3cretPath", "hook A", "hook%20A", "s3cretPath", "s3cretQuery", "s3cretUser", "s3cretPass", "czNjcmV0VXNlcjpzM2NyZXRQYXNz", "s3cretToken"}
	var answer string
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, answer)
			}
			_ = c.Close()
		}
	}()
	addresses := []Address{
		{URL: "http://" + listener.Addr().String() + "/hook%20A/s3cretPath?key=s3cretQuery", Authorization: "Bearer s3cretToken"},
		{URL: "http://s3cretUser:s3cretPass@" + listener.Addr().String() + "/hook%20A/s3cretPath"},
	}
	for _, part := range parts {
		for form, want := range map[string]string{
			"HTTP/1.1 400 " + part + "\r\nConnection: close\r\n\r\nno " + part: "it answers 400 Bad Request, and its log",
			"HTTP/1.1 401 No\r\nWWW-Authenticate: " + part + "\r\n\r\n" + part: "it answers 401 Unauthorized: the address or the authorization is wrong",
			"HTTP/1.1 503 No\r\nRetry-After: " + part + "\r\n\r\n" + part:      "it answers 503 Service Unavailable",
			"HTTP/1.1 302 No\r\nLocation: http://[" + part + "\r\n\r\n":        "its answer cannot be read",
			"HTTP/1.1 " + part + "\r\n\r\n":                                    "its answer cannot be read",
			"HTTP/1.1 200 OK\r\n" + part + "\r\n\r\n":                          "its answer cannot be read",
			"": "EOF",
		} {
			answer = form
			for _, a := range addresses {
				err := a.Send(t.Context(), nil, []byte("x"))
				if err == nil || !strings.Contains(err.Error(), want) || slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(err.Error(), p) }) {
					t.Errorf("%q: %v, want %q", form, err, want)
				}
			}
		}
	}
	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	a := Address{URL: secure.URL + "/s3cretPath"}
	if err := a.Send(t.Context(), nil, nil); err == nil || err.Error() != "its certificate is signed by an authority that this machine does not trust" {
		t.Error(err)
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{x509.HostnameError{Host: "s3cretPath", Certificate: secure.Certificate()}, "for another name"},
		{x509.CertificateInvalidError{Reason: x509.Expired, Detail: "s3cretPath"}, "has expired"},
		{x509.CertificateInvalidError{Reason: x509.NameMismatch, Detail: "s3cretPath"}, "is not valid"},
	} {
		err := Plain(&url.Error{Op: "Post", URL: a.URL, Err: &tls.CertificateVerificationError{Err: tt.err}})
		if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: %v, want %q", tt.err, err, tt.want)
		}
	}
}
