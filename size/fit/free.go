package fit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/binpack"
	"example.org/homenode/numa"
)

// MostPerCore is the limit of vCPUs per core for further VMs where none is given: the example of a CPU overcommit ratio in VMware's "Allocation Model for
// Capacity Management in vRealize Operations 7.5" (blogs.vmware.com, May 2019), at which each vCPU may run a quarter of the time.
const MostPerCore = 4

// A Free is the number of additional VMs of one shape that fit a cluster.
type Free struct {
	Shape Shape      `json:"shape"`
	Hosts []HostFree `json:"hosts"`
	Total int        `json:"total"`
	Spare int        `json:"spare"`
	// WithFailed is the number left when Spare hosts have failed and their VMs run on the others. Failed names these hosts:
	// for one, the host whose failure leaves least; for several, the largest.
	WithFailed int      `json:"withFailed"`
	Failed     []string `json:"failed,omitempty"`
	// Homeless counts VMs of the failed hosts that, placed as ESXi does, are not local within PerCore on any other host: WithFailed is then 0.
	Homeless int      `json:"homeless,omitempty"`
	Unspared int      `json:"unspared,omitempty"` // hosts whose failure is not counted: their cluster has not more than Spare, or they have none
	Notes    []string `json:"notes,omitempty"`
}

// A HostFree is the free capacity of one host.
type HostFree struct {
	Host  string `json:"host"`
	Type  string `json:"type"`
	VMs   int    `json:"vms"` // running there
	More  int    `json:"more"`
	Binds Limit  `json:"binds"`
	Why   string `json:"why,omitempty"`
	// LocalAs is the layout to use for the shape on this host: none is local by default.
	LocalAs *As   `json:"localAs,omitempty"`
	Nodes   []Use `json:"nodes"` // before the additions
}

// A present is a host with its running VMs.
type present struct {
	host   *numa.Host
	kind   string
	r      *room
	vms    []*numa.VM
	bin    *bin
	before []placement.Node
}

// Room returns how many VMs of the shape the hosts can add to their present VMs, which are placed in the order of the
// inventory as placement.Place does. spare hosts may fail.
func (c *Cluster) Room(ctx context.Context, s Shape, spare int, o *Options) (*Free, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	out := &Free{Shape: s, Spare: spare}
	hosts, err := c.presents(out, o)
	if err != nil {
		return nil, err
	}
	if spare >= len(hosts) {
		return nil, fmt.Errorf("found %d hosts that take VMs, %d of them spare: want one at least that is not", len(hosts), spare)
	}
	for _, p := range hosts {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		hf := p.free(&s, o)
		out.Total += hf.More
		out.Hosts = append(out.Hosts, hf)
	}
	out.WithFailed = out.Total
	if spare > 0 {
		out.fail(ctx, hosts, &s, o)
	}
	return out, ctx.Err()
}

// Loss returns the Failed and Homeless of Room for the failure of one host, at the limit of Limit; nil if fewer than two hosts take VMs, or if too little is
// known.
func (c *Cluster) Loss(ctx context.Context) *Free {
	perCore, ok := c.Limit()
	out := &Free{Spare: 1}
	o := &Options{Reserve: 1, PerCore: perCore, Overhead: PublishedOverhead}
	hosts, err := c.presents(out, o)
	if !ok || err != nil || c.Part != nil || len(hosts) < 2 {
		return nil
	}
	out.fail(ctx, hosts, nil, o)
	return out
}

// Limit returns the vCPUs per core for further VMs where none are given: MostPerCore, or those of Hosts with the largest one failed if these are more.
func (c *Cluster) Limit() (perCore float64, ok bool) {
	_, failed, ok := c.PerCore()
	return max(MostPerCore, failed), ok
}

// presents returns the hosts that take VMs, with their running VMs, and adds notes to f.
func (c *Cluster) presents(f *Free, o *Options) (hosts []*present, err error) {
	types := c.Types()
	for _, h := range c.Hosts {
		if !h.Ready() {
			f.Notes = append(f.Notes, fmt.Sprintf("host %s takes no VMs now: not counted", h.Name))
			continue
		}
		k := slices.IndexFunc(types, func(t Type) bool { return equal(&t.Host, h) })
		p, notes, err := c.present(h, o)
		if err != nil {
			return nil, err
		}
		p.kind = types[k].Name
		f.Notes = append(f.Notes, notes...)
		hosts = append(hosts, p)
	}
	return hosts, nil
}

// A Today is the locality of a cluster's present VMs.
type Today struct {
	Hosts  int        `json:"hosts"`
	VMs    int        `json:"vms"`    // whose memory is not wholly local, once all is touched
	Memory numa.Bytes `json:"memory"` // remote, or too large to fit beside the reserve
}

// Today places the VMs on their current hosts.
func (c *Cluster) Today(o *Options) (Today, error) {
	out := Today{Hosts: len(c.Hosts)}
	for _, h := range c.Hosts {
		p, _, err := c.present(h, o)
		if err != nil {
			return out, err
		}
		vms := map[int]bool{}
		for i := range p.before {
			for _, cl := range p.before[i].Clients {
				if b := cl.Crossed + cl.Remote + cl.Nowhere; b > 0 {
					vms[cl.Request] = true
					out.Memory += b
				}
			}
		}
		out.VMs += len(vms)
	}
	return out, nil
}

// present places the running VMs of the host.
func (c *Cluster) present(h *numa.Host, o *Options) (*present, []string, error) {
	r, err := newRoom(h, o)
	if err != nil {
		return nil, nil, err
	}
	p := &present{host: h, r: r}
	var notes []string
	var requests []placement.Request
	var guests []vnuma.Guest
	for _, v := range c.VMs {
		if v.Host != h.ID {
			continue
		}
		g, _, err := vnuma.NewGuest(v)
		if err != nil {
			return nil, nil, err
		}
		q := r.requestOf(v, &g, o)
		p.vms = append(p.vms, v)
		if q.Layout.Managed {
			requests, guests = append(requests, q), append(guests, g)
			continue
		}
		p.r = p.r.without(&q)
		notes = append(notes, fmt.Sprintf("VM %s on %s has no home node: its vCPUs and memory are taken from all nodes alike", v.Name, h.Name))
	}
	p.before, _ = placement.Place(&p.r.host, requests)
	p.bin = newBin(p.r)
	for i := range requests {
		p.bin.admit(&item{request: requests[i], clients: p.r.clientsOf(&requests[i], &guests[i], o)}, (*bin).asPlaced, nil)
	}
	return p, notes, nil
}

// requestOf returns the placement request for a VM of a fleet, with its overhead.
func (r *room) requestOf(v *numa.VM, g *vnuma.Guest, o *Options) placement.Request {
	l := vnuma.Predict(g, &r.machine, &vnuma.Case{Choices: o.Choices, Ran: true})
	q := placement.RequestOf(v, &l)
	q.Memory += o.Overhead.Of(v.VCPUs.Value, v.Memory.Value)
	return q
}

// without returns the host less the memory of a VM that has no home node: it can come from anywhere (rule book C-12); here
// every node provides the same share.
func (r *room) without(q *placement.Request) *room {
	out := *r
	out.host.Nodes, out.vcpus = slices.Clone(r.host.Nodes), slices.Clone(r.vcpus)
	n := numa.Bytes(len(out.vcpus))
	for i := range out.host.Nodes {
		out.host.Nodes[i].Memory.Value = max(0, out.host.Nodes[i].Memory.Value-(q.Memory+n-1)/n)
		out.vcpus[i] = max(0, out.vcpus[i]-binpack.Ceil(q.Layout.VPDs.Sum(), int(n)))
	}
	return &out
}

// item returns the shape as the host sees it.
func (r *room) item(s *Shape, o *Options) item {
	it := item{count: 1, vcpus: s.VCPUs, request: r.request(s, o)}
	it.clients = r.clientsOf(&it.request, &s.Guest, o)
	return it
}

// setUp returns the layout to use for the shape on the host: unchanged, or, where a VM is not local then even alone, the
// layout that makes it local.
func (r *room) setUp(s *Shape, o *Options) (*Shape, *As) {
	if it, why := r.itemOf(s, o); why == "" && !it.spills {
		return s, nil
	}
	if edited, as, ok := r.localAs(s, o); ok {
		return &edited, as
	}
	return s, nil
}

// more adds VMs of the item until one does not fit.
func (b *bin) more(it *item) (n int) {
	for n < maxPerHost && b.take(it, (*bin).asPlaced) {
		n++
	}
	return n
}

// counts returns how many VMs of the item fit the host, how many without a limit of memory, or of cores, and the limit that binds.
func (b *bin) counts(it *item) (n, byCores, byMemory int, binds Limit) {
	cores, memory := b.copy(), b.copy()
	for i := range cores.Free {
		cores.Free[i] = int64(numa.MaxHostMemory)
	}
	endless := *b.r
	endless.vcpus = slices.Repeat([]int{numa.MaxVCPUs * maxPerHost}, len(endless.vcpus))
	memory.r = &endless
	byCores, byMemory = cores.more(it), memory.more(it)
	binds = Both
	if byCores != byMemory {
		binds = Memory
		if byCores < byMemory {
			binds = Cores
		}
	}
	return b.copy().more(it), byCores, byMemory, binds
}

// copy returns a host with the same filling.
func (b *bin) copy() *bin {
	return &bin{r: b.r, Board: b.Board.Clone(), own: slices.Clone(b.own)}
}

// free returns the free capacity of one host.
func (p *present) free(s *Shape, o *Options) HostFree {
	out := HostFree{Host: p.host.Name, Type: p.kind, VMs: len(p.vms), Nodes: p.r.uses(p.before, make([]int, len(p.vms)), o)}
	for i := range out.Nodes {
		out.Nodes[i].RestVCPUs -= p.bin.own[i]
	}
	if why, ok := p.r.powersOn(s); !ok {
		out.Binds, out.Why = Never, why
		return out
	}
	if q := p.r.request(s, o); !q.Layout.Managed {
		out.Binds, out.Why = Never, "the NUMA scheduler does not place it on this release"
		return out
	}
	s, out.LocalAs = p.r.setUp(s, o)
	it := p.r.item(s, o)
	out.More, _, _, out.Binds = p.bin.counts(&it)
	return out
}

// fail finds the failure that leaves least: of any one host, or of the largest ones of a cluster.
func (f *Free) fail(ctx context.Context, hosts []*present, s *Shape, o *Options) {
	var sets [][]int
	of := map[string][]int{} // by cluster
	for i, p := range hosts {
		of[p.host.Cluster] = append(of[p.host.Cluster], i)
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		in := of[id]
		switch {
		case id == "" || len(in) <= f.Spare:
			f.Unspared += len(in)
		case f.Spare == 1:
			for _, i := range in {
				sets = append(sets, []int{i})
			}
		default:
			slices.SortStableFunc(in, func(a, b int) int {
				return cmp.Compare(hosts[b].host.Memory.Value, hosts[a].host.Memory.Value)
			})
			sets = append(sets, in[:f.Spare])
		}
	}
	for n, set := range sets {
		if ctx.Err() != nil {
			return
		}
		left, homeless := f.after(hosts, set, s, o)
		if n > 0 && (homeless < f.Homeless || homeless == f.Homeless && left >= f.WithFailed) {
			continue
		}
		f.WithFailed, f.Homeless, f.Failed = left, homeless, nil
		for _, i := range set {
			f.Failed = append(f.Failed, hosts[i].host.Name)
		}
	}
}

// after returns how many VMs of the shape, nil for none, fit the other hosts when those of the set have failed and their VMs, the largest
// first, run where they are local, in their cluster.
func (f *Free) after(hosts []*present, set []int, s *Shape, o *Options) (left, homeless int) {
	var rest []*present
	var bins []*bin
	var vms []*numa.VM
	for i, p := range hosts {
		if slices.Contains(set, i) {
			vms = append(vms, p.vms...)
			continue
		}
		rest, bins = append(rest, p), append(bins, p.bin.copy())
	}
	slices.SortStableFunc(vms, func(a, b *numa.VM) int {
		return cmp.Or(cmp.Compare(b.Memory.Value, a.Memory.Value), cmp.Compare(b.VCPUs.Value, a.VCPUs.Value))
	})
	for _, v := range vms {
		if !restart(v, hosts[set[0]].host.Cluster, rest, bins, o) {
			homeless++
		}
	}
	if homeless > 0 || s == nil {
		return 0, homeless
	}
	for i, p := range rest {
		if _, ok := p.r.powersOn(s); !ok {
			continue
		}
		as, _ := p.r.setUp(s, o)
		if it := p.r.item(as, o); it.request.Layout.Managed {
			left += bins[i].more(&it)
		}
	}
	return left, 0
}

// restart adds the VM to the first host of the cluster where it is local, or, when it is local nowhere even alone, where its memory fits.
func restart(v *numa.VM, cluster string, hosts []*present, bins []*bin, o *Options) bool {
	g, _, err := vnuma.NewGuest(v)
	if err != nil {
		return false
	}
	g.Affinity, g.AllowedNodes = false, 0 // DRS restarts it elsewhere, so affinity does not apply
	s := NewShape(v.VCPUs.Value, v.Memory.Value)
	s.Guest = g
	for i, p := range hosts {
		if _, ok := p.r.powersOn(&s); !ok || p.host.Cluster != cluster {
			continue
		}
		it := p.r.item(&s, o)
		if !it.request.Layout.Managed {
			continue
		}
		it.spills = !newBin(p.r).take(&it, (*bin).asPlaced)
		if bins[i].take(&it, (*bin).asPlaced) {
			return true
		}
	}
	return false
}
