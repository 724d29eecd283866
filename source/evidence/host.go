package evidence

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/hostcmd"
)

// A named is a group of the scheduler as an esxtop screen names it.
type named struct {
	host string // empty when the output does not name it
	vm   string
}

// hosts adds facts from host commands that the inventory lacks, and collects the names of the
// scheduler's groups.
func (j *joiner) hosts(pieces []Piece) {
	var from keyed.Lists[string, *hostcmd.Output] // by source: outputs without a name belong to the host of their source
	for i := range pieces {
		for _, d := range pieces[i].Docs {
			o, ok := d.(*hostcmd.Output)
			if !ok {
				continue
			}
			from.Add(sourceOf(o.File().Name), o)
			for _, g := range o.Groups() {
				if g.VM != "" && g.ID >= 0 {
					j.screens[g.ID] = append(j.screens[g.ID], named{g.Host, g.VM})
				}
			}
		}
	}
	for _, outputs := range from.All() {
		list := hostcmd.Hosts(outputs)
		for i := range list {
			j.host(&list[i])
		}
		for _, o := range outputs {
			name := o.Host.Name
			if name == "" && len(list) == 1 {
				name = list[0].Name
			}
			j.told[o] = name != "" && len(j.fleet.FindHosts(name)) == 1
		}
	}
}

// sourceOf returns the common place of the outputs of one host: a file or, in a vm-support bundle,
// the folder commands.
func sourceOf(file string) string {
	if dir := path.Dir(file); path.Base(dir) == "commands" {
		return dir
	}
	return file
}

// host adds the facts of seen to the host of the fleet.
func (j *joiner) host(seen *numa.Host) {
	if seen.Name == "" {
		return
	}
	found := j.fleet.FindHosts(seen.Name)
	if len(found) > 1 {
		j.note(seen.At, "host %s: %d hosts of the fleet have this name", seen.Name, len(found))
	}
	if len(found) != 1 {
		return
	}
	changed, err := found[0].Complete(seen)
	switch {
	case err != nil:
		j.note(seen.At, "host %s: nothing is taken from the evidence: %v", found[0].Name, err)
	case changed:
		j.note(found[0].At, "host %s: facts that the inventory does not state are taken from the evidence", found[0].Name)
	}
}

// vmOf returns the VM that a screen names for a group; empty when none does or, as the numbers are
// only unique per host, the names differ.
func (j *joiner) vmOf(host string, id int64) string {
	name := ""
	for _, s := range j.screens[id] {
		if host != "" && s.host != "" && !numa.SameHost(s.host, host) {
			continue
		}
		if name != "" && name != s.vm {
			return ""
		}
		name = s.vm
	}
	return name
}

// output adds the VMs of a host command. An output with only host data counts as joined when its
// host is in the fleet.
func (j *joiner) output(p *Piece, o *hostcmd.Output) bool {
	groups := slices.DeleteFunc(o.Groups(), func(g hostcmd.Group) bool { // those of the kernel have no home node either
		return g.VM != "" && g.Observation.NoHome() && len(j.fleet.FindVMs(g.VM)) == 0
	})
	if len(groups) == 0 {
		if !j.told[o] && o.Format != hostcmd.Date {
			j.note(o.File().At(o.Line, 0), "%s: host %s is not in the fleet", o.Format, cmp.Or(o.Host.Name, "(the output names none)"))
		}
		return j.told[o]
	}
	joined := false
	single := groupsOf(p) == 1
	var nameless []string
	for i := range groups {
		g := &groups[i]
		name := g.VM
		if name == "" {
			name = j.vmOf(g.Host, g.ID)
		}
		if p.VM != "" && single {
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
		or := ""
		if single {
			or = ", or say whose it is with --evidence NAME=FILE"
		}
		j.note(o.File().At(o.Line, 0), "%s names no VM: %s; add the esxtop memory screen of the same host, which shows the name for each GID%s",
			o.Format, words.Few(nameless), or)
	}
	return joined
}

// groupsOf counts the groups of the scheduler in a piece: several outputs can contain the same one.
func groupsOf(p *Piece) int {
	type key struct {
		host string
		id   int64
	}
	seen := map[key]bool{}
	for _, d := range p.Docs {
		if o, ok := d.(*hostcmd.Output); ok {
			for _, g := range o.Groups() {
				if g.VM == "" || !g.Observation.NoHome() {
					seen[key{g.Host, g.ID}] = true
				}
			}
		}
	}
	return len(seen)
}

// running returns the VM with this name, which esxtop truncates to the width of its column. Of
// several, and of those with a longer name, only one on the host counts; nil unless there is exactly one.
func (j *joiner) running(name, host string) *numa.VM {
	found := j.fleet.FindVMs(name)
	cut := len(found) == 0
	for i := range j.fleet.VMs {
		if v := &j.fleet.VMs[i]; cut && len(name) >= 8 && strings.HasPrefix(v.Name, name) {
			found = append(found, v)
		}
	}
	if hosts := j.fleet.FindHosts(host); len(found) > 1 || cut && len(hosts) > 0 {
		found = slices.DeleteFunc(found, func(v *numa.VM) bool {
			return !slices.ContainsFunc(hosts, func(h *numa.Host) bool { return v.Host == h.ID })
		})
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}
