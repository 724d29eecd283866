package board

import (
	"slices"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

// TestSameAsCapture watches a VM with from none to most of its memory remote: what is found of it live is what a capture of the same ticks
// says, in severity too.
func TestSameAsCapture(t *testing.T) {
	now := time.Now().Truncate(time.Minute).UTC()
	found := 0
	for _, remote := range []numa.Bytes{0, 1, 3, 5, 8, 10, 15, 19, 21, 40, 60, 90} { // of a hundred
		b, r := New(rules.Options{}, time.Minute), capture.NewRecorders(rules.CaptureOptions(nil))
		for minute := range 40 {
			k := &numa.Tick{Host: "esx1", Time: now.Add(time.Duration(minute-39) * time.Minute), Since: time.Minute}
			for n := range 2 {
				k.Nodes = append(k.Nodes, numa.NodeTick{ID: n, Has: numa.HasTotal | numa.HasFree | numa.HasUtil, Total: 256 * numa.GiB, Free: 100 * numa.GiB, Util: 0.2})
			}
			k.VMs = []numa.VMTick{{Name: "db", VCPUs: 8, GID: 10, Homes: numa.SetOf(0), Local: (100 - remote) * numa.GiB, Remote: remote * numa.GiB, Used: 2,
				Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasUsed}}
			b.Tick("vc", "host-1", k)
			r.Add(k)
		}
		b.Judge(now)
		open, _ := b.Alarms()
		var live, later []string
		of := func(f *finding.Finding) string { return f.Rule + " " + f.Severity.String() }
		for i := range open {
			live = append(live, of(&open[i].Finding))
		}
		watched := rules.Watch(r.Recordings(), nil, rules.Options{}).Findings
		for i := range watched {
			later = append(later, of(&watched[i]))
		}
		slices.Sort(live)
		slices.Sort(later)
		if !slices.Equal(live, later) {
			t.Errorf("%d %% remote: live %v, of a capture %v", remote, live, later)
		}
		found += len(live)
	}
	if found < 5 {
		t.Errorf("%d findings", found)
	}
}
