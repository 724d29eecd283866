package move

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// judged returns the VMs of a scenario as rules judge them.
func judged(t *testing.T, text string) *rules.Result {
	t.Helper()
	return rules.Run(given.Fleet(t, "scenario", []byte(text)), rules.Options{})
}

func vm(t *testing.T, text string) *rule.VM {
	t.Helper()
	for _, c := range judged(t, text).Clusters {
		for _, v := range c.VMs {
			return v
		}
	}
	t.Fatal("no VM is judged")
	return nil
}

// host begins the scenarios.
const host = "release 8.0U3\ncluster c\nhost esx01 nodes=2 cores=16 memory=512GB mhz=2500\n"

// TestLost checks for every loss that it is told of a VM that has it, and of no other VM.
func TestLost(t *testing.T) {
	const always, home = "balance by the NUMA scheduler", "home node"
	for _, tt := range []struct {
		name, vm string
		want     []string // beside home
	}{
		{"nothing of its own", "vcpus=24 coresPerSocket=12 memory=64GB", []string{always}},
		{"affinity", "vcpus=8 coresPerSocket=8 memory=64GB cpuAffinity=0-7 memoryAffinity=0", []string{"CPU affinity", "memory affinity"}},
		{"node affinity", "vcpus=8 coresPerSocket=8 memory=64GB numa.nodeAffinity=0", []string{always, "node affinity"}},
		{"hot add, and so one node on two clients", "vcpus=24 coresPerSocket=12 memory=64GB hotAdd=on", []string{"CPU hot add", always}},
		{"memory hot add", "vcpus=8 coresPerSocket=8 memory=64GB memoryHotAdd=on", []string{always, "memory hot add"}},
		{"sized at each power-on", "vcpus=24 coresPerSocket=12 memory=64GB numa.autosize.once=FALSE", []string{always, "sizing at each power-on"}},
		{"preferHT", "vcpus=24 coresPerSocket=24 memory=64GB numa.vcpu.preferHT=TRUE", []string{always, "preferHT"}},
		{"reservations", "vcpus=8 coresPerSocket=8 memory=64GB cpuReservation=1000 cpuLimit=2000 memoryReservation=1GB", []string{always, "CPU reservation", "CPU limit", "memory reservation"}},
		{"a memory limit", "vcpus=8 coresPerSocket=8 memory=64GB memoryLimit=32GB", []string{always, "memory limit"}},
		{"all memory reserved", "vcpus=8 coresPerSocket=8 memory=64GB reserveAll=on", []string{always, "memory reservation"}},
		{"latency sensitivity", "vcpus=8 coresPerSocket=8 memory=64GB latency=high reserveAll=on cpuReservation=20000", []string{"a CPU for each vCPU", always, "CPU reservation", "memory reservation"}},
		{"Fault Tolerance", "vcpus=8 coresPerSocket=8 memory=64GB ft=primary", []string{always, "memory reservation", "Fault Tolerance"}},
		{"keys", "vcpus=8 coresPerSocket=8 memory=64GB ft=off encrypted=on tpm=on", []string{always, "VM encryption", "virtual TPM"}},
		{"a device", "vcpus=8 coresPerSocket=8 memory=64GB reserveAll=on pci=3b:00.0", []string{always, "memory reservation", "PCI device"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Make(vm(t, host+"vm vm host=esx01 "+tt.vm+"\n"), PlatformOf("libvirt"), Options{})
			var got []string
			for _, i := range m.Of(Lost) {
				if i.What != home {
					got = append(got, i.What)
				}
				if i.On == "" || i.Why == "" {
					t.Errorf("%s says not what it was, or why: %+v", i.What, i)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("lost %q, want %q; refused: %q", got, tt.want, m.Refused)
			}
		})
	}
	kept := Make(vm(t, host+"vm vm host=esx01 vcpus=24 coresPerSocket=12 memory=64GB hotAdd=on\n"), PlatformOf("libvirt"), Options{Shape: Same})
	if lost := kept.Of(Lost); len(kept.Shape.Cells) != 1 || !slices.ContainsFunc(lost, func(i Item) bool { return i.What == "a node carried by several clients" }) {
		t.Errorf("%d cells, lost %+v", len(kept.Shape.Cells), lost)
	}
	other := "host esx02 nodes=4 cores=8 memory=512GB\n"
	m := Make(vm(t, host+other+"vm vm host=esx01 vcpus=24 coresPerSocket=1 memory=64GB hw=20\n"), PlatformOf("libvirt"), Options{})
	if lost := m.Of(Lost); !slices.ContainsFunc(lost, func(i Item) bool { return i.What == "sizing for each host" && strings.Contains(i.On, "esx02") }) {
		t.Errorf("other nodes on esx02 are not told: %+v", lost)
	}
	other = "host esx02 nodes=2 cores=16 memory=512GB evc=intel-skylake\n"
	m = Make(vm(t, host+other+"vm vm host=esx02 vcpus=8 coresPerSocket=8 memory=64GB\n"), PlatformOf("libvirt"), Options{})
	if lost := m.Of(Lost); !slices.ContainsFunc(lost, func(i Item) bool { return i.What == "EVC" }) {
		t.Errorf("EVC is not told: %+v", lost)
	}
}

// TestSeen checks that what runs counts, not what is predicted.
func TestSeen(t *testing.T) {
	const words = "vm vm host=esx01 vcpus=24 coresPerSocket=12 memory=64GB\n"
	for _, tt := range []struct {
		name, seen, nodes, basis string
	}{
		{"not seen", "", "2 × 12", "predicted for esx01"},
		{"as predicted", "seen vm by=lscpu nodes=12+12\n", "2 × 12", "seen by lscpu (scenario:5)"},
		{"otherwise", "seen vm by=vmware.log nodes=8+8+8\n", "3 × 8", "seen by vmware.log (scenario:5)"},
		{"otherwise, and unevenly", "seen vm by=vmware.log nodes=16+8\n", "16 + 8", "seen by vmware.log (scenario:5)"},
		{"newest counts", "seen vm by=lscpu time=2026-01-01T00:00:00Z nodes=24\nseen vm by=lscpu time=2026-02-01T00:00:00Z nodes=6+6+6+6\n", "4 × 6", "seen by lscpu (scenario:6)"},
		{"the clients alone", "seen vm by=sched-stats clients=12+12\n", "2 × 12", "predicted for esx01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Make(vm(t, host+words+tt.seen), PlatformOf("libvirt"), Options{})
			if m.Shape == nil {
				t.Fatalf("refused: %q", m.Refused)
			}
			if got := nodesText(m.Shape.Sizes()); got != tt.nodes || m.Basis != tt.basis {
				t.Errorf("nodes %s, %s; want %s, %s", got, m.Basis, tt.nodes, tt.basis)
			}
		})
	}
	f, err := scenario.Read("scenario", []byte(host+words))
	if err != nil {
		t.Fatal(err)
	}
	f.VMs[0].Observed = []numa.Observation{{By: numa.ByNumactl, At: "numactl.txt:1", VPDCount: numa.ReadAt(3, "available")}}
	all, err := Fleet(t.Context(), rules.Run(f, rules.Options{}), Platforms[:1], Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := all[0]
	want := "numactl saw 3 nodes, 2 are predicted, and it does not say which vCPUs are in each (numactl.txt:1): give lscpu of the guest, or vmware.log, with --evidence"
	if m.Shape != nil || !slices.Equal(m.Refused, []string{want}) {
		t.Errorf("refused %q, want %q", m.Refused, want)
	}
}

// likeNodes returns a host of like nodes, of so many cores and GB.
func likeNodes(nodes, cores, gb int) *Host {
	return &Host{Name: "h", Nodes: slices.Repeat([]numa.Space{{Cores: cores, Memory: numa.Bytes(gb) * numa.GiB}}, nodes)}
}

// TestFit checks shapes for hosts of the target.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name, vm, shape string
		host            *Host
		nodes, refused  string
	}{
		{"same fits", "vcpus=24 coresPerSocket=12 memory=64GB", Same, likeNodes(2, 16, 256), "2 × 12", ""},
		{"too wide", "vcpus=24 coresPerSocket=12 memory=64GB", Same, likeNodes(4, 8, 256), "", "a node of 12 vCPUs is larger than one of h, which has 8 cores: --shape fit sizes it afresh"},
		{"too much memory", "vcpus=24 coresPerSocket=12 memory=64GB", Same, likeNodes(2, 16, 16), "", "the 32 GB of its node 0 are more than the 16 GB of one of h: --shape fit sizes it afresh"},
		{"too many nodes", "vcpus=24 coresPerSocket=12 memory=64GB", Same, likeNodes(1, 64, 256), "", "its 2 nodes are more than the 1 node of h: --shape fit sizes it afresh"},
		{"fit into one", "vcpus=24 coresPerSocket=12 memory=64GB", Fit, likeNodes(2, 64, 256), "1 of 24 vCPUs", ""},
		{"fit into three", "vcpus=22 coresPerSocket=11 memory=64GB", Fit, likeNodes(4, 8, 256), "8 + 2 × 7", ""},
		{"fit with sockets", "vcpus=28 coresPerSocket=28 memory=64GB", Fit, likeNodes(4, 12, 256), "4 × 7", ""},
		{"no node more", "vcpus=28 coresPerSocket=28 memory=64GB", Fit, likeNodes(3, 12, 256), "10 + 2 × 9", ""},
		{"a vCPU each", "vcpus=3 coresPerSocket=3 memory=64GB", Fit, likeNodes(4, 2, 256), "2 + 1", ""},
		{"fit by memory", "vcpus=8 coresPerSocket=8 memory=200GB", Fit, likeNodes(4, 16, 64), "4 × 2", ""},
		{"fits nowhere", "vcpus=24 coresPerSocket=12 memory=64GB", Fit, likeNodes(2, 8, 256), "", "24 vCPUs and 64 GB are more than equal cells hold on h: 2 nodes of 8 cores and 256 GB"},
		{"one node holds the memory", "vcpus=8 coresPerSocket=8 memory=180GB", Fit, &Host{Name: "h", Nodes: []numa.Space{{Cores: 24, Memory: 240 << 30}, {Cores: 24, Memory: 48 << 30}}}, "1 of 8 vCPUs", ""},
		{"one node holds the vCPUs", "vcpus=24 coresPerSocket=24 memory=64GB", Fit, &Host{Name: "h", Nodes: []numa.Space{{Cores: 8, Memory: 512 << 30}, {Cores: 32, Memory: 512 << 30}}}, "1 of 24 vCPUs", ""},
		{"equal cells on uneven nodes", "vcpus=40 coresPerSocket=20 memory=64GB", Fit, &Host{Name: "h", Nodes: []numa.Space{{Cores: 31, Memory: 240 << 30}, {Cores: 7, Memory: 48 << 30}}}, "", "40 vCPUs and 64 GB are more than equal cells hold on h: 2 nodes of 31 cores and 240 GB, 7 cores and 48 GB"},
		{"the smaller nodes are left", "vcpus=28 coresPerSocket=14 memory=64GB", Fit, &Host{Name: "h", Nodes: []numa.Space{{Cores: 16, Memory: 64 << 30}, {Cores: 8, Memory: 64 << 30}, {Cores: 16, Memory: 64 << 30}}}, "2 × 14", ""},
		{"flat", "vcpus=24 coresPerSocket=12 memory=64GB", Flat, nil, "1 of 24 vCPUs", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Shape: tt.shape}
			if tt.host != nil {
				o.Hosts = []Host{*tt.host}
			}
			m := Make(vm(t, host+"vm vm host=esx01 "+tt.vm+"\n"), PlatformOf("libvirt"), o)
			nodes := ""
			if m.Shape != nil {
				nodes = nodesText(m.Shape.Sizes())
			}
			if refused := strings.Join(m.Refused, "; "); nodes != tt.nodes || refused != tt.refused {
				t.Errorf("nodes %q, refused %q; want %q, %q", nodes, refused, tt.nodes, tt.refused)
			}
		})
	}
}

// TestFits checks which kind of host a VM is sized for: the most frequent one that holds it, and of equally frequent ones the one with the
// fewest cells.
func TestFits(t *testing.T) {
	kind := func(name string, count, cores int) Host {
		h := *likeNodes(2, cores, 256)
		h.Name, h.Count = name, count
		return h
	}
	for _, tt := range []struct {
		name  string
		vcpus int
		kinds []Host
		want  string
		cells int
	}{
		{"most frequent", 24, []Host{kind("big", 1, 32), kind("small", 9, 16)}, "small", 2},
		{"it does not hold it", 40, []Host{kind("small", 9, 16), kind("big", 1, 32)}, "big", 2},
		{"as many of each", 24, []Host{kind("small", 1, 16), kind("big", 1, 32)}, "big", 1},
		{"none", 80, []Host{kind("small", 1, 16), kind("big", 1, 32)}, "", 0},
	} {
		on, cells := fits(tt.vcpus, 64<<30, 0, tt.kinds)
		name := ""
		if on != nil {
			name = on.Name
		}
		if name != tt.want || cells != tt.cells {
			t.Errorf("%s: found %d cells on %q, want %d on %q", tt.name, cells, name, tt.cells, tt.want)
		}
	}
}

// TestUnknown checks that nothing is made of a VM that is not known enough.
func TestUnknown(t *testing.T) {
	for _, tt := range []struct{ vm, want string }{
		{"vcpus=24 memory=?", "its memory is unknown"},
		{"vcpus=200 memory=64GB", "vSphere does not power it on, so that its guest has no topology: homenode explain says why"},
	} {
		m := Make(vm(t, host+"vm vm host=esx01 "+tt.vm+"\n"), PlatformOf("libvirt"), Options{})
		if m.Shape != nil || !slices.Equal(m.Refused, []string{tt.want}) {
			t.Errorf("%s: %q, want %q", tt.vm, m.Refused, tt.want)
		}
	}
}

// TestHidden: nodes that vSphere hides from the guest become its own, unless it is asked for what it has.
func TestHidden(t *testing.T) {
	for _, tt := range []struct{ vm, shape, want string }{
		{"vcpus=24 coresPerSocket=12 memory=64GB hotAdd=on", "", "[12 12]"},
		{"vcpus=24 coresPerSocket=2 memory=64GB hotAdd=on", Clients, "[12 12]"},
		{"vcpus=24 coresPerSocket=24 memory=64GB numa.vcpu.min=30", "", "[12 12]"},
		{"vcpus=24 coresPerSocket=12 memory=64GB hotAdd=on", Same, "[24]"},
		{"vcpus=8 coresPerSocket=4 memory=64GB hotAdd=on", "", "[8]"},
	} {
		m := Make(vm(t, host+"vm vm host=esx01 "+tt.vm+"\n"), PlatformOf("libvirt"), Options{Shape: tt.shape})
		if m.Shape == nil || fmt.Sprint(m.Shape.Sizes()) != tt.want {
			t.Errorf("%s: %v %q, want %s", tt.vm, m.Shape, m.Refused, tt.want)
		}
	}
}

// TestFitSoftware: no shape that is sized afresh has nodes that the software of the guest does not take.
func TestFitSoftware(t *testing.T) {
	const big = "release 8.0U3\nhost esx01 nodes=2 cores=96 memory=2TB\nvm vm host=esx01 vcpus=96 coresPerSocket=48 memory=256GB "
	for _, tt := range []struct {
		vm    string
		nodes int // of the host
		want  string
	}{
		{`product="SQL Server 2022 Enterprise"`, 2, "[48 48]"},
		{`guest="Red Hat Enterprise Linux 9 (64-bit)"`, 2, "[96]"},
		{`guest="Microsoft Windows Server 2022 (64-bit)"`, 2, "[48 48]"}, // SQL Server may run in it
		{`product="SQL Server 2022 Enterprise"`, 1, "refused"},
	} {
		m := Make(vm(t, big+tt.vm+"\n"), PlatformOf("libvirt"), Options{Shape: Fit, Hosts: []Host{*likeNodes(tt.nodes, 128, 2048)}})
		got := "refused"
		if m.Shape != nil {
			got = fmt.Sprint(m.Shape.Sizes())
		}
		if got != tt.want {
			t.Errorf("%s on %d nodes: %s %q, want %s", tt.vm, tt.nodes, got, m.Refused, tt.want)
		}
	}
}
