package reader

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
)

// TestLyingDatabase has a database that redirects, which is not followed, and one whose answer is longer than its limit.
func TestLyingDatabase(t *testing.T) {
	arrived := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived = arrived || r.URL.Path == "/elsewhere"
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		_, _ = io.WriteString(w, strings.Repeat(" ", 100))
	}))
	defer s.Close()
	r, err := New(s.URL, board.New(rules.Options{}, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Read(t.Context(), time.Now()); err == nil || arrived {
		t.Errorf("%v; the redirect was followed: %v", err, arrived)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := bound{http.DefaultTransport, 100, time.Minute}.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var limit *bounded.LimitError
	if b, err := io.ReadAll(res.Body); len(b) > 100 || !errors.As(err, &limit) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestSilentDatabase has a database that begins an answer and never ends it: a question, a history and a forwarded query end with a reason.
func TestSilentDatabase(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := bound{http.DefaultTransport, 100, 50 * time.Millisecond}.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the answer ended")
	}
	res.Body.Close()
	for _, b := range []*board.Board{nil, board.New(rules.Options{}, time.Minute)} {
		r, err := New(s.URL, b)
		if err != nil {
			t.Fatal(err)
		}
		if r.limit.longest <= 0 || r.limit.longest > 5*time.Minute {
			t.Errorf("a question may take %v", r.limit.longest)
		}
	}
}

// TestStrangeValues has a database whose values no collector writes.
func TestStrangeValues(t *testing.T) {
	for _, number := range []string{"NaN", "+Inf", "-Inf", "1e300", "-5", "9e14"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			var all []string
			for _, name := range []string{"homenode_last_tick_timestamp_seconds", "homenode_interval_seconds", "homenode_vm_numa_local_bytes", "homenode_vm_vcpus", "homenode_host_memory_state", "homenode_finding"} {
				all = append(all, `{"metric":{"__name__":"`+name+`","vcenter":"v","host":"h","vm":"a","severity":"high"},"value":[1,"`+number+`"]}`)
			}
			_, _ = io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[`+strings.Join(all, ",")+`]}}`)
		}))
		r, err := New(s.URL, board.New(rules.Options{}, time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Read(t.Context(), time.Now()); err != nil {
			t.Errorf("%s: %v", number, err)
		}
		if _, err := json.Marshal(r.Status()); err != nil {
			t.Errorf("%s: the state has no JSON: %v", number, err)
		}
		s.Close()
	}
}
