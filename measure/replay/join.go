package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// exampleHost is the example for --assume-host in messages.
const exampleHost = "--assume-host 'nodes=2 cores=18 memory=1024GB release=7.0U3'"

// findHost finds the shape of the recorded host, with the memory of its nodes as stated in the
// capture.
func (p *plan) findHost() error {
	name := p.rec.host
	var found []*numa.Host
	if p.options.Fleet != nil {
		found = p.options.Fleet.FindHosts(name)
	}
	switch {
	case len(found) > 1:
		return fmt.Errorf("%s: found %d hosts of the inventory with this name", name, len(found))
	case len(found) == 1:
		p.host, p.inventory = *found[0], true
	case p.options.Assume != nil:
		p.host = *p.options.Assume
		p.host.ID, p.host.Name, p.host.Cluster = name, name, ""
		p.note("the shape of the host is assumed, as " + p.host.At + " says")
	case p.options.Fleet != nil:
		return fmt.Errorf("%s: found no such host in the inventory %s: the capture tells of %s and not how many cores they have: name its inventory, as in: homenode simulate SOURCE --against CAPTURE, or its shape with %s",
			name, p.options.Fleet.Source, p.sizes(), exampleHost)
	default:
		return fmt.Errorf("%s: the capture tells of %s and not how many cores they have: name the inventory, as in: homenode simulate SOURCE --against CAPTURE, or the shape with %s", name, p.sizes(), exampleHost)
	}
	p.host.Maintenance = numa.Fact[bool]{}
	if _, err := vnuma.NewMachine(&p.host); err != nil {
		return fmt.Errorf("%w: give its shape with %s", err, exampleHost)
	}
	return p.takeNodes()
}

// sizes lists the nodes in the capture.
func (p *plan) sizes() string {
	var all []string
	for i := range p.rec.first.Nodes {
		if n := &p.rec.first.Nodes[i]; n.Has&numa.HasTotal != 0 {
			all = append(all, n.Total.String())
		}
	}
	text := words.Plural(len(p.rec.first.Nodes), "NUMA node")
	if all != nil {
		text += " (" + strings.Join(all, ", ") + ")"
	}
	return text
}

// takeNodes sets the memory of the nodes as stated in the capture.
func (p *plan) takeNodes() error {
	seen, have := p.rec.first.Nodes, p.host.Nodes.Value
	var a, b []int
	for i := range seen {
		a = append(a, seen[i].ID)
	}
	for i := range have {
		b = append(b, have[i].ID)
	}
	slices.Sort(a)
	if !slices.Equal(a, b) {
		return fmt.Errorf("%s: found NUMA nodes %s in the capture, want %s as the inventory has: the host was another, or another shape, then", p.rec.host, list(a), list(b))
	}
	p.host.Nodes.Value = slices.Clone(have)
	for i := range p.host.Nodes.Value {
		n := &p.host.Nodes.Value[i]
		t := p.node(n.ID)
		switch {
		case t.Has&numa.HasTotal == 0 && !n.Memory.Known():
			p.note(fmt.Sprintf("node %d: its memory is unknown, it has no limit", n.ID))
		case t.Has&numa.HasTotal == 0:
		default:
			if known := n.Memory.Value; n.Memory.Known() && differ(known, t.Total) {
				p.note(fmt.Sprintf("node %d: %s in the capture, %s in the inventory: that of the capture is taken", n.ID, t.Total, known))
			}
			n.Memory = numa.ReadAt(t.Total, "capture")
		}
	}
	return nil
}

// differ reports whether two sizes of a node are different memory: a kernel reserves some,
// depending on its release.
func differ(a, b numa.Bytes) bool { return max(a, b)-min(a, b) > max(a, b)/20 }

func (p *plan) node(id int) *numa.NodeTick {
	for i := range p.rec.first.Nodes {
		if n := &p.rec.first.Nodes[i]; n.ID == id {
			return n
		}
	}
	return &numa.NodeTick{ID: id}
}

func list(ids []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
}

// A guest is a VM of the story: one life or several consecutive ones.
type guest struct {
	name  string
	lives []int
	known bool // in the inventory
}

// findGuests groups lives into guests: a life with the same name, vCPUs and memory that begins
// while no other one runs is the same VM again.
func (p *plan) findGuests() {
	order := make([]int, 0, len(p.rec.lives))
	for i := range p.rec.lives {
		switch l := &p.rec.lives[i]; {
		case l.end < -1:
			p.note("VM " + l.name + ": its home nodes and memory are never stated, or it ran for less than a moment: it is left out")
		case l.end < 0:
			p.note("VM " + l.name + ": it ran at the first moment alone: it is left out")
		default:
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.rec.lives[a].first, p.rec.lives[b].first), cmp.Compare(p.unmanaged(a), p.unmanaged(b)))
	})
	p.guestOf = make([]int, len(p.rec.lives))
	for i := range p.guestOf {
		p.guestOf[i] = -1
	}
	byName := map[string][]int{}
	for _, i := range order {
		l := &p.rec.lives[i]
		at := -1
		for _, g := range byName[l.name] {
			before := &p.rec.lives[p.guests[g].lives[len(p.guests[g].lives)-1]]
			if was, is := before.shapes[len(before.shapes)-1], l.shapes[0]; before.end < l.first && was.vcpus == is.vcpus && was.size == is.size {
				at = g
				break
			}
		}
		if at < 0 {
			v, known, why := p.vm(l, len(byName[l.name]))
			if why != "" {
				p.note("VM " + l.name + ": " + why)
			}
			if v == nil {
				continue
			}
			at = len(p.guests)
			byName[l.name] = append(byName[l.name], at)
			p.guests = append(p.guests, guest{name: l.name, known: known})
			p.fleet.VMs = append(p.fleet.VMs, *v)
		}
		p.guests[at].lives = append(p.guests[at].lives, i)
		p.guestOf[i] = at
	}
}

// unmanaged returns 1 for a VM that the NUMA scheduler does not manage at the start: it uses
// memory of all nodes equally, from the rest that the others leave.
func (p *plan) unmanaged(life int) int {
	if life < len(p.rec.first.VMs) && p.rec.lives[life].first < 0 && p.rec.first.VMs[life].Homes == 0 {
		return 1
	}
	return 0
}

// vm returns the VM of the story for a life, the nth of its name; nil if too little is known
// about it. why describes the assumptions.
func (p *plan) vm(l *life, nth int) (v *numa.VM, known bool, why string) {
	found, why := p.inventoried(l)
	if found != nil && nth > 0 {
		found, why = nil, "it is there more than once, or changed: its settings are assumed to be the defaults"
	}
	v = &numa.VM{ID: fmt.Sprintf("%s#%d", l.name, nth+1), Name: l.name}
	if found != nil {
		one := *found
		v = &one
	} else {
		if l.shapes[0].vcpus == 0 {
			return nil, false, strings.TrimPrefix(why+"; ", "; ") + "the capture does not say how many vCPUs it has: it is left out"
		}
	}
	if first := l.shapes[0].vcpus; first > 0 {
		v.VCPUs = numa.ReadAt(first, "capture")
	}
	v.Host, v.Cluster, v.Template = p.host.ID, p.host.Cluster, numa.Fact[bool]{}
	v.Power = numa.DerivedFrom(numa.PoweredOff, "capture")
	if l.first < 0 {
		v.Power.Value = numa.PoweredOn
	}
	switch {
	case l.shapes[0].size > 0:
		v.Memory = numa.ReadAt(l.shapes[0].size, "capture")
	case !v.Memory.Known():
		v.Memory = numa.DerivedFrom(max(l.most, numa.PageSize), "the most memory that was seen of it")
	}
	return v, found != nil, why
}

// inventoried finds a life in the inventory, as the rules for recordings do: by its name, on
// the host, else in the cluster of the host. An ambiguous name matches none.
func (p *plan) inventoried(l *life) (found *numa.VM, why string) {
	if !p.inventory {
		return nil, ""
	}
	var here, there []*numa.VM
	for i := range p.options.Fleet.VMs {
		v := &p.options.Fleet.VMs[i]
		switch {
		case v.Name != l.name:
		case v.Host == p.host.ID:
			here = append(here, v)
		case v.Cluster != "" && v.Cluster == p.host.Cluster:
			there = append(there, v)
		}
	}
	if len(here) == 0 {
		here = there
	}
	const assumed = ": its settings are assumed to be the defaults"
	switch {
	case len(here) == 0:
		return nil, "it is not in the inventory" + assumed
	case len(here) > 1:
		return nil, fmt.Sprintf("%d VMs of the inventory have this name%s", len(here), assumed)
	case here[0].VCPUs.Known() && !l.had(here[0].VCPUs.Value):
		return nil, fmt.Sprintf("%s in the capture, %d in the inventory%s", words.Plural(l.shapes[0].vcpus, "vCPU"), here[0].VCPUs.Value, assumed)
	case l.shapes[0].vcpus == 0 && !here[0].VCPUs.Known():
		return nil, "the inventory does not say how many vCPUs it has"
	}
	return here[0], ""
}

// had reports whether a life may have had so many vCPUs at any time.
func (l *life) had(vcpus int) bool {
	return slices.ContainsFunc(l.shapes, func(s shape) bool { return s.vcpus == 0 || s.vcpus == vcpus })
}
