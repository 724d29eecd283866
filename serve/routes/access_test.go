package routes

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/serve/access"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/held"
	"example.org/homenode/serve/site"
)

// accessServer returns a server whose pages answer with a verdict.
func accessServer(o access.Options) *Server {
	o.Listen = "127.0.0.1:9275"
	return &Server{Board: board.New(rules.Options{}, time.Minute), Gate: access.New(o), Started: time.Now(), Status: func() []collect.Status { return nil },
		Site: &site.Site{Fleets: func() []*held.Fleet { return nil }, Status: func() *answer.Answer { return &answer.Answer{Verdict: []string{"status"}} }}}
}

// send returns what a handler answers.
func send(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:9275", "127.0.0.1:4711"
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

// TestEveryRoute asks for every route with every method: without the token and by another host name none but /healthz answers, and
// what is posted only asks a page, asks hosts more often, or opens and removes captures.
func TestEveryRoute(t *testing.T) {
	token := strings.Repeat("t", 32)
	closed, open := accessServer(access.Options{Token: token}), accessServer(access.Options{})
	shut, local := closed.Handler(), open.Handler()
	asked := 0
	routes := closed.routes()
	for pattern := range routes {
		method, path, ok := strings.Cut(pattern, " ")
		if !ok {
			method, path = "", pattern
		}
		if _, page := routes["GET "+path]; method == "POST" && !page && path != "/host/closely" && path != "/captures/remove" {
			t.Errorf("%s: serve changes nothing", pattern)
		}
		path = strings.TrimSuffix(path, "{$}")
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			asked++
			if w := send(shut, method, path); w.Code != http.StatusUnauthorized && path != "/healthz" || strings.Contains(w.Body.String(), "asked") {
				t.Errorf("%s %s without the token: status %d", method, path, w.Code)
			}
			if w := send(shut, method, path, "Authorization", "Bearer "+token); w.Code == http.StatusUnauthorized {
				t.Errorf("%s %s with the token: status %d", method, path, w.Code)
			}
			if w := send(local, method, path, "Host", "evil.example.com:9275"); w.Code != http.StatusMisdirectedRequest {
				t.Errorf("%s %s by another name: status %d", method, path, w.Code)
			}
		}
	}
	if asked < 100 {
		t.Errorf("asked %d times: the test looks at nothing", asked)
	}
	if w := send(local, "GET", "/vm/../metrics"); w.Code >= 300 && w.Header().Get("Location") != "/metrics" {
		t.Errorf("..: status %d, %v", w.Code, w.Header())
	}
}

// TestUserOnPage shows whom the proxy names, and no markup of it.
func TestUserOnPage(t *testing.T) {
	h := accessServer(access.Options{Proxy: netip.MustParseAddr("127.0.0.1"), Header: "X-Forwarded-User"}).Handler()
	w := send(h, "GET", "/calculator", "X-Forwarded-User", "anna <b>")
	if body := w.Body.String(); !strings.Contains(body, `<span class="who">anna &lt;b&gt;</span>`) {
		t.Errorf("status %d\n%s", w.Code, body)
	}
	if body := send(accessServer(access.Options{}).Handler(), "GET", "/calculator", "X-Forwarded-User", "anna").Body.String(); strings.Contains(body, "anna") {
		t.Errorf("a server without a proxy\n%s", body)
	}
}

// A stalled client reads nothing.
type stalled struct {
	http.ResponseWriter
	begun, read chan struct{}
	until       time.Time
}

func (c *stalled) Write(b []byte) (int, error) {
	c.begun <- struct{}{}
	<-c.read
	return 0, os.ErrDeadlineExceeded
}

func (c *stalled) SetWriteDeadline(t time.Time) error {
	c.until = t
	return nil
}

// TestStalled has clients that read nothing of large answers: they have a deadline, a few of them take memory, and when they are gone others are answered.
func TestStalled(t *testing.T) {
	begun, read := make(chan struct{}), make(chan struct{})
	h := accessServer(access.Options{}).Handler()
	var all sync.WaitGroup
	for i := range 8 {
		c := &stalled{httptest.NewRecorder(), begun, read, time.Time{}}
		all.Go(func() {
			r := httptest.NewRequest("GET", []string{"/metrics", "/api/homenode/v1/vms"}[i%2], nil)
			r.Host = "127.0.0.1:9275"
			h.ServeHTTP(c, r)
			if c.until.IsZero() {
				t.Error("no deadline")
			}
		})
		<-begun
	}
	go func() { // an answer may be written in parts
		for range begun {
		}
	}()
	gone, leave := context.WithCancel(t.Context())
	leave()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(gone, "GET", "/metrics", nil)
	r.Host = "127.0.0.1:9275"
	if h.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", w.Code)
	}
	close(read)
	all.Wait()
	close(begun)
	if w := send(h, "GET", "/metrics"); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d", w.Code)
	}
}
