package hidden

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/source/measured"
)

// A shape is a machine by how its processors are nested: sizes of groups from the inside, and the latency that pairs of each level have.
type shape struct {
	name  string
	n     int
	sizes []int     // of groups: threads of a core, L3, package
	ns    []float64 // of pairs within each, and of others
	split bool
	want  []string // levels as name and number of groups
}

// shapes have the ratios of published matrices of machines (nviennot, core-to-core-latency).
var shapes = []shape{
	{"dual Xeon E5-2690: packages", 16, []int{8}, []float64{45, 110}, false, []string{"package 2"}},
	{"dual Xeon X5650: threads and packages", 24, []int{2, 12}, []float64{8, 40, 95}, false, []string{"threads of a core 12", "package 2"}},
	{"dual Xeon Gold 6242 with threads", 64, []int{2, 32}, []float64{9, 55, 115}, false, []string{"threads of a core 32", "package 2"}},
	{"dual Kunpeng 920", 64, []int{32}, []float64{45, 130}, false, []string{"package 2"}},
	{"EPYC 7773X: L3 of 16 threads", 128, []int{2, 16}, []float64{7, 24, 100}, true, []string{"threads of a core 64", "shared L3 8"}},
	{"dual EPYC 7742: packages are no level", 128, []int{2, 8, 64}, []float64{7, 24, 100, 106}, true, []string{"threads of a core 64", "shared L3 16"}},
	{"Graviton3: one group", 64, []int{32}, []float64{48, 54}, false, nil},
	{"two vCPUs", 2, []int{1}, []float64{0, 100}, false, nil},
	{"one vCPU", 1, []int{1}, []float64{0, 100}, false, nil},
}

// matrix draws the pairs of a shape with noise, in an order of its own, and returns which processor is where.
func (m *shape) matrix(noise float64, rng *rand.Rand) (ns [][]float64, at []int) {
	at = rng.Perm(m.n)
	ns = make([][]float64, m.n)
	for i := range ns {
		ns[i] = make([]float64, m.n)
		for j := range i {
			level := 0
			for level < len(m.sizes) && at[i]/m.sizes[level] != at[j]/m.sizes[level] {
				level++
			}
			x := m.ns[level] * (1 + noise*(2*rng.Float64()-1))
			ns[i][j], ns[j][i] = x, x
		}
	}
	return ns, at
}

func TestClusters(t *testing.T) {
	for _, m := range shapes {
		t.Run(m.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			cpus := make([]int, m.n)
			for i := range cpus {
				cpus[i] = 100 + i
			}
			for _, noise := range []float64{0, 0.1, 0.2, 0.3} {
				ns, at := m.matrix(noise, rng)
				levels, filled := Clusters(cpus, ns, m.split)
				if len(filled) != m.n {
					t.Fatalf("%d rows", len(filled))
				}
				var got []string
				for _, l := range levels {
					got = append(got, fmt.Sprintf("%s %d", l.Name, len(l.Groups)))
					size := m.n / len(l.Groups)
					for _, g := range l.Groups {
						for _, cpu := range g {
							if at[cpu-100]/size != at[g[0]-100]/size {
								t.Errorf("noise %.0f %%: group %v of %s is none", 100*noise, g, l.Name)
								break
							}
						}
					}
				}
				if !slices.Equal(got, m.want) {
					t.Errorf("noise %.0f %%: levels %q, want %q", 100*noise, got, m.want)
				}
			}
		})
	}
}

// TestGuessed has 8 measured rows of 64 of dual packages: the rest is completed.
func TestGuessed(t *testing.T) {
	m := shape{n: 64, sizes: []int{32}, ns: []float64{50, 120}}
	rng := rand.New(rand.NewPCG(2, 1))
	ns, at := m.matrix(0.1, rng)
	cpus := make([]int, m.n)
	known := rng.Perm(m.n)[:8]
	for i := range ns {
		cpus[i] = i
		for j := range ns {
			if i != j && !slices.Contains(known, i) && !slices.Contains(known, j) {
				ns[i][j] = math.NaN()
			}
		}
	}
	levels, filled := Clusters(cpus, ns, false)
	if len(levels) != 1 || len(levels[0].Groups) != 2 {
		t.Fatalf("levels %+v", levels)
	}
	for i := range filled {
		for j, x := range filled[i] {
			want := 120.0
			if at[i]/32 == at[j]/32 {
				want = 50
			}
			if i != j && math.Abs(x-want) > 0.11*want {
				t.Fatalf("pair %d, %d: %.0f ns, want %.0f", i, j, x, want)
			}
		}
	}
}

func TestStates(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	var samples []Sample
	add := func(n int, ns float64) {
		for range n {
			x := ns * (1 + 0.05*rng.NormFloat64())
			if rng.Float64() < 0.03 {
				x *= math.Exp(9 * rng.Float64()) // interrupted
			}
			samples = append(samples, Sample{At: float64(len(samples)) * 0.1, NS: x})
		}
	}
	add(100, 26)
	add(60, 5)
	add(100, 107)
	add(100, 26)
	states, changes := States(samples)
	if len(states) != 3 {
		t.Fatalf("states %+v", states)
	}
	for i, want := range []measured.State{{Nanoseconds: 5, Share: 60.0 / 360}, {Nanoseconds: 26, Share: 200.0 / 360}, {Nanoseconds: 107, Share: 100.0 / 360}} {
		if math.Abs(states[i].Nanoseconds/want.Nanoseconds-1) > 0.05 || math.Abs(states[i].Share-want.Share) > 0.03 {
			t.Errorf("state %+v, want %+v", states[i], want)
		}
	}
	if math.Abs(changes-3/36.0*60) > 0.2 { // 3 in 36 s
		t.Errorf("%.1f changes a minute, want 5", changes)
	}
	samples = nil
	add(100, 26)
	if states, changes := States(samples); len(states) != 1 || changes != 0 || states[0].Share != 1 {
		t.Errorf("one state: %+v, %v changes", states, changes)
	}
	if states, changes := States(nil); len(states) != 0 || changes != 0 {
		t.Errorf("nothing: %+v, %v", states, changes)
	}
}
