package optimise

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"homenode/esxi/plan"
	"homenode/internal/words"
	"homenode/numa"
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
	Edit  plan.Edit
	Nodes numa.NodeSet // numa.nodeAffinity to set; empty leaves it as it is
	// Before and After are the vCPUs of each of its NUMA clients.
	Before, After []int
}

// A Bound is a Score.Total that no proposal for the Problem goes below.
type Bound struct {
	Total  int64 `json:"bound"`
	Gap    int64 `json:"-"`      // how much the proposal is above it at most
	Proven bool  `json:"proven"` // Gap is 0: there is no better proposal
}

// Solve searches a proposal that costs less than the present distribution; without
// Steps when none is found. The error says what is wrong with the problem, or that the context ended.
func Solve(ctx context.Context, p *Problem, o Options) (*Proposal, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := newModel(p)
	begin := newState(m)
	goals := m.found(ctx, o.defaults())
	least := goals[0]
	steps, end := m.ordered(ctx, goals[0])
	for _, goal := range goals[1:] {
		if end.total <= goal.total {
			break // no later one reaches less
		}
		if more, other := m.ordered(ctx, goal); other.total < end.total {
			steps, end = more, other
		}
	}
	if err := ctx.Err(); err != nil { // the search ended early
		return nil, err
	}
	out := &Proposal{Before: begin.score(), After: end.score()}
	at, broken := begin, out.Before.Broken
	for i := range steps {
		st := &steps[i]
		v := m.vmAt[st.vm]
		out.Steps = append(out.Steps, Step{VM: v, From: m.hostAt[st.from], To: m.hostAt[st.to], Shape: int(st.shape),
			Temporary: st.temporary, After: st.after, Why: m.why(st, broken-st.after.Broken)})
		broken = st.after.Broken
		if st.shape >= 0 {
			now, then := m.fit(st.vm, at.shape[st.vm], st.to), m.fit(st.vm, st.shape, st.to)
			shape := &m.vms[st.vm].Shapes[st.shape]
			out.Reshapes = append(out.Reshapes, Reshape{VM: v, Host: m.hostAt[st.to], Edit: shape.Edit, Nodes: shape.Nodes,
				Before: slices.Clone(now.Clients), After: slices.Clone(then.Clients)})
		}
	}
	out.Bound = m.bound(begin, &out.After)
	out.Notes = m.notes(least, end, out)
	return out, nil
}

// notes says what the figures do not.
func (m *model) notes(least, end *state, p *Proposal) (out []string) {
	if p.Steps == nil {
		out = append(out, "no move and no shape was found that gains more than it costs")
	}
	if least.total < end.total {
		out = append(out, fmt.Sprintf("a better distribution was found (%s), but no order of moves to it in which each finds room", least.score()))
	}
	if p.After.Broken > 0 {
		out = append(out, "constraints stay broken: no move was found that mends them")
	}
	if lost := m.lost(end); m.nplus1 && lost != nil {
		out = append(out, "N+1 is not kept, nor was it: "+words.Few(lost))
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

// lost names the hosts whose loss is not survived.
func (m *model) lost(end *state) (out []string) {
	for x := range m.hosts {
		if short := end.shortage(x); short > 0 {
			out = append(out, fmt.Sprintf("without %s VMs with %s find no room", m.hosts[x].Name, megabytes(short)))
		}
	}
	return out
}

// String returns the score in words.
func (s Score) String() string {
	out := fmt.Sprintf("%s remote, %s far, %s cores short, total %d", megabytes(s.Remote), megabytes(s.Far), cores(s.Ready), s.Total)
	if s.Broken > 0 {
		out += fmt.Sprintf(", constraints broken by %d", s.Broken)
	}
	return out
}

func megabytes(n int64) string { return (numa.Bytes(n) * numa.MiB).String() }

// burdens returns for each VM what it has remote or far, in MiB, and for each host what
// is beyond its cores.
func (s *state) burdens() (out burdens) {
	out.remote = make([]int64, len(s.m.vms))
	out.ready = make([]int64, len(s.m.hosts))
	each := make([]int64, len(s.m.vms))
	s.bench.each = each
	for h := range s.m.hosts {
		clear(each)
		out.ready[h] = s.m.place(h, s.On[h], s.shape, s.bench).ready
		for i, v := range s.On[h] {
			out.remote[v] = each[i]
		}
	}
	s.bench.each = nil
	return out
}

type burdens struct{ remote, ready []int64 }

// A change is what a figure was and is.
type change struct {
	of            int // VM or host; -1 for none
	before, after int64
}

// A relief is what a step changes most.
type relief struct {
	own         change // of the VM itself, MiB
	gains, pays change // other VMs, MiB
	rests, toil change // hosts, demand beyond the cores
}

func most(a, b burdens, vm int32) relief {
	r := relief{own: change{int(vm), a.remote[vm], b.remote[vm]}}
	rest := func(v int) bool { return v != int(vm) }
	r.gains, r.pays = extremes(a.remote, b.remote, rest)
	r.rests, r.toil = extremes(a.ready, b.ready, func(int) bool { return true })
	return r
}

// extremes returns the index whose figure falls most, and that whose figure rises most.
func extremes(a, b []int64, counts func(int) bool) (down, up change) {
	down, up = change{of: -1}, change{of: -1}
	for i := range a {
		switch d := a[i] - b[i]; {
		case !counts(i):
		case d > down.before-down.after:
			down = change{i, a[i], b[i]}
		case -d > up.after-up.before:
			up = change{i, a[i], b[i]}
		}
	}
	return down, up
}

// why says in one sentence what the step is for; mended is how much less constraints are
// broken then.
func (m *model) why(s *step, mended int64) string {
	r := &s.relieved
	var parts []string
	if mended > 0 {
		parts = append(parts, "it mends a broken constraint")
	}
	if s.temporary {
		parts = append(parts, "it makes room and goes on with a later step")
	}
	if r.own.before != r.own.after {
		parts = append(parts, fmt.Sprintf("its memory away from its vCPUs goes from %s to %s", megabytes(r.own.before), megabytes(r.own.after)))
	}
	if c := r.gains; c.of >= 0 {
		parts = append(parts, fmt.Sprintf("memory of %s away from its vCPUs: from %s to %s", m.vms[c.of].Name, megabytes(c.before), megabytes(c.after)))
	}
	if c := r.rests; c.of >= 0 {
		parts = append(parts, fmt.Sprintf("%s goes from %s to %s cores short", m.hosts[c.of].Name, cores(c.before), cores(c.after)))
	}
	if c := r.pays; c.of >= 0 {
		parts = append(parts, fmt.Sprintf("%s pays: from %s to %s away from its vCPUs", m.vms[c.of].Name, megabytes(c.before), megabytes(c.after)))
	}
	if c := r.toil; c.of >= 0 {
		parts = append(parts, fmt.Sprintf("%s pays: from %s to %s cores short", m.hosts[c.of].Name, cores(c.before), cores(c.after)))
	}
	if parts == nil {
		return "it makes room for other steps"
	}
	return strings.Join(parts, "; ")
}

// cores writes hundredths of a percent of a core as cores.
func cores(n int64) string { return fmt.Sprintf("%.2f", float64(n)/wholeCore) }
