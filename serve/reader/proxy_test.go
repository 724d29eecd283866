package reader_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.org/homenode/serve/reader"
)

// TestProxy asks a database through the reader: requests that read arrive with the account of the reader, without the cookie or account of the client. Other paths than
// those of the query API, and requests that could change something, do not arrive.
func TestProxy(t *testing.T) {
	var arrived []string
	database := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		arrived = append(arrived, strings.Join([]string{r.Method, r.URL.Path, user, password, r.Header.Get("Cookie")}, " "))
	}))
	defer database.Close()
	r, err := reader.New(strings.Replace(database.URL, "://", "://reader:own@", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(r.Proxy())
	defer front.Close()
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/api/v1/query?query=up", http.StatusOK}, {"POST", "/api/v1/query_range", http.StatusOK}, {"GET", "/api/v1/label/job/values", http.StatusOK},
		{"DELETE", "/api/v1/series", http.StatusMethodNotAllowed}, {"PUT", "/api/v1/query", http.StatusMethodNotAllowed},
		{"POST", "/api/v1/admin/tsdb/delete_series", http.StatusNotFound}, {"POST", "/api/v1/write", http.StatusNotFound}, {"GET", "/api/v1/status/config", http.StatusNotFound},
		{"GET", "/api/v1/label/..%2f..%2fadmin%2f/values", http.StatusNotFound}, {"GET", "/api/v1/label/%2e%2e/values", http.StatusNotFound}, {"GET", "/metrics", http.StatusNotFound},
	} {
		arrived = nil
		req, err := http.NewRequestWithContext(t.Context(), tt.method, front.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Cookie", "session=stranger")
		req.SetBasicAuth("stranger", "theirs")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		path, _, _ := strings.Cut(tt.path, "?")
		var want string
		if tt.want == http.StatusOK {
			want = tt.method + " " + path + " reader own "
		}
		if got := strings.Join(arrived, "\n"); res.StatusCode != tt.want || got != want {
			t.Errorf("%s %s: status %d, want %d; arrived %q, want %q", tt.method, tt.path, res.StatusCode, tt.want, got, want)
		}
	}
}
