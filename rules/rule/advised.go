package rule

import (
	"fmt"
	"math"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/shape"
)

// Undivided reports whether the guest of a VM that does not fit any single node of its host sees one node, and the minimum number of nodes
// for the VM.
func (v *StatedVM) Undivided() (needed int, ok bool) {
	needed, ok = v.Needed()
	return needed, ok && v.Flat() && !v.Stated.Partial && needed > 1 && len(v.spaces()) > 1 && !v.RoomOf(0).Within
}

// spaces returns the space for cells of the VM on the host's nodes with cores. Unknown memory counts as sufficient.
func (v *StatedVM) spaces() (out []numa.Space) {
	for _, n := range v.Host.Nodes.Value {
		one := numa.Space{Cores: n.Cores, Memory: math.MaxInt64}
		if v.Stated.Dedicated {
			one.Cores = n.Threads
		}
		if room, known := v.Host.Room(n.ID, v.Stated.Pieces()[0].Page); known {
			one.Memory = room
		}
		if n.Cores > 0 {
			out = append(out, one)
		}
	}
	return out
}

// Equal returns the smallest number of equal cells that fit the nodes of the host; 0 if there is none.
func (v *StatedVM) Equal() int {
	return numa.EqualCells(v.Stated.VCPUs, v.Stated.Shape.Memory, 0, v.spaces())
}

// Unequal describes the space for a cell on each node of the host with cores: "at most 16 vCPUs and 256 GB on node 0, …".
func (v *StatedVM) Unequal() string {
	spaces, i := v.spaces(), -1
	return words.Join(", ", words.Texts(v.Host.Nodes.Value, func(n numa.Node) string {
		if n.Cores == 0 {
			return ""
		}
		i++
		return fmt.Sprintf("at most %s and %s on node %d", words.Plural(spaces[i].Cores, "vCPU"), spaces[i].Memory, n.ID)
	})...)
}

// Others lists the nearest numbers of vCPUs that are divisible into equal cells that fit the host: "22 or 24 vCPUs".
func (v *StatedVM) Others() string {
	n, k := v.Stated.VCPUs, v.Equal()
	return fmt.Sprintf("%d or %d vCPUs: %d in %s have no larger socket in common than one of a vCPU", n/k*k, (n/k+1)*k, n, words.Plural(k, "cell"))
}

// CellsToBe returns the cell of each of the vCPUs: as stated, or in equal cells if the guest has to see more nodes. ok is false if no equal
// cells fit the nodes of the host.
func (v *StatedVM) CellsToBe(vcpus int) (cell []int, ok bool) {
	if _, undivided := v.Undivided(); !undivided {
		return v.Stated.Of(), true
	}
	k := v.Equal()
	for c := range k {
		cell = append(cell, slices.Repeat([]int{c}, (vcpus+k-1-c)/k)...)
	}
	return cell, k > 0
}

// TopologyToBe returns the sockets that the advice of all checks names for this number of vCPUs: at most perSocket vCPUs, each within one
// cell, with the number of threads per core that the pins have. ok is false if no common size of several vCPUs exists.
func (v *StatedVM) TopologyToBe(vcpus, perSocket int) (s numa.Shape, ok bool) {
	cell, ok := v.CellsToBe(vcpus)
	if !ok {
		return s, false
	}
	per := shape.Fitting(cell, perSocket)
	s = numa.Shape{Sockets: vcpus / per, Dies: 1, Cores: per, Threads: 1}
	if paired, _, _ := v.Paired(); (paired || v.Stated.Threads == 2) && per%2 == 0 {
		s.Cores, s.Threads = per/2, 2
	}
	return s, per > 1
}

// Paired reports whether vCPUs 2n and 2n+1 of a guest without threads, each pinned to a CPU of its own, are pinned to the threads of one host
// core. shared is the number of cores with several vCPUs, and first contains the first two vCPUs of one core.
func (v *StatedVM) Paired() (paired bool, shared int, first [2]int) {
	own, on := v.Own(), map[int][]int{}
	for _, vcpu := range v.Stated.Enabled() {
		cpu, pinned := own[vcpu]
		core, known := v.Cores[cpu]
		if !pinned || !known || slices.ContainsFunc(on[core], func(o int) bool { return own[o] == cpu }) { // K010
			continue
		}
		on[core] = append(on[core], vcpu)
		if of := on[core]; len(of) == 2 {
			if shared++; shared == 1 {
				first = [2]int(of)
			}
		}
	}
	paired = shared > 0 && v.Stated.Threads <= 1
	for _, of := range on {
		paired = paired && len(of) == 2 && of[0]%2 == 0 && of[1] == of[0]+1
	}
	return paired, shared, first
}

// BeyondCores returns the advice for a VM with more vCPUs than all cores of its host's nodes, which fits in no layout; "" for any other.
func (v *StatedVM) BeyondCores() string {
	all := 0
	for _, n := range v.spaces() {
		all += n.Cores
	}
	if v.Stated.VCPUs <= all || all == 0 {
		return ""
	}
	return fmt.Sprintf("Use fewer vCPUs, or a larger host: it has %d, and %s holds %d, a core each", v.Stated.VCPUs, v.Host.Name, all)
}

// Elsewhere returns another node with cores and enough unbound ordinary memory, and the amount; ok is false if there is none.
func (v *StatedVM) Elsewhere(not []int, need numa.Bytes) (node int, left numa.Bytes, ok bool) {
	for _, n := range v.Host.Nodes.Value {
		if slices.Contains(not, n.ID) {
			continue
		}
		if rest, _ := v.Left(&n); rest >= need && rest > left {
			node, left, ok = n.ID, rest, true
		}
	}
	return node, left, ok
}

// A Setting is a kind of setting that advice names.
type Setting int

// The settings.
const (
	Pins    Setting = iota // CPUs of the host for vCPUs
	Binding                // nodes of the host for memory
	Cells                  // nodes of the guest
	Sockets                // sockets and their cores
)

// spelling has the names of settings on platforms other than libvirt.
var spelling = map[string][4]string{
	"QEMU": {"taskset -pc for the thread of each vCPU (query-cpus-fast of QMP lists them)", "host-nodes and policy=bind of the memory backend",
		"-numa node with cpus and memdev for each, and a memory backend for each", "sockets and cores of -smp"},
	"Proxmox VE": {"affinity", "hostnodes and policy of numaN", "numa: 1, with a socket for each, or numa0, numa1 … with cpus and memory", "the settings sockets and cores"},
	"KubeVirt": {"dedicatedCpuPlacement", "numa.guestMappingPassthrough, with dedicatedCpuPlacement and huge pages",
		"numa.guestMappingPassthrough, with dedicatedCpuPlacement and huge pages", "sockets and cores of domain.cpu"},
}

// Spelt returns the name of a setting on the platform of a VM; "" for libvirt, whose elements the pages of the checks name.
func Spelt(s *numa.Stated, what Setting) string {
	if what == Pins && s.Platform == "Proxmox VE" && len(s.Cells) > 1 {
		return "pin the thread of each vCPU after the start, in a hookscript: Proxmox has one affinity for all threads of a VM"
	}
	return spelling[s.Platform][what]
}

// Spelt appends the names of the settings on the platform of the VM to advice.
func (p *StatedPass) Spelt(advice string, settings ...Setting) string {
	sep := ": "
	for _, what := range settings {
		if how := Spelt(p.VM.Stated, what); how != "" {
			advice, sep = advice+sep+how, "; "
		}
	}
	return advice
}
