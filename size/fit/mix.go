package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// Prices are the prices of the parts of a host, in any currency; 0 is nothing.
type Prices struct {
	Host float64 `json:"host,omitempty"` // where the type has no price of its own
	Core float64 `json:"core,omitempty"` // such as a licence
	GB   float64 `json:"gb,omitempty"`
}

// A Mix is the number of hosts of one type for all VMs.
type Mix struct {
	// Hosts is the number that holds all VMs with all memory local, as ESXi places them, without spare hosts.
	Hosts int `json:"hosts"`
	// Bound is a lower bound for any placement. Hosts − Bound is the largest distance from the optimum.
	Bound int `json:"bound"`
	// Free is the number of hosts if the node of each client were chosen by hand.
	Free   int        `json:"free"`
	Total  int        `json:"total"`         // including the spare ones
	Add    int        `json:"add,omitempty"` // to add to those of this kind in the source, up to Total
	VMs    int        `json:"vms"`
	Cores  int        `json:"cores"` // of Total
	Memory numa.Bytes `json:"memory"`
	// Shares of the hosts without the spare ones: vCPUs of the cores' capacity, and memory
	// including the reserve.
	VCPUsUsed    unit.Share `json:"vcpusUsed"`
	MemoryUsed   unit.Share `json:"memoryUsed"`
	Wide         int        `json:"wide"`   // VMs of more than one client
	Remote       int        `json:"remote"` // VMs that are partly remote even on an empty host
	RemoteMemory numa.Bytes `json:"remoteMemory"`
	RemoteVMs    []Misfit   `json:"remoteVMs,omitempty"`
	// RemoteCured are those of Remote that become local with the layout in their LocalAs.
	RemoteCured int `json:"remoteCured,omitempty"`
	// Edited are described VMs counted with the layout in their LocalAs: by default part of them is remote.
	Edited   []Misfit  `json:"edited,omitempty"`
	Never    []Misfit  `json:"never,omitempty"` // VMs that do not fit such a host, or do not power on there: not counted in Hosts
	Price    float64   `json:"price,omitempty"` // of Total; 0 when unknown
	Fillings []Filling `json:"fillings"`
}

// A Misfit is a set of VMs of one shape that do not fit, and the reason.
type Misfit struct {
	Shape string   `json:"shape"`
	Count int      `json:"count"`
	VMs   []string `json:"vms,omitempty"`
	Why   string   `json:"why"`
	// Off: they do not power on there as they are set, whatever room there is.
	Off bool `json:"off,omitempty"`
	// LocalAs makes them local; nil when no tried layout does.
	LocalAs *As `json:"localAs,omitempty"`
	shape   int // its index
}

// A Filling is the content of several hosts that are filled equally.
type Filling struct {
	Hosts  int   `json:"hosts"`
	Counts []int `json:"counts"` // of VMs, by shape
	Nodes  []Use `json:"nodes"`
}

// mix packs all shapes, which have counts, onto hosts of the type.
func (r *room) mix(ctx context.Context, of *Outcome, a *Ask) *Mix {
	items, edited, never := r.items(a.Shapes, &a.Options)
	m := &Mix{Never: never, Edited: edited}
	for i := range items {
		it := &items[i]
		m.VMs += it.count
		if len(it.clients) > 1 {
			m.Wide += it.count
		}
		if s := &a.Shapes[it.shape]; it.spills {
			m.Remote += it.count
			f := r.misfit(s, it, &a.Options)
			if _, as, ok := r.localAs(s, &a.Options); ok {
				f.LocalAs = as
				m.RemoteCured += it.count
			}
			m.RemoteVMs = append(m.RemoteVMs, f)
		}
	}
	m.Bound = max(r.leastHosts(items), r.leastFor(a))
	bins := r.pack(ctx, items, byESXi, m.Bound)
	m.Hosts, m.Free = len(bins), min(len(bins), len(r.pack(ctx, items, byHand, m.Bound)))
	if a.Running != nil {
		m.Hosts = m.Bound
	}
	m.Total = m.total(a.Spare)
	if of.InSource > 0 {
		m.Add = max(0, m.Total-of.InSource)
	}
	m.Cores, m.Memory = m.Total*of.Cores, numa.Bytes(m.Total)*of.Memory
	m.Price = of.Price * float64(m.Total)
	m.fill(r, items, bins, a)
	return m
}

// total returns the hosts with so many spare ones.
func (m *Mix) total(spare int) int {
	if m.Hosts == 0 {
		return 0
	}
	return m.Hosts + spare
}

// misfit returns the reason why the shape is not local.
func (r *room) misfit(s *Shape, it *item, o *Options) Misfit {
	c := Count{Clients: it.request.Layout.PPDs.Sizes()}
	c.explain(r, s, it.request.Memory, o.PerCore)
	return Misfit{Shape: s.Name, Count: s.Count, VMs: s.VMs, Why: c.Why}
}

// hostPrice returns the price of a host; 0 when it is unknown.
func (a *Ask) hostPrice(t *Type, cores int, memory numa.Bytes) float64 {
	each := cmp.Or(t.Price, a.Prices.Host)
	if each == 0 && a.priced() {
		return 0
	}
	return each + a.Prices.Core*float64(cores) + a.Prices.GB*float64(memory)/float64(numa.GiB)
}

// priced reports whether hosts have prices of their own, beside those of cores and memory: a host
// without one then has an unknown price.
func (a *Ask) priced() bool {
	return a.Prices.Host > 0 || slices.ContainsFunc(a.Types, func(t Type) bool { return t.Price > 0 })
}

// fill runs placement.Place on the packed hosts, in the order of packing, and records their content.
func (m *Mix) fill(r *room, items []item, bins []*bin, a *Ask) {
	requests := map[int]placement.Request{}
	for i := range items {
		requests[items[i].shape] = items[i].request
	}
	vcpus, takes, used, memory := 0, 0, numa.Bytes(0), numa.Bytes(0)
	for _, b := range bins {
		list := make([]placement.Request, len(b.placed))
		counts := make([]int, len(a.Shapes))
		for i, s := range b.placed {
			list[i] = requests[s]
			counts[s]++
		}
		placed, _ := placement.Place(&r.host, list)
		for i := range placed {
			vcpus, takes = vcpus+placed[i].VCPUs, takes+r.vcpus[i]
			used, memory = used+placed[i].Used, memory+placed[i].Memory.Value+r.reserve
			for _, c := range placed[i].Clients {
				m.RemoteMemory += c.Crossed + c.Remote
			}
		}
		if k := slices.IndexFunc(m.Fillings, func(f Filling) bool { return slices.Equal(f.Counts, counts) }); k >= 0 {
			m.Fillings[k].Hosts++
			continue
		}
		m.Fillings = append(m.Fillings, Filling{1, counts, r.uses(placed, b.placed, &a.Options)})
	}
	if len(bins) > 0 {
		m.VCPUsUsed = unit.Share(float64(vcpus) / float64(max(1, takes)))
		m.MemoryUsed = unit.Share(float64(used) / float64(max(1, memory)))
	}
}

// Cheaper sorts outcomes: those that run all VMs first, then by price where it is known, then by
// hosts, VMs that fit no node, cores and memory.
func Cheaper(x, y *Outcome) int {
	a, b := x.Mix, y.Mix
	unknown := func(m *Mix) int {
		if m.Price > 0 {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Lost(), b.Lost()), cmp.Compare(unknown(a), unknown(b)), cmp.Compare(a.Price, b.Price),
		cmp.Compare(a.Total, b.Total), cmp.Compare(a.Wide, b.Wide), cmp.Compare(a.Cores, b.Cores), cmp.Compare(a.Memory, b.Memory))
}

// Lost counts the VMs that cannot run.
func (m *Mix) Lost() (n int) {
	for _, f := range m.Never {
		n += f.Count
	}
	return n
}

// Off counts those of Lost that do not power on as they are set.
func (m *Mix) Off() (n int) {
	for _, f := range m.Never {
		if f.Off {
			n += f.Count
		}
	}
	return n
}

// Held returns the vCPUs and the memory of the VMs that the hosts hold.
func (r *Result) Held(m *Mix) (vcpus int, memory numa.Bytes) {
	for i := range r.Shapes {
		s := &r.Shapes[i]
		if !slices.ContainsFunc(m.Never, func(f Misfit) bool { return f.shape == i }) {
			vcpus, memory = vcpus+s.Count*s.VCPUs, memory+numa.Bytes(s.Count)*s.Memory
		}
	}
	return vcpus, memory
}

// counted reports whether the shapes have counts: all of them, or none.
func (a *Ask) counted() (bool, error) {
	with := 0
	for i := range a.Shapes {
		if a.Shapes[i].Count > 0 {
			with++
		}
	}
	if with > 0 && with < len(a.Shapes) {
		return false, fmt.Errorf("found %d of %d VM shapes with a count, want it for all (12x96GB*40) or none", with, len(a.Shapes))
	}
	return with > 0, nil
}

// Fewest returns the type that runs as many VMs as the first with the fewest hosts.
func (r *Result) Fewest() *Outcome {
	fewest := &r.Types[0]
	for i := range r.Asked() {
		if m := r.Types[i].Mix; m.VMs == fewest.Mix.VMs && m.Total < fewest.Mix.Total {
			fewest = &r.Types[i]
		}
	}
	return fewest
}

// Asked returns the requested types, which come first; without any, those of the source.
func (r *Result) Asked() []Outcome {
	n := 0
	for n < len(r.Types) && r.Types[n].InSource == 0 {
		n++
	}
	if n == 0 {
		n = len(r.Types)
	}
	return r.Types[:n]
}

// Rivals returns the types that run as many VMs as the first: those with a known price, so that the
// first is the cheapest of them, and the names of those without.
func (r *Result) Rivals() (priced []*Outcome, unknown []string) {
	for i := range r.Asked()[1:] {
		switch t := &r.Types[1+i]; {
		case t.Mix.VMs != r.Types[0].Mix.VMs:
		case t.Price > 0:
			priced = append(priced, t)
		default:
			unknown = append(unknown, t.Name)
		}
	}
	return priced, unknown
}

// MayCostLess reports whether t would cost less than the other type if its lower bound of hosts
// were enough, which is not decided.
func (t *Outcome) MayCostLess(than *Outcome) bool {
	m := t.Mix
	return t.Price*float64(m.Bound+m.Total-m.Hosts) < than.Mix.Price
}
