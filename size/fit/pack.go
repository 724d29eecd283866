package fit

import (
	"cmp"
	"context"
	"slices"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/binpack"
	"example.org/homenode/numa"
)

// Packing VMs onto hosts is first fit, the largest first: each VM goes to the first host where it fits, and a new
// host is added when there is none. Several orders are tried: by the larger of the VM's shares of a host's vCPUs and
// memory, by memory, by vCPUs, by the sum of the shares, or by their ratio, either way. The order with the fewest
// hosts counts. On a host the clients go where ESXi places them (rule book C-4): a VM that would not be local there
// goes to another host.
//
//	hosts    1 [node [A A][B .]] [node [A][C C C]]     2 [node [D D D] …
//
// Each order costs shapes × hosts steps, plus one for each VM.

// An item is a set of VMs of one shape, ready to be packed.
type item struct {
	shape   int
	count   int
	vcpus   int
	request placement.Request
	clients []client
	// spills: part of it is remote even on an empty host, so its memory may be on any node.
	spills bool
}

// A client of an item, with its slice of the memory.
type client struct {
	vcpus  int
	memory numa.Bytes
	own    int // vCPUs of others that have no room on its cores, since they are its own
}

// clientsOf divides a request into its clients.
func (r *room) clientsOf(q *placement.Request, g *vnuma.Guest, o *Options) []client {
	out := make([]client, q.Layout.PPDs.Len())
	for i := range out {
		_, n := q.Layout.PPDs.Group(i)
		out[i] = client{vcpus: n, memory: q.Slice(i)}
		if g.Needs.Exclusive { // latency sensitivity High (B-21)
			cores := binpack.Ceil(n, int(g.Threads(&r.machine)))
			out[i].own = max(0, vcpusOf(cores, o.PerCore)-n)
		}
	}
	return out
}

// A bin is a host being filled.
type bin struct {
	*placement.Board
	r            *room
	placed       []int   // shapes, in order
	load, before []int64 // state that take may restore
	slices       []int64 // memory of the clients of a VM
	own, held    []int   // by node, of all clients; as take may restore it
}

func newBin(r *room) *bin {
	return &bin{Board: placement.NewBoard(&r.host), r: r, own: make([]int, len(r.vcpus))}
}

// A choice picks the node of a client; -1 for none.
type choice func(b *bin, c client) int

// asPlaced returns the node that ESXi chooses.
func (b *bin) asPlaced(c client) int { return b.Next(int64(c.memory)) }

// A taker places a VM on a host and reports whether it fits.
type taker func(b *bin, it *item) bool

// byESXi places a VM on the nodes that ESXi chooses.
func byESXi(b *bin, it *item) bool { return b.take(it, (*bin).asPlaced) }

// byHand places a VM so that large gaps remain, else as ESXi does: every VM that byESXi places on an empty host fits.
func byHand(b *bin, it *item) bool { return b.take(it, fullest) || b.take(it, (*bin).asPlaced) }

// fullest returns the fullest node where the client fits.
func fullest(b *bin, c client) int {
	best, least := -1, 0.0
	choices := b.Choices(b.r.host.Allowed(0), b.Homes())
	for i, takes := range b.r.vcpus {
		v, m := takes-b.taken(i)-c.vcpus-c.own, b.Free[i]-int64(c.memory)
		if !choices.Has(i) || v < 0 || m < 0 {
			continue
		}
		rest := float64(float64(v)/float64(takes)) + float64(float64(m)/float64(b.r.host.Nodes[i].Memory.Value+1))
		if best < 0 || rest < least {
			best, least = i, rest
		}
	}
	return best
}

// taken returns the vCPUs of the node that its clients take.
func (b *bin) taken(node int) int { return int(b.Load[node]) + b.own[node] }

// take places a VM if all of it is local and within the vCPUs of the nodes; an item that spills if the host has the
// memory. Otherwise the bin is unchanged.
func (b *bin) take(it *item, pick choice) bool {
	b.load, b.before = append(b.load[:0], b.Load...), append(b.before[:0], b.Free...)
	b.held = append(b.held[:0], b.own...)
	last := b.Last
	if len(b.placed) < maxPerHost && b.admit(it, pick, b.r.vcpus) {
		b.placed = append(b.placed, it.shape)
		return true
	}
	copy(b.Load, b.load)
	copy(b.Free, b.before)
	copy(b.own, b.held)
	b.Last = last
	return false
}

// admit places a VM, and reports whether it meets the conditions of take; most is the vCPU capacity of the nodes, nil for any.
func (b *bin) admit(it *item, pick choice, most []int) bool {
	b.Begin(b.r.host.Allowed(it.request.Nodes))
	b.slices = b.slices[:0]
	for _, c := range it.clients {
		n := pick(b, c)
		if n < 0 || most != nil && b.taken(n)+c.vcpus+c.own > most[n] {
			return false
		}
		b.Put(n, int64(c.vcpus))
		b.own[n] += c.own
		b.slices = append(b.slices, int64(c.memory))
	}
	away, nowhere := b.Fill(b.slices)
	return nowhere == 0 && (it.spills || away == 0)
}

// items returns the items to pack on hosts like r; the described shapes among them that are local only with their
// LocalAs layout; and the shapes that cannot run.
func (r *room) items(shapes []Shape, o *Options) (out []item, edited, never []Misfit) {
	for i := range shapes {
		s := &shapes[i]
		it, why := r.itemOf(s, o)
		if s.described() && (why != "" || it.spills) {
			if as, how, ok := r.localAs(s, o); ok {
				f := r.misfit(s, &it, o)
				f.LocalAs = how
				edited = append(edited, f)
				it, why = r.itemOf(&as, o)
			}
		}
		if why != "" {
			_, on := r.powersOn(s)
			never = append(never, Misfit{Shape: s.Name, Count: s.Count, VMs: s.VMs, Why: why, Off: !on, shape: i})
			continue
		}
		it.shape, it.count = i, s.Count
		out = append(out, it)
	}
	return out, edited, never
}

// itemOf returns the shape as the host sees it, or the reason why it cannot run.
func (r *room) itemOf(s *Shape, o *Options) (it item, why string) {
	it = item{vcpus: s.VCPUs, request: r.request(s, o)}
	why, ok := r.powersOn(s)
	switch {
	case !ok:
		return it, why
	case !it.request.Layout.Managed:
		return it, "the NUMA scheduler does not place it on this release"
	}
	it.clients = r.clientsOf(&it.request, &s.Guest, o)
	it.spills = r.interleaved(s, o)
	if !it.spills && newBin(r).take(&it, (*bin).asPlaced) {
		return it, ""
	}
	it.spills = true
	if !newBin(r).take(&it, (*bin).asPlaced) {
		return it, r.misfit(s, &it, o).Why
	}
	return it, ""
}

// orders are the packing orders to try.
func (r *room) orders() []func(a, b *item) int {
	vcpus, memory := 0, numa.Bytes(0)
	for i, n := range r.host.Nodes {
		vcpus, memory = vcpus+r.vcpus[i], memory+n.Memory.Value
	}
	cpu := func(it *item) float64 { return float64(it.vcpus) / float64(max(1, vcpus)) }
	mem := func(it *item) float64 { return float64(it.request.Memory) / float64(max(1, memory)) }
	by := func(size func(it *item) float64) func(a, b *item) int {
		return func(a, b *item) int {
			// Items that spill occupy whole hosts and come first.
			if a.spills != b.spills {
				if a.spills {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.shape, b.shape))
		}
	}
	return []func(a, b *item) int{
		by(func(it *item) float64 { return max(cpu(it), mem(it)) }),
		by(mem),
		by(cpu),
		by(func(it *item) float64 { return cpu(it) + mem(it) }),
		by(func(it *item) float64 { return mem(it) / max(cpu(it), 1e-9) }),
		by(func(it *item) float64 { return cpu(it) / max(mem(it), 1e-9) }),
	}
}

// pack returns the fewest hosts over all orders, all like the room, or the first with the least, which is a lower bound. It returns early when ctx ends.
func (r *room) pack(ctx context.Context, items []item, take taker, least int) (best []*bin) {
	var first []item
	for i, order := range r.orders() {
		sorted := slices.Clone(items)
		slices.SortFunc(sorted, func(a, b item) int { return order(&a, &b) })
		bins := r.inOrder(ctx, sorted, take)
		if ctx.Err() != nil {
			return best
		}
		if i == 0 || len(bins) < len(best) {
			best = bins
		}
		if len(best) <= least {
			return best
		}
		if i == 0 {
			first = sorted
		}
	}
	if bins := r.hostByHost(ctx, first, take, len(best)); bins != nil {
		best = bins
	}
	for _, l := range r.lesser {
		if len(best) <= least {
			break
		}
		w := r.within(l)
		if slices.ContainsFunc(items, func(it item) bool { return !take(newBin(w), &it) }) {
			continue // local, or at all, on the larger host only
		}
		if bins := r.again(w.pack(ctx, items, take, least), items, take); bins != nil && len(bins) < len(best) {
			best = bins
		}
	}
	return best
}

// covers reports whether each node has the cores of that of l, and no less room.
func (r *room) covers(l *room) bool {
	for i := range min(len(r.vcpus), len(l.vcpus)) {
		n, m := &r.host.Nodes[i], &l.host.Nodes[i]
		if n.Cores < m.Cores || r.vcpus[i] < l.vcpus[i] || n.Memory.Value < m.Memory.Value {
			return false
		}
	}
	return len(r.vcpus) == len(l.vcpus)
}

// within returns the room with no more on its nodes than l has.
func (r *room) within(l *room) *room {
	out := *r
	out.lesser, out.vcpus, out.host.Nodes = nil, l.vcpus, slices.Clone(r.host.Nodes)
	for i := range out.host.Nodes {
		out.host.Nodes[i].Memory = l.host.Nodes[i].Memory
	}
	return &out
}

// again packs hosts with the VMs of others, in their order or another; nil if ESXi places some of them otherwise, so that they do not fit.
func (r *room) again(others []*bin, items []item, take taker) (bins []*bin) {
	at := numa.ByKey(items, func(it *item) int { return it.shape })
	orders := append([]func(a, b *item) int{func(_, _ *item) int { return 0 }}, r.orders()...)
	for _, o := range others {
		k := slices.IndexFunc(orders, func(order func(a, b *item) int) bool {
			placed := slices.Clone(o.placed)
			slices.SortStableFunc(placed, func(a, b int) int { return order(at[a], at[b]) })
			b := newBin(r)
			if slices.ContainsFunc(placed, func(shape int) bool { return !take(b, at[shape]) }) {
				return false
			}
			bins = append(bins, b)
			return true
		})
		if k < 0 {
			return nil
		}
	}
	return bins
}

func (r *room) inOrder(ctx context.Context, items []item, take taker) (bins []*bin) {
	for i := range items {
		from := 0 // a host without room for the shape stays so until another shape comes
		for left := items[i].count; left > 0; {
			if ctx.Err() != nil {
				return bins
			}
			if from == len(bins) {
				bins = append(bins, newBin(r))
			}
			if take(bins[from], &items[i]) {
				left--
			} else {
				from++
			}
		}
	}
	return bins
}
