package reader

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestRepeated reads from a database whose errors repeat the authorization and its parts: no status has them, and the kind of the failure is said.
func TestRepeated(t *testing.T) {
	answer, code := "", 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		user, password, _ := r.BasicAuth()
		_, _ = io.WriteString(w, strings.NewReplacer("USER", user, "PASSWORD", password, "BASIC", r.Header.Get("Authorization")).Replace(answer))
	}))
	defer server.Close()
	r, err := New(strings.Replace(server.URL, "//", "//s3cretUser:s3cretPass@", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		code         int
		answer, want string
	}{
		{400, `{"status":"error","errorType":"bad_data","error":"USER PASSWORD BASIC"}`, "bad_data"},
		{422, `{"status":"error","errorType":"PASSWORD","error":"no"}`, "cannot be read"},
		{500, "USER PASSWORD BASIC", "server_error"},
		{200, "PASSWORD", "bad_response"},
		{200, `{"status":"success","data":{"resultType":"PASSWORD","result":[]}}`, "bad_response"},
	} {
		code, answer = tt.code, tt.answer
		r.failed = r.Read(t.Context(), time.Now())
		text := fmt.Sprint(r.Status())
		if !strings.Contains(text, tt.want) || strings.Contains(text, "s3cret") || strings.Contains(text, "czNjcmV0") {
			t.Errorf("%d %s: %s, want %q", tt.code, tt.answer, text, tt.want)
		}
	}
}
