package speed

import (
	"context"
	"slices"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/fit"
)

// TestSideChannels checks what runs at once on two nodes of 18 cores and 36 threads.
func TestSideChannels(t *testing.T) {
	type counts struct {
		name                                             string
		places, ofShape, idle, nonWide, preferHT, atOnce int
		gain                                             unit.Share
	}
	for _, tt := range []struct {
		vcpus int
		want  []counts
	}{
		{8, []counts{{"none", 72, 64, 0, 18, 36, 36, 0.25}, {"SCAv1", 36, 32, 8, 18, 36, 18, 0}, {"SCAv2", 72, 64, 0, 18, 36, 36, 0.125}}},
		{1, []counts{{"none", 72, 72, 0, 18, 36, 36, 0.25}, {"SCAv1", 36, 36, 1, 18, 36, 18, 0}, {"SCAv2", 72, 36, 1, 18, 36, 36, 0.125}}},
		{3, []counts{{"none", 72, 72, 0, 18, 36, 36, 0.25}, {"SCAv1", 36, 36, 3, 18, 36, 18, 0}, {"SCAv2", 72, 54, 1, 18, 36, 36, 0.125}}},
		{18, []counts{{"none", 72, 72, 0, 18, 36, 36, 0.25}, {"SCAv1", 36, 36, 18, 18, 36, 18, 0}, {"SCAv2", 72, 72, 0, 18, 36, 36, 0.125}}},
		// Two clients of 11: of odd ones one thread each is idle.
		{22, []counts{{"none", 72, 66, 0, 18, 36, 36, 0.25}, {"SCAv1", 36, 22, 22, 18, 36, 18, 0}, {"SCAv2", 72, 66, 2, 18, 36, 36, 0.125}}},
	} {
		a := ask(t)
		a.VCPUs = tt.vcpus
		got, err := a.SideChannels(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(tt.want) {
			t.Fatalf("%d vCPUs: %d schedulers, want %d", tt.vcpus, len(got), len(tt.want))
		}
		for i, m := range got {
			if c := (counts{m.Name, m.Places, m.OfShape, m.Idle, m.NonWide, m.PreferHT, m.AtOnce, m.Gain}); c != tt.want[i] {
				t.Errorf("%d vCPUs: found %+v, want %+v", tt.vcpus, c, tt.want[i])
			}
		}
	}
}

// TestSideChannelsInTheTwin checks that a full host runs less with them: SCAv1 less than
// SCAv2, and no less than VMware says it costs at most.
func TestSideChannelsInTheTwin(t *testing.T) {
	a := ask(t)
	a.VMs, a.Speed = 20, 3*unit.GHz
	a.Guarantee = 0
	got, err := a.SideChannels(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	none, v1, v2 := got[0].Full, got[1].Full, got[2].Full
	if !(v1.Used < v2.Used && v2.Used < none.Used) || !(v1.Ready > v2.Ready && v2.Ready > none.Ready) {
		t.Errorf("used %v, %v, %v; ready %v, %v, %v: want SCAv1 worst, then SCAv2", none.Used, v1.Used, v2.Used, none.Ready, v1.Ready, v2.Ready)
	}
	if loss := unit.Share(1 - v1.Used/none.Used); loss < 0.19 || loss > 0.3 {
		t.Errorf("SCAv1 costs %v, want 20 %% and no more than the 30 %% of VMware", loss)
	}
}

// TestWhichSideChannels checks that 6.7 has SCAv1 only, and that without hyper-threading
// neither changes anything.
func TestWhichSideChannels(t *testing.T) {
	for _, tt := range []struct {
		host    string
		release numa.Release
		want    []string
	}{
		{"2x18c/1TB", numa.ESXi67, []string{"none", "SCAv1"}},
		{"2x18c/1TB", numa.ESXi67U2, []string{"none", "SCAv1", "SCAv2"}},
		{"2x18c/1TB/noht", numa.ESXi80, []string{"none"}},
	} {
		kind, err := fit.ParseType(tt.host, tt.release)
		if err != nil {
			t.Fatal(err)
		}
		a := ask(t)
		a.Host = kind.Host
		got, err := a.SideChannels(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range got {
			names = append(names, m.Name)
		}
		if !slices.Equal(names, tt.want) {
			t.Errorf("%s of %s: found %v, want %v", tt.host, tt.release, names, tt.want)
		}
	}
}
