package notify

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
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

// mailServer is an SMTP server on loopback that keeps one message.
func mailServer(t *testing.T) (addr string, got chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	got = make(chan string, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			say := func(s string) { fmt.Fprintf(c, "%s\r\n", s) }
			say("220 test")
			var all strings.Builder
			for line := ""; err == nil; {
				if line, err = r.ReadString('\n'); err != nil {
					break
				}
				all.WriteString(line)
				switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
				case "EHLO":
					say("250 test")
				case "DATA":
					say("354 go on")
					for line != ".\r\n" && err == nil {
						line, err = r.ReadString('\n')
						all.WriteString(line)
					}
					got <- all.String()
					say("250 ok")
				case "QUIT":
					say("221 bye")
				default:
					say("250 ok")
				}
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String(), got
}

func TestMail(t *testing.T) {
	addr, got := mailServer(t)
	run(t, "mail: {server: '"+addr+"', tls: none, from: homenode@example.com, to: [numa@example.com, two@example.com]}", func(n *Notifier) bool { return n.State()[0].Sent == 1 })
	all := <-got
	for _, want := range []string{"MAIL FROM:<homenode@example.com>", "RCPT TO:<numa@example.com>", "RCPT TO:<two@example.com>"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	_, data, _ := strings.Cut(all, "DATA\r\n")
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

// TestNoTLS sends nothing to a server that does not encrypt.
func TestNoTLS(t *testing.T) {
	addr, got := mailServer(t)
	n := run(t, "mail: {server: '"+addr+"', from: homenode@example.com, to: [numa@example.com]}", func(n *Notifier) bool { return n.State()[0].Error != "" })
	if len(got) > 0 || n.State()[0].Sent > 0 {
		t.Error("a message was sent without encryption")
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"{}", "webhooks: []", "webhooks: [{url: 'ftp://x'}]", "webhooks: [{url: 'https://x', other: 1}]", "least: loud\nwebhooks: [{url: 'https://x'}]",
		"mail: {server: smtp, from: a@b, to: [c@d]}", "mail: {server: 'smtp.example.com:25', tls: none, from: a@b, to: [c@d]}", "mail: {server: 's:25', from: a@b, to: []}",
		"mail: {server: 's:25', from: \"a@b\\nBcc: x@y\", to: [c@d]}", "mail: {server: 's:25', tls: maybe, from: a@b, to: [c@d]}"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
