package evidence

import (
	"fmt"
	"strings"

	"homenode/numa"
	"homenode/source/hostcmd"
)

// hosts gives the hosts of the fleet what host commands state and the inventory
// does not, and learns the names of the scheduler's groups.
func (j *joiner) hosts(pieces []Piece) {
	var outputs []*hostcmd.Output
	j.names = map[int64]string{}
	for i := range pieces {
		for _, d := range pieces[i].Docs {
			o, ok := d.(*hostcmd.Output)
			if !ok {
				continue
			}
			outputs = append(outputs, o)
			for _, g := range o.Groups() {
				if g.VM != "" && g.ID >= 0 {
					j.names[g.ID] = g.VM
				}
			}
		}
	}
	for _, seen := range hostcmd.Hosts(outputs) {
		for _, h := range j.fleet.FindHosts(seen.Name) {
			j.told[seen.Name] = true
			if h.Complete(&seen) {
				j.note(h.At, "host %s: facts that the inventory does not state are taken from the evidence", h.Name)
			}
		}
	}
}

// output adds the VMs of a host command. An output about the host alone counts as
// joined when its host is in the fleet.
func (j *joiner) output(p *Piece, o *hostcmd.Output) bool {
	groups := o.Groups()
	if len(groups) == 0 {
		if !j.told[o.Host.Name] {
			j.note(o.File().At(o.Line, 0), "%s: host %s is not in the fleet", o.Format, orUnnamed(o.Host.Name))
		}
		return j.told[o.Host.Name]
	}
	joined := false
	var nameless []string
	for i := range groups {
		g := &groups[i]
		name := g.VM
		if name == "" {
			name = j.names[g.ID]
		}
		if p.VM != "" && len(groups) == 1 {
			name = p.VM
		}
		if name == "" {
			nameless = append(nameless, g.Name)
			continue
		}
		if vm := j.running(name, g.Host); vm != nil {
			j.see(vm, g.Observation)
			joined = true
		} else {
			j.note(g.Observation.At, "%s of %q: no VM of the fleet has this name, or several have", o.Format, name)
		}
	}
	if len(nameless) > 0 {
		j.note(o.File().At(o.Line, 0), "%s names no VM: %s; add the esxtop memory screen of the same host, which shows the name for each GID%s",
			o.Format, some(nameless), whenSingle(len(groups)))
	}
	return joined
}

func orUnnamed(name string) string {
	if name == "" {
		return "(the output names none)"
	}
	return name
}

func whenSingle(groups int) string {
	if groups == 1 {
		return ", or say whose it is with --evidence NAME=FILE"
	}
	return ""
}

// some names the first few of a list.
func some(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// running returns the VM with this name, which esxtop cuts to the width of its
// column, preferring those on the host; nil when there is not exactly one.
func (j *joiner) running(name, host string) *numa.VM {
	found := j.fleet.FindVMs(name)
	if len(found) == 0 {
		for i := range j.fleet.VMs {
			if v := &j.fleet.VMs[i]; len(name) >= 8 && strings.HasPrefix(v.Name, name) {
				found = append(found, v)
			}
		}
	}
	if len(found) > 1 && host != "" {
		var there []*numa.VM
		for _, h := range j.fleet.FindHosts(host) {
			for _, v := range found {
				if v.Host == h.ID {
					there = append(there, v)
				}
			}
		}
		found = there
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}
