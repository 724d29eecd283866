package access

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alexedwards/scs/v2/memstore"

	"homenode/internal/golden"
)

// password is that of every user of the tests.
const password = "s3cret-correct-horse"

// testConfig has a viewer vera, an operator olaf, and the API tokens of both roles.
func testConfig(t *testing.T) (c *Config, viewer, op, old string) {
	t.Helper()
	hash, err := HashPassword(password)
	if err != nil {
		t.Fatal(err)
	}
	c = &Config{Users: []Local{{Name: "vera", Role: Viewer, Hash: hash}, {Name: "Olaf", Role: Operator, Hash: hash}}}
	add := func(name string, r Role, until string) string {
		token, sum := NewToken()
		c.Tokens = append(c.Tokens, Token{Name: name, Role: r, SHA256: sum, Until: until})
		return token
	}
	tomorrow := time.Now().UTC().AddDate(0, 0, 1)
	viewer, op = add("grafana", Viewer, tomorrow.Format(time.DateOnly)), add("deploy", Operator, tomorrow.Format(time.DateOnly))
	old = add("old", Operator, tomorrow.AddDate(0, 0, -2).Format(time.DateOnly))
	return c, viewer, op, old
}

// A lab is a gate before a page that shows who asks, and a change that operators make.
type lab struct {
	*Gate
	handler http.Handler
	audit   string
	changed int
}

func newLab(t *testing.T, o Options) *lab {
	t.Helper()
	l := &lab{audit: filepath.Join(t.TempDir(), "audit.log")}
	if o.Config != nil {
		if err := o.Config.Check(); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if o.Audit, err = OpenAudit(l.audit); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Audit.Close() })
	if l.Gate, err = New(o); err != nil {
		t.Fatal(err)
	}
	l.rows["POST /change"] = &Route{"POST /change", Operator, ""}
	mux := http.NewServeMux()
	for pattern, h := range l.Handlers() {
		mux.Handle(pattern, h)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		u := Of(r.Context())
		fmt.Fprintf(w, "%s|%s|%s|%s|%s", u.Name, u.Role, u.Via, u.From, r.Header.Get("X-User")+r.Header.Get("X-Groups"))
	})
	mux.HandleFunc("POST /change", func(_ http.ResponseWriter, r *http.Request) {
		l.changed++
		if err := Log(r.Context(), "change", map[string]string{"subject": "vm1", "result": "done"}); err != nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("GET /forgotten", func(http.ResponseWriter, *http.Request) { t.Error("a route without a row answered") })
	l.handler = l.Wrap(mux)
	return l
}

// A browser keeps cookies.
type browser struct {
	lab     *lab
	cookies map[string]string
	from    string
	bodies  strings.Builder // all that was answered
}

func (l *lab) browser() *browser {
	return &browser{lab: l, cookies: map[string]string{}, from: "192.0.2.7:4711"}
}

// do sends a request; header are names and values.
func (b *browser) do(t *testing.T, method, target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	r.RemoteAddr = b.from
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.lab.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.cookies[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	fmt.Fprintf(&b.bodies, "%v %s\n", w.Header().Get("Location"), w.Body)
	return w
}

// want sends a request and compares the status.
func (b *browser) want(t *testing.T, status int, method, target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := b.do(t, method, target, form, header...)
	if w.Code != status {
		t.Errorf("%s %s %v: status %d, want %d: %s", method, target, header, w.Code, status, w.Body)
	}
	return w
}

// sees compares who the page says that asks.
func (b *browser) sees(t *testing.T, want string, header ...string) {
	t.Helper()
	if w := b.do(t, "GET", "/", nil, header...); w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("status %d, %s; want %s", w.Code, w.Body, want)
	}
}

func account(name, password string) url.Values {
	return url.Values{"name": {name}, "password": {password}, "next": {"/?a=b"}}
}

// lines returns the audit log.
func (l *lab) lines(t *testing.T) (all []Entry, text string) {
	t.Helper()
	b, err := os.ReadFile(l.audit)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var e struct {
			Who, Role, Via, From, What, Result string
			Time                               time.Time
			Details                            map[string]string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if time.Since(e.Time) > time.Minute {
			t.Errorf("time %v", e.Time)
		}
		all = append(all, Entry{Who: e.Who, Via: e.Via, From: e.From, What: e.What, Result: e.Result, Details: e.Details})
	}
	return all, string(b)
}

// TestLocal lets this machine see, and makes an operator of who has the token.
func TestLocal(t *testing.T) {
	l := newLab(t, Options{Port: "9275"})
	b := l.browser()
	b.from = "127.0.0.1:4711"
	b.sees(t, "|viewer|local|127.0.0.1|")
	b.want(t, http.StatusUnauthorized, "POST", "/change", nil)
	b.want(t, http.StatusUnauthorized, "GET", "/", nil, "Authorization", "Bearer x"+l.Token)
	b.want(t, http.StatusOK, "POST", "/change", nil, "Authorization", "bearer "+l.Token)
	b.want(t, http.StatusUnauthorized, "POST", "/login", url.Values{"token": {"wrong"}})
	b.want(t, http.StatusUnauthorized, "POST", "/login", account("olaf", password))
	w := b.want(t, http.StatusSeeOther, "POST", "/login", url.Values{"token": {l.Token}, "next": {"/x"}})
	if c := w.Header()["Set-Cookie"]; len(c) != 1 || !strings.HasPrefix(c[0], "homenode-session-9275=") || !strings.HasSuffix(c[0], "; Path=/; HttpOnly; SameSite=Strict") || w.Header().Get("Location") != "/x" {
		t.Errorf("cookies %q, to %s", c, w.Header().Get("Location"))
	}
	b.sees(t, "local operator|operator|operator token|127.0.0.1|")
	b.want(t, http.StatusOK, "POST", "/change", nil)
	b.want(t, http.StatusSeeOther, "POST", "/logout", nil)
	b.sees(t, "|viewer|local|127.0.0.1|")
	b.want(t, http.StatusUnauthorized, "POST", "/change", nil)
	if l.changed != 2 {
		t.Errorf("%d changes", l.changed)
	}
	if _, text := l.lines(t); strings.Contains(text+b.bodies.String(), l.Token) || strings.Contains(text+b.bodies.String(), l.tokenSum) {
		t.Error("the token is in an answer or in the log")
	}
}

// TestUsers signs in and out, and keeps strangers out.
func TestUsers(t *testing.T) {
	c, viewer, op, old := testConfig(t)
	l := newLab(t, Options{Config: c, Secure: true})
	l.now = func() time.Time { return time.Now() }
	b := l.browser()
	if w := b.want(t, http.StatusUnauthorized, "GET", "/", nil); w.Header().Get("Strict-Transport-Security") == "" || w.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("header %v", w.Header())
	}
	b.want(t, http.StatusForbidden, "GET", "/forgotten", nil)
	b.want(t, http.StatusNotFound, "GET", "/other", nil)
	b.want(t, http.StatusMethodNotAllowed, "GET", "/change", nil)
	b.want(t, http.StatusUnauthorized, "POST", "/change", nil)
	b.want(t, http.StatusUnauthorized, "POST", "/change", nil, "Authorization", "Bearer "+old)
	b.want(t, http.StatusForbidden, "POST", "/change", nil, "Authorization", "Bearer "+viewer)
	b.sees(t, "grafana|viewer|token|192.0.2.7|", "Authorization", "Bearer "+viewer)
	b.want(t, http.StatusOK, "POST", "/change", nil, "Authorization", "Bearer "+op)
	// The day of a token ends at midnight, UTC.
	l.now = func() time.Time { return c.Tokens[1].end.Add(-time.Second) }
	b.want(t, http.StatusOK, "POST", "/change", nil, "Authorization", "Bearer "+op)
	l.now = func() time.Time { return c.Tokens[1].end }
	b.want(t, http.StatusUnauthorized, "POST", "/change", nil, "Authorization", "Bearer "+op)

	w := b.want(t, http.StatusSeeOther, "POST", "/login", account("VERA", password))
	if cookie := w.Header().Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-homenode-session=") || !strings.HasSuffix(cookie, "; Path=/; HttpOnly; Secure; SameSite=Strict") || w.Header().Get("Location") != "/?a=b" {
		t.Errorf("cookie %q, to %s", cookie, w.Header().Get("Location"))
	}
	b.sees(t, "vera|viewer|password|192.0.2.7|")
	b.want(t, http.StatusForbidden, "POST", "/change", nil)
	b.want(t, http.StatusSeeOther, "POST", "/login", account("olaf", password))
	b.sees(t, "Olaf|operator|password|192.0.2.7|")
	b.want(t, http.StatusOK, "POST", "/change", nil)
	b.want(t, http.StatusSeeOther, "POST", "/logout", nil)
	b.want(t, http.StatusUnauthorized, "GET", "/", nil)
	b.want(t, http.StatusUnauthorized, "POST", "/login", account(password, "x")) // typed into the wrong field
	b.want(t, http.StatusUnauthorized, "POST", "/login", account("vera", "wrong-"+password))

	all, text := l.lines(t)
	var got []string
	for _, e := range all {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %s %s: %s %s%s", e.Who, e.From, e.What, e.Result, e.Details["account"], e.Details["subject"]), " "))
	}
	want := []string{"grafana 192.0.2.7 refused: needs the role operator", "deploy 192.0.2.7 change: done vm1", "deploy 192.0.2.7 change: done vm1", "vera 192.0.2.7 sign in: ok", "vera 192.0.2.7 refused: needs the role operator", "Olaf 192.0.2.7 sign in: ok",
		"Olaf 192.0.2.7 change: done vm1", "Olaf 192.0.2.7 sign out: ok", " 192.0.2.7 sign in: wrong unknown", " 192.0.2.7 sign in: wrong vera"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("audit log\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, secret := range []string{password, viewer, op, old, c.Users[0].Hash, c.Tokens[0].SHA256} {
		if strings.Contains(text, secret) || strings.Contains(b.bodies.String(), secret) {
			t.Errorf("a secret is in an answer or in the log")
		}
	}
	for _, value := range b.cookies {
		if strings.Contains(text, value) {
			t.Error("a session is in the log")
		}
	}
}

// TestWrongPasswords answers 20 wrong passwords, with the same words for a name that there is and for one that there is not.
func TestWrongPasswords(t *testing.T) {
	answers := map[string]string{}
	for _, name := range []string{"vera", "stranger"} {
		c, _, _, _ := testConfig(t)
		bubble(t, Options{Config: c}, func(t *testing.T, l *lab) {
			b := l.browser()
			codes := map[int]int{}
			for i := range 20 {
				w := b.do(t, "POST", "/login", account(name, fmt.Sprint("wrong password ", i)))
				codes[w.Code]++
				answers[name] += fmt.Sprintln(w.Code, w.Header(), w.Body)
			}
			if codes[http.StatusUnauthorized] != triesAtOnce || codes[http.StatusTooManyRequests] != 20-triesAtOnce {
				t.Errorf("%s: %v", name, codes)
			}
			told := 0
			all, _ := l.lines(t)
			for _, e := range all {
				if e.Result == "too many attempts" {
					told++
				}
			}
			if told != 1 {
				t.Errorf("the log says %d times that there were too many attempts", told)
			}
			// The right one is not taken either, from nowhere, and other accounts from here neither.
			b.want(t, http.StatusTooManyRequests, "POST", "/login", account(name, password))
			b.want(t, http.StatusTooManyRequests, "POST", "/login", account("olaf", password))
			other := l.browser()
			other.from = "[2001:db8::1]:5"
			other.want(t, http.StatusTooManyRequests, "POST", "/login", account(strings.ToUpper(name), password))
			other.want(t, http.StatusSeeOther, "POST", "/login", account("olaf", password))
			neighbour := l.browser()
			for i := range triesAtOnce {
				neighbour.from = fmt.Sprintf("[2001:db8::%d]:5", i+2)
				neighbour.do(t, "POST", "/login", account(fmt.Sprint("x", i), password))
			}
			neighbour.want(t, http.StatusTooManyRequests, "POST", "/login", account("x", password))
			time.Sleep(triesEvery)
			b.want(t, http.StatusUnauthorized, "POST", "/login", account(name, "wrong"))
			b.want(t, http.StatusTooManyRequests, "POST", "/login", account(name, "wrong"))
		})
	}
	if answers["vera"] != answers["stranger"] {
		t.Errorf("answers differ:\n%s\n%s", answers["vera"], answers["stranger"])
	}
}

// TestUnknownTakesAsLong verifies a password where there is no user.
func TestUnknownTakesAsLong(t *testing.T) {
	c, _, _, _ := testConfig(t)
	l := newLab(t, Options{Config: c})
	least := map[bool]time.Duration{}
	for range 5 {
		for _, u := range []*Local{nil, &c.Users[0]} {
			begin := time.Now()
			if ok, err := l.verify(t.Context(), u, "wrong"); ok || err != nil {
				t.Fatal(ok, err)
			}
			if took := time.Since(begin); least[u == nil] == 0 || took < least[u == nil] {
				least[u == nil] = took
			}
		}
	}
	if least[true] < least[false]/4 || least[true] > least[false]*4 {
		t.Errorf("unknown %v, known %v", least[true], least[false])
	}
}

// TestFixation signs in with a session name that a stranger knows.
func TestFixation(t *testing.T) {
	c, _, _, _ := testConfig(t)
	l := newLab(t, Options{Config: c})
	name := l.sessions.Cookie.Name
	b, stranger := l.browser(), l.browser()
	b.cookies[name] = "planted"
	b.want(t, http.StatusSeeOther, "POST", "/login", account("vera", password))
	first := b.cookies[name]
	for _, known := range []string{"planted", "", l.sessions.Cookie.Name} {
		stranger.cookies[name] = known
		stranger.want(t, http.StatusUnauthorized, "GET", "/", nil)
	}
	// One who signs in again gets another session, and the one before ends.
	b.want(t, http.StatusSeeOther, "POST", "/login", account("olaf", password))
	if b.cookies[name] == first || first == "planted" {
		t.Error("the session has the same name")
	}
	stranger.cookies[name] = first
	stranger.want(t, http.StatusUnauthorized, "GET", "/", nil)
	last := b.cookies[name]
	b.want(t, http.StatusSeeOther, "POST", "/logout", nil)
	stranger.cookies[name] = last
	stranger.want(t, http.StatusUnauthorized, "GET", "/", nil)
}

// bubble runs a test on a clock of its own.
func bubble(t *testing.T, o Options, test func(*testing.T, *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, o)
		synctest.Wait() // the store has begun to clean up
		test(t, l)
		l.sessions.Store.(*memstore.MemStore).StopCleanup()
	})
}

// TestSessionsEnd lets sessions end after an hour without a request, and after eight in any case.
func TestSessionsEnd(t *testing.T) {
	c, _, _, _ := testConfig(t)
	bubble(t, Options{Config: c}, func(t *testing.T, l *lab) {
		b := l.browser()
		b.want(t, http.StatusSeeOther, "POST", "/login", account("vera", password))
		time.Sleep(time.Hour - time.Second)
		b.sees(t, "vera|viewer|password|192.0.2.7|")
		time.Sleep(time.Hour + time.Second)
		b.want(t, http.StatusUnauthorized, "GET", "/", nil)

		b.want(t, http.StatusSeeOther, "POST", "/login", account("vera", password))
		for range 15 {
			time.Sleep(32*time.Minute - time.Second)
			b.do(t, "GET", "/", nil)
		}
		if time.Sleep(14 * time.Second); l.sessions.Lifetime != 8*time.Hour {
			t.Errorf("a session of %v", l.sessions.Lifetime)
		}
		b.sees(t, "vera|viewer|password|192.0.2.7|")
		time.Sleep(2 * time.Second) // eight hours and a second
		b.want(t, http.StatusUnauthorized, "GET", "/", nil)
	})
}

// TestForeignSites refuses what pages of others send.
func TestForeignSites(t *testing.T) {
	c, _, op, _ := testConfig(t)
	outside, err := url.Parse("https://homenode.example.com")
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t, Options{Config: c, URL: outside, Secure: true})
	for _, tt := range []struct {
		status int
		header []string
	}{
		{200, nil}, // a program
		{200, []string{"Sec-Fetch-Site", "same-origin"}},
		{200, []string{"Origin", "http://example.com"}}, // the Host of the test
		{200, []string{"Origin", "https://homenode.example.com"}},
		{403, []string{"Sec-Fetch-Site", "cross-site"}},
		{403, []string{"Sec-Fetch-Site", "same-site"}},
		{403, []string{"Origin", "https://evil.example.com"}},
		{403, []string{"Origin", "null"}},
	} {
		b := l.browser()
		b.want(t, tt.status, "POST", "/change", nil, append([]string{"Authorization", "Bearer " + op}, tt.header...)...)
		if tt.status == http.StatusForbidden {
			b.want(t, tt.status, "POST", "/login", account("olaf", password), tt.header...)
			b.want(t, tt.status, "POST", "/logout", nil, tt.header...)
			// A link leads here; that is all that a page of another site has a browser ask for.
			get := append([]string{"Authorization", "Bearer " + op}, tt.header...)
			b.want(t, http.StatusOK, "GET", "/", nil, append(get, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")...)
			if slices.Contains(tt.header, "cross-site") {
				b.want(t, http.StatusForbidden, "GET", "/", nil, append(get, "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image")...)
				b.want(t, http.StatusForbidden, "GET", "/", nil, append(get, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe")...)
			}
		}
	}
}

// TestProxy believes the headers of proxies and of no one else.
func TestProxy(t *testing.T) {
	c, viewer, _, _ := testConfig(t)
	c.Proxy = &Proxy{User: "X-User", Groups: "X-Groups"}
	c.Roles.Viewer, c.Roles.Operator = []string{"readers"}, []string{"numa admins"}
	l := newLab(t, Options{Config: c, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32"), netip.MustParsePrefix("10.1.0.0/24")}})
	anna := []string{"X-User", "anna", "X-Groups", "x, numa admins"}
	for _, from := range []string{"192.0.2.7:1", "10.0.0.6:1", "127.0.0.1:1", "[::1]:1"} {
		b := l.browser()
		b.from = from
		b.want(t, http.StatusUnauthorized, "GET", "/", nil, anna...)
		b.want(t, http.StatusUnauthorized, "POST", "/change", nil, append(anna, "X-Forwarded-For", "10.0.0.5")...)
		// They are removed: what answers sees none.
		b.sees(t, "grafana|viewer|token|"+netip.MustParseAddrPort(from).Addr().String()+"|", append(anna, "Authorization", "Bearer "+viewer)...)
	}
	b := l.browser()
	b.from = "10.0.0.5:1"
	b.sees(t, "anna|operator|proxy|10.0.0.5|annax, numa admins", anna...)
	b.sees(t, "anna|operator|proxy|192.0.2.9|annax, numa admins", append(anna, "X-Forwarded-For", "127.0.0.1, 192.0.2.9, 10.1.0.3")...)
	b.sees(t, "anna|operator|proxy|10.0.0.5|annax, numa admins", append(anna, "X-Forwarded-For", "192.0.2.9, x")...)
	b.from = "[::ffff:10.1.0.77]:1"
	b.sees(t, "bert|viewer|proxy|10.1.0.77|bertreaders", "X-User", "bert", "X-Groups", "readers")
	b.want(t, http.StatusForbidden, "POST", "/change", nil, "X-User", "bert", "X-Groups", "readers")
	b.want(t, http.StatusForbidden, "GET", "/", nil, "X-User", "carl", "X-Groups", "numa")
	b.want(t, http.StatusUnauthorized, "GET", "/", nil, "X-User", "anna", "X-User", "bert", "X-Groups", "readers") // one of them was not the proxy's
	b.want(t, http.StatusUnauthorized, "GET", "/", nil, "X-Groups", "readers")
}

func TestLocalPath(t *testing.T) {
	for next, want := range map[string]string{"/": "/", "/vm?vm=a%20b&x=1": "/vm?vm=a%20b&x=1", "": "/", "//evil.example.com": "/", "https://evil.example.com/": "/", "/\\evil.example.com": "/", "javascript:alert(1)": "/", "vm": "/", "/a\nb": "/", "/\tb": "/"} {
		if got := LocalPath(next); got != want {
			t.Errorf("%q: %q, want %q", next, got, want)
		}
	}
}

// TestAudit refuses a log that others may read, and no one signs in without one.
func TestAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAudit(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("mode 0644: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := OpenAudit(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Log(with(t.Context(), User{Name: "a\nb", Role: Operator}, a), "x", map[string]string{"to": "\x1b[2J"}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), "before\n{") || strings.Count(string(b), "\n") != 2 || strings.Contains(string(b), "\x1b") {
		t.Errorf("%q, %v", b, err)
	}
	if err := Log(t.Context(), "x", nil); err != nil {
		t.Errorf("without a log: %v", err)
	}
	c, _, _, _ := testConfig(t)
	l := newLab(t, Options{Config: c})
	if err := l.o.Audit.Close(); err != nil {
		t.Fatal(err)
	}
	b := l.browser()
	b.want(t, http.StatusServiceUnavailable, "POST", "/login", account("vera", password))
	b.want(t, http.StatusUnauthorized, "GET", "/", nil)
}

// TestRoutes looks at the table itself.
func TestRoutes(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Routes {
		method, _, has := strings.Cut(r.Pattern, " ")
		if seen[r.Pattern] || has == (r.Methods != "") || has && method != "GET" && r.Least < Operator && r.Pattern != "POST /login" && r.Pattern != "POST /logout" && r.Pattern != "POST /language" {
			t.Errorf("%+v: twice, with methods where the pattern has one or without any, or a change by one who is no operator", r)
		}
		seen[r.Pattern] = true
	}
}

func TestLimits(t *testing.T) {
	var l limits
	for i := range mostAddresses + 50 {
		l.allow(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), fmt.Sprint(i), false)
	}
	if len(l.addresses) > mostAddresses+1 || len(l.accounts) > unknownShares {
		t.Errorf("%d and %d limiters", len(l.addresses), len(l.accounts))
	}
	// Those of other names and addresses make room for no guess at an account.
	guesses := 0
	for i := range 3 * mostAddresses {
		if i%mostAddresses < 10 {
			if ok, _ := l.allow(fmt.Sprintf("172.16.0.%d", i/mostAddresses*10+i%mostAddresses), "Anna", true); ok {
				guesses++
			}
		}
		l.allow(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), fmt.Sprint(i), false)
	}
	if guesses > triesAtOnce+1 {
		t.Errorf("%d guesses at one account", guesses)
	}
	// One address that is held back does not keep others from an account, and is told of once.
	told := 0
	for range 100 {
		if _, tell := l.allow("192.0.2.1", "vera", true); tell {
			told++
		}
	}
	ok := 0
	for range 10 {
		if one, _ := l.allow("192.0.2.1", "bert", true); one {
			ok++
		}
	}
	if one, _ := l.allow("192.0.2.2", "bert", true); !one || ok > 1 || told != 1 {
		t.Errorf("from elsewhere %v, %d attempts too many, told %d times", one, ok, told)
	}
}

// TestTable holds the table of docs/access.md equal to Routes.
func TestTable(t *testing.T) {
	const page = "../../docs/access.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- routes -->\n", "<!-- end of routes -->\n"
	before, rest, _ := strings.Cut(string(b), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no table", page)
	}
	table := "| methods | path | least role |\n|---|---|---|\n"
	for _, r := range Routes {
		method, path, ok := strings.Cut(r.Pattern, " ")
		if !ok {
			method, path = r.Methods, r.Pattern
		}
		least := r.Least.String()
		if slices.Contains(LocalToo, r.Pattern) {
			least += "; this machine without signing in, where the server listens on loopback alone"
		}
		table += fmt.Sprintf("| %s | `%s` | %s |\n", method, strings.TrimSuffix(path, "{$}"), least)
	}
	golden.Equal(t, []byte(before+begin+table+end+after), page)
}
