package optimise

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

func fleet(t *testing.T, text string) *numa.Fleet {
	t.Helper()
	return given.Fleet(t, "test", []byte(text))
}

const small2 = `release 7.0 U3
cluster c
host a nodes=2 cores=10 memory=256GB cpu="Intel Xeon"
host b nodes=2 cores=10 memory=256GB cpu="Xeon Gold 6126"
host c nodes=4 cores=8 memory=256GB cpu="EPYC 7543"
host d nodes=2 cores=10 memory=256GB maintenance=yes
vm db  host=a vcpus=16 memory=64GB hotAdd=on
vm app host=a vcpus=4 memory=16GB
vm big host=b vcpus=8 memory=200GB
vm pin host=b vcpus=2 memory=8GB cpuAffinity=0-3
vm aff host=b vcpus=2 memory=8GB numa.nodeAffinity=1
vm new host=a vcpus=2 memory=8GB hw=21
vm amd host=c vcpus=2 memory=8GB
vm off host=a vcpus=2 memory=8GB power=off
cluster other
host e nodes=2 cores=10 memory=256GB
vm far host=e vcpus=2 memory=8GB
`

// TestFromFleet checks what becomes of the facts of a fleet.
func TestFromFleet(t *testing.T) {
	f := fleet(t, strings.Replace(small2, "hw=21", "hw=17", 1))
	for i := range f.Clusters {
		f.Clusters[i].Apart = []numa.Group{{Name: "by DRS", VMs: []string{"big", "off", "pin"}}, {Name: "one runs", VMs: []string{"big", "off"}}}
	}
	p, notes, err := FromFleet(t.Context(), f, "c", nil, Constraints{MemoryPercent: 150, VCPUsPerCore: 2.5, Apart: [][]string{{"db", "APP", "off"}}, Together: [][]string{{"app", "new"}}, Stay: []string{"amd"}, NPlus1: true})
	if err != nil {
		t.Fatal(err)
	}
	var hosts, vms []string
	for _, h := range p.Hosts {
		hosts = append(hosts, fmt.Sprintf("%s %d nodes %d MB %d vCPUs closed=%v kind=%d", h.Name, len(h.Nodes), h.Memory, h.VCPUs, h.Closed, h.Kind))
	}
	wantHosts := []string{"a 2 nodes 388365 MB 50 vCPUs closed=false kind=0", "b 2 nodes 388365 MB 50 vCPUs closed=false kind=0",
		"c 4 nodes 388365 MB 80 vCPUs closed=false kind=1", "d 2 nodes 388365 MB 50 vCPUs closed=true kind=0"}
	if !reflect.DeepEqual(hosts, wantHosts) {
		t.Errorf("hosts %q; want %q", hosts, wantHosts)
	}
	for _, v := range p.VMs {
		vms = append(vms, fmt.Sprintf("%s on %d of %v, %d MB, demand %d (%s)", v.Name, v.Host, v.Allowed, v.Memory, v.Demand, v.Origin))
	}
	const busy = " (assumed: every vCPU is busy)"
	wantVMs := []string{"db on 0 of [0 1], 65536 MB, demand 10000" + busy, "app on 0 of [0 1], 16384 MB, demand 10000" + busy, "big on 1 of [0 1], 204800 MB, demand 10000" + busy,
		"pin on 1 of [1], 8192 MB, demand 10000" + busy, "aff on 1 of [0 1], 8192 MB, demand 10000" + busy, "new on 0 of [0 1], 8192 MB, demand 10000" + busy, "amd on 2 of [2], 8192 MB, demand 10000" + busy}
	if !reflect.DeepEqual(vms, wantVMs) {
		t.Errorf("VMs %q; want %q", vms, wantVMs)
	}
	if !reflect.DeepEqual(p.Apart, [][]int{{0, 1}, {2, 3}}) || !reflect.DeepEqual(p.Together, [][]int{{1, 5}}) || !p.NPlus1 {
		t.Errorf("apart %v, together %v, N+1 %v", p.Apart, p.Together, p.NPlus1)
	}
	if want := (Fit{OK: true, Clients: []int{2}, Far: 4096}); !reflect.DeepEqual(p.VMs[3].Shapes[0].Fits[0], want) || len(p.VMs[3].Shapes) != 1 {
		t.Errorf("pinned VM: %+v; want %+v alone", p.VMs[3].Shapes, want)
	}
	if got := p.VMs[4].Shapes[0].Nodes; got != numa.SetOf(1) {
		t.Errorf("VM with node affinity: nodes %s", got)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0].Text, "datastores, networks") {
		t.Errorf("notes %v", notes)
	}
}

// TestReserve checks what a node keeps free: its half of minFree, or 13009 MB on the host of the experiment (C-15),
// of two nodes of 132000 MB.
func TestReserve(t *testing.T) {
	f := fleet(t, "release 6.0\nhost a nodes=2 cores=10 memory=264000MB\nvm x host=a vcpus=2 memory=8GB")
	for reserve, want := range map[float64]int64{0: 132000 - 1627, 1: 132000 - 13010, 0.5: 132000 - 6505, 20: 0} {
		p, _, err := FromFleet(t.Context(), f, "a", nil, Constraints{Reserve: reserve})
		if err != nil {
			t.Fatal(err)
		}
		if h := p.Hosts[0]; h.Nodes[1].Memory != want || h.Memory != 264000-3253 {
			t.Errorf("reserve %g: node of %d MB, host of %d; want %d, all but minFree", reserve, h.Nodes[1].Memory, h.Memory, want)
		}
	}
}

// TestAllowed checks which hosts take a VM: by hardware version (7.0 U2 runs 19, 6.7 runs
// 14) and logical CPUs.
func TestAllowed(t *testing.T) {
	const hosts = "release 7.0 U2\ncluster c\nhost a nodes=2 cores=10 memory=128GB\nhost old nodes=2 cores=10 memory=128GB release=6.7\nhost small nodes=2 cores=4 memory=128GB ht=on\n"
	for _, tt := range []struct {
		vm   string
		want []int
	}{
		{"vcpus=16 hw=14", []int{0, 1, 2}},
		{"vcpus=16 hw=19", []int{0, 2}},
		{"vcpus=17 hw=14", []int{0, 1}},
	} {
		p, _, err := FromFleet(t.Context(), fleet(t, hosts+"vm x host=a memory=8GB "+tt.vm), "c", nil, Constraints{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.VMs[0].Allowed; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: hosts %v; want %v", tt.vm, got, tt.want)
		}
	}
}

// TestShapes checks the candidates of a VM: interleaved for CPU hot add (C-13), without it,
// and by hand.
func TestShapes(t *testing.T) {
	text := "release 7.0 U3\ncluster c\nhost a nodes=2 cores=10 memory=128GB\nhost b nodes=4 cores=6 memory=256GB\n"
	for _, tt := range []struct {
		name, vm string
		c        Constraints
		want     []string
	}{
		// It fits a node of each host: it is not divided.
		{"narrow", "vcpus=2 memory=8GB", Constraints{}, []string{"as it is: 2, 2"}},
		{"narrow, shapes kept", "vcpus=2 memory=8GB", Constraints{KeepShapes: true}, []string{"as it is: 2, 2"}},
		{"it has an affinity", "vcpus=2 memory=8GB numa.nodeAffinity=1", Constraints{}, []string{"as it is on 1: 2, 2"}},
		{"under Fault Tolerance", "vcpus=18 memory=64GB hotAdd=on ft=primary", Constraints{}, []string{"as it is: 9+9 (32768 MB far), 6+6+6 (43691 MB far)"}},
		// With hot add half of 64 GB is far on two nodes, and two thirds on three of six cores.
		{"hot add", "vcpus=18 memory=64GB hotAdd=on", Constraints{}, []string{
			"as it is: 9+9 (32768 MB far), 6+6+6 (43691 MB far)",
			"no hot add, 2 sockets of 9: 9+9, 6+6+6",
			"no hot add, 3 sockets of 6: 12+6, 6+6+6", "no hot add, 2 sockets of 9, by hand 9: 9+9, 6+6+6 (32768 MB far)", "no hot add, 3 sockets of 6, by hand 6: 6+6+6, 6+6+6",
		}},
		// What the guest saw on a stays on b: a virtual node of 9 over two clients (D-1).
		{"wide", "vcpus=18 memory=64GB coresPerSocket=9 hotAdd=off", Constraints{}, []string{
			"as it is: 9+9, 6+6+6 (32768 MB far)", "6 sockets of 3: 9+9, 6+6+6", "3 sockets of 6: 12+6, 6+6+6", "3 sockets of 6, by hand 6: 6+6+6, 6+6+6"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _, err := FromFleet(t.Context(), fleet(t, text+"vm x host=a "+tt.vm), "", nil, tt.c)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range p.VMs[0].Shapes {
				got = append(got, inWords(p.VMs[0].VCPUs, &s))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%q; want %q", got, tt.want)
			}
		})
	}
}

// inWords writes a shape as its edit, its nodes and its clients on each kind of host.
func inWords(vcpus int, s *Shape) string {
	var edit, fits []string
	if s.Edit == (plan.Edit{}) {
		edit = append(edit, "as it is")
	}
	if s.Edit.HotAddOff {
		edit = append(edit, "no hot add")
	}
	if n := s.Edit.Shape.CoresPerSocket; n > 0 {
		edit = append(edit, fmt.Sprintf("%d sockets of %d", vcpus/n, n))
	}
	if s.Edit.PerNode > 0 {
		edit = append(edit, fmt.Sprintf("by hand %d", s.Edit.PerNode))
	}
	on := ""
	if s.Nodes != 0 {
		on = " on " + s.Nodes.String()
	}
	for _, f := range s.Fits {
		text := strings.ReplaceAll(strings.Trim(fmt.Sprint(f.Clients), "[]"), " ", "+")
		if f.Far > 0 {
			text += fmt.Sprintf(" (%d MB far)", f.Far)
		}
		fits = append(fits, text)
	}
	return strings.Join(edit, ", ") + on + ": " + strings.Join(fits, ", ")
}

// TestDemand checks that what is no share is said and taken as busy.
func TestDemand(t *testing.T) {
	f := fleet(t, "release 7.0\nhost a nodes=2 cores=10 memory=128GB\nvm x host=a vcpus=2 memory=8GB")
	for _, tt := range []struct {
		share float64
		want  int64
		note  string
	}{
		{0.12345, 1235, ""}, {0, 0, ""}, {1, 10000, ""},
		{1.5, 10000, "VM x: found a demand of 1.5, want a share from 0 to 1: every vCPU is taken as busy"},
		{-1, 10000, "VM x: found a demand of -1, want a share from 0 to 1: every vCPU is taken as busy"},
		{math.NaN(), 10000, "VM x: found a demand of NaN, want a share from 0 to 1: every vCPU is taken as busy"},
	} {
		p, notes, err := FromFleet(t.Context(), f, "a", func(*numa.VM) (float64, numa.Origin) {
			return tt.share, numa.Origin{Kind: numa.Derived, Where: "capture"}
		}, Constraints{})
		if err != nil {
			t.Fatal(err)
		}
		note, origin := "", "derived: capture"
		if tt.note != "" {
			origin = "assumed: every vCPU is busy"
		}
		if len(notes) > 1 {
			note = notes[0].Text
		}
		if v := p.VMs[0]; v.Demand != tt.want || note != tt.note || v.Origin.String() != origin {
			t.Errorf("share %g: demand %d (%s), note %q; want %d (%s), %q", tt.share, v.Demand, v.Origin, note, tt.want, origin, tt.note)
		}
	}
}

// TestErrors checks what cannot be made a problem, and what is left out.
func TestErrors(t *testing.T) {
	const two = "release 7.0\ncluster prod\nhost a nodes=2 cores=10 memory=128GB\nvm x1 host=a vcpus=2 memory=8GB\nvm x2 host=a vcpus=2 memory=8GB\ncluster test\nhost b nodes=2 cores=10\nvm y host=b vcpus=2 memory=8GB\ncluster empty\n"
	for _, tt := range []struct {
		name, cluster string
		c             Constraints
		want          string
	}{
		{"no name", "", Constraints{}, "found 3 clusters, want the name of one: prod, test, empty"},
		{"misspelt", "prd", Constraints{}, `no cluster and no standalone host "prd"; alike: prod`},
		{"a host of a cluster", "a", Constraints{}, `no cluster and no standalone host "a"; known: empty, prod, test`},
		{"no hosts", "empty", Constraints{}, "cluster empty has no hosts"},
		{"nothing predicted", "test", Constraints{}, "test: no running VM of a predicted host"},
		{"no such VM", "prod", Constraints{Apart: [][]string{{"x1", "x3"}}}, `no VM "x3"; alike: x1, x2`},
		{"no such VM to stay", "prod", Constraints{Stay: []string{"z"}}, `no VM "z"; known: x1, x2, y`},
		{"both", "prod", Constraints{Apart: [][]string{{"x1", "x2"}}, Together: [][]string{{"x2", "x1"}}}, `VMs "x1" and "x2" are to stay together and apart`},
		{"twice together", "prod", Constraints{Together: [][]string{{"x1", "x2"}, {"x2", "x1"}}}, `VM "x2": found in two groups that stay together, want one`},
		{"negative", "prod", Constraints{MemoryPercent: -1}, "found -1 % of memory, 0 vCPUs per core and 0 reserves, want no negative number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := FromFleet(t.Context(), fleet(t, two), tt.cluster, nil, tt.c)
			if err == nil || err.Error() != tt.want {
				t.Errorf("%v; want %s", err, tt.want)
			}
		})
	}
	_, notes, _ := FromFleet(t.Context(), fleet(t, two), "test", nil, Constraints{})
	if len(notes) != 1 || notes[0].Text != "host b: the memory of its NUMA nodes is unknown: it is left out with its VMs" {
		t.Errorf("notes %v", notes)
	}
	p := &Problem{Hosts: []Host{esx("a", 1, 4, 100)}, VMs: []VM{busy("x", 0, 4, 10, 1)}}
	p.VMs[0].Shapes[0].Fits[0].Clients = []int{3}
	if _, err := Solve(t.Context(), p, Options{}); err == nil || err.Error() != `VM "x": shape 0 has clients of 3 vCPUs, want 4` {
		t.Errorf("%v", err)
	}
}

// TestDemo pins what is proposed for the demo's clusters at a third of their peak.
func TestDemo(t *testing.T) {
	f := given.Demo(t)
	for _, tt := range []struct {
		cluster       string
		before, after string
		steps, bound  int64
	}{
		{"prod-a", "1258.2 GB remote, 1312 GB far, 52.50 cores short, total 3681911, constraints broken by 688001", "30.5 GB remote, 0 B far, 69.90 cores short, total 1490692", 49, 1095056},
		{"mixed", "8.1 GB remote, 264 GB far, 0.00 cores short, total 278671, constraints broken by 4381", "0 B remote, 0 B far, 0.00 cores short, total 3072", 12, 3072},
		{"epyc", "8.1 GB remote, 700 GB far, 5.60 cores short, total 837125", "0 B remote, 0 B far, 0.00 cores short, total 9472", 7, 8576},
	} {
		p, _, err := FromFleet(t.Context(), f, tt.cluster, func(*numa.VM) (float64, numa.Origin) { return 0.3, numa.Origin{Kind: numa.Assumed} }, Constraints{NPlus1: true})
		if err != nil {
			t.Fatal(err)
		}
		got := solve(t, p, Options{})
		if got.Before.String() != tt.before || got.After.String() != tt.after || int64(len(got.Steps)) != tt.steps || got.Bound.Total != tt.bound {
			t.Errorf("%s: %q, %q, %d, %d", tt.cluster, got.Before, got.After, len(got.Steps), got.Bound.Total)
		}
	}
}

// TestEVC checks what is said of processor generations, which decide where a VM may move.
func TestEVC(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"", "", "networks, processor generations (EVC) and devices"},
		{" evc=none", " evc=none", "networks, processor generations (EVC) and devices"},
		{" evc=intel-skylake", " evc=intel-skylake", "networks and devices"},
		{" evc=intel-skylake", " evc=intel-cascadelake", "networks, processor generations (EVC modes: intel-cascadelake, intel-skylake) and devices"},
		{" evc=intel-skylake", "", "networks, processor generations (EVC modes: intel-skylake, unknown) and devices"},
	} {
		f := fleet(t, "release 8.0\ncluster c\nhost a nodes=2 cores=10 memory=256GB"+tt.a+"\nhost b nodes=2 cores=10 memory=256GB"+tt.b+"\nvm v host=a vcpus=2 memory=8GB\n")
		_, notes, err := FromFleet(t.Context(), f, "c", nil, Constraints{})
		if err != nil {
			t.Fatal(err)
		}
		if got := notes[len(notes)-1].Text; !strings.Contains(got, tt.want) {
			t.Errorf("%q, %q: %s; want %s", tt.a, tt.b, got, tt.want)
		}
	}
}
