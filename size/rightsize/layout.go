package rightsize

import (
	"fmt"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A Kind is a kind of host, with the VM's layouts on it.
type Kind struct {
	Host       string     `json:"host"` // in words: "2 nodes of 18 cores and 512 GB"
	Nodes      int        `json:"nodes"`
	Cores      int        `json:"coresPerNode"`
	NodeMemory numa.Bytes `json:"nodeMemory,omitempty"`
	Before     Layout     `json:"before"`
	After      Layout     `json:"after"`
}

// A Layout is the layout of a VM on a host after a power cycle.
type Layout struct {
	Clients        []int `json:"clients"` // vCPUs of each
	Guest          []int `json:"guest"`   // of each NUMA node that the guest sees
	CoresPerSocket int   `json:"coresPerSocket"`
}

// Wide reports whether it takes more than one node.
func (l *Layout) Wide() bool { return len(l.Clients) > 1 }

func layoutOf(l *vnuma.Layout) Layout {
	return Layout{l.PPDs.Sizes(), l.VPDs.Sizes(), l.CoresPerSocket}
}

func shapesOf(machines []vnuma.Machine) (out []Shape) {
	for i := range machines {
		s := Shape{int(machines[i].Nodes), int(machines[i].Cores)}
		out = words.Once(out, s)
	}
	return out
}

// layouts sets the layouts of the VM before and after.
func (v *VM) layouts(a *Advice) {
	if len(v.Machines) == 0 {
		if v.Rec != nil && len(v.Rec.Nodes) > 0 {
			a.Memory.fit(leastNode(v), 1) // cores of a node are unknown: assume the fewest
		}
		a.PowerCycle = a.Suggested < a.VCPUs
		return
	}
	best := v.plan(a.Suggested)
	home := &v.Machines[0]
	for i := range v.Machines {
		m := &v.Machines[i]
		c := &vnuma.Case{}
		if i > 0 {
			c = &vnuma.Case{Event: vnuma.VMotionIn, From: home}
		}
		before := vnuma.Predict(&v.Guest, m, c)
		k := Kind{Host: m.Shape(), Nodes: int(m.Nodes), Cores: int(m.Cores), NodeMemory: numa.Bytes(m.NodeMemory), Before: layoutOf(&before), After: layoutOf(&before)}
		if a.Suggested != a.VCPUs {
			k.After = layoutOf(&best.After[i])
		}
		if i == 0 {
			a.Assumes = before.Assumes.Names()
		}
		a.Kinds = append(a.Kinds, k)
	}
	after := &a.Kinds[0].After
	a.Memory.fit(numa.Bytes(home.NodeMemory), Shape{int(home.Nodes), int(home.Cores)}.clients(a.Suggested))
	if a.Suggested == a.VCPUs {
		return
	}
	a.PowerCycle = a.Suggested < a.VCPUs || !v.Guest.HotAdd
	g := v.resized(a.Suggested)
	if !best.Better {
		best.Edit = plan.Edit{}
	}
	if g.CoresPerSocket != v.Guest.CoresPerSocket && best.Edit.Shape == (plan.Shape{}) {
		best.Edit.Shape.CoresPerSocket = int(g.CoresPerSocket)
	}
	a.Steps = best.Edit.Steps(&g, home)
	if v.Guest.HotAdd && !best.Edit.HotAddOff {
		a.HotAdd = "CPU hot add does no harm: the VM fits one node"
		if after.Wide() {
			a.HotAdd = fmt.Sprintf("CPU hot add stays on: the guest sees %d of %d nodes", len(after.Guest), len(after.Clients))
		}
	}
}

// Differing returns the other kinds of hosts on which the resized VM is wide while it is not at
// home, or the other way round.
func (a *Advice) Differing() (out []*Kind) {
	for i := range a.Kinds {
		if i > 0 && a.Verdict != Keep && a.Kinds[i].After.Wide() != a.Kinds[0].After.Wide() {
			out = append(out, &a.Kinds[i])
		}
	}
	return out
}

// resized returns the guest with another number of vCPUs. Cores per socket that do not divide it
// are replaced by the rules of thumb (rule book B-25): all vCPUs of a node.
func (v *VM) resized(n int) vnuma.Guest {
	g := v.Guest
	g.VCPUs = int32(n)
	if int(g.MaxVCPUs) < n {
		g.MaxVCPUs = 0
	}
	if !g.AutoCPS && g.VCPUs%g.CoresPerSocket != 0 {
		g.CoresPerSocket = g.VCPUs
		if len(v.Machines) > 0 {
			m := &v.Machines[0]
			if k := (g.VCPUs + m.Cores - 1) / m.Cores; g.VCPUs%k == 0 {
				g.CoresPerSocket = g.VCPUs / k
			}
		}
	}
	return g
}

// plan returns the best configuration with n vCPUs.
func (v *VM) plan(n int) plan.Plan {
	if n == int(v.Guest.VCPUs) {
		return plan.Plan{}
	}
	g := v.resized(n)
	return plan.Best(&g, v.Machines, vnuma.Choices{})
}

// leastNode returns the memory of the smallest recorded node; 0 unknown.
func leastNode(v *VM) (least numa.Bytes) {
	for i := range v.Rec.Nodes {
		total := v.Rec.Nodes[i].Total
		if total <= 0 {
			return 0
		}
		if least == 0 || total < least {
			least = total
		}
	}
	return least
}
