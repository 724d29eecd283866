package target

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/change/move/pack"
	"example.org/homenode/numa"
	"example.org/homenode/source/guest"
	"example.org/homenode/source/libvirt"
	"example.org/homenode/source/scenario"
)

func capabilities(t *testing.T, in string) *libvirt.Host {
	t.Helper()
	docs, err := libvirt.Read("x", strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	return docs[0].(*libvirt.Host)
}

func TestOfCapabilities(t *testing.T) {
	b, err := os.ReadFile("../../../source/libvirt/testdata/host.xml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := OfCapabilities("kvm01", capabilities(t, string(b)))
	want := pack.Host{Name: "kvm01", Vendor: "AMD", Distance: [][]int{{10, 12}, {12, 10}}, Nodes: []pack.Node{
		{ID: 0, Cores: 2, Threads: 4, CPUs: [][]int{{0, 4}, {1, 5}}, Memory: 64 * numa.GiB, Pages: []numa.Pool{{Size: numa.GiB, Count: 8}}},
		{ID: 2, Memory: 32 * numa.GiB},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, %v\nwant  %+v", got, err, want)
	}
	const cell = "<capabilities><host><topology><cells><cell id='0'>%</cell></cells></topology></host></capabilities>"
	for in, want := range map[string]string{
		"<capabilities><host/></capabilities>":                                        "h: the capabilities state no NUMA nodes",
		strings.Replace(cell, "%", "<cpus><cpu id='3' core_id='0'/></cpus>", 1):       "h: the memory of node 0 is not known: numactl -H states it",
		strings.Replace(cell, "%", "<memory>4</memory><cpus><cpu id='3'/></cpus>", 1): "h: the capabilities state neither core nor siblings of CPU 3: lscpu -e does",
	} {
		if _, err := OfCapabilities("h", capabilities(t, in)); err == nil || err.Error() != want {
			t.Errorf("%s: found %v, want %s", in, err, want)
		}
	}
}

const numactl = `available: 2 nodes (0-1)
node 0 cpus: 0 1 4 5
node 0 size: 65536 MB
node 0 free: 60000 MB
node 1 cpus: 2 3 6 7
node 1 size: 32768 MB
node 1 free: 30000 MB
node distances:
node   0   1
  0:  10  21
  1:  21  10
`

const columns = `CPU NODE SOCKET CORE ONLINE
  0    0      0    0    yes
  1    0      0    1    yes
  2    1      1    2    yes
  3    1      1    3    yes
  4    0      0    0    yes
  5    0      0    1    yes
  6    1      1    2    yes
  7    1      1    3    yes
`

func views(t *testing.T, in string) []*guest.View {
	t.Helper()
	v, err := guest.Read("x", strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOfViews(t *testing.T) {
	want := pack.Host{Name: "h", Distance: [][]int{{10, 21}, {21, 10}}, Nodes: []pack.Node{
		{ID: 0, Cores: 2, Threads: 4, CPUs: [][]int{{0, 4}, {1, 5}}, Memory: 64 * numa.GiB},
		{ID: 1, Cores: 2, Threads: 4, CPUs: [][]int{{2, 6}, {3, 7}}, Memory: 32 * numa.GiB},
	}}
	got, err := OfViews("h", views(t, "$ lscpu -e\n"+columns+"$ numactl -H\n"+numactl))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, %v\nwant  %+v", got, err, want)
	}
	// lscpu alone counts threads and says no core's.
	for i := range want.Nodes {
		want.Nodes[i].CPUs = nil
	}
	plain := "Architecture: x86_64\nCPU(s): 8\nOn-line CPU(s) list: 0-7\nThread(s) per core: 2\nCore(s) per socket: 2\nSocket(s): 2\nNUMA node(s): 2\nNUMA node0 CPU(s): 0,1,4,5\nNUMA node1 CPU(s): 2,3,6,7\n"
	if got, err = OfViews("h", views(t, plain+numactl)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, %v\nwant  %+v", got, err, want)
	}
	for in, want := range map[string]string{
		plain:   "h: no output states the memory of its nodes: numactl -H does",
		numactl: "h: no output states its cores: lscpu does",
	} {
		if _, err := OfViews("h", views(t, in)); err == nil || err.Error() != want {
			t.Errorf("found %v, want %s", err, want)
		}
	}
}

func TestOfHost(t *testing.T) {
	fleet, err := scenario.Read("x", []byte("release 8.0\nhost kvm01 nodes=2 cores=16 threads=32 memory=512GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := OfHost(&fleet.Hosts[0])
	node := pack.Node{Cores: 16, Threads: 32, Memory: 256 * numa.GiB}
	second := node
	second.ID = 1
	if want := (pack.Host{Name: "kvm01", Nodes: []pack.Node{node, second}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, %v\nwant  %+v", got, err, want)
	}
	if _, err := OfHost(&numa.Host{Name: "h"}); err == nil || err.Error() != "h: its nodes are not known" {
		t.Errorf("found %v", err)
	}
}

// TestCores: cores that lscpu states outright count where threads of a core do not make up the CPUs.
func TestCores(t *testing.T) {
	one := func(cpus int) []guest.Node { return []guest.Node{{CPUs: make([]int, cpus)}} }
	two := append(one(16), one(16)...)
	for _, tt := range []struct {
		nodes           []guest.Node
		threads, stated int
		cores           int
		ok              bool
	}{
		{one(32), 2, 24, 24, true}, // 8 of two threads, 16 of one
		{one(32), 2, 16, 16, true},
		{one(31), 2, 16, 16, true}, // a thread is off
		{one(32), 2, 0, 16, true},  // nothing is stated
		{one(32), 2, 40, 0, false}, // no such host
		{two, 2, 16, 8, true},
		{two, 2, 24, 0, false}, // on which node the others are is unknown
	} {
		if cores, ok := coresOf(&tt.nodes[0], tt.nodes, tt.threads, tt.stated); cores != tt.cores || ok != tt.ok {
			t.Errorf("%d CPUs, %d threads, %d cores: found %d, %v", len(tt.nodes[0].CPUs), tt.threads, tt.stated, cores, ok)
		}
	}
}
