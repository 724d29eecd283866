package site

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"homenode/output/answer"
	"homenode/rules"
	"homenode/serve/held"
	"homenode/source/scenario"
)

// TestWrongInput: what a page is asked wrongly is answered in words of the page, and what has no name leads on.
func TestWrongInput(t *testing.T) {
	f, err := scenario.Read("test", []byte("release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{})}
	var asked string
	fails := ""
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }, Ask: func(ctx context.Context, f *held.Fleet, args []string) ([]*answer.Answer, error) {
		asked = strings.Join(args, " ")
		if fails != "" {
			return nil, failure(fails)
		}
		return none(ctx, f, args)
	}}
	for _, tt := range []struct {
		address, fails string
		status         int
		want           string
	}{
		{"/vm", "", http.StatusOK, "href=\"/vm?vm=db\""},
		{"/host", "", http.StatusOK, "href=\"/host?host=esx1\""},
		{"/cluster", "", http.StatusOK, "href=\"/cluster?cluster=c\""},
		{"/what-if?vm=nonsense", "", http.StatusNotFound, "No VM is named"},
		{"/what-if?vm=db*", "", http.StatusOK, "Say what would change of db*."},
		{"/what-if", "", http.StatusOK, "placeholder=\"all, or esx*\""},
		{"/calculator?vcpus=24&perNode=-5", "", http.StatusBadRequest, "want a number of vCPUs from 1 to"},
		{"/calculator?kind=fit&vcpus-per-core=abc", "", http.StatusBadRequest, "Most vCPUs per core: found &#34;abc&#34;, want a number."},
		{"/calculator?hw=abc", `--vm: found hw="abc", want a number from 3 to 99`, http.StatusBadRequest, "Found hw=&#34;abc&#34;, want a number from 3 to 99."},
		{"/?select=vcpus", "--select: \"vcpus >\": unexpected token EOF (1:7)\n | vcpus >\n | ......^", http.StatusBadRequest, "it ends where more is wanted."},
	} {
		fails = tt.fails
		status, _, body := get(t, s, tt.address)
		if status != tt.status || !strings.Contains(body, tt.want) {
			i := strings.Index(body, "<main")
			t.Errorf("%s: status %d, %q is not in %s", tt.address, status, tt.want, body[i:min(len(body), i+600)])
		}
	}
	fails = ""
	if get(t, s, "/what-if?hosts=all&release=9.0"); asked != "assess --what-if=host=* release=9.0 "+Source {
		t.Errorf("asked %q", asked)
	}
	for _, c := range releaseChoices("8.0 U3")[1:] {
		if c.Label == "8.0 U3" {
			t.Error("a release twice")
		}
	}
}

type failure string

func (f failure) Error() string { return string(f) }
