package pack

import (
	"math"
	"slices"
)

// complete fills the nodes of the hosts, but of the last, one after the other, each with those of the VMs to be placed that leave least of it
// (minimum bin slack; Gupta, Ho, A new heuristic algorithm for the one-dimensional bin-packing problem, 1999). It tries VMs of one cell
// with ordinary memory alone: the others are placed before.
func (s *search) complete(hosts []int32) {
	for _, v := range s.again {
		if !s.m.items[v].plain() {
			s.insert(v)
		}
	}
	f := filling{}
	for _, h := range hosts[:len(hosts)-1] {
		for n := s.m.first[h]; n < s.m.last(h); n++ {
			f.reset(s, n)
			f.add(0, s.cpu[n], s.mem[n])
			s.budget -= f.steps / stepsEach
			for _, i := range f.best {
				v := f.vms[i]
				if it := &s.m.items[v]; s.Apart(int(h), v, nil) && s.takes(h, n, it, &it.cells[0]) {
					s.kept[0] = int8(n - s.m.first[h])
					s.put(h, v, s.kept)
				}
			}
		}
	}
}

// plain reports whether only the cores and the memory of a node limit where the VM is.
func (it *item) plain() bool { return len(it.cells) == 1 && !it.exclusive && it.size < 0 }

// A filling finds the VMs that leave least of a node, in the order of vms.
type filling struct {
	vms            []int32
	cells          []*cell
	cpu, mem       []int64 // of the VMs from each on
	allCPU, allMem float64
	chosen, best   []int
	least          float64 // shares of cores and memory that best leaves
	steps          int
}

// maxFilling limits the sets that are tried for a node; stepsEach of them take as long as a placement.
const (
	maxFilling = 3000
	stepsEach  = 25
)

func (f *filling) reset(s *search, n int32) {
	f.vms, f.cells, f.chosen, f.best = f.vms[:0], f.cells[:0], f.chosen[:0], f.best[:0]
	for _, v := range s.again {
		if it := &s.m.items[v]; s.In[v] < 0 && it.plain() {
			f.vms, f.cells = append(f.vms, v), append(f.cells, &it.cells[0])
		}
	}
	f.cpu, f.mem = append(f.cpu[:0], make([]int64, len(f.vms)+1)...), append(f.mem[:0], make([]int64, len(f.vms)+1)...)
	for i, c := range slices.Backward(f.cells) {
		f.cpu[i], f.mem[i] = f.cpu[i+1]+c.cpu, f.mem[i+1]+c.mem
	}
	f.allCPU, f.allMem, f.least, f.steps = float64(max(1, s.m.cpu[n])), float64(max(1, s.m.mem[n])), math.Inf(1), 0
}

// left returns free cores and memory as shares of the node, added up.
func (f *filling) left(cpu, mem int64) float64 {
	return float64(float64(cpu)/f.allCPU) + float64(float64(mem)/f.allMem)
}

// add tries the sets of the chosen VMs and of those from i on; cpu and mem are the capacity that the chosen ones leave.
func (f *filling) add(i int, cpu, mem int64) {
	if left := f.left(cpu, mem); left < f.least {
		f.least, f.best = left, append(f.best[:0], f.chosen...)
	}
	for first := i; i < len(f.cells); i++ {
		if f.least == 0 || f.steps > maxFilling || f.left(max(0, cpu-f.cpu[i]), max(0, mem-f.mem[i])) >= f.least {
			return
		}
		c := f.cells[i]
		if c.cpu > cpu || c.mem > mem || i > first && c.cpu == f.cells[i-1].cpu && c.mem == f.cells[i-1].mem {
			continue
		}
		f.steps++
		f.chosen = append(f.chosen, i)
		f.add(i+1, cpu-c.cpu, mem-c.mem)
		f.chosen = f.chosen[:len(f.chosen)-1]
	}
}
