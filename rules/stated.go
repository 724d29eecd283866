package rules

import (
	"context"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/shape"
)

// faultsOf returns the faults of a layout. If the topology is for another number of vCPUs, the cells are compared with the present vCPUs,
// and sockets are not checked.
func faultsOf(s *numa.Stated) []shape.Fault {
	of := s.Shape
	out := shape.Check(&of, true)
	var topology []shape.Fault
	if n := len(s.CPUs); n != s.Most() {
		topology = slices.DeleteFunc(out, func(f shape.Fault) bool { return f.Check != shape.Topology })
		of.Sockets, of.Dies, of.Cores, of.Threads = n, 1, 1, 1
		out = slices.DeleteFunc(shape.Check(&of, true), func(f shape.Fault) bool { return f.Check == shape.Topology })
	}
	if in := slices.DeleteFunc(slices.Clone(s.Unlisted), func(v int) bool { return !s.There(v) }); len(in) > 0 && len(s.Cells) > 1 {
		out = slices.DeleteFunc(out, func(f shape.Fault) bool { return f.Check == shape.Sockets })
		topology = append(topology, shape.Fault{Check: shape.VCPUs, Text: fmt.Sprintf("%s in no cell: libvirt and QEMU take cell 0", words.Be("vCPU", in))})
	}
	return append(topology, out...)
}

// runStated assesses a KVM fleet: only with the rules that have Stated.
func (r *Result) runStated(ctx context.Context, o Options) error {
	f := r.Fleet
	hosts := f.HostsByID()
	cores := map[*numa.Host]map[int]int{}
	for i := range f.Hosts {
		of := map[int]int{}
		for core, cpus := range f.Hosts[i].CoreCPUs.Value {
			for _, cpu := range cpus {
				of[cpu] = core
			}
		}
		cores[&f.Hosts[i]] = of
	}
	on := map[*numa.Host][]*rule.StatedVM{}
	for i := range f.VMs {
		v := &f.VMs[i]
		if v.Stated == nil {
			r.Unjudged = append(r.Unjudged, numa.Note{At: v.At, Text: fmt.Sprintf("VM %s: its definition is not known", v.Name)})
			continue
		}
		if v.Template.Or(false) {
			r.Unjudged = append(r.Unjudged, numa.Note{At: v.At, Text: fmt.Sprintf("VM %s: it is a template and does not run; its clones are judged", v.Name)})
			continue
		}
		one := &rule.StatedVM{VM: v, Host: hosts[v.Host], Faults: faultsOf(v.Stated), Cores: cores[hosts[v.Host]]}
		if one.Host == nil || !one.Host.Nodes.Known() {
			r.Unjudged = append(r.Unjudged, numa.Note{At: v.At, Text: fmt.Sprintf("VM %s: the nodes of its host are unknown: what needs them is not judged (virsh capabilities)", v.Name)})
		} else {
			on[one.Host] = append(on[one.Host], one)
		}
		r.Stated = append(r.Stated, one)
	}
	r.VMs = len(r.Stated)
	for h, vms := range on {
		on[h] = slices.DeleteFunc(vms, func(v *rule.StatedVM) bool { return !v.Starts() })
	}
	for _, v := range r.Stated {
		if err := ctx.Err(); err != nil {
			return err
		}
		if beside := on[v.Host]; slices.Contains(beside, v) {
			v.Beside = slices.DeleteFunc(slices.Clone(beside), func(other *rule.StatedVM) bool { return other == v })
		}
		for _, one := range All {
			if one.Stated != nil {
				p := rule.StatedPass{Rule: one, VM: v, Thresholds: o.thresholds()}
				one.Stated(&p)
				r.Findings = append(r.Findings, p.Findings...)
			}
		}
	}
	return nil
}
