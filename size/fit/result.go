package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/homenode/numa"
)

// An Ask is the question: which shapes, on which hosts. Without shapes the question is which of them fit.
type Ask struct {
	Types  []Type
	Shapes []Shape
	// Hosts is the number of hosts of a cluster, and Spare how many of them may fail at once.
	Hosts, Spare int
	Prices       Prices
	Options
	Running *numa.Running // of which Shapes are a part: the result is a lower bound; nil if they are all
	Density float64       // vCPUs per core of the cluster today; 0 if there is none
	base    *Ask          // of which this is a variant: hosts that have more are no worse
}

// A Result is the outcome per type, in the order of the requested types; for a mix, the cheapest first.
type Result struct {
	Shapes  []Shape       `json:"shapes"`
	Hosts   int           `json:"hosts,omitempty"`
	Spare   int           `json:"spare"`
	Running *numa.Running `json:"running,omitempty"` // of which Shapes are a part
	Types   []Outcome     `json:"types"`
	Left    []string      `json:"leftOut,omitempty"` // host types without the needed facts, and why
}

// An Outcome is the result for one type of host.
type Outcome struct {
	Name       string     `json:"name"`
	InSource   int        `json:"inSource,omitempty"` // hosts of this type in the source
	Nodes      int        `json:"nodes"`              // with cores
	Cores      int        `json:"cores"`              // of the host
	Memory     numa.Bytes `json:"memory"`
	Uneven     bool       `json:"uneven,omitempty"` // its nodes differ: sizes are those of the smallest
	NodeCores  int        `json:"nodeCores"`
	NodeMemory numa.Bytes `json:"nodeMemory"`
	Each       []string   `json:"-"`               // cores and memory of every node if they differ: 18c/512GB
	Reserve    numa.Bytes `json:"reserve"`         // kept free on each node
	Price      float64    `json:"price,omitempty"` // of a host; 0 when unknown
	Steps      []Step     `json:"steps"`
	Counts     []Count    `json:"counts,omitempty"` // by shape, for shapes without counts
	Mix        *Mix       `json:"mix,omitempty"`    // for shapes with counts

	Releases []numa.Release `json:"releases,omitempty"` // of these hosts, oldest first; the newest counts
}

// Fit computes the numbers of VMs that fit the types. The error reports an invalid question, or that ctx ended.
func Fit(ctx context.Context, a *Ask) (*Result, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	counted, err := a.counted()
	if err != nil {
		return nil, err
	}
	out := &Result{Shapes: append([]Shape{}, a.Shapes...), Hosts: a.Hosts, Spare: a.Spare, Running: a.Running}
	for i := range a.Types {
		t := &a.Types[i]
		r, err := newRoom(&t.Host, &a.Options)
		if err != nil {
			out.Left = append(out.Left, err.Error())
			continue
		}
		r.lesser = a.lesser(r)
		res := r.outcome(t, a)
		if counted {
			res.Mix = r.mix(ctx, &res, a)
		} else {
			for j := range a.Shapes {
				if ctx.Err() != nil {
					break
				}
				c := r.count(&a.Shapes[j], &a.Options)
				c.price(res.Price, a)
				res.Counts = append(res.Counts, c)
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out.Types = append(out.Types, res)
	}
	if len(out.Types) == 0 {
		return nil, fmt.Errorf("no host type can be used: %w", errors.New(out.Left[0]))
	}
	if counted {
		slices.SortStableFunc(out.Types, func(x, y Outcome) int {
			return cmp.Or(min(x.InSource, 1)-min(y.InSource, 1), Cheaper(&x, &y)) // the requested ones first
		})
	}
	return out, nil
}

// lesser returns the rooms of the question, and of the one that it is a variant of, which have the nodes of r with less on them.
func (a *Ask) lesser(r *room) (out []*room) {
	for b := a; b != nil; b = b.base {
		for i := range b.Types {
			l, err := newRoom(&b.Types[i].Host, &b.Options)
			if err == nil && r.covers(l) && !l.covers(r) {
				out = append(out, l)
			}
		}
	}
	return out
}

func (a *Ask) check() error {
	switch {
	case len(a.Types) == 0:
		return errors.New("found no host type")
	case a.Hosts < 0 || a.Spare < 0:
		return fmt.Errorf("found %d hosts, %d of them spare: want no negative number", a.Hosts, a.Spare)
	case a.Hosts > 0 && a.Spare >= a.Hosts:
		return fmt.Errorf("found %d hosts, %d of them spare: want one at least that is not", a.Hosts, a.Spare)
	}
	return a.Options.Check()
}

// outcome describes the host.
func (r *room) outcome(t *Type, a *Ask) Outcome {
	m := &r.machine
	out := Outcome{
		Name: t.Name, InSource: t.Hosts, Releases: t.Releases, Nodes: int(m.Nodes), Cores: int(m.AllCores),
		Memory: t.Host.Memory.Or(numa.Bytes(m.AllMemory)), Uneven: r.uneven(), NodeCores: int(m.Cores), NodeMemory: numa.Bytes(m.NodeMemory),
		Reserve: r.reserve, Steps: r.steps(&a.Options),
	}
	if out.Uneven {
		for _, n := range r.host.Nodes {
			out.Each = append(out.Each, fmt.Sprintf("%dc/%s", n.Cores, compact(n.Memory.Value+r.reserve)))
		}
	}
	out.Price = a.hostPrice(t, out.Cores, out.Memory)
	return out
}

// uneven reports whether nodes with cores differ.
func (r *room) uneven() bool {
	return slices.ContainsFunc(r.host.Nodes, func(n numa.Node) bool {
		return n.Cores > 0 && (n.Cores != int(r.machine.Cores) || n.Memory.Value+r.reserve != numa.Bytes(r.machine.NodeMemory))
	})
}

// price sets the price of a VM: that of the hosts divided by their VMs.
func (c *Count) price(host float64, a *Ask) {
	if c.VMs == 0 {
		return
	}
	c.Price = host / float64(c.VMs)
	if a.Hosts > a.Spare {
		c.PriceFailed = host * float64(a.Hosts) / float64(c.InCluster(a.Hosts-a.Spare))
	}
}

// InCluster returns how many VMs fit so many hosts.
func (c *Count) InCluster(hosts int) int { return c.VMs * max(0, hosts) }
