package access

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// gate returns a server that answers with the name of the user.
func gate(o Options) http.Handler {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:9275"
	}
	return New(o).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "user "+User(r.Context())+", header "+r.Header.Get("X-Forwarded-User"))
	}))
}

// send returns what a handler answers to a request from an address.
func send(h http.Handler, from, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:9275", from+":4711"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestToken lets in who has the token, by both ways that a program and a browser send it, and no one else.
func TestToken(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	h := gate(Options{Token: token})
	basic := func(name, password string) string {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.SetBasicAuth(name, password)
		return r.Header.Get("Authorization")
	}
	for header, want := range map[string]int{
		"Bearer " + token:           200,
		"bearer  " + token:          200,
		basic("anna", token):        200,
		basic("", token):            200,
		"":                          401,
		"Bearer":                    401,
		"Bearer ":                   401,
		"Bearer " + token + "0":     401,
		"Bearer " + token[1:]:       401,
		token:                       401,
		"Digest " + token:           401,
		basic(token, ""):            401,
		basic("anna", token[1:]):    401,
		"Basic " + token:            401,
		"Bearer " + token + ", x y": 401,
	} {
		for _, method := range []string{"GET", "POST"} {
			w := send(h, "192.0.2.7", method, "/vm?vm=a", "Authorization", header)
			if w.Code != want || (w.Code == 401) != (len(w.Header().Values("WWW-Authenticate")) == 2) || want == 401 && strings.Contains(w.Body.String(), "user") {
				t.Errorf("%s %q: status %d, want %d: %v %s", method, header, w.Code, want, w.Header(), w.Body)
			}
		}
	}
	if w := send(h, "127.0.0.1", "GET", "/metrics"); w.Code != 401 {
		t.Errorf("this machine without the token: status %d", w.Code)
	}
	for path, want := range map[string]int{"/healthz": 200, "/healthz/": 401, "/healthz/../metrics": 401, "/static/site.css": 401} {
		if w := send(h, "192.0.2.7", "GET", path); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
}

// TestProxy believes the header of the proxy alone, and passes it on to no one.
func TestProxy(t *testing.T) {
	proxy := Options{Proxy: netip.MustParseAddr("10.0.0.5"), Header: "X-Forwarded-User"}
	both := proxy
	both.Token = strings.Repeat("t", 32)
	for _, tt := range []struct {
		o      Options
		from   string
		header []string
		status int
		user   string
	}{
		{proxy, "10.0.0.5", []string{"X-Forwarded-User", " anna "}, 200, "anna"},
		{proxy, "[::ffff:10.0.0.5]", []string{"X-Forwarded-User", "anna"}, 200, "anna"},
		{proxy, "10.0.0.5", nil, 403, ""},
		{proxy, "10.0.0.5", []string{"X-Forwarded-User", ""}, 403, ""},
		{proxy, "10.0.0.5", []string{"X-Forwarded-User", "anna", "X-Forwarded-User", "bert"}, 403, ""},
		{proxy, "10.0.0.6", []string{"X-Forwarded-User", "anna"}, 403, ""},
		{proxy, "10.0.0.6", []string{"X-Forwarded-User", "anna", "X-Forwarded-For", "10.0.0.5"}, 403, ""},
		{proxy, "127.0.0.1", []string{"X-Forwarded-User", "anna"}, 403, ""},
		{proxy, "10.0.0.6", []string{"Authorization", "Bearer "}, 403, ""},
		{both, "10.0.0.5", []string{"X-Forwarded-User", "anna"}, 200, "anna"},
		{both, "10.0.0.6", []string{"X-Forwarded-User", "anna"}, 401, ""},
		{both, "10.0.0.6", []string{"X-Forwarded-User", "anna", "Authorization", "Bearer " + both.Token}, 200, ""},
		{Options{}, "127.0.0.1", []string{"X-Forwarded-User", "anna"}, 200, ""},
	} {
		w := send(gate(tt.o), tt.from, "GET", "/", tt.header...)
		want := "user " + tt.user + ", header "
		if !tt.o.Proxy.IsValid() {
			want += "anna"
		}
		if w.Code != tt.status || w.Code == 200 && w.Body.String() != want {
			t.Errorf("%s %v: status %d, want %d: %s", tt.from, tt.header, w.Code, tt.status, w.Body)
		}
	}
}

// TestHost answers by the names of the server alone: not by that of a stranger which leads to its address.
func TestHost(t *testing.T) {
	outside, err := url.Parse("https://homenode.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string][2]int{
		"127.0.0.1:9275": {200, 200}, "localhost:9275": {200, 200}, "[::1]:9275": {200, 200}, "homenode.example.com": {421, 200}, "HOMENODE.example.com": {421, 200}, "homenode.example.com:9275": {421, 421},
		"x.homenode.example.com": {421, 421}, "evil.example.com": {421, 421}, "evil.example.com:9275": {421, 421}, "127.0.0.1:1": {421, 421}, "127.0.0.1": {421, 421}, "localhost.example.com:9275": {421, 421},
	} {
		for i, o := range []Options{{}, {URL: outside}} {
			for _, path := range []string{"/", "/metrics", "/healthz"} {
				if w := send(gate(o), "127.0.0.1", "GET", path, "Host", host); w.Code != want[i] {
					t.Errorf("%s of %s: status %d, want %d", path, host, w.Code, want[i])
				}
			}
		}
	}
}

// TestOrigin refuses what a page of another site has a browser send; links of it lead here.
func TestOrigin(t *testing.T) {
	outside, err := url.Parse("https://homenode.example.com")
	if err != nil {
		t.Fatal(err)
	}
	h := gate(Options{URL: outside, Secure: true})
	for _, tt := range []struct {
		method string
		header []string
		want   int
	}{
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"GET", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, 200},
		{"POST", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"POST", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"POST", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"POST", []string{"Origin", "https://evil.example.com"}, 403},
		{"POST", []string{"Origin", "null"}, 403},
		{"POST", []string{"Origin", "https://homenode.example.com"}, 200},
		{"POST", []string{"Origin", "http://127.0.0.1:9275"}, 200},
		{"POST", nil, 200}, // no browser
	} {
		if w := send(h, "127.0.0.1", tt.method, "/captures", tt.header...); w.Code != tt.want {
			t.Errorf("%s %v: status %d, want %d", tt.method, tt.header, w.Code, tt.want)
		}
	}
}

// TestHeaders looks at answers of every kind.
func TestHeaders(t *testing.T) {
	for _, secure := range []bool{false, true} {
		h := gate(Options{Secure: secure, Token: strings.Repeat("t", 32)})
		for _, header := range [][]string{{"Authorization", "Bearer " + strings.Repeat("t", 32)}, {"Authorization", "Bearer x"}, {"Host", "evil.example.com"}, {"Sec-Fetch-Site", "cross-site"}} {
			got := send(h, "127.0.0.1", "GET", "/", header...).Header()
			policy := got.Get("Content-Security-Policy")
			if got.Get("X-Content-Type-Options") != "nosniff" || got.Get("X-Frame-Options") != "DENY" || got.Get("Referrer-Policy") != "no-referrer" || got.Get("Cross-Origin-Opener-Policy") != "same-origin" ||
				!strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "frame-ancestors 'none'") || (got.Get("Strict-Transport-Security") == "max-age=31536000") != secure {
				t.Errorf("%v, secure %v: %v", header, secure, got)
			}
		}
	}
}
