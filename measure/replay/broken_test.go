package replay_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/source/incident"
)

const inventory = `release 7.0U3
host esx01 nodes=2 cores=18 memory=256GB
vm db01 host=esx01 vcpus=8 memory=32GB
vm db02 host=esx01 vcpus=8 memory=32GB
`

const night = `start 2026-11-03T01:00:00Z
every 20s
host esx01 free=150GB
node 0 memory=128GB free=70GB
node 1 memory=128GB free=80GB
vm db01 gid=1 vcpus=8 memory=32GB homes=0 local=30GB remote=0 ready=0.5% used=20%
vm db02 gid=2 vcpus=8 memory=32GB homes=1 local=20GB remote=0 ready=0.5% used=20%
`

// record records an incident of one host.
func record(t testing.TB, text string) *replay.Recorder {
	t.Helper()
	in, err := incident.Read("night", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := &replay.Recorder{}
	err = in.Ticks(func(k *numa.Tick) error {
		r.Add(k)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, capture, fleet, want string
		assume                     *numa.Host
	}{
		{"no inventory", night + "5m end\n", "", "esx01: the capture tells of 2 NUMA nodes (128 GB, 128 GB) and not how many cores they have: name the inventory, as in: homenode simulate SOURCE --against CAPTURE, or the shape with --assume-host 'nodes=2 cores=18 memory=1024GB release=7.0U3'", nil},
		{"another host", night + "5m end\n", "host esx09 nodes=2 cores=18 memory=256GB\n", "esx01: found no such host in the inventory fleet.txt: the capture tells of 2 NUMA nodes (128 GB, 128 GB) and not how many cores they have: name its inventory, as in: homenode simulate SOURCE --against CAPTURE, or its shape with --assume-host 'nodes=2 cores=18 memory=1024GB release=7.0U3'", nil},
		{"two hosts of a name", night + "5m end\n", "host esx01.a nodes=2 cores=18 memory=256GB\nhost esx01.b nodes=2 cores=18 memory=256GB\n", "esx01: found 2 hosts of the inventory with this name", nil},
		{"another shape", night + "5m end\n", "release 7.0U3\nhost esx01 nodes=4 cores=9 memory=256GB\n", "esx01: found NUMA nodes 0, 1 in the capture, want 0, 1, 2, 3 as the inventory has: the host was another, or another shape, then", nil},
		{"no nodes", "host esx01\nvm db01 gid=1 vcpus=8 homes=0 local=30GB remote=0\n5m end\n", inventory, "esx01: found no tick that shows NUMA nodes, from which a replay begins: want esxtop -b -a, or the fields of NUMA of its memory screen", nil},
		{"no free memory", "host esx01\nnode 0 memory=128GB\nnode 1 memory=128GB\n5m end\n", inventory, "esx01: found no tick that shows the free memory of NUMA nodes, from which a replay begins: want esxtop -b -a, or the fields of NUMA of its memory screen", nil},
		{"no columns of NUMA", "host esx01\nnode 0 memory=128GB free=1GB\nvm db01 gid=1 vcpus=8 memory=32GB used=20%\n5m end\n", inventory, "esx01: found no tick that shows home nodes and local and remote memory of VMs, from which a replay begins: want esxtop -b -a, or the fields of NUMA of its memory screen", nil},
		{"no VMs", "host esx01\nnode 0 memory=128GB free=1GB\n5m end\n", inventory, "esx01: found no tick that shows VMs, from which a replay begins: want esxtop -b -a, or the fields of NUMA of its memory screen", nil},
		{"one tick", night + "10s end\n", inventory, "esx01: found one moment alone, at 2026-11-03T01:00:00Z: there is nothing to compare a replay with", nil},
		{"without a release", night + "5m end\n", "host esx01 nodes=2 cores=18 memory=256GB\n", "host esx01: the ESXi release is unknown: give its shape with --assume-host 'nodes=2 cores=18 memory=1024GB release=7.0U3'", nil},
		{"assumed without nodes", night + "5m end\n", "", "host esx01: the NUMA nodes are unknown: give its shape with --assume-host 'nodes=2 cores=18 memory=1024GB release=7.0U3'", &numa.Host{At: "--assume-host", Release: numa.ReadAt(numa.ESXi70, "")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := replay.Options{Unstated: unstated, Assume: tt.assume}
			if tt.fleet != "" {
				o.Fleet = fleetOf(t, tt.fleet)
			}
			res, err := replay.Run(context.Background(), record(t, tt.capture), o)
			if err == nil || err.Error() != tt.want {
				t.Errorf("Run = %v, %v\nwant %s", res, err, tt.want)
			}
		})
	}
	if _, err := replay.Run(context.Background(), &replay.Recorder{}, replay.Options{}); err == nil || err.Error() != "found no tick" {
		t.Errorf("Run without a tick = %v", err)
	}
}

// TestNotes checks what is said of what the capture or the inventory does not tell.
func TestNotes(t *testing.T) {
	for _, tt := range []struct {
		name, capture, fleet string
		want                 []string
	}{
		{"all is known", night + "5m end\n", inventory, []string{
			"no active memory (Touched MBytes) of 2 VMs: the share that stories assume is taken",
		}},
		{"a VM is not in the inventory", night + "vm new gid=3 vcpus=2 memory=4GB homes=1 local=4GB remote=0 ready=0% used=1% active=1GB\n5m end\n", inventory, []string{
			"VM new: it is not in the inventory: its settings are assumed to be the defaults",
			"no active memory (Touched MBytes) of 2 VMs: the share that stories assume is taken",
		}},
		{"other vCPUs", "host esx01\nnode 0 memory=128GB free=70GB\nnode 1 memory=128GB free=80GB\nvm db01 gid=1 vcpus=4 memory=32GB homes=0 local=30GB remote=0 active=1GB\n5m end\n", inventory, []string{
			"VM db01: 4 vCPUs in the capture, 8 in the inventory: its settings are assumed to be the defaults",
			"no CPU time (% Used, % Run) of 1 VM: the load that stories assume is taken",
			"no % Ready of 1 VM: they are taken to ask for what they got",
			"not compared: ready, which the capture does not state",
		}},
		{"the vCPUs are unknown", night + "vm odd gid=3 homes=1 local=4GB remote=0\n5m end\n", inventory, []string{
			"VM odd: it is not in the inventory: its settings are assumed to be the defaults; the capture does not say how many vCPUs it has: it is left out",
			"no active memory (Touched MBytes) of 2 VMs: the share that stories assume is taken",
		}},
		{"comes and goes", night + "1m vm db02 off\n3m vm db02 on gid=9\n4m vm db02 off\n5m end\n", inventory, []string{
			"VM db02: it is gone and comes again at 2026-11-03 01:02:40: taken as powered off and on",
			"VM db02: it is gone after 2026-11-03 01:03:40: taken as powered off; it may have left by vMotion",
			"no active memory (Touched MBytes) of 2 VMs: the share that stories assume is taken",
			"memory that is of no VM was up to 20 GB more than at the start, at 2026-11-03 01:01:00: the story keeps what it was at the start",
		}},
		{"other memory", night + "5m end\n", "release 7.0U3\nhost esx01 nodes=2 cores=18 memory=512GB\nvm db01 host=esx01 vcpus=8 memory=32GB\nvm db02 host=esx01 vcpus=8 memory=32GB\n", []string{
			"node 0: 128 GB in the capture, 256 GB in the inventory: that of the capture is taken",
			"node 1: 128 GB in the capture, 256 GB in the inventory: that of the capture is taken",
			"no active memory (Touched MBytes) of 2 VMs: the share that stories assume is taken",
		}},
		{"more than is in use", night + "vm big gid=3 vcpus=8 memory=64GB homes=0 local=60GB remote=0 used=1% ready=0% active=1GB\n5m end\n", inventory + "vm big host=esx01 vcpus=8 memory=64GB\n", []string{
			"node 0: its VMs have 32 GB more than is in use there (pages that are shared count for each of them; where the memory of VMs on several nodes is may not be stated): it is taken to have so much more memory",
			"no active memory (Touched MBytes) of 2 VMs: the share that stories assume is taken",
		}},
		{"memory is given back", night + "2m vm db01 local=10GB\n5m end\n", inventory, []string{
			"no active memory (Touched MBytes) of 2 VMs: the share that stories assume is taken",
			"memory that is of no VM was up to 20 GB more than at the start, at 2026-11-03 01:02:00: the story keeps what it was at the start",
			"VM db01: it gave back up to 20 GB, which the model does not do",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := replay.Run(context.Background(), record(t, tt.capture), replay.Options{Fleet: fleetOf(t, tt.fleet), Unstated: unstated})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range res.Notes {
				if n.At != "esx01" {
					t.Errorf("note at %q", n.At)
				}
				got = append(got, n.Text)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("notes\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

// TestAssumed checks that a shape that is assumed does where there is no inventory.
func TestAssumed(t *testing.T) {
	shape := fleetOf(t, "host assumed nodes=2 cores=18 memory=256GB release=7.0U3\n").Hosts[0]
	shape.At = "--assume-host"
	res, err := replay.Run(context.Background(), record(t, night+"5m end\n"), replay.Options{Assume: &shape, Unstated: unstated})
	if err != nil {
		t.Fatal(err)
	}
	if e := &res.Totals[replay.NHN]; e.Compared != 30 || e.Missed != 0 || res.Notes[0].Text != "the shape of the host is assumed, as --assume-host says" {
		t.Errorf("%+v, notes %v", e, res.Notes)
	}
}

// TestOrder checks that ticks that are not after the one before are left out, and that a
// gap and ticks without the full state are said.
func TestOrder(t *testing.T) {
	r := &replay.Recorder{}
	at := time.Date(2026, 11, 3, 1, 0, 0, 0, time.UTC)
	tick := func(after time.Duration, has numa.Counters) {
		r.Add(&numa.Tick{Host: "esx01", Time: at.Add(after), Nodes: []numa.NodeTick{{ID: 0, Has: has, Free: 100 * numa.GiB}, {ID: 1, Has: has, Free: 100 * numa.GiB}},
			VMs: []numa.VMTick{{GID: 1, Name: "db01", VCPUs: 8, Has: numa.HasHomes | numa.HasMemory | numa.HasActive | numa.HasRun | numa.HasReady, Homes: 1, Local: numa.GiB}}})
	}
	tick(0, 0)
	tick(20*time.Second, numa.HasFree)
	tick(40*time.Second, numa.HasFree)
	tick(30*time.Second, numa.HasFree)
	tick(time.Hour, numa.HasFree)
	res, err := replay.Run(context.Background(), r, replay.Options{Fleet: fleetOf(t, inventory)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range res.Notes {
		got = append(got, n.Text)
	}
	want := []string{
		"1 tick before the first with the full state was left out: it does not show the free memory of NUMA nodes",
		"1 tick was left out: it is not after the tick before; give files in the order of time",
		"1 gap in the capture, the longest of 59m20s: VMs are taken to have run on as before",
		"not compared: NMIG, which the capture does not state",
	}
	if !slices.Equal(got, want) || res.Moments != 2 || !res.Start.Equal(at.Add(20*time.Second)) || res.End.Sub(res.Start) != 59*time.Minute+40*time.Second {
		t.Errorf("%d moments from %s, notes\n%q\nwant\n%q", res.Moments, res.Start, got, want)
	}
	defer func() {
		if got := recover(); got != "replay: a tick of esx02 for the Recorder of esx01" {
			t.Errorf("a tick of another host: %v", got)
		}
	}()
	r.Add(&numa.Tick{Host: "esx02", Time: at})
	t.Error(errors.New("want a panic"))
}
