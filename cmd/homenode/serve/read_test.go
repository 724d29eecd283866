package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
)

// TestFleetOfFile shows a file that states no hosts, on a host that is assumed; the commands that pages print say so.
func TestFleetOfFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "RVTools_tabvInfo.csv")
	golden.Write(t, file, []byte("VM,Powerstate,CPUs,Memory,Host\nsql01,poweredOn,24,131072,esx01\n"))
	c := &command{fleet: []string{file}, door: door{listen: "127.0.0.1:0"}}
	for _, f := range ask.Fields(&c.reading) {
		if f.Name == "assume-host" {
			if err := f.Set("2x16c/512GB release=8.0U3"); err != nil {
				t.Fatal(err)
			}
		}
	}
	url := until(t, func(cmd *cobra.Command) error { return c.serveFleet(cmd, rules.Options{}, nil) })
	_, text := get(t, url+"/vm?vm=sql01")
	for _, want := range []string{"8.0 U3", "--assume-host=2x16c/512GB release=8.0U3"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	cmd := &cobra.Command{}
	c.fleet, c.in.collect.Every = nil, time.Minute
	if err := c.run(cmd, []string{"demo"}); err == nil || err.Error() != "--assume-host: only with --fleet" {
		t.Errorf("without --fleet: %v", err)
	}
}

// TestReaders lets two collectors be scraped by one real Prometheus, and two readers show both.
func TestReaders(t *testing.T) {
	a, _ := startNamed(t, "vc-a", 2*time.Minute)
	b, _ := startNamed(t, "vc-b", 2*time.Minute)
	host := func(url string) string { return strings.TrimPrefix(url, "http://") }
	real := testdeps.Prometheus(t, t.TempDir(), fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: homenode, static_configs: [{targets: ['%s', '%s']}]}]\n", host(a), host(b)))
	var readers []string
	for range 2 {
		readers = append(readers, until(t, func(cmd *cobra.Command) error {
			return read(cmd, real, &door{listen: "127.0.0.1:0"}, 200*time.Millisecond, board.New(rules.Options{}, time.Minute), nil)
		}))
	}
	type vm struct {
		VCenter, Host, VM, VMID string
		Homes                   []int `json:"homeNodes"`
		Locality                float64
	}
	vms := func(url string) (all []vm) {
		_, text := get(t, url+"/api/homenode/v1/vms")
		var answer struct{ VMs []vm }
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return answer.VMs
	}
	// names leaves out what changes from second to second.
	names := func(all []vm) (out []string) {
		for _, v := range all {
			out = append(out, fmt.Sprint(v.VCenter, v.Host, v.VM, v.VMID, v.Homes))
		}
		slices.Sort(out)
		return out
	}
	var first, second, want []string
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(300 * time.Millisecond) {
		first, second, want = names(vms(readers[0])), names(vms(readers[1])), names(append(vms(a), vms(b)...))
		if len(want) > 40 && slices.Equal(first, want) && slices.Equal(second, want) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("readers show\n%v\n%v\nthe collectors\n%v", first, second, want)
		}
	}
	for _, v := range vms(readers[0])[:2] {
		if v.VM != "cache01" || v.Locality >= 0.8 {
			t.Errorf("lowest: %+v", v)
		}
	}
	if _, page := get(t, readers[0]+"/"); !strings.Contains(page, "2 VMs run with much remote memory:") {
		t.Error("the page does not show both")
	}
	if _, text := get(t, readers[1]+"/api/v1/query?query=count(homenode_vcenter_up)"); !strings.Contains(text, `"2"`) {
		t.Errorf("query: %s", text)
	}
	for _, path := range []string{"/api/v1/admin/tsdb/delete_series", "/api/v1/write", "/api/v1/status/config", "/api/v1/label/../admin/values", "/api/v1/targets"} {
		if res, text := get(t, readers[0]+path); res.StatusCode == http.StatusOK {
			t.Errorf("%s is answered: %s", path, text)
		}
	}
	for _, bad := range []string{"", "x", "ftp://a", "http://user:s3cret@"} {
		if err := read(&cobra.Command{}, bad, &door{listen: "127.0.0.1:0"}, time.Second, nil, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
