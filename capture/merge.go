package capture

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"example.org/homenode/numa"
)

// Merge returns one Recording for each host, sorted by host; it does not change the parts. Parts
// that follow each other in time give the same Recording as a single Recorder, wherever the
// stretch was cut and however the parts are grouped. Parts with different Options are an error.
//
// Nothing counts twice. Merge drops a part whose files are all in another part, or that has the
// same ticks as another one. If parts of one name still overlap in time, or their nodes differ,
// they are two hosts of one name, such as localhost, or two simultaneous captures. Merge cannot
// decide which, so the parts of each file become a Recording named "HOST (FILE)". Under a name
// that identifies no host, such as localhost, parts of several files are one host only if they
// share a VM or, if one has no VMs, state the same nodes. Notes report all of this.
func Merge(parts []*Recording) (merged []*Recording, notes []numa.Note, err error) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p *Recording) bool { return p == nil })
	slices.SortStableFunc(parts, inOrder)
	for _, p := range parts {
		if p.Options != parts[0].Options {
			return nil, nil, fmt.Errorf("recordings: found two sets of options, want one: %s and %s", parts[0].name(), p.name())
		}
	}
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].Host == parts[0].Host {
			n++
		}
		one, told := mergeHost(parts[:n])
		merged = append(merged, one...)
		notes = append(notes, told...)
		parts = parts[n:]
	}
	slices.SortStableFunc(merged, inOrder)
	return merged, notes, nil
}

// inOrder orders by host, then time, then file.
func inOrder(a, b *Recording) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), a.First.Compare(b.First), a.Last.Compare(b.Last), cmp.Compare(a.name(), b.name()))
}

// name returns the recording's name in messages: its first file, or else its host.
func (r *Recording) name() string {
	if len(r.Files) > 0 {
		return r.Files[0].Name
	}
	return r.Host
}

// mergeHost merges parts of one host name in time order.
func mergeHost(parts []*Recording) (merged []*Recording, notes []numa.Note) {
	parts, notes = once(parts)
	hosts := [][]*Recording{parts}
	if numa.NamesNobody(parts[0].Host) {
		hosts = kin(parts, (*Recording).alike)
	}
	if len(hosts) > 1 {
		notes = append(notes, numa.Note{At: parts[0].Host, Text: fmt.Sprintf("%s and %s have no VM in common, or other nodes: %d hosts of a name that identifies none: the recordings are kept apart",
			hosts[0][0].name(), hosts[1][0].name(), len(hosts))})
	}
	names := map[string]int{}
	for _, parts := range hosts {
		why := apart(parts)
		if why == "" {
			one := follow(parts)
			if len(hosts) > 1 {
				one = one.renamed(names)
			}
			merged = append(merged, one)
			continue
		}
		notes = append(notes, numa.Note{At: parts[0].Host, Text: why + ": the recordings of each file are kept apart"})
		for _, group := range kin(parts, (*Recording).shares) {
			if apart(group) == "" {
				group = []*Recording{follow(group)}
			}
			for _, p := range group {
				merged = append(merged, p.renamed(names))
			}
		}
	}
	return merged, notes
}

// renamed returns the recording with its first file added to the host name.
func (r *Recording) renamed(names map[string]int) *Recording {
	c := *r
	c.Host = fmt.Sprintf("%s (%s)", r.Host, r.name())
	if names[c.Host]++; names[c.Host] > 1 {
		c.Host = fmt.Sprintf("%s (%s, %d)", r.Host, r.name(), names[c.Host])
	}
	return &c
}

// kin groups parts that are of one host by same, directly or through other parts. The parts are in
// time order.
func kin(parts []*Recording, same func(p, q *Recording) bool) (hosts [][]*Recording) {
	for _, p := range parts {
		host := []*Recording{}
		var others [][]*Recording
		for _, h := range hosts {
			if slices.ContainsFunc(h, func(q *Recording) bool { return same(p, q) }) {
				host = append(host, h...)
			} else {
				others = append(others, h)
			}
		}
		hosts = append(others, append(host, p))
	}
	for _, h := range hosts {
		slices.SortStableFunc(h, inOrder)
	}
	slices.SortStableFunc(hosts, func(a, b []*Recording) int { return inOrder(a[0], b[0]) })
	return hosts
}

// alike reports whether two recordings of a name that identifies no host can be of one host.
func (r *Recording) alike(other *Recording) bool {
	if r.shares(other) {
		return true
	}
	if !sameNodes(r, other) {
		return false
	}
	if len(r.VMs) == 0 || len(other.VMs) == 0 {
		return len(r.Nodes) > 0 && len(other.Nodes) > 0
	}
	known := make(map[key]bool, len(r.VMs))
	for i := range r.VMs {
		known[key{gid: r.VMs[i].GID, name: r.VMs[i].Name}] = true
	}
	return slices.ContainsFunc(other.VMs, func(v VM) bool { return known[key{gid: v.GID, name: v.Name}] })
}

// once drops parts whose content is all in another part.
func once(parts []*Recording) (kept []*Recording, notes []numa.Note) {
	for i, p := range parts {
		other := -1
		for j, q := range parts {
			if j != i && within(p, q) && (j < i || !within(q, p)) { // of two equal parts the first stays
				other = j
				break
			}
		}
		if other < 0 {
			kept = append(kept, p)
			continue
		}
		text := "is given twice and counts once"
		if q := parts[other]; q.name() != p.name() {
			text = "holds nothing that " + q.name() + " does not: it counts once"
		}
		notes = append(notes, numa.Note{At: p.name(), Text: text})
	}
	return kept, notes
}

// within reports whether all ticks of p are also in q.
func within(p, q *Recording) bool {
	if p.First.Before(q.First) || p.Last.After(q.Last) || p.Ticks > q.Ticks {
		return false
	}
	if len(p.Files) > 0 && !slices.ContainsFunc(p.Files, func(f File) bool {
		return !slices.ContainsFunc(q.Files, func(g File) bool {
			return f.Name == g.Name && f.Ticks == g.Ticks && f.First.Equal(g.First) && f.Last.Equal(g.Last)
		})
	}) {
		return true
	}
	if len(p.Files) == 1 && p.name() == q.name() && reflect.DeepEqual(p.FirstTick, q.FirstTick) {
		return true // read again after it has grown
	}
	return p.Ticks == q.Ticks && p.First.Equal(q.First) && reflect.DeepEqual(nameless(p), nameless(q))
}

// nameless returns the recording without names and lines of files.
func nameless(r *Recording) *Recording {
	c := *r
	c.Files = nil
	c.FirstTick, c.LastTick = lineless(r.FirstTick), lineless(r.LastTick)
	c.VMs = slices.Clone(r.VMs)
	for i := range c.VMs {
		c.VMs[i].Percents.File, c.VMs[i].Percents.Line = "", 0
	}
	return &c
}

func lineless(t *numa.Tick) *numa.Tick {
	c := *t
	c.Line = 0
	return &c
}

// apart returns the reason why parts in time order are not one host, or not one capture of it.
// It returns "" if they can be.
func apart(parts []*Recording) string {
	for i, p := range parts[1:] {
		before := parts[i]
		if !p.First.After(before.Last) {
			return fmt.Sprintf("%s and %s overlap in time: two hosts of one name, or two captures at once", before.name(), p.name())
		}
		if before.name() != p.name() && !sameNodes(before, p) {
			return fmt.Sprintf("%s and %s differ in the nodes of the host: two hosts of one name", before.name(), p.name())
		}
	}
	return ""
}

// sameNodes reports whether two recordings can be of one host: they have the same nodes with the
// same memory, within a tolerance for the kernel's own memory, which depends on its release.
func sameNodes(p, q *Recording) bool {
	if len(p.Nodes) == 0 || len(q.Nodes) == 0 {
		return true // not stated
	}
	return slices.EqualFunc(p.Nodes, q.Nodes, func(a, b Node) bool {
		const tolerance = 50 // a fiftieth
		return a.ID == b.ID && (a.Total <= 0 || b.Total <= 0 ||
			max(a.Total, b.Total)-min(a.Total, b.Total) <= max(a.Total, b.Total)/tolerance)
	})
}

// shares reports whether two recordings have a file in common.
func (r *Recording) shares(other *Recording) bool {
	return slices.ContainsFunc(r.Files, func(f File) bool {
		return slices.ContainsFunc(other.Files, func(g File) bool { return f.Name == g.Name })
	})
}

// follow merges parts, each of which begins after the end of the previous one.
func follow(parts []*Recording) *Recording {
	if len(parts) == 1 {
		return parts[0]
	}
	all := parts[0].clone()
	for _, next := range parts[1:] {
		all.follow(next)
	}
	return all
}

// follow adds the next stretch, as a Recorder would have continued.
func (r *Recording) follow(next *Recording) {
	p := newPair(&r.Options, r.LastTick, next.FirstTick)
	r.pair(&p)

	rates := p.rates()
	for i := range next.Nodes {
		n := &next.Nodes[i]
		j := slices.IndexFunc(r.Nodes, func(m Node) bool { return m.ID == n.ID })
		if j < 0 {
			j = len(r.Nodes)
			r.Nodes = append(r.Nodes, newNode(n.ID))
		}
		if k := slices.IndexFunc(next.FirstTick.Nodes, func(t numa.NodeTick) bool { return t.ID == n.ID }); k >= 0 {
			r.Nodes[j].rates(&next.FirstTick.Nodes[k], rates)
		}
		r.Nodes[j].join(n, &r.Options)
	}

	before, after := byKey(r.LastTick), byKey(next.FirstTick)
	own := map[key]int{}
	for i := range r.VMs {
		own[r.VMs[i].key()] = i
	}
	for i := range next.VMs {
		v := &next.VMs[i]
		k := v.key()
		if j, ok := own[k]; ok {
			r.VMs[j].pair(&p, before[k], after[k])
			r.VMs[j].join(v, &r.Options)
		} else {
			r.VMs = append(r.VMs, v.clone())
		}
	}
	r.join(next)
	r.finish()
}

func (v *VM) key() key { return key{v.GID, v.Name, v.Nth} }

// byKey returns the VMs of a recorded tick.
func byKey(t *numa.Tick) map[key]*numa.VMTick {
	vms := make(map[key]*numa.VMTick, len(t.VMs))
	for i := range t.VMs {
		k := key{gid: t.VMs[i].GID, name: t.VMs[i].Name}
		for vms[k] != nil {
			k.nth++
		}
		vms[k] = &t.VMs[i]
	}
	return vms
}

// clone returns a copy that shares nothing that follow changes.
func (r *Recording) clone() *Recording {
	c := *r
	c.Files = append([]File{}, r.Files...)
	for i := range c.Files {
		c.Files[i].Warnings = slices.Clone(c.Files[i].Warnings)
	}
	c.Nodes = append([]Node{}, r.Nodes...)
	for i := range c.Nodes {
		c.Nodes[i].Timeline.packed = slices.Clip(c.Nodes[i].Timeline.packed)
	}
	c.VMs = append([]VM{}, r.VMs...)
	for i := range c.VMs {
		c.VMs[i] = r.VMs[i].clone()
	}
	c.Lacks = slices.Clone(r.Lacks)
	return &c
}

func (v *VM) clone() VM {
	c := *v
	c.Homes = slices.Clone(v.Homes)
	c.Changes = slices.Clone(v.Changes)
	c.LastNode = slices.Clone(v.LastNode)
	c.Timeline.packed = slices.Clip(v.Timeline.packed)
	c.Needs = v.Needs.clone()
	return c
}
