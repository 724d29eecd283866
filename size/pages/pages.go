// Package pages computes the actual and the possible savings of page sharing: from the counters of
// hosts, from a published share, or from the equal pages of VMs. Nothing is counted twice:
//
//	guest memory mapped  = private + shared
//	shared               = saved + common      common: the copies that back it
//	memory of the host   = private + common    consumed by VMs
//	zero                 is a part of shared
//
// Large pages are not shared (rule book C-21), so the equal memory inside them is known only as an interval.
package pages

import (
	"cmp"
	"slices"
	"time"

	"example.org/homenode/numa"
)

// A Host holds the counters of one host at one moment. Nil counters are missing.
type Host struct {
	Name    string
	Time    time.Time
	Nodes   int          // NUMA nodes; 0 when not stated
	Release numa.Release // 0 when not stated: 6.0 or later is assumed
	Memory  *numa.Bytes
	Free    *numa.Bytes
	MinFree *numa.Bytes
	State   *numa.MemoryState
	// Page sharing of the whole host, including the VMkernel.
	Shared *numa.Bytes
	Common *numa.Bytes
	VMs    []VM
}

// A VM holds the counters of one VM. Nil counters are missing.
type VM struct {
	Name     string      `json:"vm"`
	Size     *numa.Bytes `json:"size,omitempty"`     // configured
	Granted  *numa.Bytes `json:"-"`                  // mapped guest memory
	Consumed *numa.Bytes `json:"consumed,omitempty"` // host memory for it
	Active   *numa.Bytes `json:"active,omitempty"`
	Shared   *numa.Bytes `json:"shared,omitempty"`
	Zero     *numa.Bytes `json:"zero,omitempty"`
	Saved    *numa.Bytes `json:"saved,omitempty"`
	Large    *numa.Bytes `json:"large,omitempty"` // backed by large pages
	Hint     *numa.Bytes `json:"hint,omitempty"`  // COWH: scanned and not shared
}

// A Bound names the counter that limits a gain from above.
type Bound string

// The bounds, the closest first.
const (
	ByHints   Bound = "hints"   // COWH: scanned pages without an equal that they may share with
	ByLarge   Bound = "large"   // large pages: the rest is small and shared already
	ByPrivate Bound = "private" // no other counter: everything that is not shared
)

// A Gain is memory that page sharing could free in addition to its present savings, once large
// pages are broken into small ones. It is an interval, as no counter shows the equal memory inside large pages.
type Gain struct {
	Low  numa.Bytes `json:"low"`  // pages of zeros that are not shared yet
	High numa.Bytes `json:"high"` // upper limit by Bound
	// Bound is the weakest bound of the VMs.
	Bound Bound `json:"bound"`
}

// A Counted holds the results from the counters of hosts.
type Counted struct {
	Hosts []Counts `json:"hosts"`
	Sum   Sum      `json:"sum"`
}

// Sum is the sum over hosts: nil unless all of them have the counter.
type Sum struct {
	Memory   *numa.Bytes `json:"memory,omitempty"`
	Free     *numa.Bytes `json:"free,omitempty"`
	Saved    *numa.Bytes `json:"saved,omitempty"`
	Size     *numa.Bytes `json:"size,omitempty"`
	Consumed *numa.Bytes `json:"consumed,omitempty"`
	Gain     *Gain       `json:"gain,omitempty"`
}

// Counts is one host.
type Counts struct {
	Host  string    `json:"host"`
	Time  time.Time `json:"time"`
	Nodes int       `json:"nodes,omitempty"`
	Sum
	Shared *numa.Bytes `json:"shared,omitempty"`
	Common *numa.Bytes `json:"common,omitempty"`
	Large  *numa.Bytes `json:"large,omitempty"` // of its VMs
	// OneCopy is the additional gain of one copy per host instead of one per node: between nothing
	// and this amount. Nil on one node, and when Common is.
	OneCopy *numa.Bytes `json:"oneCopy,omitempty"`
	State   string      `json:"state,omitempty"`
	Limits  *Limits     `json:"limits,omitempty"`
	VMs     []VMCounts  `json:"vms"`
	// Missing are the counters whose absence makes a result above nil or inexact.
	Missing []string `json:"missing,omitempty"`
}

// VMCounts is one VM.
type VMCounts struct {
	VM
	Private *numa.Bytes `json:"private,omitempty"` // mapped and not shared
	Gain    *Gain       `json:"gain,omitempty"`
}

// Count computes the results from the counters of hosts, in their order.
func Count(hosts []Host) *Counted {
	c := &Counted{}
	for i := range hosts {
		c.Hosts = append(c.Hosts, count(&hosts[i]))
	}
	for i := range c.Hosts {
		c.Sum.add(&c.Hosts[i].Sum, i == 0)
	}
	return c
}

// Complete returns only the hosts with all sharing counters of Sum.
func (c *Counted) Complete() *Counted {
	out := &Counted{}
	for i := range c.Hosts {
		if s := &c.Hosts[i].Sum; s.Saved != nil && s.Consumed != nil && s.Gain != nil {
			out.Hosts = append(out.Hosts, c.Hosts[i])
			out.Sum.add(s, len(out.Hosts) == 1)
		}
	}
	return out
}

func count(h *Host) Counts {
	c := Counts{Host: h.Name, Time: h.Time, Nodes: h.Nodes, Shared: h.Shared, Common: h.Common}
	for i := range h.VMs {
		v := countVM(&h.VMs[i])
		c.VMs = append(c.VMs, v)
		c.Sum.add(&Sum{Size: v.Size, Consumed: v.Consumed, Gain: v.Gain}, i == 0)
		c.Large = plus(c.Large, v.Large, i == 0)
	}
	c.Memory, c.Free = h.Memory, h.Free
	if h.Shared != nil && h.Common != nil {
		c.Saved = to(max(0, *h.Shared-*h.Common))
	}
	if h.Common != nil && h.Nodes > 1 {
		c.OneCopy = to(*h.Common - *h.Common/numa.Bytes(h.Nodes))
	}
	if h.State != nil {
		c.State = h.State.String()
	}
	c.Limits = limitsOf(h)
	c.Missing = missing(h, &c)
	return c
}

func countVM(v *VM) VMCounts {
	c := VMCounts{VM: *v}
	if c.Consumed == nil && v.Granted != nil && v.Saved != nil {
		c.Consumed = to(max(0, *v.Granted-*v.Saved))
	}
	switch {
	case v.Granted != nil && v.Shared != nil:
		c.Private = to(numa.PrivateOf(*v.Granted, *v.Shared))
	case c.Consumed != nil && v.Shared != nil && v.Saved != nil:
		c.Private = to(max(0, *c.Consumed-(*v.Shared-*v.Saved)))
	case c.Consumed != nil:
		c.Private = c.Consumed // or less: the shared part is not stated
	}
	if c.Private == nil {
		return c
	}
	if c.Consumed != nil { // counters of one row are not of one instant
		c.Private = to(min(*c.Private, *c.Consumed))
	}
	g := Gain{High: *c.Private, Bound: ByPrivate}
	if v.Large != nil && *v.Large <= g.High {
		g.High, g.Bound = *v.Large, ByLarge
	}
	if v.Hint != nil && *v.Hint <= g.High {
		g.High, g.Bound = *v.Hint, ByHints
	}
	if v.Zero != nil && v.Shared != nil {
		g.Low = min(max(0, *v.Zero-*v.Shared), g.High)
	}
	c.Gain = &g
	return c
}

// weak orders bounds from the tightest to the weakest.
func weak(b Bound) int { return slices.Index([]Bound{ByHints, ByLarge, ByPrivate}, b) }

// add adds another part; first for the first one.
func (s *Sum) add(o *Sum, first bool) {
	s.Memory = plus(s.Memory, o.Memory, first)
	s.Free = plus(s.Free, o.Free, first)
	s.Saved = plus(s.Saved, o.Saved, first)
	s.Size = plus(s.Size, o.Size, first)
	s.Consumed = plus(s.Consumed, o.Consumed, first)
	switch {
	case o.Gain == nil, s.Gain == nil && !first:
		s.Gain = nil
	case first:
		s.Gain = to(*o.Gain)
	default:
		s.Gain.Low += o.Gain.Low
		s.Gain.High += o.Gain.High
		s.Gain.Bound = slices.MaxFunc([]Bound{s.Gain.Bound, o.Gain.Bound}, func(a, b Bound) int { return cmp.Compare(weak(a), weak(b)) })
	}
}

// plus adds two amounts; nil when either is missing.
func plus(sum, more *numa.Bytes, first bool) *numa.Bytes {
	if more == nil || sum == nil && !first {
		return nil
	}
	if first {
		return to(*more)
	}
	return to(*sum + *more)
}

func to[T any](v T) *T { return &v }

// missing lists the missing counters, under their names in a batch file of esxtop.
func missing(h *Host, c *Counts) (list []string) {
	note := func(name string, absent bool) {
		if absent {
			list = append(list, name)
		}
	}
	note(`Memory\Machine MBytes`, h.Memory == nil)
	note(`Memory\Free MBytes`, h.Free == nil)
	note(`Memory\PShare Shared MBytes`, h.Shared == nil)
	note(`Memory\PShare Common MBytes`, h.Common == nil)
	without := func(of func(*VM) *numa.Bytes) bool {
		return slices.ContainsFunc(h.VMs, func(v VM) bool { return of(&v) == nil })
	}
	note(`Group Memory(*)\Memory Granted Size MBytes`, without(func(v *VM) *numa.Bytes { return v.Granted }))
	note(`Group Memory(*)\Shared MBytes`, without(func(v *VM) *numa.Bytes { return v.Shared }))
	note(`Group Memory(*)\Shared Saved MBytes`, without(func(v *VM) *numa.Bytes { return v.Saved }))
	note(`Group Memory(*)\Zero MBytes`, without(func(v *VM) *numa.Bytes { return v.Zero }))
	note(`Group Memory(*)\Copy On Write Hint MBytes`, without(func(v *VM) *numa.Bytes { return v.Hint }))
	return list
}
