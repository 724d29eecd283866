package notify

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"homenode/rules/finding"
	"homenode/serve/board"
)

var begin = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func parse(text string) (*Config, error) {
	var c Config
	if err := yaml.Load([]byte(text), &c, yaml.WithKnownFields()); err != nil {
		return nil, err
	}
	return &c, c.Check()
}

func alarms() (begun, ended []board.Alarm) {
	low := board.Alarm{VCenter: "vc01", Live: true, Begin: begin, Finding: finding.Finding{Rule: "M001", Severity: finding.High, Host: "esx01", VM: "sql\r\nBcc: x@y", VMID: "vm-7", Message: "N%L was 41 %", Advice: "make room"}}
	info := board.Alarm{VCenter: "vc01", Live: true, Begin: begin, Finding: finding.Finding{Rule: "M006", Severity: finding.Info, VM: "quiet"}}
	set := board.Alarm{VCenter: "vc01", Begin: begin, Finding: finding.Finding{Rule: "N001", Severity: finding.High, VM: "settings"}}
	over := board.Alarm{VCenter: "vc01", Live: true, Begin: begin, End: begin.Add(time.Hour), Finding: finding.Finding{Rule: "M009", Severity: finding.Medium, Host: "esx02", VM: "app"}}
	return []board.Alarm{info, low, set}, []board.Alarm{over}
}

// run tells what alarms returns to whom config names, until done says so.
func run(t *testing.T, config string, done func(*Notifier) bool) *Notifier {
	t.Helper()
	c, err := parse(config)
	if err != nil {
		t.Fatal(err)
	}
	n := New(c, "http://127.0.0.1:9275")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n.Take(alarms())
	ended := make(chan struct{})
	go func() { n.Run(ctx); close(ended) }()
	for end := time.Now().Add(20 * time.Second); !done(n); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not delivered: %+v", n.State())
		}
	}
	cancel()
	<-ended
	return n
}

// TestWebhook takes a message that was refused for a while.
func TestWebhook(t *testing.T) {
	var bodies []string
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		b, _ := io.ReadAll(r.Body)
		if calls == 1 {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		if r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("header %v", r.Header)
		}
		bodies = append(bodies, string(b))
	}))
	defer server.Close()
	n := run(t, "webhooks: [{url: '"+server.URL+"/token-s3cret', authorization: Bearer s3cret}]", func(n *Notifier) bool { return n.State()[0].Sent == 1 })
	if s := n.State()[0]; s.Waiting != 0 || s.Lost != 0 || s.Error != "" || strings.Contains(fmt.Sprint(s), "s3cret") {
		t.Errorf("state %+v", s)
	}
	var g group
	if err := json.Unmarshal([]byte(bodies[0]), &g); err != nil {
		t.Fatal(err)
	}
	if g.Version != "4" || g.Status != firing || g.GroupKey != `{}:{vcenter="vc01"}` || len(g.Alerts) != 2 || g.CommonLabels["vcenter"] != "vc01" || len(g.CommonLabels) != 1 {
		t.Fatalf("found %s", bodies[0])
	}
	if a := g.Alerts[0]; a.Status != firing || a.Labels["alertname"] != "M001" || a.Labels["vm_id"] != "vm-7" || !a.StartsAt.Equal(begin) || !a.EndsAt.IsZero() || a.Annotations["summary"] != "N%L was 41 %" || len(a.Fingerprint) != 16 {
		t.Errorf("first alert: %+v", a)
	}
	if a := g.Alerts[1]; a.Status != resolved || a.Labels["alertname"] != "M009" || !a.EndsAt.Equal(begin.Add(time.Hour)) {
		t.Errorf("second alert: %+v", a)
	}
}

// TestWorse tells who was told of a finding that it ended, although it was harmless at last, and whoever counts by the
// fingerprint that it is the same.
func TestWorse(t *testing.T) {
	c, err := parse("webhooks: [{url: 'http://127.0.0.1:1/'}]")
	if err != nil {
		t.Fatal(err)
	}
	n := New(c, "")
	begun, _ := alarms()
	worse, over := begun[1], begun[1]
	over.Finding.Severity, over.Worst, over.End = finding.Low, finding.High, begin.Add(time.Hour)
	n.Take([]board.Alarm{worse}, nil)
	n.Take(nil, []board.Alarm{over})
	if s := n.State()[0]; s.Waiting != 2 {
		t.Fatalf("state %+v", s)
	}
	if g := c.Webhooks[0].body("vc01", []board.Alarm{worse, over}); g.Alerts[0].Fingerprint != g.Alerts[1].Fingerprint || g.Alerts[1].Labels["severity"] != "low" {
		t.Errorf("alerts %+v", g.Alerts)
	}
}

// TestRefused gives up at once what would be refused later too, and says nothing of the address.
func TestRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	defer server.Close()
	n := run(t, "webhooks: [{url: '"+server.URL+"/token-s3cret'}]", func(n *Notifier) bool { return n.State()[0].Lost == 1 })
	if s := n.State()[0]; s.Waiting != 0 || !strings.Contains(s.Error, "404") {
		t.Errorf("state %+v", s)
	}
	server.Close()
	n = run(t, "webhooks: [{url: '"+server.URL+"/token-s3cret'}]", func(n *Notifier) bool { return n.State()[0].Error != "" })
	if s := n.State()[0]; s.Waiting != 1 || strings.Contains(fmt.Sprint(s), "s3cret") {
		t.Errorf("state %+v", s)
	}
}

// A mailServer is an SMTP server on loopback that keeps what it is told.
type mailServer struct {
	addr string
	ca   string // file of its certificate, for 127.0.0.1
	mu   sync.Mutex
	said [2]strings.Builder // before TLS and in it
}

func (m *mailServer) told() (plain, encrypted string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.said[0].String(), m.said[1].String()
}

// wrong is what a login with the password "wrong" says.
var wrong = base64.StdEncoding.EncodeToString([]byte("\x00homenode\x00wrong"))

// startMail starts one that encrypts by starttls, by tls, or not at all.
func startMail(t *testing.T, how string) *mailServer {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	config := &tls.Config{Certificates: web.TLS.Certificates}
	m := &mailServer{ca: filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(m.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.addr = l.Addr().String()
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			encrypted := 0
			if how == "tls" {
				c, encrypted = tls.Server(c, config), 1
			}
			r := bufio.NewReader(c)
			say := func(s string) { fmt.Fprintf(c, "%s\r\n", s) }
			read := func() (line string) {
				line, err = r.ReadString('\n')
				m.mu.Lock()
				m.said[encrypted].WriteString(line)
				m.mu.Unlock()
				return line
			}
			say("220 test")
			for err == nil {
				line := read()
				switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); {
				case word == "EHLO" && how == "starttls" && encrypted == 0:
					say("250-test\r\n250 STARTTLS")
				case word == "EHLO":
					say("250-test\r\n250 AUTH PLAIN")
				case word == "STARTTLS" && how == "starttls":
					say("220 go on")
					c, encrypted = tls.Server(c, config), 1
					r = bufio.NewReader(c)
				case word == "STARTTLS":
					say("502 what?")
				case word == "AUTH" && strings.Contains(line, wrong):
					say("535 no")
				case word == "RCPT" && strings.Contains(line, "gone"):
					say("550 no such user")
				case word == "AUTH":
					say("235 ok")
				case word == "DATA":
					say("354 go on")
					for err == nil && read() != ".\r\n" {
					}
					say("250 ok")
				case word == "QUIT":
					say("221 bye")
				default:
					say("250 ok")
				}
			}
			_ = c.Close()
		}
	}()
	return m
}

func TestMail(t *testing.T) {
	server := startMail(t, "none")
	run(t, "mail: {server: '"+server.addr+"', tls: none, from: homenode@example.com, to: [numa@example.com, two@example.com]}", func(n *Notifier) bool { return n.State()[0].Sent == 1 })
	all, _ := server.told()
	for _, want := range []string{"MAIL FROM:<homenode@example.com>", "RCPT TO:<numa@example.com>", "RCPT TO:<two@example.com>"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	_, data, _ := strings.Cut(all, "DATA\r\n")
	data, _, _ = strings.Cut(data, "\r\n.\r\n")
	m, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	title, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || m.Header.Get("Bcc") != "" || !strings.HasPrefix(title, "homenode: vc01: 1 finding, 1 over, M001 sql") {
		t.Errorf("subject %q, %v", title, err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"HIGH M001 sql", "since 2026-11-20 09:00:00 UTC", "N%L was 41 %", "over: 2026-11-20 09:00:00 to 2026-11-20 10:00:00 UTC"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
}

// TestMailRefused delivers to the recipients that the server takes, and names the others. It gives up a message that it takes for no recipient,
// and keeps one when it refuses the login.
func TestMailRefused(t *testing.T) {
	server := startMail(t, "none")
	for _, tt := range []struct{ to, login, want string }{
		{"gone@example.com, two@example.com", "", "{sent 1 waiting 0 lost 0} delivered, but refused by gone@example.com"},
		{"one@example.com, gone@example.com", "", "{sent 1 waiting 0 lost 0} delivered, but refused by gone@example.com"},
		{"gone1@example.com, gone2@example.com", "", "{sent 0 waiting 0 lost 1} refused: 550 \"no such user\""},
		{"one@example.com", "user: homenode, password: wrong, ", "{sent 0 waiting 1 lost 0} the login was refused: 535 \"no\""},
	} {
		n := run(t, "mail: {server: '"+server.addr+"', tls: none, "+tt.login+"from: homenode@example.com, to: ["+tt.to+"]}", func(n *Notifier) bool { return n.State()[0].Error != "" })
		s := n.State()[0]
		if got := fmt.Sprintf("{sent %d waiting %d lost %d} %s", s.Sent, s.Waiting, s.Lost, s.Error); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.to, got, tt.want)
		}
	}
}

// TestMailTLS delivers encrypted to a server whose certificate the configuration trusts. To another server it says nothing, and
// the password to none before TLS.
func TestMailTLS(t *testing.T) {
	password := base64.StdEncoding.EncodeToString([]byte("\x00homenode\x00s3cret"))
	for _, tt := range []struct {
		server, tls string
		trusted     bool
		host        string
		want        string // the error; empty for none
	}{
		{"starttls", "starttls", true, "127.0.0.1", ""},
		{"tls", "tls", true, "127.0.0.1", ""},
		{"starttls", "starttls", false, "127.0.0.1", "certificate"},
		{"tls", "tls", false, "127.0.0.1", "certificate"},
		{"starttls", "starttls", true, "localhost", "certificate"}, // of 127.0.0.1
		{"tls", "tls", true, "localhost", "certificate"},
		{"none", "''", true, "127.0.0.1", "502"},
		{"none", "tls", true, "127.0.0.1", "tls: first record"},
	} {
		server := startMail(t, tt.server)
		ca := ""
		if tt.trusted {
			ca = "ca: '" + server.ca + "', "
		}
		n := run(t, "mail: {server: '"+strings.Replace(server.addr, "127.0.0.1", tt.host, 1)+"', "+ca+"tls: "+tt.tls+", user: homenode, password: s3cret, from: homenode@example.com, to: [numa@example.com]}",
			func(n *Notifier) bool { return n.State()[0].Sent == 1 || n.State()[0].Error != "" })
		s := n.State()[0]
		plain, encrypted := server.told()
		if tt.want == "" {
			if s.Sent != 1 || !strings.Contains(encrypted, "AUTH PLAIN "+password) || !strings.Contains(encrypted, "DATA\r\n") {
				t.Errorf("%+v: %+v, %q", tt, s, encrypted)
			}
		} else if s.Sent != 0 || s.Waiting != 1 || !strings.Contains(s.Error, tt.want) || encrypted != "" {
			t.Errorf("%+v: %+v, %q", tt, s, encrypted)
		}
		if strings.Contains(plain, "AUTH") || strings.Contains(plain, "MAIL") {
			t.Errorf("%+v: told %q before TLS", tt, plain)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"{}", "webhooks: []", "webhooks: [{url: 'ftp://x'}]", "webhooks: [{url: 'https://x', other: 1}]", "least: loud\nwebhooks: [{url: 'https://x'}]",
		"mail: {server: smtp, from: a@b, to: [c@d]}", "mail: {server: 'smtp.example.com:25', tls: none, from: a@b, to: [c@d]}", "mail: {server: 's:25', from: a@b, to: []}",
		"mail: {server: 's:25', ca: none.pem, from: a@b, to: [c@d]}", "mail: {server: 's:25', from: \"a@b\\nBcc: x@y\", to: [c@d]}", "mail: {server: 's:25', tls: maybe, from: a@b, to: [c@d]}"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
