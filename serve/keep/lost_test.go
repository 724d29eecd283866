package keep_test

import (
	"fmt"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/board"
	"example.org/homenode/source/scenario/given"
)

// TestSameFindings judges the last hour of two VMs in memory and as it was kept: rules find the same, word by word, of the one that works and
// of the one that idles.
func TestSameFindings(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 8.0U2\ncluster c\nhost esx1 cluster=c packages=2 nodes=2 cores=16 memory=512GB\nvm db host=esx1 vcpus=4 memory=16GB\nvm idle host=esx1 vcpus=4 memory=16GB\n"))
	b := board.New(rules.Options{}, time.Hour)
	k := kept(t, b)
	b.Fleet("vc", f)
	now := time.Now().Truncate(time.Second).UTC()
	begin := now.Add(-50 * time.Minute)
	const has = numa.HasTotal | numa.HasFree | numa.HasUtil
	for minute := range 50 {
		x := numa.Tick{Host: f.Hosts[0].Name, Time: begin.Add(time.Duration(minute) * time.Minute), Since: time.Minute, Nodes: []numa.NodeTick{
			{ID: 0, Has: has, Total: 256 * numa.GiB, Free: 100 * numa.GiB, Util: 0.5}, {ID: 1, Has: has, Total: 256 * numa.GiB, Free: 50 * numa.GiB, Util: 0.25}}}
		for i := range f.VMs {
			v := numa.VMTick{GID: int64(7 + i), Name: f.VMs[i].Name, VCPUs: 4, Homes: numa.SetOf(0), Local: 16 * numa.GiB, Used: 2 - 1.999*float64(i), Ready: 0.01,
				Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasUsed | numa.HasReady}
			if minute >= 20 && minute < 40 {
				v.Homes, v.Local, v.Remote = numa.SetOf(1), 4*numa.GiB, 12*numa.GiB
			}
			x.VMs = append(x.VMs, v)
		}
		b.Tick("vc", f.Hosts[0].ID, &x)
	}
	b.Judge(now)
	text := func(f *finding.Finding) string {
		return fmt.Sprintln(f.Rule, f.Severity, f.VM, f.Host, f.From, f.To, f.Message, f.Advice)
	}
	live := map[string]bool{}
	open, _ := b.Alarms()
	for i := range open {
		if a := &open[i]; a.Live && a.Finding.VM != "" {
			live[text(&a.Finding)] = true
		}
	}
	if len(live) < 2 {
		t.Fatalf("found %v, want a finding of each VM", live)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		recordings, err := k.Recordings(t.Context(), "vc", []string{f.VMs[0].ID, f.VMs[1].ID}, begin.Add(-time.Minute), now, b.Limits())
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]bool{}
		for _, f := range b.Over("vc", recordings, now) {
			kept[text(&f)] = true
		}
		if fmt.Sprint(live) == fmt.Sprint(kept) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("in memory %v\nkept      %v", live, kept)
		}
	}
}
