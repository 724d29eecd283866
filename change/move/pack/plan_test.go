package pack

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// recheck adds up from the plan alone what every node of every host carries and returns what does not fit.
// It shares nothing with the search.
func recheck(p *Problem, plan *Plan) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	type load struct {
		parts            *big.Rat // cores
		vcpus, alone     int
		widest           int // floating cell
		memory           numa.Bytes
		pages            map[numa.Bytes]numa.Bytes
		exclusive, float []int
	}
	loads := map[[2]int]*load{}
	groups := map[string]bool{}
	used := map[int]bool{}
	vcpus := int64(0)
	for i, at := range plan.VMs {
		v := &p.VMs[i]
		if at.VM != v.Name {
			fault("placement %d is of %s", i, at.VM)
		}
		if at.Host < 0 {
			if at.Why == "" || at.Cure == "" || at.Cells != nil {
				fault("%s: not placed, why %q, cure %q", v.Name, at.Why, at.Cure)
			}
			continue
		}
		used[at.Host] = true
		if slices.Contains(plan.Spare, at.Host) {
			fault("%s: on spare host %d", v.Name, at.Host)
		}
		for _, g := range v.Groups {
			g = fmt.Sprint(g, "@", at.Host)
			if groups[g] {
				fault("%s: not apart", v.Name)
			}
			groups[g] = true
		}
		if len(at.Cells) != len(v.Cells) {
			fault("%s: %d places for %d cells", v.Name, len(at.Cells), len(v.Cells))
			continue
		}
		nodes := map[int]bool{}
		for c, place := range at.Cells {
			cell := v.Cells[c]
			if nodes[place.Node] {
				fault("%s: two cells on node %d", v.Name, place.Node)
			}
			nodes[place.Node] = true
			key := [2]int{at.Host, place.Node}
			l := loads[key]
			if l == nil {
				l = &load{parts: new(big.Rat), pages: map[numa.Bytes]numa.Bytes{}}
				loads[key] = l
			}
			l.vcpus += cell.VCPUs
			vcpus += int64(cell.VCPUs)
			if v.Exclusive {
				cores := cell.VCPUs
				if v.PerCore > 1 && !p.Policy.Threads {
					cores = (cores + v.PerCore - 1) / v.PerCore
				}
				l.alone += cores
				l.parts.Add(l.parts, big.NewRat(int64(cores), 1))
				l.exclusive = append(l.exclusive, place.CPUs...)
				for i, c := range place.CPUs {
					if first := place.CPUs[i/max(1, v.PerCore)*max(1, v.PerCore)]; !onCore(&p.Hosts[at.Host], first, c) {
						fault("%s: CPUs %d and %d of the vCPUs of one core are of two", v.Name, first, c)
					}
				}
				if len(place.CPUs) != 0 && len(place.CPUs) != cell.VCPUs {
					fault("%s: %d CPUs for %d exclusive vCPUs", v.Name, len(place.CPUs), cell.VCPUs)
				}
			} else {
				ratio, ok := p.Policy.Overcommit[v.Class]
				if !ok {
					ratio, ok = p.Policy.Overcommit[""]
				}
				if !ok {
					ratio = 1
				}
				l.parts.Add(l.parts, big.NewRat(int64(cell.VCPUs)*100, int64(ratio*100+0.5)))
				l.widest = max(l.widest, cell.VCPUs)
				l.float = append(l.float, place.CPUs...)
			}
			if v.Page == 0 {
				l.memory += cell.Memory
			} else {
				l.pages[v.Page] += (cell.Memory + v.Page - 1) / v.Page * v.Page
			}
		}
	}
	for key, l := range loads {
		k := slices.IndexFunc(p.Hosts[key[0]].Nodes, func(n Node) bool { return n.ID == key[1] })
		if k < 0 {
			fault("host %d has no node %d", key[0], key[1])
			continue
		}
		n := &p.Hosts[key[0]].Nodes[k]
		cores := max(0, n.Cores-n.KeptCores)
		if p.Policy.Threads && n.Cores > 0 {
			cores = cores * n.Threads / n.Cores
		}
		if l.parts.Cmp(big.NewRat(int64(cores), 1)) > 0 {
			fault("node %v: %v cores of %d", key, l.parts, cores)
		}
		if l.widest > cores-l.alone {
			fault("node %v: a cell of %d vCPUs on %d cores", key, l.widest, cores-l.alone)
		}
		need := l.memory
		have := n.Memory - n.KeptMemory
		for _, g := range n.Pages {
			have -= numa.Bytes(g.Count) * g.Size
		}
		for size, pages := range l.pages {
			free := numa.Bytes(0)
			for _, g := range n.Pages {
				if g.Size == size {
					free = numa.Bytes(g.Count) * size
				}
			}
			need += max(0, pages-free)
		}
		if need > have {
			fault("node %v: %v of %v", key, need, have)
		}
		use := plan.Hosts[key[0]].Nodes[k]
		if use.VCPUs != l.vcpus || use.Exclusive != l.alone || use.Free != have-need || use.Cores != cores {
			fault("node %v: the plan says %+v; %d vCPUs, %d exclusive, %v free, %d cores", key, use, l.vcpus, l.alone, have-need, cores)
		}
		for _, g := range use.Pages {
			if numa.Bytes(g.Need)*g.Size != l.pages[g.Size] {
				fault("node %v: the plan needs %d pages of %v, the cells %v", key, g.Need, g.Size, l.pages[g.Size])
			}
		}
		slices.Sort(l.exclusive)
		if all := slices.Compact(slices.Clone(l.exclusive)); len(all) != len(l.exclusive) {
			fault("node %v: an exclusive CPU twice: %v", key, l.exclusive)
		}
		for _, c := range l.float {
			if slices.Contains(l.exclusive, c) {
				fault("node %v: CPU %d is exclusive and shared", key, c)
			}
		}
	}
	if len(used) != plan.Used || vcpus != plan.VCPUs {
		fault("the plan says %d hosts, %d vCPUs; found %d, %d", plan.Used, plan.VCPUs, len(used), vcpus)
	}
	for _, h := range plan.Uncovered {
		for e := range p.Hosts {
			if a, b := &p.Hosts[h], &p.Hosts[e]; !used[e] && reflect.DeepEqual(a.Nodes, b.Nodes) && reflect.DeepEqual(a.Distance, b.Distance) {
				fault("%s: its VMs would fit %s, which is like it and empty", a.Name, b.Name)
			}
		}
	}
	inWaves, last := 0, -1<<31
	for _, w := range plan.Waves {
		if inWaves += len(w.VMs); w.Wave <= last {
			fault("wave %d after %d", w.Wave, last)
		}
		last = w.Wave
	}
	if inWaves+plan.Left != len(p.VMs) {
		fault("%d VMs in waves, %d left, of %d", inWaves, plan.Left, len(p.VMs))
	}
	return faults
}

// onCore reports whether two CPUs are of one core.
func onCore(h *Host, a, b int) bool {
	for _, n := range h.Nodes {
		for _, core := range n.CPUs {
			if slices.Contains(core, a) {
				return slices.Contains(core, b)
			}
		}
	}
	return false
}

// TestEven: the nodes of a host carry alike, where nothing else decides.
func TestEven(t *testing.T) {
	p := &Problem{Hosts: twoNodes("a"), Policy: Policy{Overcommit: map[string]float64{"": 3}}}
	for i := range 6 {
		p.VMs = append(p.VMs, VM{Name: fmt.Sprint("v", i), Cells: []Cell{{VCPUs: 2, Memory: numa.GiB}}})
	}
	plan, err := Make(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if n := plan.Hosts[0].Nodes; n[0].VCPUs != 6 || n[1].VCPUs != 6 {
		t.Errorf("the nodes carry %d and %d vCPUs, want 6 each", n[0].VCPUs, n[1].VCPUs)
	}
}

// wild returns problems of all sorts: odd hosts, hosts of memory, cells without vCPUs, sizes of pages, whatever Check allows.
func wild(seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 11))
	p := &Problem{Search: Search{Budget: 3000, Seed: seed}, Policy: Policy{Spare: r.IntN(4) / 2, Threads: r.IntN(4) == 0}}
	if r.IntN(2) == 0 {
		p.Policy.Overcommit = map[string]float64{"a": float64(50+r.IntN(600)) / 100, "b": 3}
		if r.IntN(2) == 0 {
			p.Policy.Overcommit[""] = 1.5
		}
	}
	sizes := []numa.Bytes{2 * numa.MiB, numa.GiB}
	for h := range r.IntN(7) {
		host := Host{Name: fmt.Sprint("h", h)}
		cpu := 0
		for range 1 + r.IntN(6) {
			n := Node{ID: 8*len(host.Nodes) + r.IntN(8), Cores: r.IntN(24), Memory: numa.Bytes(r.IntN(200_000)) * numa.MiB, KeptMemory: numa.Bytes(r.IntN(4)) * numa.GiB}
			n.Threads = n.Cores * (1 + r.IntN(2))
			if n.Cores > 0 {
				n.KeptCores = r.IntN(3)
			}
			if r.IntN(2) == 0 && n.Cores > 0 {
				for range n.Cores {
					var core []int
					for range n.Threads / n.Cores {
						core = append(core, cpu)
						cpu++
					}
					n.CPUs = append(n.CPUs, core)
				}
			}
			for _, s := range sizes {
				if r.IntN(3) == 0 {
					n.Pages = append(n.Pages, numa.Pool{Size: s, Count: r.IntN(int(max(0, n.Memory-n.KeptMemory)/s/4 + 1))})
				}
			}
			if n.KeptMemory > n.Memory {
				n.KeptMemory, n.Pages = n.Memory, nil
			}
			host.Nodes = append(host.Nodes, n)
		}
		if r.IntN(2) == 0 {
			for i := range host.Nodes {
				row := make([]int, len(host.Nodes))
				for j := range row {
					row[j] = 10 + 5*max(i-j, j-i)
				}
				host.Distance = append(host.Distance, row)
			}
		}
		p.Hosts = append(p.Hosts, host)
	}
	for i := range r.IntN(40) {
		v := VM{Name: fmt.Sprint("v", i), Exclusive: r.IntN(5) == 0, Wave: r.IntN(5) - 2, Class: []string{"", "a", "b", "c"}[r.IntN(4)]}
		if r.IntN(3) == 0 {
			v.Page = sizes[r.IntN(2)]
		}
		if r.IntN(6) == 0 {
			v.Groups = [][]string{{"x"}, {"y"}, {"x", "y"}}[r.IntN(3)]
		}
		for range 1 + r.IntN(3)*r.IntN(3) {
			v.Cells = append(v.Cells, Cell{r.IntN(14), numa.Bytes(1+r.IntN(30_000*(1+r.IntN(2)))) * numa.MiB})
		}
		p.VMs = append(p.VMs, v)
	}
	return p
}

// threaded lets exclusive VMs of a wild problem see the two threads of cores, which every host then has.
func threaded(p *Problem) *Problem {
	for i := range p.Hosts {
		cpu := 0
		for j := range p.Hosts[i].Nodes {
			n := &p.Hosts[i].Nodes[j]
			n.CPUs, n.Threads = nil, 2*n.Cores
			for range n.Cores {
				n.CPUs = append(n.CPUs, []int{cpu, cpu + 1})
				cpu += 2
			}
		}
	}
	for i := range p.VMs {
		for j := range p.VMs[i].Cells {
			p.VMs[i].Cells[j].VCPUs &^= 1
		}
		if p.VMs[i].Exclusive && i%3 > 0 {
			p.VMs[i].PerCore = 2
		}
	}
	return p
}

// TestThreads checks that the vCPUs of a core of the guest have the CPUs of one core of the host, and that cores count once for them.
func TestThreads(t *testing.T) {
	threads, placed := 0, 0
	for seed := range uint64(200) {
		p := threaded(wild(seed))
		plan, err := Make(t.Context(), p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, f := range recheck(p, plan) {
			t.Errorf("seed %d: %s", seed, f)
		}
		for i, at := range plan.VMs {
			if p.VMs[i].PerCore > 1 && at.Host >= 0 {
				if placed++; p.Policy.Threads {
					threads++
				}
			}
		}
	}
	if placed < 100 || threads < 20 {
		t.Errorf("%d VMs with threads are placed, %d of them where threads count: too few to say anything", placed, threads)
	}
	p := &Problem{VMs: []VM{{Name: "v", Cells: []Cell{{VCPUs: 8}}, Exclusive: true, PerCore: 2}}, Hosts: []Host{{Name: "h", Nodes: []Node{{Cores: 4, Threads: 8,
		CPUs: [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}}}}}}
	plan, err := Make(t.Context(), p)
	if err != nil || fmt.Sprint(plan.VMs[0].Cells) != "[{0 [0 4 1 5 2 6 3 7]}]" {
		t.Errorf("%v, %+v: want the threads of each core in turn", err, plan)
	}
	p.Hosts[0].Nodes[0].CPUs = nil
	if _, err := Make(t.Context(), p); err == nil {
		t.Error("no error: the threads of cores are not known")
	}
}

// TestFits checks that no plan places what does not fit, and that the same problem has the same plan.
func TestFits(t *testing.T) {
	left, placed, why := 0, 0, map[string]bool{}
	for seed := range uint64(300) {
		p := wild(seed)
		plan, err := Make(t.Context(), p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, f := range recheck(p, plan) {
			t.Errorf("seed %d: %s", seed, f)
		}
		again, err := Make(t.Context(), wild(seed))
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(plan)
		if b, _ := json.Marshal(again); string(a) != string(b) {
			t.Errorf("seed %d: two plans", seed)
		}
		left, placed = left+plan.Left, placed+len(p.VMs)-plan.Left
		for _, v := range plan.VMs {
			if v.Why != "" {
				why[strings.Join(strings.Fields(v.Why)[:3], " ")] = true
			}
		}
	}
	if left < 500 || placed < 500 {
		t.Errorf("%d VMs placed, %d left: the problems are too easy or too hard", placed, left)
	}
	t.Logf("%d VMs placed, %d left; reasons begin: %q", placed, left, slices.Sorted(maps.Keys(why)))
}
