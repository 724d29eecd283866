package iocost

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"homenode/numa/unit"
)

// A Question is what size io is asked.
type Question struct {
	Workloads []Asked
	Cluster   Cluster // Cores 0: the host is not known; Core 0: nor its frequency
	Options   Options
	// Budget is the share of the CPU of the cluster that all workloads may have together;
	// 0 when none is set. An open workload gets what the others leave.
	Budget unit.Share
	// Disks and LimitEach are virtual disks with an IOPS limit; 0 for no limit.
	Disks     int
	LimitEach unit.IORate
	// File is where the user's own costs of the model are from; "" when it has none.
	File string
}

// Own says that the user's own costs of a path are taken.
type Own struct {
	Path Path   `json:"path"`
	File string `json:"file"`
	// Unused is how many published kinds they replace.
	Unused int `json:"publishedKindsNotUsed"`
}

// An Outcome is what workloads come to.
type Outcome struct {
	Sum
	// Allowed is how much of the open workload fits in the budget.
	Allowed *Allowed `json:"allowed,omitempty"`
	Limit   *Limited `json:"limit,omitempty"`
	Cores   float64  `json:"cores,omitempty"` // 0 when the frequency of a core is not known
	// Share is that of the CPU of the cluster; 0 when it is not known.
	Share unit.Share `json:"share,omitempty"`
	// Hosts is how many hosts the CPU would fill; 0 when the host is not known.
	Hosts float64 `json:"hostsFilled,omitempty"`
	// Need is what keeps the CPU within the budget; nil when the host is not known, and
	// when the question is how much fits.
	Need *Need `json:"need,omitempty"`
}

// A Need is how much hardware keeps the CPU of workloads within a share of it.
type Need struct {
	Share unit.Share           `json:"share"` // the budget; 1 without one
	Cores unit.Figure[float64] `json:"cores"` // whole ones of all hosts together
	Hosts unit.Figure[float64] `json:"hosts"` // whole ones like those of the cluster
}

// Need returns how many of these hosts, and of their cores, the CPU is a share of. Ends of
// the range are those of the CPU.
func (c Cluster) Need(cpu unit.Figure[unit.Hz], share unit.Share) *Need {
	whole := func(each unit.Hz) unit.Figure[float64] {
		f := cpu.Times(1 / float64(each) / float64(share))
		// A billionth less, as the sum of a load that fills n hosts may be above n by rounding.
		up := func(v unit.Hz) float64 { return max(1, math.Ceil(float64(v)*(1-1e-9))) }
		return unit.Figure[float64]{Value: up(f.Value), Low: up(f.Low), High: up(f.High), Origin: unit.Derived}
	}
	return &Need{share, whole(c.Core), whole(c.Host())}
}

// Allowed is how much of an open workload fits in a budget.
type Allowed struct {
	Budget  unit.Hz                   `json:"budget"`         // CPU of the budget
	Others  unit.Hz                   `json:"others"`         // CPU of the workloads that were given
	Rate    *unit.Figure[unit.IORate] `json:"rate,omitempty"` // of storage
	Traffic unit.Figure[unit.BitRate] `json:"traffic"`        // both directions of a network
	Number  int                       `json:"workload"`       // which one, from 0
	Capped  bool                      `json:"capped"`         // the IOPS limit allows less than the budget
}

// Limited says what IOPS limits allow.
type Limited struct {
	Rate   unit.IORate `json:"rate"`   // at the block of the workload
	Asked  unit.IORate `json:"asked"`  // by the workload; 0 for an open one
	Capped bool        `json:"capped"` // more was asked: the workload was cut to Rate
}

// A Variant is the outcome under another circumstance.
type Variant struct {
	If string `json:"if"`
	Outcome
	// Change is that of the CPU; of the traffic when that was the question.
	Change unit.Share `json:"change"`
}

// A Study is the answer to a question with what would change it.
type Study struct {
	Question Question `json:"-"`
	Cluster  *Cluster `json:"cluster,omitempty"`
	Outcome
	Own []Own     `json:"own,omitempty"`
	If  []Variant `json:"whatIf,omitempty"`

	Against Against  `json:"-"`
	Notes   []string `json:"-"` // what is doubtful
}

// Against says what the CPU is beside the budget.
type Against int8

// The values.
const (
	Unasked  Against = iota // no budget, or the question is what it allows
	InBudget                // with all of its range
	MaybeOver
	OverBudget
)

// MayLack reports whether the cluster has less CPU than the high end of the range.
func (s *Study) MayLack() bool { return s.CPU.High > s.Question.Cluster.CPU() }

// Ends returns how far the ends of the range are from the value: of the CPU, or of what the
// budget allows.
func (s *Study) Ends() (low, high unit.Share) {
	least, value, most := float64(s.CPU.Low), float64(s.CPU.Value), float64(s.CPU.High)
	if a := s.Allowed; a != nil {
		least, value, most = float64(a.Traffic.Low), float64(a.Traffic.Value), float64(a.Traffic.High)
	}
	return unit.Share(least/value - 1), unit.Share(most/value - 1)
}

// wide is how far from its value an end of a range may be before the result names it.
const wide = 0.1

// Unsure reports whether the CPU is not measured, or known within wide ends only.
func (s *Study) Unsure() bool {
	low, high := s.Ends()
	return s.Basis != Measured || max(-low, high) > wide
}

// Printed reports whether the range is no more than the digits that the source printed.
func (s *Study) Printed() bool {
	return s.Basis == Measured && !slices.ContainsFunc(s.Loads, func(l Load) bool { return l.Cost == nil || !l.Cost.Digits })
}

func (s *Study) against() Against {
	switch budget := s.Question.Budget; {
	case s.Allowed != nil || budget == 0:
		return Unasked
	case s.Share > budget:
		return OverBudget
	case s.CPU.High.Of(s.Question.Cluster.CPU()) > budget:
		return MaybeOver
	}
	return InBudget
}

// Study answers a question.
func (m *Model) Study(q Question) (*Study, error) {
	base, err := m.outcome(q)
	if err != nil {
		return nil, err
	}
	s := &Study{Question: q, Outcome: base}
	if q.Cluster.Core > 0 {
		s.Cluster = &q.Cluster
	}
	for i := range base.Loads {
		l := &base.Loads[i]
		same := func(o Own) bool { return o.Path == l.Path }
		if l.Cost != nil && l.Cost.Own && !slices.ContainsFunc(s.Own, same) {
			s.Own = append(s.Own, Own{l.Path, q.File, m.Unused(l.Path)})
		}
	}
	for _, v := range q.variants() {
		out, err := m.outcome(v.q)
		if err != nil {
			continue // no such circumstance: a budget that one host less does not have
		}
		s.If = append(s.If, Variant{v.name, out, change(&base, &out, v.share)})
	}
	s.Against, s.Notes = s.against(), s.notes()
	return s, nil
}

// change returns how an outcome differs: by its traffic when that was the question, by its
// share of the cluster, else by its CPU.
func change(a, b *Outcome, share bool) unit.Share {
	switch {
	case a.Allowed != nil:
		return unit.Share(b.Allowed.Traffic.Value/a.Allowed.Traffic.Value - 1)
	case share:
		return b.Share/a.Share - 1
	}
	return unit.Share(b.CPU.Value/a.CPU.Value - 1)
}

// outcome returns what the workloads come to, without variants.
func (m *Model) outcome(q Question) (Outcome, error) {
	var out Outcome
	workloads := make([]Workload, len(q.Workloads))
	open := -1
	for i := range q.Workloads {
		workloads[i] = q.Workloads[i].Workload
		if q.Workloads[i].Open {
			if open >= 0 {
				return out, errors.New("two workloads without traffic: want at most one, which gets what the others leave")
			}
			open = i
		}
	}
	if err := q.limit(workloads, open, &out); err != nil {
		return out, err
	}
	switch {
	case open >= 0 && q.Budget == 0:
		return out, errors.New("a workload without traffic: want its traffic, or a budget of CPU to ask how much fits")
	case open >= 0:
		if err := m.allow(q, workloads, open, &out); err != nil {
			return out, err
		}
	}
	s, err := m.Sum(workloads, q.Options)
	if err != nil {
		return out, err
	}
	out.Sum = s
	if q.Cluster.Core > 0 {
		out.Cores = s.CPU.Value.Cores(q.Cluster.Core)
		if q.Cluster.Cores > 0 {
			out.Hosts = float64(s.CPU.Value / q.Cluster.Host())
			out.Share = s.CPU.Value.Of(q.Cluster.CPU())
			if out.Allowed == nil {
				out.Need = q.Cluster.Need(s.CPU, cmp.Or(q.Budget, 1))
			}
		}
	}
	return out, nil
}

// limit cuts the workload of storage to what IOPS limits allow.
func (q *Question) limit(workloads []Workload, open int, out *Outcome) error {
	if q.Disks == 0 {
		return nil
	}
	which := -1
	for i := range workloads {
		if !workloads[i].storage() {
			continue
		}
		if which >= 0 {
			return errors.New("an IOPS limit with two workloads of storage: want one")
		}
		which = i
	}
	if which < 0 {
		return errors.New("an IOPS limit without a workload of storage")
	}
	w := &workloads[which]
	out.Limit = &Limited{Rate: Limit(q.Disks, q.LimitEach, w.Block)}
	if which == open {
		return nil
	}
	out.Limit.Asked = w.Rate
	if w.Rate > out.Limit.Rate {
		w.Rate, out.Limit.Capped = out.Limit.Rate, true
	}
	return nil
}

// allow gives the open workload what the others leave of the budget.
func (m *Model) allow(q Question, workloads []Workload, open int, out *Outcome) error {
	if q.Cluster.Host() == 0 {
		return errors.New("a budget of a host that is not known: want its cores and their frequency")
	}
	others, err := m.Sum(slices.Delete(slices.Clone(workloads), open, open+1), q.Options)
	if err != nil {
		return err
	}
	a := &Allowed{Budget: q.Cluster.CPU() * unit.Hz(q.Budget), Others: others.CPU.Value, Number: open}
	left := a.Budget - a.Others
	if left <= 0 {
		return fmt.Errorf("nothing is left: the other workloads need %s, the budget is %s", a.Others, a.Budget)
	}
	w, traffic, err := m.Within(workloads[open], left, q.Options)
	if err != nil {
		return err
	}
	if w.storage() && out.Limit != nil {
		if w.Rate > out.Limit.Rate {
			w.Rate, out.Limit.Capped, a.Capped = out.Limit.Rate, true, true
		}
		most := out.Limit.Rate.Traffic(w.Block)
		traffic.Value, traffic.Low, traffic.High = min(traffic.Value, most), min(traffic.Low, most), min(traffic.High, most)
	}
	workloads[open], a.Traffic = w, traffic
	if w.storage() {
		a.Rate = &unit.Figure[unit.IORate]{Value: w.Rate, Low: traffic.Low.Rate(w.Block), High: traffic.High.Rate(w.Block), Origin: unit.Derived}
	}
	out.Allowed = a
	return nil
}
