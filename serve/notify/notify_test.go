package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/board"
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

func TestParse(t *testing.T) {
	for _, bad := range []string{"{}", "webhooks: []", "webhooks: [{url: 'ftp://x'}]", "webhooks: [{url: 'https://x', other: 1}]", "least: loud\nwebhooks: [{url: 'https://x'}]"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
