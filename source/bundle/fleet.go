package bundle

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/vmxlog"
)

// An entry is one VM while its files are merged.
type entry struct {
	numa.VM
	dir     string // folder of its files
	path    string // path of its .vmx, as in a log
	fromVMX bool   // Config comes from a .vmx
}

// fleet builds the fleet from the collected documents.
func (c *collector) fleet(source string) (*numa.Fleet, error) {
	var entries []*entry
	for i := range c.configs {
		v := &c.configs[i]
		entries = append(entries, &entry{VM: v.vm, dir: path.Dir(v.name), fromVMX: true})
	}
	slices.SortStableFunc(c.logs, func(a, b logFile) int {
		return cmp.Or(cmp.Compare(path.Dir(a.name), path.Dir(b.name)), cmp.Compare(age(a.name), age(b.name)), cmp.Compare(a.name, b.name))
	})
	here := map[string][]*entry{} // by folder
	for _, e := range entries {
		here[e.dir] = append(here[e.dir], e)
	}
	for i := range c.logs {
		l := &c.logs[i]
		for k := range l.vms {
			if e := addLog(here[path.Dir(l.name)], l, k); e != nil {
				entries, here[e.dir] = append(entries, e), append(here[e.dir], e)
			}
		}
	}
	entries = c.mergeSame(entries)
	for _, e := range entries {
		sortLife(e.Observed)
	}
	hosts := c.hosts(entries)
	if len(entries)+len(hosts) == 0 && c.broken != nil {
		return nil, &Damaged{c.broken, c.notes, c.unread}
	}
	if len(entries)+len(hosts) == 0 {
		return nil, fmt.Errorf("%s: found no .vmx, no vmware.log and no vm-support bundle in it%s", source, c.instead())
	}
	fleet := &numa.Fleet{Source: source, Clusters: []numa.Cluster{}, Hosts: hosts, VMs: make([]numa.VM, 0, len(entries)), Notes: c.notes, Unread: c.unread}
	used := map[string]int{}
	for _, e := range entries {
		e.ID = unique(used, cmp.Or(e.UUID, e.path, e.ID))
		fleet.VMs = append(fleet.VMs, e.VM)
	}
	switch {
	case len(fleet.VMs) == 0:
	case len(fleet.Hosts) == 0:
		fleet.Notes = append(fleet.Notes, numa.Note{At: source, Text: "no file names a host; --assume-host can"})
	default:
		for i := range fleet.Hosts {
			if h := &fleet.Hosts[i]; !h.Nodes.Known() {
				fleet.Notes = append(fleet.Notes, numa.Note{At: h.At, Text: fmt.Sprintf("host %s: no file states its NUMA nodes; --assume-host can", h.Name)})
			}
		}
	}
	return fleet, nil
}

// instead describes the files that were found if there is no VM.
func (c *collector) instead() string {
	switch {
	case len(c.notes) > 0:
		return ": " + c.notes[0].Text
	case c.other > 0:
		return fmt.Sprintf(" (%d other files)", c.other)
	}
	return ""
}

// unique returns id, with a number appended if it is already in use. used are the last numbers of IDs.
func unique(used map[string]int, id string) string {
	n := id
	for used[n] > 0 {
		used[id]++
		n = id + "#" + strconv.Itoa(used[id])
	}
	used[n] = 1
	return n
}

// age is the sort key of the logs of a VM, the oldest first: vmware-3.log, vmware-4.log,
// vmware.log. ESXi counts upwards.
func age(name string) int {
	base := strings.ToLower(path.Base(archive.Plain(name)))
	if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(base, "vmware-"), ".log")); err == nil {
		return n
	}
	return 1 << 30
}

// addLog adds the k-th VM of a log to its entry of those in the same folder; if there is none, it returns a new one.
func addLog(here []*entry, l *logFile, k int) (added *entry) {
	v, dir := &l.vms[k], path.Dir(l.name)
	vmxPath := ""
	if k < len(l.paths) {
		vmxPath = l.paths[k]
	}
	e := match(here, v, vmxPath, vmxlog.IsName(strings.ToLower(path.Base(archive.Plain(l.name)))))
	if e == nil {
		e = &entry{VM: *v, dir: dir, path: vmxPath}
		e.Observed = nil
		if e.Name == path.Base(l.name) {
			e.Name = nameOf(l.name)
		}
		added = e
	}
	e.Observed = append(e.Observed, v.Observed...)
	e.path = cmp.Or(vmxPath, e.path)
	e.UUID = cmp.Or(e.UUID, v.UUID)
	if !e.fromVMX && v.VCPUs.Known() { // the later log is current
		e.Config, e.At = v.Config, v.At
		if v.Name != path.Base(l.name) {
			e.Name = v.Name
		}
	}
	return added
}

// nameOf names a VM whose log has no displayName: by its folder, if the path has the form in
// which ESXi names folders after VMs, or by its file.
func nameOf(name string) string {
	base := path.Base(archive.Plain(name))
	if dir := path.Base(path.Dir(name)); vmxlog.IsName(strings.ToLower(base)) && dir != "." && dir != "/" {
		return dir
	}
	return strings.TrimSuffix(base, path.Ext(base))
}

// match returns the entry of those in the same folder that a log belongs to, or nil.
func match(here []*entry, v *numa.VM, vmxPath string, isLog bool) *entry {
	for _, same := range []func(e *entry) bool{
		func(e *entry) bool { return v.UUID != "" && e.UUID == v.UUID },
		func(e *entry) bool {
			return vmxPath != "" && !conflict(e, v) && (e.path == vmxPath || e.fromVMX && path.Base(e.At) == path.Base(vmxPath))
		},
		func(e *entry) bool { return !conflict(e, v) && e.Name == v.Name },
	} {
		if i := slices.IndexFunc(here, same); i >= 0 {
			return here[i]
		}
	}
	// A vmware.log belongs to the VM in the same folder.
	if isLog && len(here) == 1 && !conflict(here[0], v) {
		return here[0]
	}
	return nil
}

// conflict reports whether the UUIDs differ, so that these are two VMs.
func conflict(e *entry, v *numa.VM) bool { return e.UUID != "" && v.UUID != "" && e.UUID != v.UUID }

// mergeSame merges VMs that occur in several bundles: a VM leaves logs on each host that it ran
// on. These have one UUID and one name; copies have other names.
func (c *collector) mergeSame(entries []*entry) []*entry {
	type who struct{ uuid, name string }
	first := map[who]*entry{}
	var out []*entry
	for _, e := range entries {
		key := who{e.UUID, e.Name}
		f := first[key]
		if e.UUID == "" || f == nil {
			first[key] = e
			out = append(out, e)
			continue
		}
		if e.fromVMX && !f.fromVMX {
			f.Config, f.At, f.fromVMX = e.Config, e.At, true
		} else if e.fromVMX {
			c.note(e.At, "VM %s is also in %s, whose settings are used", e.Name, f.At)
		}
		for _, o := range e.Observed {
			if !slices.ContainsFunc(f.Observed, func(p numa.Observation) bool { return o.Time != "" && p.Time == o.Time }) {
				f.Observed = append(f.Observed, o)
			}
		}
		f.path = cmp.Or(f.path, e.path)
	}
	return out
}

// sortLife sorts observations by time if all have one; otherwise it keeps the order of the
// files.
func sortLife(life []numa.Observation) {
	if slices.ContainsFunc(life, func(o numa.Observation) bool { return o.Time == "" }) {
		return
	}
	slices.SortStableFunc(life, func(a, b numa.Observation) int {
		at, _ := a.Instant() // vmxlog uses this form only
		bt, _ := b.Instant()
		return at.Compare(bt)
	})
}
