package topo

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// OfVM returns the drawing of a VM alone on one of its possible hosts, with the guest nodes above the host
// nodes. It is nil if no layout on that host is predicted.
func OfVM(v *rule.VM, h *numa.Host, ch vnuma.Choices) *Drawing {
	l := layoutOn(v, h)
	if l == nil {
		return nil
	}
	d := ofVM(v.VM, h, vmFacts(v, l)...)
	homes := rule.HomesOn(h, []*rule.VM{v}, func(*rule.VM) *vnuma.Layout { return l }, ch)
	d.nodesOf(homes.Nodes, func(int) string { return texttab.Clean(v.Name) }, func(c *rule.HomeClient) Client {
		out := d.clientOf(v, l, c)
		out.Label = fmt.Sprintf("client %d", c.Index)
		return out
	})
	for range homes.Loose {
		d.Loose = append(d.Loose, d.looseOf(v))
	}
	d.Caption = append(vmCaption(l, &homes), beyond(h, homes.Nodes)...)
	d.dropEmpty()
	d.guests(v, l)
	if l.VPDs.Len() < l.PPDs.Len() {
		d.Away = l.FarShare()
	}
	return d
}

// Since marks the differences from today's drawing in the drawing of a changed VM.
func (d *Drawing) Since(today *Drawing) {
	var changed, same []string
	for i, is := range d.Facts {
		if i < len(today.Facts) && today.Facts[i] != is {
			changed = append(changed, today.Facts[i]+" → "+is)
		} else {
			same = append(same, is)
		}
	}
	d.Facts = slices.Concat(changed, same)
	d.Changed = len(d.Guests) != len(today.Guests)
}

// fewNodes is the number of host nodes up to which all are drawn, even if the VM uses few of them.
const fewNodes = 4

// dropEmpty removes the nodes of a larger host that the VM does not use, and adds a remark with their number.
func (d *Drawing) dropEmpty() {
	all := len(d.Nodes)
	if all <= fewNodes || len(d.Loose) > 0 {
		return
	}
	d.Nodes = slices.DeleteFunc(d.Nodes, func(n Node) bool { return n.Used == 0 && n.VCPUs == 0 })
	if n := all - len(d.Nodes); n > 0 {
		d.Caption = append(d.Caption, fmt.Sprintf("Not drawn: %s that the VM does not touch.", words.Plural(n, "node")))
	}
}

// layoutOn returns the VM's layout on the host, after a power cycle.
func layoutOn(v *rule.VM, h *numa.Host) *vnuma.Layout {
	for i := range v.On {
		if slices.Contains(v.On[i].Kind.Hosts, h) && !v.On[i].Layout.Refused.Any() {
			return &v.On[i].Layout
		}
	}
	return nil
}

// seenBy names the tool and time of an observation: "As esxtop saw it at 2026-03-01T08:00:00Z".
func seenBy(o *numa.Observation) string {
	text := fmt.Sprintf("As %s saw it", o.By)
	if o.Time != "" {
		text += " at " + o.Time
	}
	return text
}

// seenMemory describes the observed location of memory: ", 38 GB local, 54 GB remote (N%L 41 %)"; "" if it is
// unknown.
func seenMemory(o *numa.Observation, l *vnuma.Layout) string {
	if text := rule.SeenMemory(o, l); text != "" {
		return ", " + text
	}
	return ""
}

func vmFacts(v *rule.VM, l *vnuma.Layout) []string {
	facts := []string{words.Plural(l.VPDs.Sum(), "vCPU")}
	if v.Memory.Known() {
		facts = append(facts, v.Memory.Value.String())
	}
	return append(facts, fmt.Sprintf("%s × %s", words.Plural(l.VSockets.Len(), "socket"), words.Plural(l.CoresPerSocket, "core")))
}

// guests adds the nodes of the guest, each above its host nodes.
func (d *Drawing) guests(v *rule.VM, l *vnuma.Layout) {
	home := make([]int, l.PPDs.Len()) // index in d.Nodes, by client
	for i := range home {
		home[i] = -1
	}
	for i := range d.Nodes {
		for _, c := range d.Nodes[i].Clients {
			home[c.Index] = i
		}
	}
	for i := range l.VPDs.Len() {
		first, n := l.VPDs.Group(i)
		a, b := l.Carriers(i)
		g := Guest{
			ID: fmt.Sprintf("%s__guest-%d", d.ID, i), Name: fmt.Sprintf("guest node %d", i), First: first, VCPUs: n,
			Memory: l.Slice(i), MemoryKnown: v.Memory.Known(), Clients: b - a + 1,
		}
		if !l.Managed {
			g.Clients = 0
		}
		if home[a] >= 0 {
			g.On = slices.Compact(slices.Sorted(slices.Values(home[a : b+1])))
		}
		if !l.GuestSeesNUMA() {
			g.Name = "guest sees 1 node"
		}
		d.Guests = append(d.Guests, g)
	}
}

// why describes the reasons for the number of guest nodes.
var why = map[vnuma.Reason]string{
	vnuma.ByFit:       "the VM fits one node (B-4)",
	vnuma.ByRelease:   "this release shows no vNUMA (B-2)",
	vnuma.ByHardware:  "virtual hardware before 8 shows no vNUMA (B-2)",
	vnuma.ByHotAdd:    "CPU hot add forces one guest node (B-15)",
	vnuma.ByManual:    "a setting fixes the size of a guest node (B-10)",
	vnuma.ByStored:    "the size stored at an earlier power-on is kept (B-8)",
	vnuma.ByThreshold: "the VM has fewer vCPUs than numa.vcpu.min (B-3)",
	vnuma.ByCPS:       "cores per socket fix the guest nodes, up to 6.0 (B-11)",
}

func vmCaption(l *vnuma.Layout, homes *rule.Placed) []string {
	c := []string{"The VM alone on an empty host, after a power cycle. " + basis(homes)}
	if o := homes.Seen[0]; o != nil {
		c = []string{fmt.Sprintf("The VM without others on its host. The topology of the guest is predicted. %s: home on %s%s.",
			seenBy(o), rule.Nodes(numa.SetOf(o.Homes.Value...)), seenMemory(o, l))}
		if n := len(o.Homes.Value); n > l.PPDs.Len() {
			split := ", and its memory on the others as remote"
			if !o.OnNode.Known() {
				split = ", and so is all of its memory that fits: how it is split over them was not seen"
			}
			c = append(c, fmt.Sprintf("It has more home nodes than clients, and N%%L counts all %d as local: a client is drawn on one of them%s.", n, split))
		}
	}
	if w := why[l.Why]; w != "" {
		c = append(c, "What the guest sees: "+w+".")
	}
	if l.Hidden > 1 {
		c = append(c, fmt.Sprintf("Its host hides %d packages behind 1 node (H001): about %s of the memory is on another package than the vCPU that uses it.", l.Hidden, words.Percent(l.FarShare())))
	}
	if far := l.FarShare(); l.Memory.Placement == vnuma.Interleaved {
		c = append(c, fmt.Sprintf("Memory is interleaved: %s of it is on another node than the vCPU that uses it, while N%%L reads 100 (C-17).", words.Percent(far)))
	}
	if !l.Managed {
		c = append(c, "Not NUMA-managed: the VM has no home node (C-12).")
	}
	if names := l.Assumes.Names(); len(names) > 0 {
		c = append(c, "Assumed: "+strings.Join(names, ", ")+".")
	}
	return c
}
