// Package gate assesses VMs before they are created. It places each planned VM on the hosts on which it may be created, and turns the edits
// for findings into lines and patches of the file that describes the VM.
package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A site is a place where planned VMs may be created: a cluster, or a standalone host, which is treated as a cluster of its own. Planned VMs
// run on none of its hosts, so they do not compete with each other.
type site struct {
	cluster, name string // ID and name
	hosts         []*numa.Host
	machines      []vnuma.Machine // one per kind
	alike         []string        // other sites with hosts of the same kinds
}

// Place returns the fleet in which the planned VMs of f are assessed: each once on every site with different hosts, or on the site that its
// plan names. The sites are those of f, and one for each of the host models. Existing VMs give clones their inherited settings, and are left
// out.
func Place(f *numa.Fleet, models []numa.Host) (*numa.Fleet, error) {
	if !f.Plans() {
		if len(models) > 0 && f.Hypervisor == numa.KVM {
			return f, lend(f, models)
		}
		if len(models) > 0 {
			return nil, fmt.Errorf("found no planned VM: host models are for VMs that do not exist yet; explain --on 2x32c/1TB takes one that exists to a model")
		}
		return f, nil
	}
	out := *f
	out.Clusters, out.Hosts = slices.Clone(f.Clusters), slices.Clone(f.Hosts)
	out.Hosts = append(out.Hosts, models...)
	for i := range out.Hosts {
		if h := &out.Hosts[i]; h.Cluster == "" {
			h.Cluster = "host " + h.ID
			out.Clusters = append(out.Clusters, numa.Cluster{ID: h.Cluster, Name: h.Name, At: h.At})
		}
	}
	all := sites(&out)
	distinct := merge(all)
	for _, s := range distinct {
		if s.alike != nil {
			out.Notes = append(out.Notes, numa.Note{At: s.name, Text: "stands for " + words.Few(s.alike) + " too: the hosts are alike"})
		}
	}
	templates := existing(f)
	used := map[*site]bool{}
	out.VMs = nil
	for i := range f.VMs {
		v := f.VMs[i]
		if v.Planned == nil {
			continue
		}
		inherit(&v, templates, &out)
		on := named(&v, all, &out)
		if on == nil {
			on = distinct
		}
		noteVCPUs(&v, &out)
		if !v.VCPUs.Known() { // not assessed on any site; noted once
			on = on[:min(1, len(on))]
		}
		for _, s := range on {
			used[s] = true
			out.VMs = append(out.VMs, s.hold(v, len(on) > 1))
		}
		if len(on) == 0 {
			out.VMs = append(out.VMs, v)
		}
	}
	idle := func(cluster string) bool {
		return !slices.ContainsFunc(all, func(s *site) bool { return used[s] && s.cluster == cluster })
	}
	out.Hosts = slices.DeleteFunc(out.Hosts, func(h numa.Host) bool { return idle(h.Cluster) })
	out.Clusters = slices.DeleteFunc(out.Clusters, func(c numa.Cluster) bool { return idle(c.ID) })
	return &out, out.Check()
}

// noteVCPUs notes a clone whose vCPUs are those of a template that the fleet lacks.
func noteVCPUs(v *numa.VM, out *numa.Fleet) {
	open := slices.ContainsFunc(v.Planned.Unknown, func(l numa.Later) bool { return l.Word == "vcpus" })
	if t := v.Planned.Template; t != "" && !v.VCPUs.Known() && !open {
		out.Notes = append(out.Notes, numa.Note{At: v.At, Text: fmt.Sprintf("VM %s: its vCPUs are those of %s: name a snapshot of the fleet that has it", v.Name, t)})
	}
}

// lend gives each KVM VM without a host one of the models: a second model makes copies.
func lend(f *numa.Fleet, models []numa.Host) error {
	f.Hosts = append(f.Hosts, models...)
	vms := f.VMs
	f.VMs = nil
	for _, v := range vms {
		if v.Host != "" {
			f.VMs = append(f.VMs, v)
			continue
		}
		for _, h := range models {
			one := v
			if one.Host = h.ID; len(models) > 1 {
				one.ID += " on " + h.Name
			}
			f.VMs = append(f.VMs, one)
		}
	}
	return f.Check()
}

// sites returns every cluster that has a host with known nodes.
func sites(f *numa.Fleet) (out []*site) {
	at := map[string]*site{}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		m, err := vnuma.NewMachine(h)
		if err != nil {
			continue
		}
		s := at[h.Cluster]
		if s == nil {
			s = &site{cluster: h.Cluster, name: f.ClusterName(h.Cluster)}
			at[h.Cluster], out = s, append(out, s)
		}
		s.hosts = append(s.hosts, h)
		if m.CoreMHz = 0; !slices.ContainsFunc(s.machines, func(k vnuma.Machine) bool { return k.Like(m) }) {
			s.machines = append(s.machines, m)
		}
	}
	return out
}

// merge returns the sites that have different kinds of hosts.
func merge(all []*site) (out []*site) {
	for _, s := range all {
		i := slices.IndexFunc(out, func(o *site) bool {
			return len(o.machines) == len(s.machines) && !slices.ContainsFunc(s.machines, func(m vnuma.Machine) bool {
				return !slices.ContainsFunc(o.machines, func(k vnuma.Machine) bool { return k.Like(m) })
			})
		})
		if i < 0 {
			out = append(out, s)
		} else {
			out[i].alike = append(out[i].alike, s.name)
		}
	}
	return out
}

// existing returns the existing VMs by the names that clones use for them: UUID, name, and inventory path.
func existing(f *numa.Fleet) map[string]*numa.VM {
	out := map[string]*numa.VM{}
	for i := range f.VMs {
		v := &f.VMs[i]
		if v.Planned != nil {
			continue
		}
		for _, key := range []string{v.UUID, v.Name, v.Folder + "/" + v.Name} {
			if key = strings.ToLower(key); key != "" && (out[key] == nil || v.Template.Or(false)) {
				out[key] = v
			}
		}
	}
	return out
}

// inherit copies the settings of its template to a clone, and notes a missing template.
func inherit(v *numa.VM, templates map[string]*numa.VM, f *numa.Fleet) {
	name := v.Planned.Template
	if name == "" || len(templates) == 0 {
		return
	}
	t := templates[strings.ToLower(name)]
	if t == nil {
		f.Notes = append(f.Notes, numa.Note{At: v.At, Text: fmt.Sprintf("VM %s: the fleet has no template %s: what it inherits is unknown", v.Name, name)})
		return
	}
	from := t.Config
	from.Power, from.Template = numa.Fact[numa.PowerState]{}, numa.Fact[bool]{}
	v.Clone(&from, "template "+t.Name)
}

// named returns the sites that the plan of a VM names; nil if it names none. A site that does not exist is noted.
func named(v *numa.VM, all []*site, f *numa.Fleet) (out []*site) {
	want := cmp.Or(v.Planned.Cluster, v.Planned.Host)
	for _, s := range all {
		on := slices.ContainsFunc(s.hosts, func(h *numa.Host) bool { return v.Planned.Host != "" && numa.SameHost(h.Name, v.Planned.Host) })
		if on || v.Planned.Cluster != "" && strings.EqualFold(s.name, v.Planned.Cluster) {
			out = append(out, s)
		}
	}
	if out == nil && want != "" && len(all) > 0 {
		f.Notes = append(f.Notes, numa.Note{At: v.At, Text: fmt.Sprintf("VM %s: its plan names %s, which is not among the hosts: it is judged on all of them", v.Name, want)})
	}
	return out
}

// hold returns the VM as it is created on the site. A virtual hardware that is not stated is that of the oldest host.
func (s *site) hold(v numa.VM, several bool) numa.VM {
	v.Cluster, v.Host = s.cluster, ""
	if several {
		v.ID += " on " + s.name
	}
	oldest := s.hosts[0].Release
	for _, h := range s.hosts {
		if h.Release.Value < oldest.Value {
			oldest = h.Release
		}
	}
	if hw := oldest.Value.Hardware(); !v.Hardware.Known() && oldest.Known() && hw > 0 && v.Planned.Template == "" {
		v.Hardware = numa.AssumedFor(hw, "nothing states it: the version with which ESXi "+oldest.Value.String()+" creates VMs")
	}
	return v
}
