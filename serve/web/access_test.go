package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"homenode/internal/browser"
	"homenode/output/answer"
	"homenode/rules"
	"homenode/serve/access"
	"homenode/serve/board"
	"homenode/serve/collect"
	"homenode/serve/held"
	"homenode/serve/site"
)

// accessServer returns a server whose pages answer with a verdict, and its gate.
func accessServer(t *testing.T, o access.Options) (s *Server, gate *access.Gate) {
	t.Helper()
	if o.Config != nil {
		if err := o.Config.Check(); err != nil {
			t.Fatal(err)
		}
	}
	gate, err := access.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &Server{Board: board.New(rules.Options{}, time.Minute), Listen: "127.0.0.1:9275", URL: o.URL, Gate: gate, Started: time.Now(), Status: func() []collect.Status { return nil },
		Site: &site.Site{Fleets: func() []*held.Fleet { return nil }, Ask: func(context.Context, *held.Fleet, []string) ([]*answer.Answer, error) {
			return []*answer.Answer{{Verdict: []string{"asked"}}}, nil
		}, Status: func() *answer.Answer { return &answer.Answer{Verdict: []string{"status"}} }}}, gate
}

// send returns what a handler answers.
func send(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "127.0.0.1:9275"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestRoleByRoute asks for every route as everybody, with every method: a route has a row in access.Routes, and each lets in who
// has its role.
func TestRoleByRoute(t *testing.T) {
	viewer, viewerSum := access.NewToken()
	op, opSum := access.NewToken()
	tomorrow := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	c := &access.Config{Tokens: []access.Token{{Name: "v", Role: access.Viewer, SHA256: viewerSum, Until: tomorrow}, {Name: "o", Role: access.Operator, SHA256: opSum, Until: tomorrow}}}
	s, gate := accessServer(t, access.Options{Config: c})
	rows := map[string]access.Route{}
	for _, row := range access.Routes {
		rows[row.Pattern] = row
	}
	routes := s.routes(gate)
	for pattern := range routes {
		if _, ok := rows[pattern]; !ok {
			t.Errorf("%s has no row in access.Routes", pattern)
		}
	}
	asked := 0
	h := s.Handler()
	for pattern, row := range rows {
		if routes[pattern] == nil {
			t.Errorf("access.Routes has a row for %s, which is no route", pattern)
			continue
		}
		methods, path, ok := strings.Cut(pattern, " ")
		if !ok {
			methods, path = row.Methods, pattern
		}
		path = strings.ReplaceAll(path, "{$}", "")
		if methods == "GET" {
			methods = "GET HEAD"
		}
		for role, header := range map[access.Role][]string{access.Anyone: nil, access.Viewer: {"Authorization", "Bearer " + viewer}, access.Operator: {"Authorization", "Bearer " + op}} {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"} {
				asked++
				w := send(h, method, path, header...)
				refused := w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden
				if strings.HasPrefix(pattern, "POST /login") {
					refused = w.Code == http.StatusForbidden // a wrong password is 401, too
				}
				switch allowed := strings.Contains(" "+methods+" ", " "+method+" "); {
				case !allowed:
					// Another route of this path may have the method.
					if _, other := rows[strings.Replace(method, "HEAD", "GET", 1)+" "+path]; !other && w.Code < 300 {
						t.Errorf("%s %s as %v: status %d, want a refusal of the method", method, path, role, w.Code)
					}
				case role < row.Least && !refused, role >= row.Least && refused:
					t.Errorf("%s %s as %v: status %d, least role %v", method, path, role, w.Code, row.Least)
				case role < row.Least && strings.Contains(w.Body.String(), "asked"):
					t.Errorf("%s %s as %v: answered", method, path, role)
				}
			}
		}
	}
	if asked < 20*27 {
		t.Errorf("asked %d times: the test looks at nothing", asked)
	}
}

// TestLocalRoles shows everything to this machine, and to no one by another name.
func TestLocalRoles(t *testing.T) {
	s, _ := accessServer(t, access.Options{Port: "9275"})
	h := s.Handler()
	for _, row := range access.Routes {
		method, path, ok := strings.Cut(row.Pattern, " ")
		if !ok {
			method, path = "GET", row.Pattern
		}
		path = strings.TrimSuffix(path, "{$}")
		w := send(h, method, path)
		if refused := w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden; refused != (row.Least == access.Operator && !slices.Contains(access.LocalToo, row.Pattern)) && !strings.HasPrefix(path, "/login") {
			t.Errorf("%s %s: status %d", method, path, w.Code)
		}
		for _, host := range []string{"evil.example.com", "evil.example.com:9275", "127.0.0.1:1", "localhost.example.com:9275"} {
			if w := send(h, method, path, "Host", host); w.Code != http.StatusMisdirectedRequest {
				t.Errorf("%s %s for %s: status %d", method, path, host, w.Code)
			}
		}
	}
	if w := send(h, "GET", "/vm/../metrics"); w.Code >= 300 && w.Header().Get("Location") != "/metrics" {
		t.Errorf("..: status %d, %v", w.Code, w.Header())
	}
}

// TestOutside answers by the name that browsers use.
func TestOutside(t *testing.T) {
	outside, err := url.Parse("https://homenode.example.com")
	if err != nil {
		t.Fatal(err)
	}
	token, sum := access.NewToken()
	s, _ := accessServer(t, access.Options{URL: outside, Secure: true, Config: &access.Config{Tokens: []access.Token{{Name: "v", Role: access.Viewer, SHA256: sum, Until: "2999-01-01"}}}})
	h := s.Handler()
	for host, want := range map[string]int{"homenode.example.com": 200, "HOMENODE.example.com": 200, "127.0.0.1:9275": 200, "localhost:9275": 200, "homenode.example.com:9275": 421, "x.homenode.example.com": 421} {
		w := send(h, "GET", "/metrics", "Host", host, "Authorization", "Bearer "+token)
		if w.Code != want {
			t.Errorf("%s: status %d, want %d", host, w.Code, want)
		}
	}
}

// TestSecurityHeaders looks at the answers of every kind: pages, data, errors and the page to sign in.
func TestSecurityHeaders(t *testing.T) {
	_, sum := access.NewToken()
	for _, secure := range []bool{false, true} {
		s, _ := accessServer(t, access.Options{Secure: secure, Config: &access.Config{Tokens: []access.Token{{Name: "v", Role: access.Viewer, SHA256: sum, Until: "2999-01-01"}}}})
		h := s.Handler()
		for _, path := range []string{"/", "/login", "/metrics", "/healthz", "/none", "/static/site.css"} {
			w := send(h, "GET", path, "Accept", "text/html")
			got := w.Header()
			policy := got.Get("Content-Security-Policy")
			if got.Get("X-Content-Type-Options") != "nosniff" || got.Get("X-Frame-Options") != "DENY" || got.Get("Referrer-Policy") != "no-referrer" || !strings.HasPrefix(policy, "default-src 'none'; ") ||
				!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || (got.Get("Strict-Transport-Security") == "max-age=31536000") != secure {
				t.Errorf("%s, secure %v: %v", path, secure, got)
			}
		}
	}
}

// TestLoginPage shows the page to sign in where somebody who is not signed in asked for another one.
func TestLoginPage(t *testing.T) {
	s, gate := accessServer(t, access.Options{Port: "9275"})
	h := s.Handler()
	body := send(h, "GET", `/login?next=%22%3E%3Cscript%3E`).Body.String()
	if !strings.Contains(body, `<form class="ask sign" method="post" action="/login">`) || !strings.Contains(body, `name="next" value="/"`) || strings.Contains(body, "<nav") || strings.Contains(body, "<script>") {
		t.Errorf("page\n%s", body)
	}
	if body := send(h, "GET", "/calculator?vm=2x8GB").Body.String(); !strings.Contains(body, `href="/login?next=%2fcalculator%3fvm%3d2x8GB"`) {
		t.Errorf("page of a viewer\n%s", body)
	}
	body = send(h, "GET", "/calculator", "Authorization", "Bearer "+gate.Token).Body.String()
	if want := `<form class="who" method="post" action="/logout"><span>local operator (operator)</span> <button>Sign out</button></form>`; !strings.Contains(body, want) {
		t.Errorf("page of an operator\n%s", body)
	}
	hash, err := access.HashPassword("a password of a test")
	if err != nil {
		t.Fatal(err)
	}
	s, _ = accessServer(t, access.Options{Config: &access.Config{Users: []access.Local{{Name: "anna", Role: access.Viewer, Hash: hash}}}})
	w := send(s.Handler(), "GET", "/vm?vm=a%26b", "Accept", "text/html")
	if body := w.Body.String(); w.Code != http.StatusUnauthorized || !strings.Contains(body, `name="next" value="/vm?vm=a%26b"`) || !strings.Contains(body, `autocomplete="current-password"`) || strings.Contains(body, "Token that") {
		t.Errorf("status %d\n%s", w.Code, body)
	}
	if w := send(s.Handler(), "GET", "/vm?vm=a"); fmt.Sprint(w.Code, w.Body) != "401 Sign in: this needs the role viewer.\n" {
		t.Errorf("a program: %d %s", w.Code, w.Body)
	}
}

// TestLoginInBrowser signs in and out with a browser, under the policy of the pages.
func TestLoginInBrowser(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s, gate := accessServer(t, access.Options{Port: at.Port()})
	s.Listen = at.Host
	server.Config.Handler = s.Handler()
	b := browser.Open(t, server.URL+"/status")
	// shows waits until the corner of the page says who looks at it.
	shows := func(want string) {
		t.Helper()
		var got string
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !strings.HasSuffix(got, want); time.Sleep(50 * time.Millisecond) {
			if now, err := chromedp.Run(b.Context, chromedp.Evaluate[string]("location.pathname + ' ' + (document.querySelector('.who') || document.querySelector('[role=status]') || document.body).innerText")); err == nil {
				got = now
			}
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	token := func(text string) {
		b.Do(t, chromedp.SendKeys(chromedp.CSS("[name=token]"), text), chromedp.Click(chromedp.CSS(".sign button")))
	}
	shows("/status Act as operator")
	b.Do(t, chromedp.Click(chromedp.CSS("a.who")))
	token("wrong")
	shows("/login The name and the password, or the token, do not match.")
	token(gate.Token)
	shows("/status local operator (operator) Sign out")
	browser.Eval(t, b, "document.cookie", "") // HttpOnly
	b.Do(t, chromedp.Click(chromedp.CSS(".who button")))
	shows("/ Act as operator")
	for _, c := range b.Complaints() {
		// The wrong token; this server has no inventory, and nothing is collected that could change.
		if !strings.Contains(c, "401") && !strings.Contains(c, "503") && !strings.Contains(c, "404") {
			t.Errorf("the browser complains %q", c)
		}
	}
}
