package fit

import (
	"fmt"
	"slices"
	"strings"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/size/fit"
)

// pictureOf returns the drawing of the host types with each shape, or of the hosts of the first
// type with their mix of VMs.
func pictureOf(c *Context, r *fit.Result, verdict []string) *drawing {
	d := &drawing{title: strings.TrimSuffix(strings.Join(verdict, " "), "."), caption: caption(c)}
	if first := &r.Types[0]; first.Mix != nil {
		d.mix(first)
		d.shades(r.Shapes)
		return d
	}
	for i := range r.Shapes {
		d.kinds = append(d.kinds, r.Shapes[i].Name)
	}
	for i := range r.Types {
		o := &r.Types[i]
		for j := range o.Counts {
			d.hosts = append(d.hosts, countHost(o, &o.Counts[j], j, len(o.Counts) > 1))
		}
	}
	if n := len(d.hosts); n > mostDrawn {
		d.hosts = d.hosts[:mostDrawn]
		d.caption = append(d.caption, fmt.Sprintf("The first %d of %d are drawn.", mostDrawn, n))
	}
	return d
}

// mix adds the hosts of a type. Hosts with the same VMs are drawn once.
func (d *drawing) mix(o *fit.Outcome) {
	first := 1
	for i := range o.Mix.Fillings {
		f := &o.Mix.Fillings[i]
		vms := 0
		for _, n := range f.Counts {
			vms += n
		}
		h := drawnHost{name: fmt.Sprintf("host %d of %d", first, o.Mix.Hosts), count: words.Plural(vms, "VM"), facts: o.Name, nodes: f.Nodes}
		if f.Hosts > 1 {
			h.facts = fmt.Sprintf("%d hosts like this, %s", f.Hosts, o.Name)
		}
		first += f.Hosts
		d.hosts = append(d.hosts, h)
		if rest := o.Mix.Hosts + 1 - first; len(d.hosts) == mostFillings && rest > 0 {
			d.caption = append([]string{fmt.Sprintf("… %s not drawn.", words.Plural(rest, "more host"))}, d.caption...)
			break
		}
	}
}

// caption describes the basis of the drawing.
func caption(c *Context) []string {
	return []string{
		"Height of blocks: vCPUs at the left of a node, memory with overhead at the right, to one scale in all nodes. VMs are placed as ESXi is taken to place them (C-4, inferred).",
		fmt.Sprintf("vCPUs per core: at most %s. Each node keeps %g × the soft reserve of the host free (C-15, inferred).", unit.Digits(c.PerCore, 3), c.Reserve),
	}
}

// countHost returns a host with as many VMs of a shape as fit.
func countHost(o *fit.Outcome, count *fit.Count, shape int, several bool) drawnHost {
	h := drawnHost{name: o.Name, count: words.Plural(count.VMs, "VM"), nodes: count.Nodes}
	if several {
		h.count += " of " + count.Shape
	}
	switch count.Binds {
	case fit.Cores:
		h.count += ", cores bind"
	case fit.Memory:
		h.count += ", memory binds"
	case fit.Never:
		h.count = "no VM fits"
	}
	cores, memory := used(count)
	h.facts = fmt.Sprintf("%s of cores, %s of memory", cores, memory)
	switch {
	case count.LocalAs != nil:
		h.facts += fmt.Sprintf(", as %s", count.LocalAs)
	case count.Why != "":
		h.facts = count.Why
	}
	for i := range h.nodes {
		for k := range h.nodes[i].Clients {
			h.nodes[i].Clients[k].Shape = shape
		}
	}
	return h
}

// shades assigns fills to shapes. If there are more shapes than fills, each range of memory
// sizes has a fill, so that similar shapes look alike.
func (d *drawing) shades(shapes []fit.Shape) {
	var sizes []numa.Bytes
	for i := range shapes {
		d.names = append(d.names, shapes[i].Name)
		sizes = append(sizes, shapes[i].Memory)
	}
	if len(shapes) <= textures {
		d.kinds = d.names
		return
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	fill := func(at int) int { return at * textures / max(textures, len(sizes)) }
	for i := range shapes {
		at, _ := slices.BinarySearch(sizes, shapes[i].Memory)
		d.fills = append(d.fills, fill(at))
	}
	for k := range textures {
		var in []numa.Bytes
		for at := range sizes {
			if fill(at) == k {
				in = append(in, sizes[at])
			}
		}
		switch len(in) {
		case 0:
		case 1:
			d.kinds = append(d.kinds, "VMs of "+whole(in[0]))
		default:
			d.kinds = append(d.kinds, fmt.Sprintf("%s to %s", whole(in[0]), whole(in[len(in)-1])))
		}
	}
}

// roomPicture returns the drawing of a cluster's hosts with their VMs.
func roomPicture(c *Context, r *fit.Free, verdict string) *drawing {
	d := &drawing{title: fmt.Sprintf("%s: %s", c.Cluster.Name, verdict), kinds: []string{"VMs that run"}, caption: caption(c)}
	for _, h := range r.Hosts {
		d.hosts = append(d.hosts, drawnHost{name: h.Host, count: more(h.More), facts: fmt.Sprintf("%s, %d VMs now", h.Type, h.VMs), nodes: h.Nodes})
		if len(d.hosts) == mostDrawn {
			if rest := len(r.Hosts) - mostDrawn; rest > 0 {
				d.caption = append([]string{fmt.Sprintf("… %s not drawn.", words.Plural(rest, "more host"))}, d.caption...)
			}
			break
		}
	}
	return d
}

func more(n int) string {
	if n == 0 {
		return "no room"
	}
	return fmt.Sprintf("room for %d more", n)
}
