package optimise

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A Proposal is a list of actions, in order, and their predicted result.
type Proposal struct {
	Before, After Score
	Steps         []Step
	Bound         Bound
	Notes         []string // information for the reader, in sentences
	// Unsurvived describes the host failures after which VMs find no room; nil if there are none, or N+1 was not requested.
	Unsurvived []string
}

// A Step is a vMotion, or a change of shape if From and To are the same host.
type Step struct {
	VM       int // index in the Problem
	From, To int // hosts, indexes in the Problem
	// Shape is the index of the new shape, which requires a power cycle; -1 for a vMotion.
	Shape     int
	Temporary bool  // the VM makes room for others and moves again in a later step
	After     Score // after this step
	Why       string
}

// A Bound is a lower limit of Score.Total for all proposals for the Problem.
type Bound struct {
	Total  int64 `json:"bound"`
	Gap    int64 `json:"-"`      // maximum distance of the proposal from it
	Proven bool  `json:"proven"` // Gap is 0: there is no better proposal
}

// Solve searches for a proposal that costs less than the present distribution; it has no Steps if
// none is found. The error describes the mistake in the problem, or the end of the context.
func Solve(ctx context.Context, p *Problem, o Options) (*Proposal, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := newModel(p)
	begin := newState(m)
	goals := m.found(ctx, o.defaults(len(p.VMs)))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	least := goals[0]
	steps, end := m.ordered(ctx, least, 0)
	for i := 1; i < orders*len(goals); i++ { // the first is done
		goal := goals[i/orders]
		if end.total <= goal.total {
			break // later ones are not better
		}
		if more, other := m.ordered(ctx, goal, uint64(i)); other.total < end.total {
			steps, end = more, other
		}
	}
	if err := ctx.Err(); err != nil { // the search ended early
		return nil, err
	}
	out := &Proposal{Before: begin.score(), After: end.score()}
	broken := out.Before.Broken
	for i := range steps {
		st := &steps[i]
		v := m.vmAt[st.vm]
		out.Steps = append(out.Steps, Step{VM: v, From: m.hostAt[st.from], To: m.hostAt[st.to], Shape: int(st.shape),
			Temporary: st.temporary, After: st.after, Why: m.why(st, broken-st.after.Broken)})
		broken = st.after.Broken
	}
	out.Bound = m.bound(begin, &out.After)
	out.Notes = m.notes(least, end, out)
	return out, nil
}

// orders is the number of orders of the steps that are tried for each distribution.
const orders = 4

// notes returns the information that the figures do not contain.
func (m *model) notes(least, end *state, p *Proposal) (out []string) {
	if p.Steps == nil {
		out = append(out, "no move and no shape was found that gains more than it costs")
	}
	if least.total < end.total {
		out = append(out, fmt.Sprintf("a better distribution was found (%s), but the search found no order of moves to it in which each finds room: other limits, such as --stay, may find one", least.score()))
	}
	if p.After.Broken > 0 {
		out = append(out, "constraints stay broken: no move was found that mends them")
	}
	if lost := m.lost(end); m.nplus1 && lost != nil {
		p.Unsurvived = lost
	}
	moves := int64(words.Count(p.Steps, func(s Step) bool { return s.Shape < 0 }))
	if extra := moves - p.After.Moves; extra > 0 {
		out = append(out, fmt.Sprintf("%d of the %d vMotions only make room for others: the total counts the %s on another host", extra, moves, words.Verb(int(p.After.Moves), "VM that ends", "VMs that end")))
	}
	return out
}

// lost names the hosts whose failure is not survived, those with the most memory that then finds no room first.
func (m *model) lost(end *state) []string {
	end.sortRooms()
	short := map[int]int64{}
	for x := range m.hosts {
		if memory := end.shortage(x); memory > 0 {
			short[x] = memory
		}
	}
	worst := slices.SortedFunc(maps.Keys(short), func(x, y int) int { return cmp.Or(cmp.Compare(short[y], short[x]), cmp.Compare(x, y)) })
	return words.Texts(worst, func(x int) string {
		return fmt.Sprintf("without %s VMs with %s find no room", m.hosts[x].Name, megabytes(short[x]))
	})
}

// String describes the score.
func (s Score) String() string {
	out := fmt.Sprintf("%s remote, %s far, %s cores short, total %d", megabytes(s.Remote), megabytes(s.Far), cores(s.Ready), s.Total)
	if s.Broken > 0 {
		out += fmt.Sprintf(", constraints broken by %d", s.Broken)
	}
	return out
}

func megabytes(n int64) string { return (numa.Bytes(n) * numa.MiB).String() }

// A ledger holds the cost of each host of a state, and of each VM there.
type ledger struct {
	loads  []load
	broken []int64 // by host
	remote []int64 // by VM: MiB remote and far
}

func (s *state) ledger() *ledger {
	l := &ledger{make([]load, len(s.m.hosts)), make([]int64, len(s.m.hosts)), make([]int64, len(s.m.vms))}
	for h := range s.m.hosts {
		l.enter(s, h)
	}
	return l
}

// enter places host h anew.
func (l *ledger) enter(s *state, h int) {
	on := s.On[h]
	s.bench.each = append(s.bench.each[:0], make([]int64, 1+len(on))...)
	l.loads[h], l.broken[h] = s.m.place(h, on, s.shape, s.bench), s.excess(h, on)
	for i, v := range on {
		l.remote[v] = s.bench.each[i]
	}
	s.bench.each = nil
}

// step makes the step, after which the VM has the shape, and returns its largest changes.
func (l *ledger) step(s *state, st *step, shape int16) relief {
	hosts := []int32{int32(st.from), int32(st.to)}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	var vms []int32
	for _, h := range hosts {
		vms = append(vms, s.On[h]...)
	}
	slices.Sort(vms)
	at := func() (remote, ready []int64) {
		for _, v := range vms {
			remote = append(remote, l.remote[v])
		}
		for _, h := range hosts {
			ready = append(ready, l.loads[h].ready)
		}
		return remote, ready
	}
	remote, ready := at()
	s.set(st.vm, st.to, shape)
	for _, h := range hosts {
		l.enter(s, int(h))
	}
	then, idle := at()
	i := slices.Index(vms, st.vm)
	r := relief{own: change{int(st.vm), remote[i], then[i]}}
	remote[i] = then[i] // of the others
	r.gains, r.pays = extremes(vms, remote, then)
	r.rests, r.toil = extremes(hosts, ready, idle)
	return r
}

// A change is a figure before and after.
type change struct {
	of            int // VM or host; -1 for none
	before, after int64
}

// A relief contains the largest changes of a step.
type relief struct {
	own         change // of the VM itself, MiB
	gains, pays change // other VMs, MiB
	rests, toil change // hosts, demand beyond the cores
}

// extremes returns the VM or host with the largest decrease, and that with the largest increase.
func extremes(of []int32, a, b []int64) (down, up change) {
	down, up = change{of: -1}, change{of: -1}
	for i := range a {
		switch d := a[i] - b[i]; {
		case d > down.before-down.after:
			down = change{int(of[i]), a[i], b[i]}
		case -d > up.after-up.before:
			up = change{int(of[i]), a[i], b[i]}
		}
	}
	return down, up
}

// why returns the purpose of the step as a sentence; mended is the decrease of broken constraints.
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

// cores formats hundredths of a percent of a core as cores.
func cores(n int64) string { return fmt.Sprintf("%.2f", float64(n)/wholeCore) }
