package reader_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.org/homenode/serve/reader"
)

// TestProxyRepeats asks a database that repeats the password of the reader in its headers, its trailers, before its answer, and in the texts of its errors: the client gets none of it,
// and the status and kind of an error. What the client says of itself in headers does not arrive, such as another tenant.
func TestProxyRepeats(t *testing.T) {
	code, heard := 0, http.Header{}
	database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = r.Header.Clone()
		user, password, _ := r.BasicAuth()
		w.Header().Set("Link", password)
		w.WriteHeader(http.StatusEarlyHints)
		for _, name := range []string{"Set-Cookie", "X-Leak", "Location", "Warning", "Content-Encoding"} {
			w.Header().Set(name, user+password)
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		if code != http.StatusOK {
			fmt.Fprintf(w, "<script>%s</script>", password)
		} else {
			_, _ = io.WriteString(w, `{"status":"success"}`)
		}
		w.Header().Set(http.TrailerPrefix+"X-End", password)
	}))
	defer database.Close()
	r, err := reader.New(strings.Replace(database.URL, "://", "://s3cretUser:s3cretPass@", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(r.Proxy())
	defer front.Close()
	for _, tt := range []struct {
		code, want int
		text       string
	}{
		{200, 200, `{"status":"success"}`}, {302, 502, `"the database answers 302, and its log has the reason"`}, {400, 400, `"errorType":"bad_data"`}, {401, 401, `"errorType":"unavailable"`},
		{422, 422, `"errorType":"execution"`}, {500, 500, `answers 500`},
	} {
		code = tt.code
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+"/api/v1/query", strings.NewReader("query=up"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Scope-OrgID", "other")
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		all := fmt.Sprint(string(body), res.Header, res.Trailer)
		if err != nil || res.StatusCode != tt.want || !strings.Contains(string(body), tt.text) || strings.Contains(all, "s3cret") || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%d: status %d, %s, %v", tt.code, res.StatusCode, all, err)
		}
		if heard.Get("X-Scope-OrgID") != "" || heard.Get("Content-Type") == "" || heard.Get("Authorization") == "" {
			t.Errorf("the database heard %v", heard)
		}
	}
}
