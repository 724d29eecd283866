package site

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/serve/access"
	"example.org/homenode/serve/held"
	"example.org/homenode/source/scenario/given"
)

// TestWrongInput: what a page is asked wrongly is answered in words of the page, and what has no name leads on.
func TestWrongInput(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n"))
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{})}
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }}
	for _, tt := range []struct {
		address string
		status  int
		want    string
	}{
		{"/vm", http.StatusOK, "href=\"/vm?vm=db\""},
		{"/host", http.StatusOK, "href=\"/host?host=esx1\""},
		{"/cluster", http.StatusOK, "href=\"/cluster?cluster=c\""},
		{"/what-if?vm=nonsense", http.StatusNotFound, "No VM is named"},
		{"/what-if?vm=db*", http.StatusOK, "Change something of db* and compare it before and after."},
		{"/what-if", http.StatusOK, "placeholder=\"all, or esx*\""},
		{"/calculator?vcpus=24&memory=512GB&perNode=-5", http.StatusBadRequest, "want a number of vCPUs from 1 to"},
		{"/calculator?vcpus=24", http.StatusBadRequest, "Memory: it is missing, such as 512GB."},
		{"/what-if?hosts=all&release=9.0", http.StatusOK, "homenode assess &#39;--what-if=host=* release=9.0&#39;"},
		{"/calculator?kind=fit&vcpus-per-core=abc", http.StatusBadRequest, "Most vCPUs per core: found &#34;abc&#34;, want a number."},
		{"/calculator?vcpus=24&memory=512GB&sockets=2&cores=16&host-memory=768GB&hw=abc", http.StatusBadRequest, "Found hw=&#34;abc&#34;, want a number from 3 to 99."},
		{"/?select=vcpus+%3E", http.StatusBadRequest, "it ends where more is wanted."},
	} {
		status, _, body := get(t, s, tt.address)
		if status != tt.status || !strings.Contains(body, tt.want) {
			i := strings.Index(body, "<main")
			t.Errorf("%s: status %d, %q is not in %s", tt.address, status, tt.want, body[i:min(len(body), i+600)])
		}
	}
	for _, c := range releaseChoices("8.0 U3")[1:] {
		if c.Label == "8.0 U3" {
			t.Error("a release twice")
		}
	}
}

// TestErrorsAreUsual: no handler answers with the text of an error as the standard library words it, or with hidden characters of names.
func TestErrorsAreUsual(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "http.Error(w, err.Error()") {
			t.Errorf("%s: want access.Fail, which words the error", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	access.Fail(w, fmt.Errorf("a\u202eb\x1b: %w", context.DeadlineExceeded), http.StatusServiceUnavailable)
	if got := w.Body.String(); strings.ContainsAny(got, "\u202e\x1b") || strings.Contains(got, "context deadline exceeded") {
		t.Errorf("%q", got)
	}
}

// TestHiddenInTitle: a name with control characters and marks of direction is cleaned everywhere in a page: title, links and command.
func TestHiddenInTitle(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n"))
	const hidden = "\u202e\u200f\u2066\x1b\u0085"
	f.VMs[0].Name, f.Hosts[0].Name, f.Clusters[0].Name = "db"+hidden, "esx1"+hidden, "c"+hidden
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{})}
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }}
	for _, address := range []string{"/", "/vm?vm=" + url.QueryEscape(f.VMs[0].ID), "/host?host=" + url.QueryEscape(f.Hosts[0].ID), "/cluster?cluster=" + url.QueryEscape("c"+hidden), "/vm?vm=" + url.QueryEscape("x"+hidden),
		"/what-if?vm=" + url.QueryEscape("db"+hidden), "/search?q=" + url.QueryEscape("db"+hidden), "/plans?vm=" + url.QueryEscape("db"+hidden)} {
		if _, _, body := get(t, s, address); strings.ContainsAny(body, hidden) {
			at := strings.IndexAny(body, hidden)
			t.Errorf("%s: %q", address, body[max(0, at-80):min(len(body), at+20)])
		}
	}
}

// TestNamesAreLinks: the VM of a first action and of a planned change leads to its page.
func TestNamesAreLinks(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=24 memory=64GB hotAdd=on\n"))
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{})}
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }}
	for address, want := range map[string]string{"/host?host=esx1": "<strong><a href=\"/vm?vm=db\">c/db</a></strong>", "/plans": "<th scope=\"row\"><a href=\"/vm?vm=db\">db</a></th>"} {
		if status, _, body := get(t, s, address); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, want %s in %s", address, status, want, body)
		}
	}
}
