package fit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

const small = `
release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=512GB
host esx03 nodes=2 cores=18 nodeMemory=256GB,192GB
host esx04 nodes=? cores=36
vm db01  host=esx01 vcpus=24 memory=128GB
vm db02  host=esx02 vcpus=24 memory=128GB
vm app[1-4] host=esx01 vcpus=4 memory=32GB
vm pin01 host=esx03 vcpus=8 memory=64GB cpuAffinity=0-7
vm dark01 host=esx04 vcpus=4 memory=32GB
vm off01 host=esx01 vcpus=4 memory=32GB power=off
vm tmpl host=esx01 vcpus=4 memory=32GB template=on power=off
cluster other
host esx11 nodes=2 cores=8 memory=128GB
vm web01 host=esx11 vcpus=2 memory=8GB
`

func fleetOf(t testing.TB, text string) *numa.Fleet {
	t.Helper()
	return given.Fleet(t, "fleet.txt", []byte(text))
}

func clusterOf(t testing.TB, text, name string) *Cluster {
	t.Helper()
	c, err := Find(fleetOf(t, text), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFind(t *testing.T) {
	c := clusterOf(t, small, "prod")
	var got []string
	for _, ty := range c.Types() {
		got = append(got, fmt.Sprintf("%d of %s", ty.Hosts, ty.Name))
	}
	for _, s := range c.Shapes() {
		got = append(got, fmt.Sprintf("%d of %s: %s", s.Count, s.Name, strings.Join(s.VMs, " ")))
	}
	got = append(got, c.Notes...)
	got = append(got, fmt.Sprintf("%d bound", c.Bound()))
	ratio, failed, _ := c.PerCore()
	got = append(got, fmt.Sprintf("%.4f vCPUs per core, %.4f with a host failed", ratio, failed))
	want := []string{
		"2 of 2x18c/512GB", "1 of 2x18c/448GB uneven",
		"2 of 24x128GB: db01 db02", "1 of 8x64GB: pin01", "5 of 4x32GB: app1 app2 app3 app4 dark01",
		"host esx04: the NUMA nodes are unknown: left out",
		"1 bound",
		fmt.Sprintf("%.4f vCPUs per core, %.4f with a host failed", 72.0/108, 72.0/72), // without dark01, whose host is left out
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, _, ok := (&Cluster{}).PerCore(); ok {
		t.Error("a ratio without any host: want none")
	}
	all := clusterOf(t, small, "all")
	if len(all.VMs) != 9 || len(all.Hosts) != 4 {
		t.Errorf("all: found %d VMs on %d hosts, want 9 on 4", len(all.VMs), len(all.Hosts))
	}
	for name, want := range map[string]string{
		"":     "found 2 clusters, want --cluster all, or one of: prod, other",
		"prud": `found no cluster and no host "prud"; alike: prod`,
	} {
		if _, err := Find(fleetOf(t, small), name); err == nil || err.Error() != want {
			t.Errorf("cluster %q: error %v, want %s", name, err, want)
		}
	}
}

func TestRoom(t *testing.T) {
	c := clusterOf(t, small, "prod")
	o := Options{PerCore: 1, Reserve: 1}
	r, err := c.Room(t.Context(), NewShape(4, 16*numa.GiB), 1, &o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range r.Hosts {
		got = append(got, fmt.Sprintf("%s %s: %d now, %d more, %s", h.Host, h.Type, h.VMs, h.More, h.Binds))
	}
	got = append(got, fmt.Sprintf("%d, %d without %v, %d homeless", r.Total, r.WithFailed, r.Failed, r.Homeless))
	got = append(got, r.Notes...)
	// esx01: nodes of 18 cores with 12 of db01 each and two apps: none left. esx02: 6 left on
	// each. esx03: 8 of pin01 taken from both nodes, 14 left on each. When esx01 is lost
	// db01 goes to esx03, two of the apps to esx02, and two find 2 vCPUs left on each node.
	want := []string{
		"esx01 2x18c/512GB: 5 now, 0 more, cores",
		"esx02 2x18c/512GB: 1 now, 2 more, cores",
		"esx03 2x18c/448GB uneven: 1 now, 6 more, cores",
		"8, 0 without [esx01], 2 homeless",
		"VM pin01 on esx03 has no home node: its vCPUs and memory are taken from all nodes alike",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	o.PerCore, _ = c.Limit()
	o.Overhead = PublishedOverhead
	r, err = c.Room(t.Context(), NewShape(64, 600*numa.GiB), 1, &o)
	if loss := c.Loss(t.Context()); err != nil || loss.Homeless != r.Homeless || !slices.Equal(loss.Failed, r.Failed) {
		t.Errorf("%d homeless without %v, a room says %d without %v, %v", loss.Homeless, loss.Failed, r.Homeless, r.Failed, err)
	}
	if _, err := c.Room(t.Context(), NewShape(4, numa.GiB), 3, &o); err == nil || err.Error() != "found 3 hosts that take VMs, 3 of them spare: want one at least that is not" {
		t.Errorf("all hosts spare: error %v", err)
	}
}

// A VM that is local nowhere restarts where its memory finds room, partly remote.
func TestRoomRestartsLarge(t *testing.T) {
	c := clusterOf(t, "release 8.0\ncluster a\nhost h[1-2] nodes=2 cores=16 memory=512GB\nvm big host=h1 vcpus=8 memory=300GB\n", "a")
	r, err := c.Room(t.Context(), NewShape(4, 50*numa.GiB), 1, &Options{PerCore: 1})
	if err != nil {
		t.Fatal(err)
	}
	// big takes all of one node and 44 GB of the other. Of the VMs three go to the other by
	// load; then it has 12 vCPUs, and the fourth goes to the node of big, which is full. A
	// host without big takes 4 on each node, for its cores.
	if r.Homeless != 0 || r.WithFailed != 3 || r.Total != 11 {
		t.Errorf("found %d, %d with a failure, %d homeless; want 11, 3, 0", r.Total, r.WithFailed, r.Homeless)
	}
}

// A vCPU with latency sensitivity High has a core of its own, however many vCPUs of others may share one: the host of lat has 8 + 16 cores left.
// ESXi places by vCPUs: after 19 more VMs the next goes to the node of lat, which is full.
func TestRoomBesideOwnCores(t *testing.T) {
	const of = "release 8.0\ncluster a\nhost h1 nodes=2 cores=16 memory=1TB mhz=2600\nvm lat host=h1 vcpus=8 memory=64GB reserveAll=on cpuReservation=20800"
	for _, tt := range []struct {
		latency   string
		vms, rest int // of 4 vCPUs, at 4 a core
	}{{"", 30, 120}, {" latency=high", 19, 96}} {
		c := clusterOf(t, of+tt.latency+"\n", "a")
		r, err := c.Room(t.Context(), NewShape(4, 4*numa.GiB), 0, &Options{PerCore: 4})
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Hosts[0].Nodes; r.Total != tt.vms || n[0].RestVCPUs+n[1].RestVCPUs != tt.rest {
			t.Errorf("%q: %d more VMs, %d and %d vCPUs left, want %d, %d in all", tt.latency, r.Total, n[0].RestVCPUs, n[1].RestVCPUs, tt.vms, tt.rest)
		}
	}
}

// The room of a host is what placement.Place makes of its VMs and so many more.
func TestRoomIsPlaced(t *testing.T) {
	c := clusterOf(t, small, "all")
	for _, perCore := range []float64{1, 2, 4} {
		for _, s := range []Shape{NewShape(2, 8*numa.GiB), NewShape(4, 60*numa.GiB), NewShape(12, 16*numa.GiB), NewShape(20, 90*numa.GiB)} {
			o := Options{PerCore: perCore, Reserve: 1, Overhead: PublishedOverhead}
			for _, h := range c.Hosts {
				p, _, err := c.present(h, &o)
				if err != nil {
					t.Fatal(err)
				}
				more := p.free(&s, &o).More
				for extra, want := range []bool{true, false} {
					if got := placedBeside(c, p, s, o, more+extra); got != want {
						t.Errorf("%s, %s at %v: %d more, %d local: found %v, want %v", h.Name, s.Name, perCore, more, more+extra, got, want)
					}
				}
			}
		}
	}
}

// placedBeside reports whether n VMs beside those of the host are local and within the
// vCPUs of their nodes.
func placedBeside(c *Cluster, p *present, s Shape, o Options, n int) bool {
	before := 0
	var requests []placement.Request
	for _, v := range p.vms {
		one := NewShape(v.VCPUs.Value, v.Memory.Value)
		if len(v.CPUAffinity.Value) > 0 {
			continue
		}
		requests = append(requests, p.r.request(&one, &o))
		before++
	}
	as, _ := p.r.setUp(&s, &o)
	for range n {
		requests = append(requests, p.r.request(as, &o))
	}
	placed, _ := placement.Place(&p.r.host, requests)
	for i := range placed {
		load := 0
		for _, cl := range placed[i].Clients {
			load += cl.VCPUs
			if cl.Request >= before && (cl.Remote+cl.Nowhere > 0 || load > p.r.vcpus[i]) {
				return false
			}
		}
	}
	return true
}

func TestToday(t *testing.T) {
	c := clusterOf(t, "release 8.0\ncluster a\nhost h nodes=2 cores=16 memory=256GB\nvm big host=h vcpus=8 memory=200GB\nvm small host=h vcpus=8 memory=16GB\n", "a")
	got, err := c.Today(&Options{PerCore: 1})
	if want := (Today{Hosts: 1, VMs: 1, Memory: 72 * numa.GiB}); err != nil || got != want {
		t.Errorf("found %+v, %v; want %+v", got, err, want)
	}
}

func TestTypeName(t *testing.T) {
	f := fleetOf(t, `release 8.0
host a nodes=2 cores=32 memory=1023GB
host b nodes=4 packages=2 cores=16 memory=1024GB cpu="AMD EPYC 7543 32-Core Processor"
host c nodes=4 packages=2 cores=14 ht=off memory=512GB
host d nodes=1 packages=2 cores=40 memory=768GB
host e nodes=2 cores=18 nodeMemory=512GB,448GB
host f nodes=3 packages=2 cores=8 memory=192GB
`)
	var got []string
	for i := range f.Hosts {
		got = append(got, typeName(&f.Hosts[i]))
	}
	want := []string{"2x32c/1023GB", "2x32c/1TB/nps2", "2x28c/512GB/snc2/noht", "2x20c/768GB/interleaved", "2x18c/960GB uneven", "2x12c/192GB/3 nodes"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestPerCoreMaintenance: a host in maintenance comes back, so that an empty one changes neither the vCPUs per core nor the limit for further VMs; one that
// is not connected does.
func TestPerCoreMaintenance(t *testing.T) {
	limit := func(words string) float64 {
		f, err := scenario.Read("fleet", []byte("release 8.0U3\ncluster c\nhost a[1-2] nodes=2 cores=8 memory=256GB\nhost b nodes=2 cores=8 memory=256GB "+words+"\nvm v[1-20] host=a1 vcpus=8 memory=4GB power=on\n"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Find(f, "c")
		if err != nil {
			t.Fatal(err)
		}
		out, ok := c.Limit()
		if !ok {
			t.Fatal("no limit")
		}
		return out
	}
	if all, kept := limit(""), limit("maintenance=on"); all != 5 || kept != 5 {
		t.Errorf("limits %v, and %v with a host in maintenance; want 5 vCPUs per core", all, kept)
	}
	if gone := limit("connection=notResponding"); gone != 10 {
		t.Errorf("limit %v without a host, want 10", gone)
	}
}
