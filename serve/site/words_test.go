package site

import (
	"net/http"
	"strings"
	"testing"

	"example.org/homenode/rules"
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
