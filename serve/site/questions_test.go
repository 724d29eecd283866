package site

import (
	"net/http"
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/serve/held"
	"example.org/homenode/source/scenario/given"
)

// TestForms asks with what forms send: checks, lists, and what no form has, which an address does not ask either.
func TestForms(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\ncluster c\nhost esx1 cluster=c nodes=2 cores=18 memory=512GB\nvm db host=esx1 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\n"))
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{}), Sources: []string{"fleet.txt"}}
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }}
	for address, want := range map[string]string{
		"/plans?allow-host=on&allow-better=on&vm=db,web&max-parallel=2": "homenode fix --vm=db --vm=web --allow=better --allow=host --max-parallel=2 fleet.txt",
		"/plans?set=hotAdd=off%3B+coresPerSocket=12":                    "homenode fix --set=hotAdd=off --set=coresPerSocket=12 fleet.txt",
		"/plans?evidence=/etc/passwd&choose=F-18&source=other":          "homenode fix fleet.txt",
		"/plans?max-parallel=0":                                         "VMs at a time: found &#34;0&#34;, want a whole number, 1 or more.",
		"/plans?set=@/etc/passwd":                                       "a page reads no files.",
		"/calculator?kind=io&iops=1k&block=4k&rdma=on":                  "homenode size io --iops=1k --block=4k --rdma",
		"/calculator?kind=pages&file=/etc/passwd":                       "Show an example",
		"/what-if": `<a href="/what-if?hotAdd=off&amp;vm=%2A">CPU hot add off for all VMs</a>`,
		"/calculator?kind=pages&simulate=/etc/passwd&memory=1TB": "homenode size pages --memory=1TB",
	} {
		status, _, body := get(t, s, address)
		if !strings.Contains(body, want) {
			i := strings.Index(body, "<main")
			t.Errorf("%s: status %d, %q is not in %s", address, status, want, body[i:min(len(body), i+1500)])
		}
	}
	_, _, body := get(t, s, "/plans?allow-split=on")
	for _, want := range []string{"<legend>Which VMs and findings</legend>", "<legend>Plan</legend>", `name="allow-split" value="on" checked> Allow splitting VMs so that they fit other hosts`, `name="allow-host" value="on"> Allow changes to host options`} {
		if strings.Count(body, want) != 1 {
			t.Errorf("%q is not in the form once", want)
		}
	}
	s.Fleets = func() []*held.Fleet { return nil }
	if status, _, _ := get(t, s, "/plans"); status != http.StatusServiceUnavailable {
		t.Errorf("without a fleet: status %d", status)
	}
}
