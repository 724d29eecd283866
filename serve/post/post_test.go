package post

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	a = Address{URL: server.URL}
	if code = 400; !strings.Contains(fmt.Sprint(a.Send(t.Context(), nil, nil)), "400 Bad Request: out of order") {
		t.Error("the reason of a refusal is lost")
	}
	if calls != 17 {
		t.Errorf("%d requests", calls)
	}
}
