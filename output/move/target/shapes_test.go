package target

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario/given"
)

type shape struct {
	name     string
	host, vm string // words of a scenario
	nodes    []int  // vCPUs of each
	topo     string
	placed   bool // golden files have it on hosts too
}

// shapes are the VMs that are exported: the words of a scenario, and what the guest is to see. Memory is small, so that guests
// can be booted with it.
var shapes = []shape{
	{"2x12", "nodes=2 cores=16 memory=64GB", "vcpus=24 coresPerSocket=12 memory=2GB", []int{12, 12}, "2 sockets of 12 cores", true},
	{"5+5", "nodes=2 cores=8 memory=64GB", "vcpus=10 memory=1GB hw=20", []int{5, 5}, "2 sockets of 5 cores", false},
	{"5+4", "nodes=2 cores=8 memory=64GB", "vcpus=9 memory=1152MB", []int{5, 4}, "9 sockets of 1 core", false},
	{"4+4+2", "nodes=4 cores=8 memory=64GB", "vcpus=10 memory=1280MB numa.vcpu.maxPerVirtualNode=4\nseen vm by=vmware.log nodes=4+4+2", []int{4, 4, 2}, "5 sockets of 2 cores", false},
	{"24 sockets", "nodes=2 cores=16 memory=64GB", "vcpus=24 coresPerSocket=1 memory=2GB", []int{12, 12}, "2 sockets of 12 cores", false},
	{"dies", "nodes=2 cores=8 memory=64GB", "vcpus=16 coresPerSocket=16 memory=1GB", []int{8, 8}, "1 socket of 2 dies of 8 cores", false},
	{"flat", "nodes=2 cores=16 memory=64GB", "vcpus=8 coresPerSocket=8 memory=1GB", []int{8}, "1 socket of 8 cores", true},
	{"8x16", "nodes=8 cores=16 memory=512GB", "vcpus=128 coresPerSocket=16 memory=2GB firmware=efi iommu=on", []int{16, 16, 16, 16, 16, 16, 16, 16}, "8 sockets of 16 cores", false},
	{"9 nodes", "nodes=10 cores=2 memory=64GB", "vcpus=18 coresPerSocket=2 memory=2304MB", []int{2, 2, 2, 2, 2, 2, 2, 2, 2}, "9 sockets of 2 cores", false},
	{"odd memory", "nodes=2 cores=8 memory=64GB", "vcpus=12 coresPerSocket=6 memory=1023MB", []int{6, 6}, "2 sockets of 6 cores", false},
	{"hot add", "nodes=2 cores=16 memory=64GB", "vcpus=10 coresPerSocket=5 memory=1GB hotAdd=on cpuid.maxVCPUs=20", []int{20}, "4 sockets of 5 cores", false},
	{"pages", "nodes=2 cores=8 memory=64GB", "vcpus=16 coresPerSocket=8 memory=4GB latency=high reserveAll=on sched.mem.lpage.enable1GPage=TRUE cpuReservation=40000", []int{8, 8}, "2 sockets of 8 cores", true},
	{"latency", "nodes=2 cores=8 memory=64GB", "vcpus=16 coresPerSocket=8 memory=1GB latency=high reserveAll=on cpuReservation=40000", []int{8, 8}, "2 sockets of 8 cores", true},
	{"threads", "nodes=2 cores=8 memory=64GB", "vcpus=16 coresPerSocket=8 memory=1GB hw=20 virtualThreads=2", []int{8, 8}, "2 sockets of 4 cores of 2 threads", false},
	{"8 nodes", "nodes=8 cores=2 memory=64GB", "vcpus=16 coresPerSocket=2 memory=1536MB", []int{2, 2, 2, 2, 2, 2, 2, 2}, "8 sockets of 2 cores", false},
}

// vmOf returns the VM of a scenario of one host and one VM, as rules judge it.
func vmOf(t testing.TB, host, words string) *rule.VM {
	t.Helper()
	f := given.Fleet(t, "shape", []byte("release 8.0U3\nhost esx01 mhz=2500 "+host+"\nvm vm host=esx01 "+words+"\n"))
	r := rules.Run(f, rules.Options{})
	for v := range r.EachVM() {
		return v
	}
	t.Fatalf("no VM is judged: %v", r.Unjudged)
	return nil
}

// moved returns the move of a shape of the list to a platform.
func moved(t testing.TB, name, to string, o move.Options) *move.Move {
	t.Helper()
	i := slices.IndexFunc(shapes, func(s shape) bool { return s.name == name })
	m := move.Make(vmOf(t, shapes[i].host, shapes[i].vm), move.PlatformOf(to), o)
	m.Name = strings.NewReplacer(" ", "-", "+", "-").Replace("vm-" + name)
	return m
}

// TestShapes checks that the guest is to see what it sees on vSphere.
func TestShapes(t *testing.T) {
	for _, tt := range shapes {
		t.Run(tt.name, func(t *testing.T) {
			m := moved(t, tt.name, "libvirt", move.Options{})
			if m.Refused != nil {
				t.Fatalf("refused: %q", m.Refused)
			}
			if got := m.Shape.Sizes(); !slices.Equal(got, tt.nodes) {
				t.Errorf("nodes %v, want %v", got, tt.nodes)
			}
			if got := m.Shape.Topology(); got != tt.topo {
				t.Errorf("topology %q, want %q", got, tt.topo)
			}
			if faults := move.Check(m.Shape, nil, true); faults != nil {
				t.Errorf("faults %v", faults)
			}
		})
	}
}
