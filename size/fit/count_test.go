package fit

import (
	"fmt"
	"slices"
	"testing"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// plain are the options of most tests: one vCPU per core, the whole reserve, VMware's
// overhead.
func plain() Options { return Options{Reserve: 1, PerCore: 1, Overhead: PublishedOverhead} }

func typeOf(t testing.TB, text string) Type {
	t.Helper()
	got, err := ParseType(text, numa.NewRelease(8, 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func shapeOf(t testing.TB, text string) Shape {
	t.Helper()
	got, err := ParseShape(text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func roomOf(t testing.TB, ty Type, o Options) *room {
	t.Helper()
	r, err := newRoom(&ty.Host, &o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		host, shape string
		vms, bound  int
		clients     []int
		binds       Limit
		why         string
	}{
		{"2x32c/1TB", "12x96GB", 4, 4, []int{12}, Cores, ""},
		{"2x48c/1.5TB", "12x96GB", 8, 8, []int{12}, Cores, ""},
		{"2x32c/256GB", "4x32GB", 6, 6, []int{4}, Memory, ""},     // node 128 − 13.5 reserve: 3 of 32.3 GB
		{"2x16c/256GB", "4x28GB", 8, 8, []int{4}, Both, ""},       // 4 by cores; 114.5 ÷ 28.3 = 4
		{"2x32c/1TB", "40x256GB", 1, 1, []int{20, 20}, Cores, ""}, // 12 cores left on each node
		{"2x32c/1TB/snc2", "40x256GB", 1, 1, []int{14, 14, 12}, Cores, ""},
		{"4x18c/1TB", "36x128GB", 2, 2, []int{18, 18}, Cores, ""},
		{"2x32c/1TB", "1x1MB", 64, 64, []int{1}, Cores, ""},
		{"2x32c/1TB", "8x600GB", 1, 1, []int{4, 4}, Memory, "its largest client needs 604.5 GB with overhead, a node has 468.6 GB for VMs: part of it is remote"},
		{"2x32c/1TB", "7x600GB", 0, 0, []int{7}, Never, "its largest client needs 604.5 GB with overhead, a node has 468.6 GB for VMs: part of it is remote"},
		{"2x32c/1TB", "8x2TB", 0, 0, []int{8}, Never, "it needs 2063.2 GB with overhead, more than the host has (1 TB): its memory is swapped once all is in use"},
		{"2x32c/1TB", "80x64GB", 0, 0, []int{40, 40}, Never, "its largest client has 40 vCPUs, at 1 vCPU per core a node takes 32"},
		{"2x32c/1TB/noht", "80x64GB", 0, 0, nil, "", "80 vCPUs are more than the 64 logical CPUs of the host: it does not power on"},
	} {
		o := plain()
		s := shapeOf(t, tt.shape)
		c := roomOf(t, typeOf(t, tt.host), o).count(&s, &o)
		got := fmt.Sprint(c.VMs, c.Bound, c.Clients, c.Binds, c.Why)
		if want := fmt.Sprint(tt.vms, tt.bound, tt.clients, tt.binds, tt.why); got != want {
			t.Errorf("%s on %s:\ngot  %s\nwant %s", tt.shape, tt.host, got, want)
		}
	}
}

// The count is what placement.Place makes of it: as many VMs as are counted are local to their
// nodes and within their cores, and one more is not. No count exceeds the bound, and on
// even nodes VMs of one client reach it.
func TestCountIsPlaced(t *testing.T) {
	hosts := []string{"1x8c/64GB", "2x16c/256GB", "2x32c/1TB", "2x32c/1TB/snc2", "4x18c/1TB", "2x64c/2TB/nps4", "2x18c/512GB/noht"}
	for _, host := range hosts {
		for _, vcpus := range []int{1, 2, 3, 5, 8, 11, 12, 16, 18, 24, 36, 40, 63} {
			for _, gb := range []numa.Bytes{1, 7, 16, 60, 96, 250, 480} {
				for _, perCore := range []float64{0.5, 1, 1.5, 3} {
					o := plain()
					o.PerCore = perCore
					checkPlaced(t, typeOf(t, host), NewShape(vcpus, gb*numa.GiB), o)
				}
			}
		}
	}
}

func checkPlaced(t *testing.T, ty Type, s Shape, o Options) {
	t.Helper()
	r := roomOf(t, ty, o)
	c := r.count(&s, &o)
	name := fmt.Sprintf("%s at %v vCPUs per core on %s", s.Name, o.PerCore, ty.Name)
	if c.VMs > c.Bound {
		t.Errorf("%s: %d VMs exceed the bound %d", name, c.VMs, c.Bound)
	}
	if len(c.Clients) == 1 && c.VMs != c.Bound {
		t.Errorf("%s: %d VMs on even nodes, want the bound %d", name, c.VMs, c.Bound)
	}
	if _, ok := r.powersOn(&s); !ok {
		if c.VMs != 0 {
			t.Errorf("%s: it does not power on, %d counted", name, c.VMs)
		}
		return
	}
	if as, how := r.setUp(&s, &o); how != nil {
		s = *as
	}
	if c.VMs > 0 && !allLocal(ty, s, o, c.VMs) {
		t.Errorf("%s: %d VMs are not all local", name, c.VMs)
	}
	if c.VMs < maxPerHost && allLocal(ty, s, o, c.VMs+1) {
		t.Errorf("%s: %d VMs are local too, %d counted", name, c.VMs+1, c.VMs)
	}
}

// allLocal asks placement.Place, by its sums over each node.
func allLocal(ty Type, s Shape, o Options, n int) bool {
	h := ty.Host
	reserve := numa.Bytes(o.Reserve * float64(memory.Of(&h, false).New))
	at := placement.Of(&h, vnuma.Choices{})
	at.Reserve = 0
	at.Nodes = slices.Clone(at.Nodes)
	for i := range at.Nodes {
		at.Nodes[i].Memory.Value = max(0, at.Nodes[i].Memory.Value-reserve)
	}
	r, err := newRoom(&h, &o)
	if err != nil {
		return false
	}
	one := placement.Request{Layout: r.layout(&s, &o), Memory: s.Memory + o.Overhead.Of(s.VCPUs, s.Memory)}
	placed, _ := placement.Place(&at, slices.Repeat([]placement.Request{one}, n))
	all := numa.Bytes(0)
	for i := range placed {
		p := &placed[i]
		if len(p.Foreign) > 0 || p.Load() > o.PerCore {
			return false
		}
		all += p.Used
	}
	return all == one.Memory*numa.Bytes(n)
}

// Nodes of one size of cores and two of memory: ESXi fills them evenly by load, so the
// small one ends it (rule book C-4), where a free choice would hold one more.
func TestUnevenNodes(t *testing.T) {
	ty := typeOf(t, "2x16c/384GB")
	ty.Host.Nodes.Value[0].Memory.Value, ty.Host.Nodes.Value[1].Memory.Value = 256*numa.GiB, 128*numa.GiB
	o := Options{PerCore: 1}
	s := shapeOf(t, "4x64GB")
	c := roomOf(t, ty, o).count(&s, &o)
	// 0, 1, 0, 1, 0: the sixth goes to node 1, which is full.
	if c.VMs != 5 || c.Bound != 6 || c.Binds != Memory {
		t.Errorf("found %d VMs, bound %d, limit %s; want 5, 6, memory", c.VMs, c.Bound, c.Binds)
	}
}

// The clients of a wide VM are on nodes of their own: room for many on one node does not
// help when the other has room for one.
func TestBoundOfWide(t *testing.T) {
	ty := typeOf(t, "2x32c/1000GB")
	ty.Host.Nodes.Value[0].Memory.Value, ty.Host.Nodes.Value[1].Memory.Value = 900*numa.GiB, 100*numa.GiB
	o := Options{PerCore: 4}
	s := shapeOf(t, "40x180GB")
	c := roomOf(t, ty, o).count(&s, &o)
	if c.VMs != 1 || c.Bound != 1 {
		t.Errorf("found %d VMs, bound %d; want 1 and 1", c.VMs, c.Bound)
	}
}

func TestMonotone(t *testing.T) {
	count := func(host, shape string, change func(*Options)) int {
		o := plain()
		change(&o)
		s := shapeOf(t, shape)
		c := roomOf(t, typeOf(t, host), o).count(&s, &o)
		return c.VMs
	}
	none := func(*Options) {}
	last := -1
	for cores := 1; cores <= 64; cores++ {
		n := count(fmt.Sprintf("2x%dc/1TB", cores), "6x40GB", none)
		if n < last {
			t.Errorf("%d cores of a socket hold %d VMs, fewer than one core less: %d", cores, n, last)
		}
		last = n
	}
	last = -1
	for gb := 16; gb <= 2048; gb += 16 {
		n := count(fmt.Sprintf("2x32c/%dGB", gb), "6x40GB", none)
		if n < last {
			t.Errorf("%d GB hold %d VMs, fewer than 16 GB less: %d", gb, n, last)
		}
		last = n
	}
	last = maxPerHost
	for vcpus := 1; vcpus <= 32; vcpus++ {
		n := count("2x32c/1TB", fmt.Sprintf("%dx40GB", vcpus), none)
		if n > last {
			t.Errorf("%d VMs of %d vCPUs, more than of one vCPU less: %d", n, vcpus, last)
		}
		last = n
	}
	last = maxPerHost
	for gb := 1; gb <= 600; gb += 7 {
		n := count("2x32c/1TB", fmt.Sprintf("2x%dGB", gb), none)
		if n > last {
			t.Errorf("%d VMs of %d GB, more than of 7 GB less: %d", n, gb, last)
		}
		last = n
	}
	last = maxPerHost
	for tenth := range 60 {
		n := count("2x32c/256GB", "2x8GB", func(o *Options) { o.Reserve = float64(tenth) / 10 })
		if n > last {
			t.Errorf("%d VMs at a reserve of %d tenths, more than at a smaller one: %d", n, tenth, last)
		}
		last = n
	}
	if want := 12; last != want { // 5.9 × 12.6 GB of the 128 GB of a node: 53.5 GB for VMs of 8.1 GB
		t.Errorf("found %d VMs at the largest reserve, want %d", last, want)
	}
}

// The published table: vSphere Resource Management, "Overhead Memory on Virtual
// Machines".
func TestPublishedOverhead(t *testing.T) {
	for _, tt := range []struct {
		mb   numa.Bytes
		want [4]float64 // MB, of 1, 2, 4 and 8 vCPUs
	}{
		{256, [4]float64{20.29, 24.28, 32.23, 48.16}},
		{1024, [4]float64{25.90, 29.91, 37.86, 53.82}},
		{4096, [4]float64{48.64, 52.72, 60.67, 76.78}},
		{16384, [4]float64{139.62, 143.98, 151.93, 168.60}},
	} {
		for i, vcpus := range []int{1, 2, 4, 8} {
			got := float64(PublishedOverhead.Of(vcpus, tt.mb*numa.MiB)) / float64(numa.MiB)
			if got < tt.want[i] || got > tt.want[i]+2.2 { // rounded up to whole MiB, 1.2 off
				t.Errorf("%d vCPUs, %d MB: found %v MB, want %v rounded up", vcpus, tt.mb, got, tt.want[i])
			}
		}
	}
}

func TestGuestWithin(t *testing.T) {
	for _, room := range []numa.Bytes{0, numa.MiB, 19 * numa.MiB, 20 * numa.MiB, numa.GiB, 468 * numa.GiB, 3 * numa.TiB} {
		for _, vcpus := range []int{1, 12, 128} {
			o := PublishedOverhead
			m := o.guestWithin(room, vcpus)
			if m > 0 && m+o.Of(vcpus, m) > room || m+numa.MiB+o.Of(vcpus, m+numa.MiB) <= room {
				t.Errorf("%d vCPUs in %v: found %v, which is not the most", vcpus, room, m)
			}
		}
	}
}

// TestSizesFit asks hosts without a VM which sizes fit them, and counts VMs of each of these sizes: as many fit every node, and with a tenth
// more memory one fewer.
func TestSizesFit(t *testing.T) {
	sizes := 0
	for _, host := range []string{"2x32c/1TB", "4x18c/512GB/snc2", "1x64c/256GB/nps4", "2x10c/96GB/noht"} {
		ask := askOf(t, host, plain())
		for _, s := range resultOf(t, ask).Types[0].Steps {
			if s.Memory < 2*numa.GiB {
				continue
			}
			o := resultOf(t, ask).Types[0]
			for memory, want := range map[numa.Bytes]int{s.Memory: s.PerNode * o.Nodes, s.Memory / 10 * 11: (s.PerNode - 1) * o.Nodes} {
				shape := NewShape(s.VCPUs, memory)
				if c := roomOf(t, typeOf(t, host), ask.Options).count(&shape, &ask.Options); c.VMs != want && s.PerNode > 1 && s.PerNode < 9 {
					t.Errorf("%s: %d of %d vCPUs and %s fit, want %d", host, c.VMs, s.VCPUs, memory, want)
				}
			}
			sizes++
		}
	}
	if sizes < 20 {
		t.Errorf("%d sizes", sizes)
	}
}
