package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/spf13/cobra"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/browser"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
)

// startPages runs serve demo some time after its start, with pages and a store in a folder, and returns its URL when the inventory
// and the past can be read.
func startPages(t testing.TB, after time.Duration, dir string, every time.Duration) string {
	t.Helper()
	lab, err := startDemo(t.Context(), time.Now().Add(-after))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{board: board.New(rules.Options{}, time.Minute), lives: []target{{name: "demo", dial: lab.dial}}, options: collect.Options{Every: every}, door: &door{listen: "127.0.0.1:0"}, demo: lab, data: dir, apart: time.Second}
	address := until(t, func(cmd *cobra.Command) error {
		defer lab.close()
		return run(cmd, s)
	})
	end := time.Now().Add(3 * time.Minute)
	for _, x := range [][2]string{{"/status", "24 of 24 hosts reporting."}, {"/vm/series?vm=cache01&range=1h", "vMotion to esx02.demo"}, {"/", "with much remote memory:"}, {"/vm?vm=cache01", "Only "}} {
		for body := ""; !strings.Contains(body, x[1]); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s does not say %q", x[0], x[1])
			}
			_, body = get(t, address+x[0])
		}
	}
	return address
}

// TestPages looks at the pages of the demo, which has a day behind it: cache01 came to a host with a short node two minutes ago.
func TestPages(t *testing.T) {
	address := startPages(t, 2*time.Minute, t.TempDir(), time.Second)
	for path, want := range map[string][]string{
		"/":                               {"data-live", "Nodes of 24 hosts now", `href="/host?host=esx02.demo"`, "with much remote memory:", "<dt>last 24 hours</dt>", "<dt>settings</dt>", "Do first", "cache01", "UTC", "Clusters"},
		"/host?host=esx02.demo":           {"data-live", "Nodes, seen at", "as seen: ", "cores in use", "NUMA migrations of all VMs:", "Look closely", "over-time", `action="/host/closely"`, "Over the last 24 hours", " UTC"},
		"/host?host=esx02.demo&range=30d": {"Over the last 30 days"},
		"/vm?vm=cache01":                  {"data-live", "Only ", " of the memory of cache01 is local now", "Seen at", "over-time", "vMotion to esx02.demo", "vMotion to esx05.demo", `value="24h" selected`},
		"/vm?vm=cache01&range=1h":         {`value="1h" selected`, "Over the last hour"},
		"/status":                         {"24 of 24 hosts reporting.", `href="/host?host=esx02.demo"`, "every "},
	} {
		res, body := get(t, address+path)
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s: %s: %q is not on the page", path, res.Status, w)
			}
		}
		if res.StatusCode != http.StatusOK || strings.Contains(body, "style=") {
			t.Errorf("%s: %s, or an inline style", path, res.Status)
		}
	}
	for path, want := range map[string]int{"/vm?vm=cache01&range=2d": http.StatusBadRequest, "/vm/series?vm=none": http.StatusNotFound, "/vm/series?vm=cache01&range=x": http.StatusBadRequest, "/host?host=esx02.demo&range=9": http.StatusBadRequest} {
		if res, _ := get(t, address+path); res.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, res.Status, want)
		}
	}
	var data struct {
		Time     []int64
		Locality []*float64
		Nodes    []int
		Homes    [][]*float64
		Events   []struct{ Text string }
	}
	_, body := get(t, address+"/vm/series?vm=cache01&range=24h")
	if err := json.Unmarshal([]byte(body), &data); err != nil {
		t.Fatal(err)
	}
	low := 0
	for _, v := range data.Locality {
		if v != nil && *v < 0.8 {
			low++
		}
	}
	if len(data.Time) < 100 || len(data.Time) > 1000 || !slices.IsSorted(data.Time) || low == 0 || len(data.Homes) != len(data.Nodes) || len(data.Events) < 3 {
		t.Errorf("%d steps, %d of low locality, nodes %v, %d events", len(data.Time), low, data.Nodes, len(data.Events))
	}
	// N%L counts interleaved memory as local: the chart shows neither it nor an amount of remote memory.
	if _, body := get(t, address+"/vm/series?vm=sql01&range=24h"); !regexp.MustCompile(`"locality":\[(null,?)+\].*"remote":\[(null,?)+\]`).MatchString(body) {
		t.Errorf("of interleaved memory: %.300s", body)
	}
	t.Run("browser", func(t *testing.T) { pagesInBrowser(t, address) })
	// Looking closely is asked from the pages of this server alone.
	post := func(origin string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/host/closely", strings.NewReader(url.Values{"fleet": {"demo"}, "host": {"esx02.demo"}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if code := post("http://evil.example.com"); code != http.StatusForbidden {
		t.Errorf("from another origin: status %d", code)
	}
	if _, body := get(t, address+"/host?host=esx02.demo"); strings.Contains(body, "closely, until") {
		t.Error("the host is looked at closely")
	}
	if code := post(address); code != http.StatusOK {
		t.Errorf("look closely: status %d", code)
	}
	if _, body := get(t, address+"/host?host=esx02.demo"); !strings.Contains(body, "closely, until") || strings.Contains(body, "Look closely") {
		t.Error("the page does not say that the host is looked at closely")
	}
}

// pagesInBrowser looks at the page of a VM in a browser: its past is drawn by uPlot below the strict policy, without a complaint, and
// what is shown follows what changes while an open part, the focus and the stretch of time stay.
func pagesInBrowser(t *testing.T, address string) {
	b := browser.Open(t, address+"/vm?vm=cache01&range=24h")
	wait := func(what string) {
		t.Helper()
		if _, err := chromedp.Run(b.Context, chromedp.Poll[bool](what)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	wait(`document.querySelectorAll("#over-time .u-wrap canvas").length >= 4`)
	browser.Eval(t, b, `getComputedStyle(document.querySelector("#over-time > .scroll")).display`, "none")
	browser.Eval(t, b, `document.querySelector("#over-time .u-wrap").getBoundingClientRect().width > 600`, true)
	browser.Eval(t, b, `(() => { const c = document.querySelector("#over-time canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; return d.some((v) => v > 0); })()`, true)
	// What is live is fetched again: the moment above the table changes; the focus and an open part stay.
	b.Script(t, `window.before = document.querySelector("#table-seen h2").textContent; const part = document.querySelector("main details"); part.id = part.id || "opened"; part.open = true; document.querySelector("main nav a").focus();`)
	wait(`document.querySelector("#table-seen h2").textContent !== window.before`)
	browser.Eval(t, b, `document.activeElement.closest("main nav") !== null`, true)
	wait(`document.querySelectorAll("#over-time .u-wrap canvas").length >= 4`)
	// The drawing of the server is there for the keyboard: its button is there at every moment and keeps the focus.
	b.Script(t, `window.before = document.querySelector("#table-seen h2").textContent; document.querySelector("button.drawn").focus();`)
	wait(`document.querySelector("#table-seen h2").textContent !== window.before && document.activeElement.matches("button.drawn")`)
	b.Script(t, `document.querySelector("button.drawn").click()`)
	wait(`getComputedStyle(document.querySelector("#over-time > .scroll")).display !== "none"`)
	// Nothing is fetched while somebody types.
	b.Script(t, `document.querySelector("main form.ask input[name=vm]").focus(); window.before = document.querySelector("#table-seen h2").textContent;`)
	time.Sleep(4 * time.Second)
	browser.Eval(t, b, `document.querySelector("#table-seen h2").textContent === window.before`, true)
	b.Go(t, address+"/vm?vm=sql01&range=24h")
	wait(`document.querySelectorAll("#over-time .u-wrap canvas").length >= 3`)
	browser.Eval(t, b, `document.querySelector("#over-time .plots").textContent.includes("Locality")`, false)
	if c := b.Complaints(); len(c) > 0 {
		t.Errorf("the browser complains: %q", c)
	}
}

// BenchmarkVMPage asks for the page of a VM with 30 days of samples once a minute, among others.
func BenchmarkVMPage(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	const vms = 100
	s, err := store.Open(dir, store.Options{Retain: 40 * 24 * time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	var all []store.Sample
	for i := range vms {
		name := fmt.Sprintf("vm%03d", i)
		if i == 0 {
			name = "cache01"
		}
		l := []string{"vcenter", "demo", "cluster", "prod-a", "host", "esx02.demo", "vm", name, "vm_id", name}
		for k, metric := range []string{"vcpus", "numa_local_bytes", "numa_remote_bytes", "numa_local_ratio", "numa_migrations_total", "cpu_ready_seconds_per_second", "cpu_costop_seconds_per_second", "memory_size_bytes"} {
			all = append(all, store.Sample{Series: s.Series("homenode_vm_"+metric, l...), Number: float64(1 + k)})
		}
		for node := range 2 {
			all = append(all, store.Sample{Series: s.Series("homenode_vm_numa_home_node", append(slices.Clone(l), "node", fmt.Sprint(node))...), Number: float64(node)})
		}
	}
	end := time.Now().Add(-25 * time.Hour)
	for at := end.Add(-29 * 24 * time.Hour); at.Before(end); at = at.Add(time.Minute) {
		for i := range all {
			if k := i % 10; k == 1 || k == 2 || k == 5 {
				all[i].Number = float64((i*7919 + int(at.Unix()/60)*104729) % (64 << 30))
			}
		}
		if _, err := s.Append(context.Background(), at, all); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	address := startPages(b, 2*time.Minute, dir, 20*time.Second)
	for _, span := range []string{"1h", "24h", "7d", "30d"} {
		for _, path := range []string{"/vm?vm=cache01&range=", "/vm/series?vm=cache01&range=", "/host?host=esx02.demo&range="} {
			b.Run(path+span, func(b *testing.B) {
				for b.Loop() {
					if res, _ := get(b, address+path+span); res.StatusCode != http.StatusOK {
						b.Fatal(res.Status)
					}
				}
			})
		}
	}
}
