package qemu

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/text"
)

// A shown is a guest, and what of it does not follow from its layout.
type shown struct {
	name             string
	guest            Guest
	sockets, threads int
	online           []int // nil for all
	possible         int
	hotAdd           numa.Bytes
	access           [][]machine.Access // of each node
	check            func(t *testing.T, m *machine.Machine)
}

var guests = []shown{
	{name: "2 processors without NUMA", guest: Guest{Layout: Layout{SMP: "2"}}, sockets: 1, threads: 1, check: oneNode},
	{name: "2 nodes with HMAT, one of memory only, 2 threads a core", sockets: 2, threads: 2,
		guest: Guest{Layout: Layout{SMP: "8,sockets=2,cores=2,threads=2",
			Nodes:    []Node{{CPUs: "0-3", MiB: 256}, {CPUs: "4-7", MiB: 192, Near: 1}, {MiB: 128, Near: 1}},
			Distance: [][]int{{10, 21, 17}, {22, 10, 28}, {17, 28, 10}},
			HMAT: []Figure{{0, 0, 80, 10240}, {0, 1, 140, 5120}, {0, 2, 250, 2048},
				{1, 0, 141, 5121}, {1, 1, 81, 10230}, {1, 2, 300, 1024}}}},
		access: [][]machine.Access{both(0, 80, 10240), both(1, 81, 10230), both(1, 300, 1024)}},
	{name: "4 nodes, limits of a control group", sockets: 4, threads: 1,
		guest: Guest{Layout: Layout{SMP: "4,sockets=4,cores=1,threads=1", Nodes: nodes(4, 1, 160),
			Distance: [][]int{{10, 12, 20, 31}, {12, 10, 31, 20}, {20, 31, 10, 12}, {31, 20, 12, 10}}},
			Run: []string{"", "memory.max=67108864", "cpu.max=75000 50000", "cpuset.cpus=1-2", "cpuset.mems=1-3"}},
		check: limited},
	{name: "8 nodes, limits of control groups of version 1", guest: Guest{Layout: Layout{SMP: "8,sockets=8,cores=1,threads=1", Nodes: nodes(8, 1, 96)},
		Run: []string{"", "memory:memory.limit_in_bytes=67108864", "cpu:cpu.cfs_quota_us=50000"}}, sockets: 8, threads: 1, check: limited1},
	{name: "processors offline, hot add of processors and memory", sockets: 1, threads: 1, online: []int{0, 1}, possible: 8,
		hotAdd: 3584 * numa.MiB, // of addresses: QEMU takes 1 GB more for each slot
		guest: Guest{Layout: Layout{SMP: "4,sockets=1,cores=8,threads=1,maxcpus=8", Nodes: []Node{{CPUs: "0-3", MiB: 256}, {CPUs: "4-7", MiB: 256}},
			Args: []string{"-m", "512M,slots=2,maxmem=2G"}}, Kernel: []string{"maxcpus=2"}}},
	{name: "72 processors in 2 nodes", guest: Guest{Layout: Layout{SMP: "72,sockets=2,cores=18,threads=2", Nodes: nodes(2, 36, 512)}, Most: 300e9}, sockets: 2, threads: 2},
}

// nodes returns n nodes of so many processors and MiB each.
func nodes(n, cpus, mib int) []Node {
	list := make([]Node, n)
	for i := range list {
		list[i] = Node{CPUs: fmt.Sprintf("%d-%d", i*cpus, (i+1)*cpus-1), MiB: mib, Near: i}
	}
	return list
}

// both is what the kernel makes of a latency and bandwidth for reads and writes, in both classes.
func both(initiator, latency, bandwidth int) []machine.Access {
	a := machine.Access{Initiators: []int{initiator}, ReadLatency: latency, WriteLatency: latency, ReadBandwidth: bandwidth, WriteBandwidth: bandwidth}
	b := a
	b.Class = 1
	return []machine.Access{a, b}
}

func oneNode(t *testing.T, m *machine.Machine) {
	if top := m.Topology; len(top.Nodes) != 1 || !slices.Equal(top.Nodes[0].CPUs, []int{0, 1}) || !slices.Equal(top.Nodes[0].Distance, []int{10}) {
		t.Errorf("nodes %+v, want one", top.Nodes)
	}
}

func limited(t *testing.T, m *machine.Machine) {
	l := m.Limits
	group := "/sys/fs/cgroup/limited/"
	if !slices.Equal(l.CPUs, []int{1, 2}) || !slices.Equal(l.Nodes, []int{1, 2, 3}) ||
		l.CPUQuota != numa.ReadAt(1.5, group+"cpu.max") || l.MemoryLimit != numa.ReadAt(64*numa.MiB, group+"memory.max") ||
		l.MemoryLeft.Value > 64*numa.MiB || l.MemoryLeft.Value < 32*numa.MiB {
		t.Errorf("limits %+v", l)
	}
	for i, part := range []string{"2 of 4 processors", "memory of 3 of 4 nodes", "the time of 1.5 of 4 processors", "64 MB of "} {
		if len(l.Partial) != 4 || !strings.Contains(l.Partial[i], part) {
			t.Errorf("partial: %q, want %q", l.Partial, part)
		}
	}
}

func limited1(t *testing.T, m *machine.Machine) {
	l := m.Limits
	if l.CPUQuota != numa.ReadAt(0.5, "/tmp/cpu/limited/cpu.cfs_quota_us") || l.MemoryLimit != numa.ReadAt(64*numa.MiB, "/tmp/memory/limited/memory.limit_in_bytes") ||
		l.MemoryLeft.Value > 64*numa.MiB || l.MemoryLeft.Value < 32*numa.MiB || len(l.Partial) != 2 {
		t.Errorf("limits %+v", l)
	}
}

// TestGuests boots guests and checks that package machine reads in each what was asked for.
func TestGuests(t *testing.T) {
	testdeps.Proving(t)
	if testing.Short() {
		t.Skip("boots guests")
	}
	Need(t)
	show := Program(t, "example.org/homenode/measure/qemu/testdata/show")
	booted := 0
	for _, g := range guests {
		t.Run(g.name, func(t *testing.T) {
			if g.guest.Run = append([]string{show}, g.guest.Run[min(1, len(g.guest.Run)):]...); g.possible == 0 {
				g.possible = g.guest.processors()
			}
			out := g.guest.Boot(t)
			if out.Exit != 0 {
				t.Fatalf("exit code %d: %s", out.Exit, out.Stderr)
			}
			var m machine.Machine
			if err := json.Unmarshal(out.Stdout, &m); err != nil {
				t.Fatalf("%v in %s", err, out.Stdout)
			}
			g.compare(t, &m, out.Emulated)
			if g.check != nil {
				g.check(t, &m)
			}
			if !t.Failed() {
				booted++
			}
			t.Logf("booted and read in %.1f s", out.Took.Seconds())
		})
	}
	t.Logf("%d guests show what was asked for", booted)
}

func (g *shown) compare(t *testing.T, m *machine.Machine, emulated bool) {
	t.Helper()
	top := &m.Topology
	n := g.guest.processors()
	cores := n / g.threads
	if g.online != nil {
		cores = len(g.online) / g.threads
	}
	type counts struct{ processors, possible, sockets, cores, threads int }
	got := counts{len(top.Processors), top.Possible, top.Sockets, top.Cores, top.ThreadsPerCore}
	if want := (counts{n, g.possible, g.sockets, cores, g.threads}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if top.HotAddMemory != g.hotAdd {
		t.Errorf("memory hot add %v, want %v", top.HotAddMemory, g.hotAdd)
	}
	node := g.nodes(t, top)
	for i, p := range top.Processors {
		want := machine.Processor{Number: i, Node: -1, Socket: -1, Die: -1, Core: -1}
		if g.online == nil || slices.Contains(g.online, i) {
			first := i / g.threads * g.threads
			want = machine.Processor{Number: i, Online: true, Allowed: slices.Contains(m.Limits.CPUs, i), Node: node[i],
				Socket: i * g.sockets / n, Die: p.Die, Core: i / g.threads, Threads: []int{first, first + 1}[:g.threads]}
		}
		if !reflect.DeepEqual(p, want) {
			t.Errorf("processor %+v, want %+v", p, want)
		}
	}
	g.caches(t, top)
	g.observation(t, top, node)
	id := m.Identity
	if emulated && (!id.Emulated.Value || id.Hypervisor.Value != "QEMU" || id.Vendor != "GenuineIntel" || id.Family != 6 || id.Model != 85 || id.Stepping != 4) ||
		!emulated && (id.Emulated.Value || id.Hypervisor.Value != "KVM") || !id.Virtualised.Value || id.Kernel == "" {
		t.Errorf("identity %+v, emulated %t", id, emulated)
	}
}

// nodes compares the nodes and returns that of each processor.
func (g *shown) nodes(t *testing.T, top *machine.Topology) map[int]int {
	t.Helper()
	node := map[int]int{}
	if len(g.guest.Nodes) == 0 {
		return node
	}
	if len(top.Nodes) != len(g.guest.Nodes) {
		t.Fatalf("%d nodes, want %d: %+v", len(top.Nodes), len(g.guest.Nodes), top.Nodes)
	}
	for i, asked := range g.guest.Nodes {
		cpus, _ := text.Numbers(asked.CPUs, 1<<10, 1<<10) // none for an empty list
		for _, c := range cpus {
			node[c] = i
		}
		if g.online != nil {
			cpus = slices.DeleteFunc(cpus, func(c int) bool { return !slices.Contains(g.online, c) })
		}
		got := top.Nodes[i]
		distance := make([]int, len(g.guest.Nodes))
		for j := range distance {
			distance[j] = 20
			if g.guest.Distance != nil {
				distance[j] = g.guest.Distance[i][j]
			} else if i == j {
				distance[j] = 10
			}
		}
		asBytes := numa.Bytes(asked.MiB) * numa.MiB
		if got.ID != i || !slices.Equal(got.CPUs, cpus) || !slices.Equal(got.Distance, distance) || got.MemoryOnly != (len(cpus) == 0) ||
			got.Size.Value > asBytes || got.Size.Value < asBytes*6/10 { // the kernel itself takes its part
			t.Errorf("node %+v, want %d with processors %v, distances %v, %v", got, i, cpus, distance, asBytes)
		}
		if g.access != nil && !reflect.DeepEqual(got.Access, g.access[i]) {
			t.Errorf("node %d: HMAT %+v, want %+v", i, got.Access, g.access[i])
		}
	}
	return node
}

// caches checks that each socket has a cache of level 3, and each core one of level 2.
func (g *shown) caches(t *testing.T, top *machine.Topology) {
	t.Helper()
	of := map[int][][]int{}
	for _, c := range top.Caches {
		if c.Size <= 0 || c.Line != 64 {
			t.Errorf("cache %+v", c)
		}
		of[c.Level] = append(of[c.Level], c.CPUs)
	}
	want := map[int][][]int{2: {}, 3: {}}
	for _, p := range top.Processors {
		if p.Online && p.Number == p.Threads[0] {
			want[2] = append(want[2], p.Threads)
		}
	}
	for s := range g.sockets {
		var cpus []int
		for _, p := range top.Processors {
			if p.Socket == s {
				cpus = append(cpus, p.Number)
			}
		}
		want[3] = append(want[3], cpus)
	}
	for level, lists := range want {
		if !reflect.DeepEqual(of[level], lists) {
			t.Errorf("caches of level %d: %v, want %v", level, of[level], lists)
		}
	}
}

// observation checks the topology as evidence.
func (g *shown) observation(t *testing.T, top *machine.Topology, node map[int]int) {
	t.Helper()
	o := top.Observation()
	var vpds []int
	for i := range len(top.Processors) {
		vpds = append(vpds, node[i])
	}
	if g.online != nil {
		vpds = nil // it is not known where those are
	}
	if o.By != numa.ByMeasure || !slices.Equal(o.VPDs.Value, vpds) || o.VPDCount.Value != max(len(g.guest.Nodes), 1) || len(o.Slices.Value) != o.VPDCount.Value {
		t.Errorf("observation %+v, want nodes %v", o, vpds)
	}
}

// TestBoot checks what a guest gives back besides what it prints.
func TestBoot(t *testing.T) {
	testdeps.Proving(t)
	if testing.Short() {
		t.Skip("boots a guest")
	}
	Need(t)
	show := Program(t, "example.org/homenode/measure/qemu/testdata/show")
	file := filepath.Join(t.TempDir(), "file")
	golden.Write(t, file, nil)
	out := Guest{Run: []string{show, "no.such=1"}, Files: map[string]string{"/some/where/file": file}}.Boot(t)
	if want := "open /sys/fs/cgroup/limited/no.such: "; out.Exit != 1 || len(out.Stdout) > 0 || !strings.HasPrefix(string(out.Stderr), want) {
		t.Errorf("got %d, %q, %q; want 1 and %q", out.Exit, out.Stdout, out.Stderr, want)
	}
	_, err := Guest{Run: []string{show}, Most: 50 * time.Millisecond}.boot(t)
	if err == nil || !strings.Contains(err.Error(), "the guest did not end in 50ms: ") {
		t.Errorf("a guest that takes too long: %v", err)
	}
	_, err = Guest{Run: []string{filepath.Join(t.TempDir(), "nothing")}}.boot(t)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
}
