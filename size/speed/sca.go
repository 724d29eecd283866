package speed

import (
	"context"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// A Mitigated is the capacity of a host under a side-channel aware scheduler.
type Mitigated struct {
	Name string `json:"name"` // none, SCAv1, SCAv2
	// Places is how many vCPUs of any kind run at once on a host; OfShape how many of whole VMs of
	// the shape, each client on one node.
	Places  int `json:"places"`
	OfShape int `json:"ofShape"`
	// Idle is the number of unusable threads of a client's cores: those beside the last vCPU of an
	// odd client (rule book E-3), or all second threads (E-2).
	Idle int `json:"idle"`
	// NonWide is the largest VM with one NUMA client, PreferHT that with PreferHT set, and AtOnce
	// the number of its vCPUs that run at once.
	NonWide  int `json:"nonWide"`
	PreferHT int `json:"preferHT"`
	AtOnce   int `json:"atOnce"`
	// Gain is the gain from the second thread of a busy core in the simulation, in cores, and
	// Capacity the capacity of the host with it. Both are inferred (docs/evidence/simulation.md).
	Gain     unit.Share `json:"gain"`
	Capacity unit.Hz    `json:"capacity"`
	// Full is the load of the VMs at full demand in the simulation, with the limit of the model.
	Full Load `json:"full"`
}

// mitigations lists the schedulers, with the options that enable them (KB 330041).
var mitigations = []struct {
	name    string
	kind    numa.Mitigation
	options numa.Settings
}{
	{"none", numa.NoMitigation, nil},
	{"SCAv1", numa.SCAv1, numa.Settings{{Key: numa.MitigationOption, Value: "TRUE"}}},
	{"SCAv2", numa.SCAv2, numa.Settings{{Key: numa.MitigationOption, Value: "TRUE"}, {Key: numa.MitigationIntraVMOption, Value: "FALSE"}}},
}

// SideChannels returns the capacity of the host under each scheduler (rule book E-2, E-3, B-14). It
// omits SCAv2 where the release does not have it, and both where there are no second threads to
// leave idle. It does not check whether the processor is affected.
func (a *Ask) SideChannels(ctx context.Context) ([]Mitigated, error) {
	var out []Mitigated
	for _, m := range mitigations {
		if m.kind != numa.NoMitigation && a.threads() <= a.cores() {
			continue
		}
		b := *a
		b.Host.Options = numa.AssumedFor(m.options, "size speed")
		if numa.MitigationOf(&b.Host) != m.kind {
			continue // not of this release
		}
		machine, err := vnuma.NewMachine(&b.Host)
		if err != nil {
			return nil, err
		}
		guest := vnuma.Guest{VCPUs: int32(a.VCPUs), CoresPerSocket: int32(numa.PlainCores(a.VCPUs)), Memory: int64(a.Memory)}
		layout := vnuma.Predict(&guest, &machine, &vnuma.Case{})
		one := Mitigated{Name: m.name}
		one.count(&b.Host, m.kind, layout.PPDs.Sizes())
		one.NonWide, one.PreferHT = int(machine.Cores), int(machine.Threads)
		one.AtOnce = places(m.kind, int(machine.Cores), int(machine.Threads), one.PreferHT)
		set, _ := scheduler.SettingsOf(&b.Host)
		one.Gain = unit.Share(float64(set.HTGain) / wholeCore)
		one.Capacity = unit.Hz(float64(a.cores()) * float64(a.Core) * float64(1+one.Gain))
		full, err := b.Simulate(ctx, []unit.Share{1}, true)
		if err != nil {
			return nil, err
		}
		one.Full = full[0]
		out = append(out, one)
	}
	return out, nil
}

// count fills the nodes with whole VMs of these clients.
func (m *Mitigated) count(h *numa.Host, kind numa.Mitigation, clients []int) {
	nodes := h.Nodes.Value
	free := make([]int, len(nodes)) // cores, or threads where any vCPU may run on any thread
	for i, n := range nodes {
		m.Places += places(kind, n.Cores, n.Threads, n.Threads)
		free[i] = n.Cores
		if kind == numa.NoMitigation {
			free[i] = n.Threads
		}
	}
	all := 0
	for _, c := range clients {
		all += c
	}
	for m.OfShape <= MostVMs*all && put(free, kind, clients) {
		m.OfShape += all
	}
	for _, c := range clients {
		switch kind {
		case numa.SCAv1:
			m.Idle += c // the second thread of each of its cores
		case numa.SCAv2:
			m.Idle += c % 2
		}
	}
}

// put subtracts the clients of one VM, each from the node with the most left; false when one does
// not fit. A wide VM has its clients on different nodes as far as possible: with equal clients the
// fullest node is automatically last.
func put(free []int, kind numa.Mitigation, clients []int) bool {
	for _, c := range clients {
		need := c
		if kind == numa.SCAv2 {
			need = (c + 1) / 2 // cores
		}
		best := 0
		for i := range free {
			if free[i] > free[best] {
				best = i
			}
		}
		if free[best] < need {
			return false
		}
		free[best] -= need
	}
	return true
}

// places returns how many of the vCPUs of one VM run at once on a node.
func places(kind numa.Mitigation, cores, threads, vcpus int) int {
	if kind == numa.SCAv1 {
		return min(vcpus, cores)
	}
	return min(vcpus, threads)
}
