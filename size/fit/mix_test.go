package fit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

func askOf(t testing.TB, types string, o Options, shapes ...string) *Ask {
	t.Helper()
	a := &Ask{Spare: 1, Options: o}
	var err error
	if a.Types, err = ParseTypes(types, numa.NewRelease(8, 0, 3)); err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		a.Shapes = append(a.Shapes, shapeOf(t, s))
	}
	return a
}

func resultOf(t testing.TB, a *Ask) *Result {
	t.Helper()
	r, err := Fit(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMix(t *testing.T) {
	a := askOf(t, "2x48c/1.5TB=33000,2x32c/1TB=21000,small:2x8c/128GB=5000,any:2x16c/512GB", plain(), "db:12x96GB*40", "web:4x16GB*200", "wide:40x200GB*3")
	a.Prices = Prices{Core: 100, GB: 2}
	r := resultOf(t, a)
	var got []string
	for _, o := range r.Types {
		m := o.Mix
		got = append(got, fmt.Sprintf("%s: %d + %d, at least %d, by hand %d, %d VMs, %d cores, %s, %d wide, %d remote, price %.0f", o.Name, m.Hosts, m.Total-m.Hosts, m.Bound, m.Free, m.VMs, m.Cores, m.Memory, m.Wide, m.Remote, m.Price))
		for _, f := range m.Never {
			got = append(got, fmt.Sprintf("  never %d of %s: %s", f.Count, f.Shape, f.Why))
		}
	}
	// 40·12 + 200·4 + 3·40 = 1400 vCPUs: 21.9 hosts of 64 cores, 14.6 of 96; of 32 cores
	// 1280 ÷ 32. On nodes of 8 cores a db is two clients of 6, beside which no web of 4 has
	// room: 80 nodes, and 200 ÷ 2. A price is that of a host, 100 a core and 2 a GB; "any"
	// has none of its own among hosts that have.
	want := []string{
		"2x32c/1TB: 22 + 1, at least 22, by hand 22, 243 VMs, 1472 cores, 23 TB, 3 wide, 0 remote, price 677304",
		"2x48c/1.5TB: 15 + 1, at least 15, by hand 15, 243 VMs, 1536 cores, 24 TB, 0 wide, 0 remote, price 730752",
		"small: 90 + 1, at least 90, by hand 90, 240 VMs, 1456 cores, 11648 GB, 40 wide, 0 remote, price 623896",
		"  never 3 of wide: 40 vCPUs are more than the 32 logical CPUs of the host: it does not power on",
		"any: 40 + 1, at least 40, by hand 40, 240 VMs, 1312 cores, 20992 GB, 0 wide, 0 remote, price 0",
		"  never 3 of wide: its largest client has 20 vCPUs, at 1 vCPU per core a node takes 16",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Hosts by the number: monotone in the VMs, the reserve, spare hosts; the bound holds.
func TestMixProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for range 60 {
		host := []string{"2x16c/256GB", "2x32c/1TB", "2x32c/512GB/snc2", "4x12c/768GB"}[rng.IntN(4)]
		a := askOf(t, host, plain())
		a.Spare = rng.IntN(3)
		for range 1 + rng.IntN(4) {
			s := NewShape(1+rng.IntN(14), numa.Bytes(1+rng.IntN(50))*numa.GiB)
			s.Count = 1 + rng.IntN(30)
			a.Shapes = append(a.Shapes, s)
		}
		m := resultOf(t, a).Types[0].Mix
		if m.Bound > m.Free || m.Free > m.Hosts || m.Total != m.Hosts+a.Spare {
			t.Errorf("%s, %v: bound %d, by hand %d, hosts %d, with spare %d", host, a.Shapes, m.Bound, m.Free, m.Hosts, m.Total)
		}
		hosts, vms := 0, 0
		for _, f := range m.Fillings {
			hosts += f.Hosts
			for _, n := range f.Counts {
				vms += n * f.Hosts
			}
		}
		if hosts != m.Hosts || vms != m.VMs {
			t.Errorf("%s, %v: fillings of %d hosts and %d VMs, want %d and %d", host, a.Shapes, hosts, vms, m.Hosts, m.VMs)
		}
		more := *a
		more.Shapes = slices.Clone(a.Shapes)
		more.Shapes[0].Count += 40
		if after := resultOf(t, &more).Types[0].Mix; after.Bound < m.Bound {
			t.Errorf("%s: more VMs and a lower bound: %d, was %d", host, after.Bound, m.Bound)
		}
		noMoreHosts(t, a, host)
		none := *a
		none.Reserve = 0
		if after := resultOf(t, &none).Types[0].Mix; after.Bound > m.Bound {
			t.Errorf("%s: no reserve and a higher bound: %d, was %d", host, after.Bound, m.Bound)
		}
	}
}

// noMoreHosts checks that hosts with more memory or more cores are never more, and those with one more spare host never fewer.
func noMoreHosts(t *testing.T, a *Ask, host string) {
	t.Helper()
	b := *a
	b.Options.PerCore = 1.9
	b.Types = nil
	for _, change := range []func(*numa.Node){func(*numa.Node) {}, func(n *numa.Node) { n.Memory.Value = n.Memory.Value / 2 * 3 }, func(n *numa.Node) { n.Cores, n.Threads = n.Cores+4, n.Threads+8 }} {
		ty := typeOf(t, host)
		ty.Name = fmt.Sprint(len(b.Types))
		ty.Host.Nodes.Value = slices.Clone(ty.Host.Nodes.Value)
		for i := range ty.Host.Nodes.Value {
			change(&ty.Host.Nodes.Value[i])
		}
		b.Types = append(b.Types, ty)
	}
	was := map[string]int{}
	for b.Spare = range 3 {
		is := map[string]int{}
		for _, o := range resultOf(t, &b).Types {
			if is[o.Name] = o.Mix.Total; o.Mix.Total < was[o.Name] {
				t.Errorf("%s, %v: %d spare: %d hosts, with one less %d", host, a.Shapes, b.Spare, o.Mix.Total, was[o.Name])
			}
		}
		if is["1"] > is["0"] || is["2"] > is["0"] {
			t.Errorf("%s, %v: %d hosts, with more memory %d, with more cores %d", host, a.Shapes, is["0"], is["1"], is["2"])
		}
		was = is
	}
}

func TestClusterOfCounts(t *testing.T) {
	a := askOf(t, "2x32c/1TB", plain(), "12x96GB")
	a.Hosts, a.Spare = 10, 2
	c := resultOf(t, a).Types[0].Counts[0]
	if all, left := c.InCluster(10), c.InCluster(8); all != 40 || left != 32 {
		t.Errorf("found %d in 10 hosts and %d in 8, want 40 and 32", all, left)
	}
}

func TestSteps(t *testing.T) {
	r := resultOf(t, askOf(t, "2x32c/1TB", Options{PerCore: 1}, "1x1GB"))
	var got []string
	for _, s := range r.Types[0].Steps[:6] {
		got = append(got, fmt.Sprintf("%d: %dx%s %v", s.PerNode, s.VCPUs, s.Memory, s.Aligned))
	}
	want := []string{"1: 32x512 GB true", "2: 16x256 GB true", "3: 10x170.7 GB false", "4: 8x128 GB true", "5: 6x102.4 GB false", "6: 5x85.3 GB false"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// Every step fits its node so many times, as counted; and one vCPU or one GB more does not.
func TestStepsAreCounted(t *testing.T) {
	for _, host := range []string{"2x32c/1TB", "2x24c/512GB/snc2", "4x18c/1TB", "1x7c/100GB"} {
		for _, perCore := range []float64{1, 3} {
			o := plain()
			o.PerCore = perCore
			ty := typeOf(t, host)
			r := roomOf(t, ty, o)
			for _, s := range r.steps(&o) {
				count := func(vcpus int, memory numa.Bytes) int {
					shape := NewShape(vcpus, memory)
					c := r.count(&shape, &o)
					return c.VMs
				}
				nodes := int(r.machine.Nodes)
				if got := count(s.VCPUs, s.Memory); got < s.PerNode*nodes {
					t.Errorf("%s at %v: %d of %+v, want %d", host, perCore, got, s, s.PerNode*nodes)
				}
				if got := count(s.VCPUs, s.Memory+numa.GiB); got >= s.PerNode*nodes {
					t.Errorf("%s at %v: %d of %+v with 1 GB more, want fewer than %d", host, perCore, got, s, s.PerNode*nodes)
				}
			}
		}
	}
}

func TestChanges(t *testing.T) {
	a := askOf(t, "2x32c/1TB,2x24c/768GB", plain(), "14x100GB")
	a.Hosts = 10
	var got []string
	for _, c := range Changes(t.Context(), a, resultOf(t, a)) {
		line := c.If + ":"
		for _, m := range c.Moved {
			line += fmt.Sprintf(" %s %s %s %d→%d", m.Type, m.Shape, m.Of, m.Before, m.After)
		}
		got = append(got, line)
	}
	want := []string{
		"2 hosts may fail instead of 1: 2x32c/1TB 14x100GB cluster 36→32 2x24c/768GB 14x100GB cluster 18→16",
		// Nodes of 16 cores hold one each; on nodes of 12 a VM is two clients of 7.
		"every NUMA node is halved (SNC2, NPS2):",
		"no reserve on the nodes:",
		"2 vCPUs per core instead of 1: 2x32c/1TB 14x100GB host 4→8 2x24c/768GB 14x100GB host 2→6",
		"hosts with half as much memory again:",
		"12 vCPUs instead of 14: 2x24c/768GB 14x100GB host 2→4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A type that carries no VM needs no more hosts where one more may fail.
func TestChangesOfNone(t *testing.T) {
	a := askOf(t, "2x16c/512GB", plain(), "32x200GB")
	for hosts, want := range map[int]int{0: 0, 2: 1} {
		all := a.failed(&Result{Types: []Outcome{{Mix: &Mix{Hosts: hosts, Total: hosts}}}})
		n := 0
		for _, c := range all {
			n += len(c.Moved)
		}
		if n != want {
			t.Errorf("%d hosts: %d moved, want %d", hosts, n, want)
		}
	}
}

// Nodes of an odd number of cores stay as they are, and the line does not say otherwise.
func TestChangesHalved(t *testing.T) {
	for types, want := range map[string]string{
		"2x32c/1TB,2x24c/768GB": "every NUMA node is halved (SNC2, NPS2)",
		"2x9c/256GB,2x8c/256GB": "NUMA nodes are halved where it can be (SNC2, NPS2)",
		"2x9c/256GB":            "",
	} {
		got := ""
		a := askOf(t, types, plain(), "4x16GB")
		for _, c := range Changes(t.Context(), a, resultOf(t, a)) {
			if strings.Contains(c.If, "halved") {
				got = c.If
			}
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", types, got, want)
		}
	}
}

// A smaller vCPU count is named only where one VM more fits for it: not where memory
// binds.
func TestChangesAdvise(t *testing.T) {
	for shape, want := range map[string]bool{"12x96GB": true, "12x400GB": false} {
		a := askOf(t, "2x32c/1TB", plain(), shape)
		got := slices.ContainsFunc(Changes(t.Context(), a, resultOf(t, a)), func(c Change) bool { return c.If == "10 vCPUs instead of 12" })
		if got != want {
			t.Errorf("%s: 10 vCPUs advised: %v, want %v", shape, got, want)
		}
	}
}

func TestAskErrors(t *testing.T) {
	good := func() *Ask { return askOf(t, "2x32c/1TB", plain(), "12x96GB") }
	for _, tt := range []struct {
		change func(*Ask)
		want   string
	}{
		{func(a *Ask) { a.Types = nil }, "found no host type"},
		{func(a *Ask) { a.Hosts, a.Spare = 3, 3 }, "found 3 hosts, 3 of them spare: want one at least that is not"},
		{func(a *Ask) { a.Spare = -1 }, "found 0 hosts, -1 of them spare: want no negative number"},
		{func(a *Ask) { a.PerCore = 0 }, "vCPUs per core: found 0, want more than 0, up to 100"},
		{func(a *Ask) { a.Reserve = -1 }, "reserve: found -1, want 0 to 10 times the soft reserve"},
		{func(a *Ask) { a.Shapes = append(a.Shapes, shapeOf(t, "1x1GB*3")) }, "found 1 of 2 VM shapes with a count, want it for all (12x96GB*40) or none"},
		{func(a *Ask) { a.Types[0].Host.Nodes = numa.Fact[[]numa.Node]{} }, "no host type can be used: host 2x32c/1TB: the NUMA nodes are unknown"},
		{func(a *Ask) { a.Types[0].Host.Nodes.Value[1].Memory = numa.Fact[numa.Bytes]{} }, "no host type can be used: host 2x32c/1TB: the memory of its NUMA nodes is unknown"},
	} {
		a := good()
		tt.change(a)
		if _, err := Fit(t.Context(), a); err == nil || err.Error() != tt.want {
			t.Errorf("found %v, want %s", err, tt.want)
		}
	}
}

// TestFitEnds asks for more than anybody waits for, and goes away.
func TestFitEnds(t *testing.T) {
	a := askOf(t, "2x32c/1TB,2x48c/1.5TB", plain(), "24x192GB*1000000")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := Fit(ctx, a); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("found %v", err)
	}
	Changes(ctx, a, &Result{})
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it went on for %v", took)
	}
}

func TestSumOfShapes(t *testing.T) {
	if _, err := ParseShapes([]string{"1x1GB*999999", "2x2GB"}); err != nil {
		t.Error(err)
	}
	if _, err := ParseShapes([]string{"1x1GB*999999", "2x2GB*2"}); err == nil {
		t.Error("more VMs than there can be")
	}
}
