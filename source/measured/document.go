package measured

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/machine"
)

// A Document is one result with its place in a file.
type Document struct {
	*Result
	Source string // the file, as given
	Line   int    // where the result begins, from 1
}

// File returns the facts of the result; the origin of each fact is its path in the JSON. Of the measurements of
// single pairs of processors it includes only the groups.
func (d *Document) File() *fact.File {
	f := &fact.File{Name: d.Source, Format: "homenode measure", Facts: []fact.Fact{}}
	add := func(subject, name string, value any, unit, path string) {
		if value != "" {
			f.Facts = append(f.Facts, fact.Fact{Subject: subject, Name: name, Value: value, Unit: unit, Line: d.Line, Origin: path})
		}
	}
	guest := func(name string, value any, unit, path string) { add("guest", name, value, unit, path) }
	guest("name", d.Name, "", "name")
	guest("homenode", d.Homenode, "", "homenode")
	guest("profile", string(d.Profile), "", "profile")
	if !d.Started.IsZero() {
		guest("started", d.started(), "", "started")
	}
	d.machine(add)
	for _, m := range d.Metrics() {
		if !strings.HasPrefix(m.Path, "cores.") {
			guest(m.Name, m.Value, m.Unit, m.Path)
		}
	}
	if d.Cores != nil {
		for i, l := range d.Cores.Levels {
			guest("vCPUs by cache lines, "+l.Name, groupsText(l.Groups), "", fmt.Sprintf("cores.levels[%d].groups", i))
		}
	}
	if h := d.Hidden; h != nil {
		guest("hidden nodes", string(h.Answer), "", "hidden.answer")
		guest("vCPUs by node of the host", groupsText(h.Groups), "", "hidden.groups")
		guest("why not known", h.Why, "", "hidden.why")
	}
	for i, c := range d.Compared {
		guest("predicted "+c.Name, c.Verdict, "", fmt.Sprintf("compared[%d].verdict", i))
	}
	guest("trust", d.Trust.OK, "", "trust.ok")
	for _, reason := range d.Trust.Reasons {
		f.Warn(d.Line, 0, "%s", reason)
	}
	for i, m := range d.Missing {
		add("missing", m.Part, m.Reason, "", fmt.Sprintf("missing[%d]", i))
	}
	return f
}

// machine adds the guest kernel's view of the machine.
func (d *Document) machine(add func(subject, name string, value any, unit, path string)) {
	id, t := &d.Machine.Identity, &d.Machine.Topology
	guest := func(name string, value any, unit, path string) { add("guest", name, value, unit, "machine."+path) }
	guest("hypervisor", id.Hypervisor.Value, "", "identity.hypervisor")
	guest("processor model", id.CPU, "", "identity.cpu")
	guest("CPUs", len(t.Processors), "", "topology.processors")
	if t.Sockets > 0 {
		guest("sockets", t.Sockets, "", "topology.sockets")
	}
	guest("NUMA nodes", len(t.Nodes), "", "topology.nodes")
	for i, n := range t.Nodes {
		subject, path := fmt.Sprintf("node %d", n.ID), fmt.Sprintf("machine.topology.nodes[%d].", i)
		add(subject, "CPUs", words.Ranges(n.CPUs), "", path+"cpus")
		if n.Size.Known() {
			add(subject, "memory", int64(n.Size.Value), "B", path+"size")
		}
	}
	if n := L3s(t); n > 0 {
		guest("L3 caches", n, "", "topology.caches")
	}
	for i, why := range d.Machine.Limits.Partial {
		guest("limit", why, "", fmt.Sprintf("limits.partial[%d]", i))
	}
}

// L3s returns the number of last-level caches that the guest sees; 0 when it sees none.
func L3s(t *machine.Topology) (n int) {
	for _, c := range t.Caches {
		if c.Level == 3 {
			n++
		}
	}
	return n
}

// groupsText formats groups of processors: "0-3 | 4-7".
func groupsText(groups [][]int) string {
	return strings.Join(words.Texts(groups, words.Ranges), " | ")
}
