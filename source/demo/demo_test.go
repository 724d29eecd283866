package demo

import (
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// TestFleet checks the numbers that the documents and the film name.
func TestFleet(t *testing.T) {
	f, err := Fleet()
	if err != nil {
		t.Fatal(err)
	}
	clusters := map[string]int{} // hosts of each
	for _, h := range f.Hosts {
		clusters[f.ClusterName(h.Cluster)]++
		if !h.Nodes.Known() || !h.Memory.Known() || !h.Release.Known() {
			t.Errorf("host %s: nodes, memory or release is unknown", h.Name)
		}
	}
	templates := 0
	for _, v := range f.VMs {
		if v.Template.Value {
			templates++
		}
		if v.Host == "" || !v.VCPUs.Known() || !v.Memory.Known() || !v.Hardware.Known() {
			t.Errorf("VM %s: host, vCPUs, memory or hardware is unknown", v.Name)
		}
	}
	if len(f.Clusters) != 3 || len(f.Hosts) != 24 || len(f.VMs) != 300 || templates != 1 {
		t.Errorf("%d clusters, %d hosts, %d VMs, %d of them templates; want 3, 24, 300, 1", len(f.Clusters), len(f.Hosts), len(f.VMs), templates)
	}
	if clusters["prod-a"] != 8 || clusters["mixed"] != 8 || clusters["epyc"] != 6 || clusters[""] != 2 {
		t.Errorf("hosts of the clusters: %v", clusters)
	}
	if !strings.HasPrefix(Text, "The demo fleet: three clusters and two standalone hosts, 24 hosts and 300 VMs.") {
		t.Errorf("the text says %s", strings.SplitN(Text, "\n", 2)[0])
	}
}

// TestCapture checks that the captured hosts and VMs are those of the fleet, with its vCPUs
// and memory.
func TestCapture(t *testing.T) {
	f, err := Fleet()
	if err != nil {
		t.Fatal(err)
	}
	in, err := Capture()
	if err != nil {
		t.Fatal(err)
	}
	fleet := map[string]*numa.VM{}
	for i := range f.VMs {
		fleet[f.VMs[i].Name] = &f.VMs[i]
	}
	ticks := map[string]int{}
	err = in.Ticks(func(k *numa.Tick) error {
		ticks[k.Host]++
		for _, v := range k.VMs {
			one := fleet[v.Name]
			if one == nil || one.VCPUs.Value != v.VCPUs || one.Memory.Value != v.Size || v.Local+v.Remote > v.Size {
				t.Fatalf("VM %s on %s at %s: %d vCPUs, %s of %s; the fleet has %+v", v.Name, k.Host, k.Time, v.VCPUs, v.Local+v.Remote, v.Size, one)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = 4*3600/20 + 1
	if len(ticks) != 2 || ticks["esx02.demo"] != want || ticks["epyc01.demo"] != want {
		t.Errorf("ticks %v, want %d of each", ticks, want)
	}
}

// TestPageSharing checks that what the capture states of page sharing fits together at
// every tick, as the counters of esxtop do.
func TestPageSharing(t *testing.T) {
	f, err := Fleet()
	if err != nil {
		t.Fatal(err)
	}
	in, err := Capture()
	if err != nil {
		t.Fatal(err)
	}
	const ofHost = numa.HasTotal | numa.HasFree | numa.HasShared | numa.HasCommon
	const ofVM = numa.HasMemory | numa.HasSize | numa.HasGranted | numa.HasConsumed | numa.HasActive | numa.HasShared | numa.HasSaved | numa.HasZero | numa.HasHint
	err = in.Ticks(func(k *numa.Tick) error {
		at := k.Host + " " + k.Time.String()
		page := numa.Bytes(len(k.VMs)) * numa.PageSize // each is rounded to pages
		host := f.FindHosts(k.Host)
		if len(host) != 1 || k.Has&ofHost != ofHost || k.Memory != host[0].Memory.Value {
			t.Fatalf("%s: %d hosts, %s of memory", at, len(host), k.Memory)
		}
		var sum numa.VMTick
		for i := range k.VMs {
			v := &k.VMs[i]
			if v.Has&ofVM != ofVM {
				t.Fatalf("%s %s: states %b, want %b", at, v.Name, v.Has, ofVM)
			}
			if v.Consumed != v.Granted-v.Saved || v.Zero > v.Shared || v.Saved > v.Shared || v.Shared+v.Hint > v.Granted || v.Active > v.Granted || v.Granted > v.Size {
				t.Fatalf("%s: %+v", at, v)
			}
			if d := v.Granted - v.Local - v.Remote; max(d, -d) > numa.PageSize {
				t.Fatalf("%s %s: %s granted, %s on nodes", at, v.Name, v.Granted, v.Local+v.Remote)
			}
			sum.Shared, sum.Saved, sum.Consumed = sum.Shared+v.Shared, sum.Saved+v.Saved, sum.Consumed+v.Consumed
		}
		copies := sum.Shared - sum.Saved // none is of two VMs: none shares with another
		if sum.Shared > k.Shared+page || sum.Saved > k.Shared-k.Common+page || copies > k.Common+page || sum.Consumed > k.Memory-k.Free {
			t.Fatalf("%s: %s shared, %s common, %s free; its VMs have %s shared, %s saved, %s consumed", at, k.Shared, k.Common, k.Free, sum.Shared, sum.Saved, sum.Consumed)
		}
		if more := k.Shared - k.Common - sum.Saved; more > 256*numa.MiB {
			t.Fatalf("%s: the host saves %s more than its VMs: too much for the VMkernel", at, more)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStory checks that the story is one of the demo fleet, that each of its events says what it shows, and that the fleet is at its end
// as it was at its start.
func TestStory(t *testing.T) {
	f, err := Fleet()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Story()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Fleet.Hosts) != len(f.Hosts) || len(s.Fleet.VMs) != len(f.VMs) {
		t.Fatalf("%d hosts and %d VMs, want those of the fleet", len(s.Fleet.Hosts), len(s.Fleet.VMs))
	}
	kinds := map[numa.EventKind]bool{}
	host, power := map[string]string{}, map[string]numa.PowerState{}
	for i := range s.Fleet.VMs {
		host[s.Fleet.VMs[i].ID], power[s.Fleet.VMs[i].ID] = s.Fleet.VMs[i].Host, s.Fleet.VMs[i].Power.Value
	}
	for _, e := range s.Events {
		kinds[e.Kind] = true
		if e.Note == "" {
			t.Errorf("line %d does not say what it shows: %s", e.Line, e.Text)
		}
		switch e.Kind {
		case numa.VMotion:
			host[e.VM] = e.Host
		case numa.PowerOn:
			power[e.VM] = numa.PoweredOn
		case numa.PowerOff:
			power[e.VM] = numa.PoweredOff
		}
	}
	for _, kind := range []numa.EventKind{numa.PowerOn, numa.PowerOff, numa.Cycle, numa.Reboot, numa.VMotion, numa.LoadChange, numa.TalkChange, numa.Maintenance, numa.LeaveMaintenance, numa.Fail, numa.Repair} {
		if !kinds[kind] {
			t.Errorf("no event is a %s", kind)
		}
	}
	for i := range f.VMs {
		if v := &f.VMs[i]; host[v.ID] != v.Host || power[v.ID] != v.Power.Value {
			t.Errorf("VM %s ends on %s, %s; the fleet has it on %s, %s", v.Name, host[v.ID], power[v.ID], v.Host, v.Power.Value)
		}
	}
}
