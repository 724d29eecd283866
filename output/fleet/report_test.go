package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.org/homenode/internal/browser"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/fleet"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario/given"
)

// The most that a report may be: bytes, and screens of this height before "show all".
const (
	reportBytes               = 500_000
	reportScreens             = 5
	screenWidth, screenHeight = 1400, 900
	largeVMs, largeHosts      = 571, 30
	shownLength               = `document.documentElement.scrollHeight`
	reportVMs                 = `document.querySelectorAll("#table-vms tbody tr").length`
	reportRows                = `[...document.querySelectorAll("#table-vms tbody tr")].filter((r) => !r.hidden).length`
	reportCards               = `document.querySelectorAll(".rule").length`
	reportFirst               = `document.querySelectorAll("#first li").length`
	reportClickShowAll        = `document.querySelector("#table-vms .all button").click()`
)

// largeFleet returns the demo fleet grown to 571 VMs on 30 hosts: every kind of trouble, and more than one example of it.
func largeFleet(t *testing.T) *numa.Fleet {
	t.Helper()
	f := given.Demo(t)
	for i := 0; len(f.Hosts) < largeHosts; i++ {
		h := f.Hosts[i]
		h.ID, h.Name, h.At = h.ID+"-2", "second-"+h.Name, h.At+" again"
		f.Hosts = append(f.Hosts, h)
	}
	for i := 0; len(f.VMs) < largeVMs; i++ {
		v := f.VMs[i]
		v.ID, v.Name, v.At = v.ID+"-2", "second-"+v.Name, v.At+" again"
		f.VMs = append(f.VMs, v)
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReportLength opens the report of a large fleet: it is small, and short until the reader asks for all of it; whatever of it
// is folded, nothing is missing.
func TestReportLength(t *testing.T) {
	r := rules.Run(largeFleet(t), rules.Options{})
	text := htmlPage(t, r, "1.2.3")
	t.Logf("%d VMs, %d findings of %d rules and severities: %d bytes", r.VMs, len(r.Findings), len(r.Counts()), len(text))
	if len(text) > reportBytes {
		t.Errorf("the report has %d bytes, want at most %d", len(text), reportBytes)
	}
	counts := map[string][]string{} // by rule
	for _, c := range r.Counts() {
		counts[c.Rule.ID] = append(counts[c.Rule.ID], fmt.Sprintf("%s %s", words.Thousands(len(c.Findings)), c.Severity))
	}
	for id, parts := range counts {
		if of := strings.Join(parts, ", "); len(parts) > 1 && !strings.Contains(string(text), `<span class="count">`+of+`</span>`) {
			t.Errorf("the card of %s does not count %s", id, of)
		}
	}
	b := browser.Open(t, browser.File(t, text))
	size := emulation.SetDeviceMetricsOverrideParams{Width: screenWidth, Height: screenHeight, DeviceScaleFactor: 1}
	if _, err := chromedp.Call(b.Context, emulation.SetDeviceMetricsOverride, size); err != nil {
		t.Fatal(err)
	}
	long, err := chromedp.Run(b.Context, chromedp.Evaluate[int](shownLength))
	if err != nil {
		t.Fatal(err)
	}
	if screens := float64(long) / screenHeight; screens > reportScreens {
		t.Errorf("the report is %.1f screens long, want at most %d", screens, reportScreens)
	}
	fired := map[string]bool{}
	for i := range r.Findings {
		fired[r.Findings[i].Rule] = true
	}
	browser.Eval(t, b, reportFirst, 5)
	browser.Eval(t, b, reportCards, len(fired))
	browser.Eval(t, b, reportVMs, r.VMs)
	browser.Eval(t, b, reportRows, 5)
	b.Script(t, reportClickShowAll)
	browser.Eval(t, b, reportRows, r.VMs)
	worst := slices.MaxFunc(r.Findings, func(a, b finding.Finding) int { return int(a.Severity) - int(b.Severity) })
	b.Go(t, browser.File(t, text)+"#q="+worst.VM+worst.Host)
	browser.Eval(t, b, fmt.Sprintf(`document.getElementById("rule-%s").open`, worst.Rule), true)
}

// TestHosts counts the hosts that accept no VM.
func TestHosts(t *testing.T) {
	f := &numa.Fleet{Hosts: []numa.Host{{}, {Maintenance: numa.ReadAt(true, "")}, {Connection: numa.ReadAt("disconnected", "")}}}
	if got := fleet.Hosts(f); got != "3 hosts (2 in maintenance or not connected)" {
		t.Errorf("got %s", got)
	}
	if f.Hosts = f.Hosts[:1]; fleet.Hosts(f) != "1 host" {
		t.Errorf("got %s", fleet.Hosts(f))
	}
}
