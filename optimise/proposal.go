package optimise

import (
	"fmt"
	"slices"

	"homenode/numa"
	"homenode/vnuma"
)

// A Proposal is what to do, in order, and what comes of it: predicted.
type Proposal struct {
	Before, After Score
	Steps         []Step
	// Reshapes are the Steps that change a shape, with what they change.
	Reshapes []Reshape
	Bound    Bound
	Notes    []string // what the reader must know, in sentences
}

// A Step is a vMotion, or a change of shape where From and To are the same host.
type Step struct {
	VM       int // index in the Problem
	From, To int // hosts, indexes in the Problem
	// Shape is the index of the shape to be taken with a power cycle; -1 for a vMotion.
	Shape     int
	Temporary bool  // the VM makes room for others and goes on with a later step
	After     Score // once this step is done
	Why       string
}

// A Reshape is the change of a VM's configuration.
type Reshape struct {
	VM    int // index in the Problem
	Host  int // where it runs then
	Edit  vnuma.Edit
	Nodes numa.NodeSet // numa.nodeAffinity to set; empty leaves it as it is
	// Before and After are the vCPUs of each of its NUMA clients.
	Before, After []int
}

// A Bound is a total that no proposal for the Problem goes below.
type Bound struct {
	Total  int64
	Gap    int64 // how much the proposal is above it at most
	Proven bool  // Gap is 0: there is no better proposal
}

// Solve searches a proposal that costs less than the present distribution; without
// Steps when none is found. The error says what is wrong with the problem.
func Solve(p *Problem, o Options) (*Proposal, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := newModel(p)
	begin := newState(m)
	goals := m.found(o.defaults())
	least := goals[0].total
	steps, end := m.ordered(goals[0])
	for _, goal := range goals[1:] {
		if end.total <= goal.total {
			break // no later one reaches less
		}
		if more, other := m.ordered(goal); other.total < end.total {
			steps, end = more, other
		}
	}
	out := &Proposal{Before: begin.score(), After: end.score()}
	at := begin
	for i := range steps {
		st := &steps[i]
		v := m.vmAt[st.vm]
		out.Steps = append(out.Steps, Step{VM: v, From: m.hostAt[st.from], To: m.hostAt[st.to], Shape: int(st.shape),
			Temporary: st.temporary, After: st.after, Why: m.why(st)})
		if st.shape >= 0 {
			now, then := m.fit(st.vm, at.shape[st.vm], st.to), m.fit(st.vm, st.shape, st.to)
			shape := &m.vms[st.vm].Shapes[st.shape]
			out.Reshapes = append(out.Reshapes, Reshape{VM: v, Host: m.hostAt[st.to], Edit: shape.Edit, Nodes: shape.Nodes,
				Before: slices.Clone(now.Clients), After: slices.Clone(then.Clients)})
		}
	}
	out.Bound = m.bound(begin, out.After.Total)
	out.Notes = m.notes(least, end, out)
	return out, nil
}

// notes says what the figures do not.
func (m *model) notes(least int64, end *state, p *Proposal) (out []string) {
	if p.Steps == nil {
		out = append(out, "no move and no shape was found that gains more than it costs")
	}
	if least < end.total {
		out = append(out, fmt.Sprintf("a better distribution (total %d instead of %d) was found, but no order of moves to it in which each finds room", least, end.total))
	}
	if p.After.Broken > 0 {
		out = append(out, "constraints stay broken: no move was found that mends them")
	}
	if m.nplus1 {
		var lost []string
		for x := range m.hosts {
			if short := end.shortage(x); short > 0 {
				lost = append(lost, fmt.Sprintf("%s of %s", numa.Bytes(short)*numa.MiB, m.hosts[x].Name))
			}
		}
		if lost != nil {
			out = append(out, fmt.Sprintf("N+1 is not kept, as at the beginning: VMs with %s find no room on other hosts after its loss", join(lost)))
		}
	}
	n := 0
	for i := range p.Steps {
		if p.Steps[i].Temporary {
			n++
		}
	}
	if n > 0 {
		out = append(out, fmt.Sprintf("%d of the vMotions only make room and are not counted in the total", n))
	}
	return out
}

func join(names []string) string {
	const most = 3
	s := ""
	for i, n := range names {
		switch {
		case i == most:
			return s + fmt.Sprintf(" and %d more", len(names)-most)
		case i > 0:
			s += ", "
		}
		s += n
	}
	return s
}

// burdens returns for each VM what it has remote or far, in MiB, and for each host what
// is beyond its cores.
func (s *state) burdens() (out burdens) {
	out.remote = make([]int64, len(s.m.vms))
	out.ready = make([]int64, len(s.m.hosts))
	each := make([]int64, len(s.m.vms))
	s.bench.each = each
	for h := range s.m.hosts {
		clear(each)
		out.ready[h] = s.m.place(h, s.on[h], s.shape, s.bench).ready
		for i, v := range s.on[h] {
			out.remote[v] = each[i]
		}
	}
	s.bench.each = nil
	return out
}

type burdens struct{ remote, ready []int64 }

// A relief is what a step changes most.
type relief struct {
	own        [2]int64 // MiB of the VM itself, before and after
	vm         int      // another VM that gains; -1 for none
	other      [2]int64
	host       int // the host whose demand beyond its cores falls most; -1 for none
	ready      [2]int64
	worse      int // a VM that loses; -1 for none
	worseBytes [2]int64
}

func most(a, b burdens, vm int32) relief {
	r := relief{own: [2]int64{a.remote[vm], b.remote[vm]}, vm: -1, host: -1, worse: -1}
	for v := range a.remote {
		if v == int(vm) {
			continue
		}
		if d := a.remote[v] - b.remote[v]; d > r.other[0]-r.other[1] {
			r.vm, r.other = v, [2]int64{a.remote[v], b.remote[v]}
		} else if -d > r.worseBytes[1]-r.worseBytes[0] {
			r.worse, r.worseBytes = v, [2]int64{a.remote[v], b.remote[v]}
		}
	}
	for h := range a.ready {
		if d := a.ready[h] - b.ready[h]; d > r.ready[0]-r.ready[1] {
			r.host, r.ready = h, [2]int64{a.ready[h], b.ready[h]}
		}
	}
	return r
}

// why says in one sentence what the step is for.
func (m *model) why(s *step) string {
	r := &s.relieved
	mb := func(n int64) string { return (numa.Bytes(n) * numa.MiB).String() }
	var parts []string
	if r.own[0] != r.own[1] {
		parts = append(parts, fmt.Sprintf("its memory on other nodes goes from %s to %s", mb(r.own[0]), mb(r.own[1])))
	}
	if r.vm >= 0 {
		parts = append(parts, fmt.Sprintf("that of %s from %s to %s", m.vms[r.vm].Name, mb(r.other[0]), mb(r.other[1])))
	}
	if r.host >= 0 {
		parts = append(parts, fmt.Sprintf("demand beyond the cores of its nodes on %s from %s to %s cores", m.hosts[r.host].Name, cores(r.ready[0]), cores(r.ready[1])))
	}
	if r.worse >= 0 {
		parts = append(parts, fmt.Sprintf("%s pays: from %s to %s on other nodes", m.vms[r.worse].Name, mb(r.worseBytes[0]), mb(r.worseBytes[1])))
	}
	if s.temporary {
		parts = append(parts, "it goes on later")
	}
	if len(parts) == 0 {
		return "it makes room for the next steps"
	}
	out := parts[0]
	for _, p := range parts[1:] {
		out += "; " + p
	}
	return out
}

// cores writes hundredths of a percent of a core as cores.
func cores(n int64) string { return fmt.Sprintf("%.2f", float64(n)/wholeCore) }
