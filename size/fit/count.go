package fit

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/numa"
)

// maxPerHost is the most VMs on a host of 6.0 to 9.0 (VMware Configuration Maximums: virtual
// machines per host).
const maxPerHost = 1024

// A Count is the number of VMs of one shape that fit a host.
type Count struct {
	Shape string `json:"shape"`
	// VMs is the number that ESXi places, one after the other, before a client is not wholly local
	// or a node exceeds its vCPUs.
	VMs int `json:"vms"`
	// Bound is the upper bound for any placement: VMs is less where ESXi balances uneven nodes.
	Bound     int    `json:"bound"`
	ByCores   int    `json:"byCores"`  // without a limit of memory
	ByMemory  int    `json:"byMemory"` // without a limit of cores
	Clients   []int  `json:"clients"`  // vCPUs of each NUMA client of a VM
	Binds     Limit  `json:"binds"`
	Why       string `json:"why,omitempty"`       // none fits, or none without LocalAs
	LocalAs   *As    `json:"localAs,omitempty"`   // its layout when none is local by default
	Nodes     []Use  `json:"nodes"`               // filled with these VMs
	Unmanaged bool   `json:"unmanaged,omitempty"` // not placed by the NUMA scheduler
	// Price of one VM: of its host ÷ the VMs there; and of the cluster ÷ the VMs that fit with the
	// spare hosts failed. 0 when unknown, or when none fits.
	Price       float64 `json:"price,omitempty"`
	PriceFailed float64 `json:"priceWithFailed,omitempty"`
}

// A Limit is the resource that is too scarce for one VM more.
type Limit string

// The limits.
const (
	Cores  Limit = "cores"
	Memory Limit = "memory"
	Both   Limit = "both"
	Most   Limit = "1024 VMs" // the configuration maximum of a host
	Never  Limit = "never"    // not even one fits: Why has the reason
)

// A Use is the filling of a node.
type Use struct {
	Node    int        `json:"node"`
	Cores   int        `json:"cores"`
	VCPUs   int        `json:"vcpus"`   // vCPU capacity of its cores
	Memory  numa.Bytes `json:"memory"`  // of the node
	Reserve numa.Bytes `json:"reserve"` // part of it that is kept free
	Clients []Client   `json:"clients"`
	// Foreign is memory of clients with homes on other nodes.
	Foreign numa.Bytes `json:"foreign,omitempty"`
	// The capacity left by the clients, without the reserve; below 0 where VMs were there before.
	RestVCPUs  int        `json:"restVCPUs"`
	RestMemory numa.Bytes `json:"restMemory"`
	// RestShape is the largest VM that would still be local there; 0 vCPUs when none is.
	RestShape Size `json:"restShape"`
}

// A Client is a NUMA client on a node.
type Client struct {
	VM     int        `json:"vm"`    // index in order of placement
	Shape  int        `json:"shape"` // index in the shapes
	Index  int        `json:"index"` // of the client in its VM
	VCPUs  int        `json:"vcpus"`
	Memory numa.Bytes `json:"memory"`           // including its part of the overhead
	Remote numa.Bytes `json:"remote,omitempty"` // part of it on other nodes or none
}

// A Size is vCPUs and memory of a guest.
type Size struct {
	VCPUs  int        `json:"vcpus"`
	Memory numa.Bytes `json:"memory"`
}

// request returns the placement request for one VM of the shape, with its overhead.
func (r *room) request(s *Shape, o *Options) placement.Request {
	return placement.Request{Name: s.Name, Layout: r.layout(s, o), Memory: numa.Bytes(s.Guest.Resident()) + o.Overhead.Of(s.VCPUs, s.Memory)}
}

// count fills the host with VMs of one shape: in the default layout, or in a local one where that
// makes none local.
func (r *room) count(s *Shape, o *Options) Count {
	c := r.countAs(s, o)
	if c.VMs > 0 {
		return c
	}
	if edited, as, ok := r.localAs(s, o); ok {
		why := c.Why
		c = r.countAs(&edited, o)
		c.LocalAs, c.Why = as, why
	}
	return c
}

// countAs fills the host with VMs of one shape in its present layout.
func (r *room) countAs(s *Shape, o *Options) Count {
	it := r.item(s, o)
	one := it.request
	c := Count{Shape: s.Name, Clients: one.Layout.PPDs.Sizes(), Unmanaged: !one.Layout.Managed && !one.Layout.Refused.Any()}
	if why, ok := r.powersOn(s); !ok {
		c.Why = why
	} else if c.Bound = r.most(&it); c.Unmanaged {
		c.Bound, c.Why = 0, "the NUMA scheduler does not place it: no memory of it is local for sure"
	} else if r.interleaved(s, o) {
		c.Bound, c.Why = 0, "its guest sees fewer nodes than it has clients, and its memory is interleaved over theirs"
	}
	if c.Why == "" {
		c.VMs, c.ByCores, c.ByMemory, c.Binds = newBin(r).counts(&it)
		switch c.VMs {
		case 0:
			c.Binds = Never
		case maxPerHost:
			c.Binds = Most
		}
		c.explain(r, s, one.Memory, o.PerCore)
	}
	placed, _ := placement.Place(&r.host, slices.Repeat([]placement.Request{one}, c.VMs))
	c.Nodes = r.uses(placed, make([]int, c.VMs), o)
	return c
}

// explain sets the reason why none fits.
func (c *Count) explain(r *room, s *Shape, memory numa.Bytes, perCore float64) {
	if c.VMs > 0 {
		return
	}
	largest := slices.Max(c.Clients)
	vcpus := slices.Max(r.vcpus)
	room, all := numa.Bytes(0), numa.Bytes(0)
	for _, n := range r.host.Nodes {
		room, all = max(room, n.Memory.Value), all+n.Memory.Value+r.reserve
	}
	slice := memory * numa.Bytes(largest) / numa.Bytes(s.VCPUs)
	switch {
	case memory > all:
		c.Why = fmt.Sprintf("it needs %s with overhead, more than the host has (%s): its memory is swapped once all is in use", memory, all)
	case largest > vcpus:
		c.Why = fmt.Sprintf("its largest client has %d vCPUs, at %.3g vCPU per core a node takes %d", largest, perCore, vcpus)
	case slice > room:
		c.Why = fmt.Sprintf("its largest client needs %s with overhead, a node has %s for VMs: part of it is remote", slice, room)
	default:
		c.Why = fmt.Sprintf("its %d clients do not find %d nodes with room", len(c.Clients), len(c.Clients))
	}
}

// uses returns the filling of the nodes; shape maps each request to its shape.
func (r *room) uses(placed []placement.Node, shape []int, o *Options) []Use {
	out := make([]Use, len(placed))
	for i := range placed {
		p := &placed[i]
		u := Use{
			Node: p.ID, Cores: p.Cores, VCPUs: r.vcpus[i], Memory: p.Memory.Value + r.reserve, Reserve: r.reserve,
			Clients: []Client{}, RestVCPUs: r.vcpus[i] - p.VCPUs, RestMemory: p.Memory.Value - p.Used,
		}
		for _, c := range p.Clients {
			u.Clients = append(u.Clients, Client{VM: c.Request, Shape: shape[c.Request], Index: c.Index, VCPUs: c.VCPUs, Memory: c.Local + c.Crossed + c.Remote + c.Nowhere, Remote: c.Crossed + c.Remote + c.Nowhere})
		}
		for _, f := range p.Foreign {
			u.Foreign += f.Memory
		}
		if v := min(u.RestVCPUs, p.Cores); v > 0 {
			if m := o.Overhead.guestWithin(u.RestMemory, v); m > 0 {
				u.RestShape = Size{v, m}
			}
		}
		out[i] = u
	}
	return out
}

// A Step is a shape that fits a node a whole number of times.
type Step struct {
	PerNode int `json:"perNode"`
	Size
	// Aligned reports that no core of the node is left over.
	Aligned bool `json:"aligned"`
}

// maxSteps is the most VMs that a node is divided into.
const maxSteps = 16

// steps returns the largest shapes of which one, two, three … fit the smallest node. The first is
// the largest VM that is not wide and has no remote memory.
func (r *room) steps(o *Options) []Step {
	memory, vcpus := numa.Bytes(-1), int(r.machine.Cores)
	for i, n := range r.host.Nodes {
		if n.Cores > 0 {
			vcpus = min(vcpus, r.vcpus[i])
			if memory < 0 || n.Memory.Value < memory {
				memory = n.Memory.Value
			}
		}
	}
	takes := vcpusOf(int(r.machine.Cores), o.PerCore)
	var out []Step
	for n := 1; n <= maxSteps; n++ {
		v := min(takes/n, vcpus)
		m := o.Overhead.guestWithin(memory/numa.Bytes(n), v)
		if v == 0 || m == 0 {
			break
		}
		out = append(out, Step{n, Size{v, m}, v*n == takes})
	}
	return out
}
