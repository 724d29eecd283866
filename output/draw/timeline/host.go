package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"homenode/capture"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// hostDrawing is the state of the drawing of a host.
type hostDrawing struct {
	*layout
	id    string
	steps []step // of the node that is stated most
	at    int    // index of that node
}

func placeHost(rec *capture.Recording, o *Options) *picture.Picture {
	id := HostID(rec)
	d := &hostDrawing{id: id}
	facts := spanOfText(rec)
	if len(rec.Nodes) > 0 {
		facts = rule.Plural(len(rec.Nodes), "node") + " · " + facts
	}
	d.layout = newLayout(rec, id, o.title(rec.Host), facts)
	d.pic.Title = o.title(rec.Host + " over time")
	d.behind, d.top = len(d.pic.Groups), d.y
	d.events(id, o, nil)
	d.found(id, o, func(f *finding.Finding) bool { return d.about(f) && f.VM == "" })
	for i := range rec.Nodes {
		if steps := nodeSteps(rec, &rec.Nodes[i]); len(steps) > len(d.steps) {
			d.steps, d.at = steps, i
		}
	}
	var sentences []string
	sentences = append(sentences, d.busy(o)...)
	sentences = append(sentences, d.free(o)...)
	sentences = append(sentences, d.vms(o)...)
	bottom := d.y - panelGap + 60
	d.axis(gapsOf(d.steps))
	d.slices(d.steps, bottom, d.sum)
	d.foot(o.notes(sentences)...)
	return d.pic
}

func nodeSteps(rec *capture.Recording, n *capture.Node) []step {
	return stepsOf(&n.Timeline, rec, func(b *capture.NodeBucket) int32 { return b.Ticks })
}

// rowHeight returns how high the panel of a node is: many nodes share the page.
func (d *hostDrawing) rowHeight() picture.Px {
	return min(max(picture.Px(2400/max(len(d.rec.Nodes), 1)), 240), 560)
}

// heading places the line above the panels of all nodes.
func (d *hostDrawing) heading(name, text string) {
	d.pic.Add(picture.Group{ID: d.id + "__" + name, Class: "heading", Shapes: []picture.Shape{{Class: "name", X: margin, Y: d.y + 110, Text: text}}})
	d.y += lineHeight + 20
}

// busy places the share of its cores that each node uses.
func (d *hostDrawing) busy(o *Options) []string {
	top := 1.0
	stated := false
	for i := range d.rec.Nodes {
		if peak, ok := d.rec.Nodes[i].Busy.Peak(); ok {
			stated = true
			top = max(top, peak)
		}
	}
	if !stated {
		return []string{o.source() + " does not state how busy the cores are."}
	}
	if top > 1 { // turbo
		top, _ = shareScale(top)
	}
	d.heading("busy", "cores in use")
	height := d.rowHeight()
	for i := range d.rec.Nodes {
		n := &d.rec.Nodes[i]
		s := scale{d.y, d.y + height, top}
		steps := nodeSteps(d.rec, n)
		mean, worst := d.loads(n, s, steps)
		marks := []mark{{0, ""}, {top, percent(top)}}
		text := "not stated"
		if peak, ok := n.Busy.Peak(); ok {
			text = "peak " + percent(peak)
			if m, ok := n.Busy.Mean(); ok {
				text = "mean " + percent(m) + ", " + text
			}
		}
		shapes := append(d.head(fmt.Sprintf("node %d", n.ID), rowFacts(height, text)...), d.frame(s, marks)...)
		shapes = append(shapes, picture.Shape{Class: "busy", Path: area(mean)}, picture.Shape{Class: "worst", Path: line(worst)}, picture.Shape{Class: "curve", Path: line(mean)})
		shapes = append(shapes, d.limit(s, d.rec.Options.BusyNode, percent(d.rec.Options.BusyNode))...)
		d.pic.Add(picture.Group{ID: fmt.Sprintf("%s__node-%d__busy", d.id, n.ID), Class: "panel", Focus: true,
			Numbers: fmt.Sprintf("node %d: cores in use: %s", n.ID, text), Shapes: shapes})
		d.y += height + 120
	}
	d.y += panelGap - 120
	return nil
}

func (d *hostDrawing) loads(n *capture.Node, s scale, steps []step) (mean, worst []segment) {
	mean = curve(&d.span, steps, func(i int) (picture.Px, picture.Px, bool) {
		b := &n.Timeline.Buckets[i]
		return s.bottom, s.y(float64(b.Busy) / float64(max(b.Loads, 1)) / capture.Whole), b.Loads > 0
	})
	worst = curve(&d.span, steps, func(i int) (picture.Px, picture.Px, bool) {
		b := &n.Timeline.Buckets[i]
		return s.bottom, s.y(float64(b.MostBusy) / capture.Whole), b.Loads > 0
	})
	return mean, worst
}

// rowFacts returns the facts of a panel that has room for them.
func rowFacts(height picture.Px, facts ...string) []string {
	if height < 300 {
		return nil
	}
	return facts
}

// free places the free memory of each node, all on one scale.
func (d *hostDrawing) free(o *Options) []string {
	var most numa.Bytes
	stated := false
	for i := range d.rec.Nodes {
		n := &d.rec.Nodes[i]
		most = max(most, n.Total)
		for _, b := range n.Timeline.Buckets {
			if b.Frees > 0 {
				stated = true
				most = max(most, numa.Bytes(b.Free/int64(b.Frees))*numa.KiB)
			}
		}
	}
	if !stated {
		return []string{o.source() + " does not state the free memory of the nodes."}
	}
	d.heading("free", "free memory")
	height := d.rowHeight()
	for i := range d.rec.Nodes {
		n := &d.rec.Nodes[i]
		s := scale{d.y, d.y + height, float64(most)}
		steps := nodeSteps(d.rec, n)
		mean := curve(&d.span, steps, func(i int) (picture.Px, picture.Px, bool) {
			b := &n.Timeline.Buckets[i]
			return s.bottom, s.y(float64(b.Free) / float64(max(b.Frees, 1)) * float64(numa.KiB)), b.Frees > 0
		})
		text := "not stated"
		if n.Least >= 0 {
			text = "least " + n.Least.String()
		}
		shapes := append(d.head(fmt.Sprintf("node %d", n.ID), rowFacts(height, text)...), d.frame(s, []mark{{0, ""}, {float64(most), most.String()}})...)
		shapes = append(shapes, picture.Shape{Class: "free", Path: area(mean)}, picture.Shape{Class: "curve", Path: line(mean)})
		long := fmt.Sprintf("node %d: free memory: %s", n.ID, text)
		if n.Least >= 0 {
			long += " at " + d.span.clock(n.LeastAt)
		}
		d.pic.Add(picture.Group{ID: fmt.Sprintf("%s__node-%d__free", d.id, n.ID), Class: "panel", Focus: true, Numbers: long, Shapes: shapes})
		d.y += height + 120
	}
	d.y += panelGap - 120
	return nil
}

// vms places the home nodes of the VMs with findings, the worst first, and of those with
// the most remote memory over time; hatched is the share of their memory that is remote.
func (d *hostDrawing) vms(o *Options) []string {
	most := o.MostVMs
	if most == 0 {
		most = 12
	}
	var vms []*capture.VM
	for i := range d.rec.VMs {
		if v := &d.rec.VMs[i]; v.HasHomes && len(v.Timeline.Buckets) > 0 {
			vms = append(vms, v)
		}
	}
	if len(vms) == 0 {
		return []string{o.source() + " does not state the home nodes of VMs."}
	}
	stated := len(vms)
	worst := map[*capture.VM]int{}
	for _, v := range vms {
		worst[v] = o.worst(d.layout, v)
	}
	slices.SortStableFunc(vms, func(a, b *capture.VM) int {
		return cmp.Or(cmp.Compare(worst[b], worst[a]), cmp.Compare(b.Remote.Sum.Hi, a.Remote.Sum.Hi), cmp.Compare(b.Remote.Sum.Lo, a.Remote.Sum.Lo),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.GID, b.GID), cmp.Compare(a.Nth, b.Nth))
	})
	if len(vms) > most {
		vms = vms[:most]
	}
	d.heading("vms", "home nodes of VMs")
	d.pic.Add(picture.Group{ID: d.id + "__remote-head", Class: "heading", Shapes: []picture.Shape{{Class: "facts", X: plotRight + 50, Y: d.y - 60, Text: "remote"}}})
	const height = picture.Px(170)
	for _, v := range vms {
		id := d.id + "__homes__" + vmPart(v)
		text := fmt.Sprintf("%s: home nodes %s; remote memory at most %s", o.label(v), homesText(v), v.Remote.Most)
		amount := picture.Shape{Class: "tick", X: plotRight + 50, Y: d.y + 125, Text: v.Remote.Most.String()}
		switch {
		case o.blind(v):
			amount.Text = "–"
			text = fmt.Sprintf("%s: home nodes %s; remote memory not measurable: interleaved (M006)", o.label(v), homesText(v))
		case !v.HasMemory:
			amount.Text = "unknown"
		case v.Remote.Most == 0:
			amount.Text = "none"
		}
		d.pic.Add(picture.Group{ID: id, Class: "row", Focus: true, Numbers: text, Shapes: []picture.Shape{
			{Class: "name", X: margin, Y: d.y + 125, Text: texttab.Cut(o.label(v), int((plotLeft-2*margin)/boldLetter))}, amount,
			{Class: "floor", X: plotLeft, Y: d.y + height, W: plotRight - plotLeft}}})
		steps := stepsOf(&v.Timeline, d.rec, func(b *capture.VMBucket) int32 { return b.Ticks })
		d.pic.Groups = append(d.pic.Groups, d.band(id, v, steps, height, false)...)
		d.farShare(id, v, steps, height)
		d.y += height + 60
	}
	d.y += panelGap - 60
	d.homeLegend(vms)
	var sentences []string
	if len(vms) < stated {
		sentences = append(sentences, fmt.Sprintf("%d of %d VMs are shown: those with findings, the worst first, then those with the most remote memory over time.", len(vms), stated))
	}
	if n := len(d.rec.VMs) - stated; n > 0 {
		sentences = append(sentences, fmt.Sprintf("VMs whose home nodes the capture does not state, not shown: %d.", n))
	}
	return sentences
}

// homeLegend explains the colours of the home nodes that occur.
func (d *hostDrawing) homeLegend(vms []*capture.VM) {
	for n := 0; n <= d.nodes; n++ {
		if slices.ContainsFunc(vms, func(v *capture.VM) bool { return anyHome(v, n) }) {
			d.legend = append(d.legend, legend{fmt.Sprintf("node-%d", n%picture.Textures), strconv.Itoa(n % picture.Textures), fmt.Sprintf("home node %d", n)})
		}
	}
	if d.remote {
		d.legend = append(d.legend, legend{"remote", "remote", "share of the VM's memory that is remote"})
	}
}

// farShare hatches the remote share over the band of a VM, from above.
func (d *hostDrawing) farShare(id string, v *capture.VM, steps []step, height picture.Px) {
	far := curve(&d.span, steps, func(i int) (picture.Px, picture.Px, bool) {
		n, ok := share(&v.Timeline.Buckets[i])
		return d.y + picture.Px(float64(height)*(1-n)+0.5), d.y, ok && n < 0.995
	})
	if len(far) == 0 {
		return
	}
	d.remote = true
	d.pic.Add(picture.Group{ID: id + "__far", Class: "far", Shapes: []picture.Shape{{Class: "remote", Path: area(far), Fill: "remote"}}})
}

// sum says what some steps hold, node by node.
func (d *hostDrawing) sum(steps []step) string {
	from, to := steps[0].from, steps[len(steps)-1].to
	text := ""
	for i := range d.rec.Nodes {
		n := &d.rec.Nodes[i]
		var all capture.NodeBucket
		for j := range n.Timeline.Buckets {
			if at := n.Timeline.Time(j); at.Before(from.Truncate(n.Timeline.Width)) || !at.Before(to) {
				continue
			}
			b := &n.Timeline.Buckets[j]
			all.Frees, all.Free = all.Frees+b.Frees, all.Free+b.Free
			all.Loads, all.Busy = all.Loads+b.Loads, all.Busy+b.Busy
		}
		part := ""
		if all.Loads > 0 {
			part = " " + percent(float64(all.Busy)/float64(all.Loads)/capture.Whole) + " in use"
		}
		if all.Frees > 0 {
			part += " " + (numa.Bytes(all.Free/int64(all.Frees)) * numa.KiB).String() + " free"
		}
		if part != "" {
			if text != "" {
				text += " · "
			}
			text += fmt.Sprintf("node %d:%s", n.ID, part)
		}
	}
	return text
}
