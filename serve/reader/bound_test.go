package reader

import (
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
	res, err := bound{http.DefaultTransport, 100}.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var limit *bounded.LimitError
	if b, err := io.ReadAll(res.Body); len(b) > 100 || !errors.As(err, &limit) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
