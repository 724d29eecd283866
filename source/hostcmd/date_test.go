package hostcmd

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMomentOf(t *testing.T) {
	at := time.Date(2026, 11, 21, 20, 30, 44, 0, time.UTC)
	for _, tt := range []struct {
		in   string
		want Moment
	}{
		{"Sat Nov 21 20:30:44 UTC 2026", Moment{Time: at, Zone: "UTC"}},
		{"Sat Nov 21 20:30:44 GMT 2026", Moment{Time: at, Zone: "GMT"}},
		{"Sun Nov  1 20:30:44 UTC 2026", Moment{Time: at.AddDate(0, 0, -20), Zone: "UTC"}},
		{"Sat Nov 21 20:30:44 2026", Moment{Time: at}},
		{"Sat Nov 21 21:30:44 CET 2026", Moment{Time: at.Add(time.Hour), Zone: "CET", Foreign: true}},
		{"Sat 21 Nov 20:30:44 UTC 2026", Moment{Time: at, Zone: "UTC"}},
		{"Sat 21 Nov 2026 08:30:44 PM UTC", Moment{Time: at, Zone: "UTC"}},
		{"Sat 21 Nov 2026 08:30:44 PM", Moment{Time: at}},
		{"Sat Nov 21 08:30:44 PM UTC 2026", Moment{Time: at, Zone: "UTC"}},
		{"Sat, 21 Nov 2026 21:30:44 +0100", Moment{Time: at, Zone: "+0100"}},
		{"2026-11-21T20:30:44Z", Moment{Time: at, Zone: "Z"}},
		{"2026-11-21T22:30:44+02:00", Moment{Time: at, Zone: "+02:00"}},
		{"2026-11-21T20:30:44,123456789+0000", Moment{Time: at, Zone: "+0000"}},
		{"2026-11-21 20:30:44.5 UTC", Moment{Time: at, Zone: "UTC"}},
		{"2026-11-21 20:30:44", Moment{Time: at}},
		{"=== Sat Nov 21 20:30:44 UTC 2026 ===", Moment{Time: at, Zone: "UTC"}},
		{"# 2026-11-21T20:30Z", Moment{Time: at.Add(-44 * time.Second), Zone: "Z"}},
	} {
		got, ok := momentOf(tt.in)
		if !ok || got != tt.want {
			t.Errorf("%q: %+v, %v", tt.in, got, ok)
		}
	}
	for _, in := range []string{"", "===", "Sat Nov 31 20:30:44 UTC 2026", "Nov 21 20:30:44", "vm.1 2 3", "2026-11-21", "20:30:44", "2026-11-21T20:30:44Z In(05) vmx DICT",
		"Sat Nov 21 20:30:44 UTC 2026 and more", "Sat Nov 21 25:30:44 UTC 2026"} {
		if got, ok := momentOf(in); ok {
			t.Errorf("%q: %+v", in, got)
		}
	}
}

const loop = `Sat Nov 21 20:30:44 UTC 2026
groupName groupID clientID homeNode affinity nWorlds vmmWorlds localMem remoteMem currLocal cummLocal
vm.1 2 0 0 3 4 4 1024 0 100 100
Sat Nov 21 20:31:44 UTC 2026
groupName groupID clientID homeNode affinity nWorlds vmmWorlds localMem remoteMem currLocal cummLocal
vm.1 2 0 1 3 4 4 1024 0 100 100
`

// TestDates reads what a loop printed, in one go and output by output.
func TestDates(t *testing.T) {
	var formats []string
	outputs, err := Read("f", strings.NewReader(loop))
	for _, o := range outputs {
		formats = append(formats, o.Format)
		if o.file.Warnings != nil {
			t.Errorf("%v", o.file.Warnings)
		}
	}
	if err != nil || !slices.Equal(formats, []string{Date, NUMAClients, Date, NUMAClients}) {
		t.Fatalf("%q, %v", formats, err)
	}
	if m := outputs[2].Result.(Moment); m.Time != time.Date(2026, 11, 21, 20, 31, 44, 0, time.UTC) {
		t.Errorf("%v", m)
	}
	if c := outputs[3].Result.(Clients); len(c) != 1 || c[0].Home != 1 {
		t.Errorf("%+v", c)
	}
	if hosts := Hosts(outputs); len(hosts) != 1 {
		t.Errorf("%d hosts", len(hosts))
	}
	if _, err := Read("f", strings.NewReader("Sat Nov 21 20:30:44 UTC 2026\n")); err == nil ||
		err.Error() != `f:1:1: found "Sat Nov 21 20:30:44 UTC 2026", want the output of sched-stats, esxtop, memstats, vsish, esxcli, vmware -v or uname` {
		t.Error(err)
	}
	n := 0
	pad := strings.Repeat(" ", 200_000) + "\n"
	long := strings.Repeat(loop+pad, 1+maxOutput/len(pad))
	if err := Each("f", strings.NewReader(long), func(*Output) error { n++; return nil }); err != nil || n != 4*(1+maxOutput/len(pad)) {
		t.Errorf("%d outputs, %v", n, err)
	}
	if _, err := Read("f", strings.NewReader(long)); err == nil || err.Error() != "f:294: found more than 8 MB, want the output of a command" {
		t.Error(err)
	}
	endless := loop + strings.Repeat(strings.Repeat("x", 1_000_000)+"\n", 9)
	if err := Each("f", strings.NewReader(endless), func(*Output) error { return nil }); err == nil || err.Error() != "f:5: found an output of more than 8 MB" {
		t.Error(err)
	}
}

// TestCutEdge checks that what the right edge of a terminal cuts off is unknown, not 0.
func TestCutEdge(t *testing.T) {
	outputs, err := Read("f", strings.NewReader("nodeID used idle entitled owed loadAvgPct nVcpu freeMem\n0 1 2 3 4 5 6 7\n"+
		"groupName groupID clientID homeNode affinity nWorlds vmmWorlds localMem\nvm.1 2 0 0 3 4 4 1024\n"+
		"groupName groupID clientID nodeID time\nvm.1 2 0 0 3\n"))
	if err != nil || len(outputs) != 3 {
		t.Fatal(outputs, err)
	}
	if n := outputs[0].Result.(NodeLoads)[0]; n.Free != 7*1024 || n.Total != -1 {
		t.Errorf("%+v", n)
	}
	if g := outputs[1].Groups()[0]; g.Local != -1 || g.Remote != -1 || g.Observation.Local.Known() {
		t.Errorf("%+v", g)
	}
	if g := outputs[2].Groups()[0]; g.OnNode != nil || g.Observation.PPDCount.Value != 1 {
		t.Errorf("%+v", g)
	}
}
