package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
)

// Host draws the history of a host: CPU use and free memory of its nodes, and the home nodes of VMs. VMs with findings come
// first, the worst at the top, followed by those with the most remote memory.
func Host(rec *capture.Recording, o Options) *picture.Picture {
	var facts []string
	if len(rec.Nodes) > 0 {
		facts = []string{words.Plural(len(rec.Nodes), "node")}
	}
	l := newLayout(rec, &o, nil, facts...)
	steps := longest(rec)
	sentences := slices.Concat(l.busy(), l.free())
	l.migrations(steps)
	return l.finish(steps, l.sumOfNodes, append(sentences, l.vms()...))
}

func nodeSteps(rec *capture.Recording, n *capture.Node) []step {
	return stepsOf(&n.Timeline, rec, func(b *capture.NodeBucket) int32 { return b.Ticks })
}

// longest returns the steps of the node with the most data.
func longest(rec *capture.Recording) (steps []step) {
	for i := range rec.Nodes {
		if of := nodeSteps(rec, &rec.Nodes[i]); len(of) > len(steps) {
			steps = of
		}
	}
	return steps
}

// busy adds the share of cores in use for each node.
func (l *layout) busy() []string {
	top, stated := 1.0, false
	for i := range l.rec.Nodes {
		if peak, ok := l.rec.Nodes[i].Busy.Peak(); ok {
			stated, top = true, max(top, peak)
		}
	}
	if !stated {
		return []string{l.o.source() + " does not state how busy the cores are."}
	}
	if top > 1 { // turbo
		top, _ = shareScale(top)
	}
	l.each("busy", "cores in use", picture.Tick{Value: top, Label: percent(top)}, func(n *capture.Node, s picture.Scale, steps []step) (text, more string, shapes []picture.Shape) {
		text = "not stated"
		if peak, ok := n.Busy.Peak(); ok {
			text = "peak " + percent(peak)
			if m, ok := n.Busy.Mean(); ok {
				text = "mean " + percent(m) + ", " + text
			}
		}
		buckets := n.Timeline.Buckets()
		shapes = l.measured(s, steps, "local", true, func(i int) (mean, most float64, ok bool) { return buckets[i].Load() })
		return text, "", append(shapes, limit(s, l.rec.Options.BusyNode)...)
	})
	return nil
}

// each adds a panel for each node below a heading. All panels have the same scale from 0 to most.
func (l *layout) each(id, heading string, most picture.Tick, of func(n *capture.Node, s picture.Scale, steps []step) (text, more string, shapes []picture.Shape)) {
	const gap = picture.Px(120)
	l.heading(id, heading)
	height := min(max(picture.Px(2400/max(len(l.rec.Nodes), 1)), 240), 560) // panels of many nodes are lower
	for i := range l.rec.Nodes {
		n := &l.rec.Nodes[i]
		s := l.scale(height, most.Value)
		text, more, shapes := of(n, s, nodeSteps(l.rec, n))
		facts := []string{text}
		if height < 300 { // no room for them
			facts = nil
		}
		name := fmt.Sprintf("node %d", n.ID)
		l.panel(fmt.Sprintf("node-%d__%s", n.ID, id), name, facts, s, []picture.Tick{{}, most}, name+": "+heading+": "+text+more, shapes...)
		l.Y = s.From + gap
	}
	l.Y += panelGap - gap
}

// free adds the free memory of each node, on the same scale.
func (l *layout) free() []string {
	var most numa.Bytes
	stated := false
	for i := range l.rec.Nodes {
		n := &l.rec.Nodes[i]
		most = max(most, n.Total)
		for _, b := range n.Timeline.All() {
			free, ok := b.MeanFree()
			stated, most = stated || ok, max(most, free)
		}
	}
	if !stated {
		return []string{l.o.source() + " does not state the free memory of the nodes."}
	}
	l.each("free", "free memory", picture.Tick{Value: float64(most), Label: most.String()}, func(n *capture.Node, s picture.Scale, steps []step) (text, more string, shapes []picture.Shape) {
		text = "not stated"
		if n.Least >= 0 {
			text, more = "least "+n.Least.String(), " at "+l.span.Clock(n.LeastAt)
		}
		buckets := n.Timeline.Buckets()
		return text, more, l.measured(s, steps, "free", false, func(i int) (mean, _ float64, ok bool) {
			free, ok := buckets[i].MeanFree()
			return float64(free), 0, ok
		})
	})
	return nil
}

// migrations adds the number of migrations of all VMs in each step.
func (l *layout) migrations(steps []step) {
	if l.o.Migrations == nil || len(steps) == 0 {
		return
	}
	all := make([]int64, len(steps))
	sum := int64(0)
	for _, c := range l.o.Migrations {
		k, _ := slices.BinarySearchFunc(steps, c.Time, func(s step, at time.Time) int { return s.to.Compare(at.Add(1)) }) // the first step that ends after it
		all[min(k, len(steps)-1)] += c.N
		sum += c.N
	}
	l.counts(steps, all, sum, "NUMA migrations of all VMs", "a step")
}

// vms adds the home nodes of VMs: those with findings, the worst first, and those with the most remote memory over time.
// Hatching shows the share of their memory that is remote.
func (l *layout) vms() (sentences []string) {
	var vms []*capture.VM
	for i := range l.rec.VMs {
		if v := &l.rec.VMs[i]; v.HasHomes && v.Timeline.Len() > 0 {
			vms = append(vms, v)
		}
	}
	switch {
	case len(vms) == 0 && l.o.Migrations != nil: // without VMs on request
		return nil
	case len(vms) == 0:
		return []string{l.o.source() + " does not state the home nodes of VMs."}
	}
	stated := len(vms)
	l.worst(vms)
	vms = vms[:min(cmp.Or(l.o.MostVMs, 12), stated)]
	l.heading("vms", "home nodes of VMs")
	l.add("remote-head", "heading", "", picture.Shape{Class: "facts", X: plotRight + 50, Y: l.Y - 60, Text: "remote"})
	for _, v := range vms {
		l.homesRow(v)
	}
	l.Y += panelGap - 60
	l.explainHomes(vms...)
	if l.Uses("remote") {
		l.explain("remote", "remote", "share of the VM's memory that is remote")
	}
	if len(vms) < stated {
		sentences = append(sentences, fmt.Sprintf("%d of %d VMs are shown: those with findings, the worst first, then those with the most remote memory over time.", len(vms), stated))
	}
	if n := len(l.rec.VMs) - stated; n > 0 {
		sentences = append(sentences, fmt.Sprintf("VMs whose home nodes the capture does not state, not shown: %d.", n))
	}
	return sentences
}

// homesRow adds the home nodes of a VM in one row. Hatching from the top shows the share of its memory that is remote.
func (l *layout) homesRow(v *capture.VM) {
	const height = picture.Px(170)
	id := "homes__" + vmPart(v)
	remote, amount := "remote memory at most "+v.Remote.Most.String(), v.Remote.Most.String()
	switch {
	case l.o.blind(v):
		remote, amount = "remote memory not measurable: interleaved (M006)", "–"
	case !v.HasMemory:
		amount = "unknown"
	case v.Remote.Most == 0:
		amount = "none"
	}
	l.add(id, "row", l.o.label(v)+": home nodes "+homesText(v)+"; "+remote, picture.Shape{Class: "name", X: margin, Y: l.Y + 125, Text: picture.Cut(l.o.label(v), headWidth, boldLetter)},
		picture.Shape{Class: "tick", X: plotRight + 50, Y: l.Y + 125, Text: amount}, across("floor", l.Y+height))
	steps, buckets, s := vmSteps(l.rec, v), v.Timeline.Buckets(), l.scale(height, 1)
	l.band(id+"__", v, steps, s, false)
	if far := curve(&l.span, steps, func(i int) (low, high picture.Px, ok bool) {
		n, _, ok := buckets[i].Locality()
		return s.At(n), s.To, ok && n < 0.995
	}); len(far) > 0 {
		l.add(id+"__far", "far", "", picture.Shape{Class: "remote", Path: picture.Area(far), Fill: "remote"})
	}
	l.Y += height + 60
}

// worst sorts VMs by severity of their worst finding, then by remote memory over time.
func (l *layout) worst(vms []*capture.VM) {
	worst := map[*capture.VM]int{} // the highest severity plus 1; 0 is none
	for _, v := range vms {
		for i := range l.o.Findings {
			if f := &l.o.Findings[i]; l.aboutVM(f, v) {
				worst[v] = max(worst[v], int(f.Severity)+1)
			}
		}
	}
	slices.SortStableFunc(vms, func(a, b *capture.VM) int {
		return cmp.Or(cmp.Compare(worst[b], worst[a]), cmp.Compare(b.Remote.Sum.Hi, a.Remote.Sum.Hi), cmp.Compare(b.Remote.Sum.Lo, a.Remote.Sum.Lo),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.GID, b.GID), cmp.Compare(a.Nth, b.Nth))
	})
}

// sumOfNodes describes the steps, node by node.
func (l *layout) sumOfNodes(steps []step) (text string) {
	from, to := steps[0].from, steps[len(steps)-1].to
	for i := range l.rec.Nodes {
		n := &l.rec.Nodes[i]
		var all capture.NodeBucket
		for j, b := range n.Timeline.All() {
			if at := n.Timeline.Time(j); at.Before(from.Truncate(n.Timeline.Width)) || !at.Before(to) {
				continue
			}
			all.Frees, all.Free = all.Frees+b.Frees, all.Free+b.Free
			all.Loads, all.Busy = all.Loads+b.Loads, all.Busy+b.Busy
		}
		part := ""
		if busy, _, ok := all.Load(); ok {
			part = " " + percent(busy) + " in use"
		}
		if free, ok := all.MeanFree(); ok {
			part += " " + free.String() + " free"
		}
		switch {
		case part == "":
			continue
		case text != "":
			text += " · "
		}
		text += fmt.Sprintf("node %d:%s", n.ID, part)
	}
	return text
}
