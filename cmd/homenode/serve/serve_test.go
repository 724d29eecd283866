package serve

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
	"example.org/homenode/source/snapshot"
)

// startServer runs serve demo as it is some time after its start, and returns its URL.
func startServer(t *testing.T, after time.Duration) (url string, lab *demoLab) {
	t.Helper()
	return startNamed(t, "demo", after)
}

// startNamed is startServer with a name for the vCenter.
func startNamed(t *testing.T, name string, after time.Duration) (url string, lab *demoLab) {
	t.Helper()
	lab, err := startDemo(t.Context(), time.Now().Add(-after))
	if err != nil {
		t.Fatal(err)
	}
	lab.name = name
	o := collect.Options{Every: time.Second}
	s := &server{board: board.New(rules.Options{}, time.Minute), lives: []target{{name: name, dial: lab.dial}}, options: o, door: &door{listen: "127.0.0.1:0"}, demo: lab, data: t.TempDir()}
	return until(t, func(cmd *cobra.Command) error {
		defer lab.close()
		return run(cmd, s)
	}), lab
}

// until runs a server until the test ends, and returns its URL.
func until(t testing.TB, run func(*cobra.Command) error) (url string) {
	t.Helper()
	out, in := io.Pipe()
	cmd := &cobra.Command{}
	ctx, cancel := context.WithCancel(context.Background())
	cmd.SetContext(ctx)
	cmd.SetOut(in)
	cmd.SetErr(os.Stderr)
	done := make(chan error)
	go func() { done <- run(cmd) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`http://[0-9.:]+`).FindString(string(line[:n]))
}

func get(t testing.TB, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// TestServeDemo starts the demo two minutes before now: a VM has lost its locality in it, which shows on
// the page, in the metrics and in the API, and the same number everywhere.
func TestServeDemo(t *testing.T) {
	url, _ := startServer(t, 2*time.Minute)
	ratio := regexp.MustCompile(`homenode_vm_numa_local_ratio\{vcenter="demo",cluster="prod-a",host="esx02.demo",vm="cache01",vm_id="cache01"\} (\S+)`)
	var text string
	var low float64
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		_, text = get(t, url+"/metrics")
		if m := ratio.FindStringSubmatch(text); m != nil {
			low, _ = strconv.ParseFloat(m[1], 64)
			break
		}
		if time.Now().After(end) {
			t.Fatal("cache01 is not seen on esx02")
		}
	}
	if low <= 0 || low >= 0.8 {
		t.Errorf("the locality of cache01 is %v, want it below 0.8 after it came to a host with a short node", low)
	}
	if _, page := get(t, url+"/"); !strings.Contains(page, "with much remote memory:") || !strings.Contains(page, "cache01") {
		t.Error("the page does not say so")
	}
	_, body := get(t, url+"/api/homenode/v1/vms")
	var vms struct {
		VMs []struct {
			VM       string
			Locality float64
			Local    float64
			Remote   float64
		}
	}
	if err := json.Unmarshal([]byte(body), &vms); err != nil {
		t.Fatal(err)
	}
	if v := vms.VMs[0]; v.VM != "cache01" || v.Locality >= 0.8 || v.Locality != v.Local/(v.Local+v.Remote) {
		t.Errorf("first VM of the API: %+v", v)
	}
	_, text = get(t, url+"/api/homenode/v1/inventory")
	f, err := snapshot.Read("now", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for i := range f.VMs {
		if v := &f.VMs[i]; v.Name == "cache01" && len(v.Observed) == 1 && v.Host == "esx02.demo" {
			share, ok := v.Observed[0].Locality()
			seen = ok && share < 0.8 && v.Observed[0].Homes.Known()
		}
	}
	if !seen {
		t.Error("the inventory does not say what is seen of cache01")
	}
	if res, _ := get(t, url+"/api/homenode/v1/inventory?vcenter=other"); res.StatusCode != http.StatusNotFound {
		t.Errorf("inventory of another vCenter: %s", res.Status)
	}
	if _, om := get(t, url+"/metrics", "Accept", "application/openmetrics-text; version=1.0.0"); !strings.HasSuffix(om, "# EOF\n") || !strings.Contains(om, "# UNIT homenode_vm_numa_local_bytes bytes\n") || !strings.Contains(om, "# TYPE homenode_fetch_bytes counter\n") {
		t.Error("no OpenMetrics")
	}
	if _, other := get(t, url+"/metrics?vcenter=nobody"); strings.Contains(other, "homenode_vm") {
		t.Error("another vCenter has VMs")
	}
	// A day lies behind it: app20 lost its locality at noon of it, when it talked with app28.
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		_, history := get(t, url+"/api/v1/query?query=count(min_over_time(homenode_vm_numa_local_ratio%7Bvm%3D%22app20%22%7D%5B24h%5D)%3C0.8)")
		if strings.Contains(history, `"resultType":"vector"`) && strings.Contains(history, `"1"`) {
			break
		}
		if time.Now().After(end) {
			t.Errorf("the day before: %s", history)
			break
		}
	}
	for _, host := range []string{"evil.example.com", "evil.example.com:9275", "127.0.0.1:1", "localhost.evil.com:9275", ""} {
		if res, _ := get(t, url+"/metrics", "Host", host); host != "" && res.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("Host %q: %s", host, res.Status)
		}
	}
	if res, err := http.Post(url+"/metrics", "text/plain", strings.NewReader("x")); err != nil || res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %v, %v", res, err)
	}
	t.Run("lint", func(t *testing.T) { lintMetrics(t, url) })
}

// lintMetrics lets promtool look at what Prometheus would scrape.
func lintMetrics(t *testing.T, url string) {
	promtool := testdeps.Program(t, "promtool")
	var text string
	for end := time.Now().Add(30 * time.Second); !strings.Contains(text, "homenode_vm_numa_migrations_total"); time.Sleep(200 * time.Millisecond) {
		if _, text = get(t, url+"/metrics"); time.Now().After(end) {
			t.Fatal("no migrations")
		}
	}
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v: %s", err, out)
	}
}

// TestLiveFindings judges the hour of the demo, and the end of a finding.
func TestLiveFindings(t *testing.T) {
	lab, err := startDemo(t.Context(), time.Now().Add(-15*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer lab.close()
	b := board.New(rules.Options{}, time.Hour)
	b.Fleet("demo", lab.story.Fleet)
	lab.prime(b)
	if !slices.ContainsFunc(b.VMs(), func(v board.VMNow) bool { return v.Moves.All > 0 }) {
		t.Error("no VM has migrated in the day of the demo: the ticks that are not stored have taken the migrations with them")
	}
	begin := lab.start.Add(demoDay)
	lab.keep = true
	found := map[string]bool{}
	for at := 30 * time.Second; at <= 15*time.Minute; at += 30 * time.Second {
		if err := lab.world.RunTo(t.Context(), demoDay+at); err != nil {
			t.Fatal(err)
		}
		for i := range lab.past {
			b.Tick("demo", lab.hostID[lab.past[i].Host], &lab.past[i])
		}
		lab.past = lab.past[:0]
		begun, _ := b.Judge(begin.Add(at))
		for _, a := range begun {
			if a.Live {
				found[a.Finding.Rule+" "+a.Finding.VM] = true
			}
		}
	}
	if !found["M001 cache01"] {
		t.Errorf("found %v, want M001 of cache01", found)
	}
	open, _ := b.Alarms()
	if len(open) == 0 {
		t.Error("nothing holds")
	}
}

// TestLabMoves lets a host of the lab be patched: the inventory of its vCenter has its VMs elsewhere, and later on it.
func TestLabMoves(t *testing.T) {
	lab, err := startDemo(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer lab.close()
	l, err := lab.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(t.Context())
	patched := func(at time.Duration) (guests int, maintenance bool) {
		t.Helper()
		if err := lab.runTo(t.Context(), demoDay+at); err != nil {
			t.Fatal(err)
		}
		f, err := l.Fleet(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Notes) > 0 {
			t.Errorf("%v: notes %v", at, f.Notes)
		}
		for i := range f.Hosts {
			if f.Hosts[i].Name != "esx05.demo" {
				continue
			}
			maintenance = f.Hosts[i].Maintenance.Value
			for j := range f.VMs {
				if v := &f.VMs[j]; v.Host == f.Hosts[i].ID && v.Power.Value == numa.PoweredOn {
					guests++
				}
			}
		}
		return guests, maintenance
	}
	before, maintenance := patched(0)
	if before == 0 || maintenance {
		t.Errorf("%d VMs before, maintenance %v", before, maintenance)
	}
	if n, maintenance := patched(10 * time.Minute); n != 0 || !maintenance {
		t.Errorf("%d VMs on the host that is patched, maintenance %v", n, maintenance)
	}
	if n, maintenance := patched(35 * time.Minute); n == 0 || maintenance {
		t.Errorf("%d VMs afterwards, maintenance %v", n, maintenance)
	}
}

// TestLabFaults collects from a lab in which two of three hosts fail.
func TestLabFaults(t *testing.T) {
	lab, err := startDemo(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer lab.close()
	for _, bad := range []string{"esx02.demo", "esx02.demo=explode", "esx99=cut"} {
		if _, err := lab.parseFaults(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if lab.faults, err = lab.parseFaults("esx02.demo=cut, epyc01.demo=refuse"); err != nil {
		t.Fatal(err)
	}
	b := board.New(rules.Options{}, time.Hour)
	c := collect.New("demo", lab.dial, b, collect.Options{Every: 50 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { c.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		why := map[string]string{}
		for _, h := range c.Status().Hosts {
			why[h.Name] = h.Reason
			if !h.Last.IsZero() && h.Reason == "" {
				why[h.Name] = "seen"
			}
		}
		if why["esx02.demo"] == "answer" && why["epyc01.demo"] == "other" && why["esx05.demo"] == "seen" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("found %v", why)
		}
	}
}
