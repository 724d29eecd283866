package fit

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/size/fit"
)

// mostDrawn is the maximum number of hosts in a picture, and mostFillings that of hosts with a mix of VMs.
const (
	mostDrawn    = 8
	mostFillings = 4
)

// drawing returns the drawing of hosts with their VMs; more hosts are not drawn.
func (c *Context) drawing(title string, hosts []*topo.Drawing, more int) []answer.Drawing {
	caption := []string{
		"VMs include overhead; ESXi is assumed to place them like this (C-4, inferred).",
		fmt.Sprintf("vCPUs per core: at most %s. Each node keeps %g × the soft reserve of the host free (C-15, inferred), which is not drawn.", unit.Digits(c.PerCore, 3), c.Reserve),
	}
	if more > 0 {
		caption = append([]string{fmt.Sprintf("… %s not drawn.", words.Plural(more, "more host"))}, caption...)
	}
	return []answer.Drawing{{Wide: true, Picture: func() *picture.Picture {
		return topo.Several(drawingID, strings.TrimSuffix(title, "."), hosts, caption)
	}}}
}

const drawingID = "size-fit"

// drawn returns the drawing of one host; shapes are the names of its VMs.
func drawn(at int, name string, facts []string, nodes []fit.Use, shapes ...string) *topo.Drawing {
	return topo.OfFit(fmt.Sprintf("%s__host-%d", drawingID, at), name, facts, nodes, shapes)
}

// counted draws the types of hosts, each with as many VMs of a shape as fit.
func (c *Context) counted(r *fit.Result, title string) []answer.Drawing {
	var hosts []*topo.Drawing
	more := 0
	for i := range r.Types {
		o := &r.Types[i]
		for j := range o.Counts {
			if len(hosts) == mostDrawn {
				more++
				continue
			}
			hosts = append(hosts, drawn(len(hosts), o.Name, countFacts(&o.Counts[j]), o.Counts[j].Nodes, r.Shapes[j].Name))
		}
	}
	return c.drawing(title, hosts, more)
}

// mixed draws the hosts of the first type with their mix of VMs. Hosts with the same VMs are drawn once.
func (c *Context) mixed(r *fit.Result, title string) []answer.Drawing {
	o := &r.Types[0]
	names := words.Texts(r.Shapes, func(s fit.Shape) string { return s.Name })
	var hosts []*topo.Drawing
	first := 1
	for i := range o.Mix.Fillings[:min(mostFillings, len(o.Mix.Fillings))] {
		f := &o.Mix.Fillings[i]
		vms := 0
		for _, n := range f.Counts {
			vms += n
		}
		facts := []string{words.Plural(vms, "VM"), o.Name}
		if f.Hosts > 1 {
			facts = append(facts, fmt.Sprintf("%d hosts like this", f.Hosts))
		}
		hosts = append(hosts, drawn(i, fmt.Sprintf("host %d of %d", first, o.Mix.Hosts), facts, f.Nodes, names...))
		first += f.Hosts
	}
	return c.drawing(title, hosts, o.Mix.Hosts+1-first)
}

// countFacts describes a host with as many VMs of a shape as fit.
func countFacts(count *fit.Count) []string {
	vms := fmt.Sprintf("%s of %s", words.Plural(count.VMs, "VM"), count.Shape)
	switch count.Binds {
	case fit.Cores:
		vms += ", cores bind"
	case fit.Memory:
		vms += ", memory binds"
	case fit.Never:
		vms = "no VM fits"
	}
	cores, memory := used(count)
	switch {
	case count.LocalAs != nil:
		return []string{vms, fmt.Sprintf("%s of cores, %s of memory, as %s", cores, memory, count.LocalAs)}
	case count.Why != "":
		return []string{vms, count.Why}
	}
	return []string{vms, fmt.Sprintf("%s of cores, %s of memory", cores, memory)}
}

// room draws the hosts of a cluster with the VMs that run there.
func (c *Context) room(r *fit.Free, title string) []answer.Drawing {
	var hosts []*topo.Drawing
	for i, h := range r.Hosts[:min(mostDrawn, len(r.Hosts))] {
		hosts = append(hosts, drawn(i, h.Host, []string{more(h.More), h.Type, fmt.Sprintf("%d VMs now", h.VMs)}, h.Nodes))
	}
	return c.drawing(c.Cluster.Name+": "+title, hosts, len(r.Hosts)-len(hosts))
}

func more(n int) string {
	if n == 0 {
		return "no room"
	}
	return fmt.Sprintf("room for %d more", n)
}
