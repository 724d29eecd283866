package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

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
	steps []step // of the node that is stated most
}

func placeHost(rec *capture.Recording, o *Options) *picture.Picture {
	facts := spanOfText(rec)
	if len(rec.Nodes) > 0 {
		facts = rule.Plural(len(rec.Nodes), "node") + " · " + facts
	}
	d := &hostDrawing{layout: newLayout(rec, HostID(rec), o.title(rec.Host), facts)}
	d.pic.Title = o.title(rec.Host + " over time")
	d.behind, d.top = len(d.pic.Groups), d.y
	d.events(o, nil)
	d.found(o, func(f *finding.Finding) bool { return d.about(f) && f.VM == "" })
	for i := range rec.Nodes {
		if steps := nodeSteps(rec, &rec.Nodes[i]); len(steps) > len(d.steps) {
			d.steps = steps
		}
	}
	sentences := slices.Concat(d.busy(o), d.free(o), d.migrations(o), d.vms(o))
	bottom := d.y - panelGap + 60
	d.axis(gapsOf(d.steps))
	d.slices(d.steps, bottom, d.sum)
	d.moment(o, bottom)
	d.foot(o.notes(sentences)...)
	return d.pic
}

func nodeSteps(rec *capture.Recording, n *capture.Node) []step {
	return stepsOf(&n.Timeline, rec, func(b *capture.NodeBucket) int32 { return b.Ticks })
}

// heading places the line above the panels of all nodes.
func (d *hostDrawing) heading(name, text string) {
	d.pic.Add(picture.Group{ID: d.pic.ID + "__" + name, Class: "heading", Shapes: []picture.Shape{{Class: "name", X: margin, Y: d.y + 110, Text: text}}})
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
	d.each(top, []mark{{0, ""}, {top, percent(top)}}, func(n *capture.Node, s scale, steps []step) (id, text, numbers string, shapes []picture.Shape) {
		text = "not stated"
		if peak, ok := n.Busy.Peak(); ok {
			text = "peak " + percent(peak)
			if m, ok := n.Busy.Mean(); ok {
				text = "mean " + percent(m) + ", " + text
			}
		}
		mean := d.rising(s, steps, func(i int) (float64, bool) {
			b := &n.Timeline.Buckets[i]
			return float64(b.Busy) / float64(max(b.Loads, 1)) / capture.Whole, b.Loads > 0
		})
		worst := d.rising(s, steps, func(i int) (float64, bool) {
			b := &n.Timeline.Buckets[i]
			return float64(b.MostBusy) / capture.Whole, b.Loads > 0
		})
		shapes = append([]picture.Shape{filled("busy", mean), drawn("worst", worst), drawn("curve", mean)}, d.limit(s, d.rec.Options.BusyNode)...)
		return "busy", text, "cores in use: " + text, shapes
	})
	return nil
}

// each places a panel for each node, all with one scale.
func (d *hostDrawing) each(most float64, marks []mark, of func(n *capture.Node, s scale, steps []step) (id, text, numbers string, shapes []picture.Shape)) {
	const gap = picture.Px(120)
	height := min(max(picture.Px(2400/max(len(d.rec.Nodes), 1)), 240), 560) // many nodes share the page
	for i := range d.rec.Nodes {
		n := &d.rec.Nodes[i]
		s := scale{d.y, d.y + height, most}
		id, text, numbers, shapes := of(n, s, nodeSteps(d.rec, n))
		facts := []string{text}
		if height < 300 { // no room for them
			facts = nil
		}
		name := fmt.Sprintf("node %d", n.ID)
		d.panel(fmt.Sprintf("node-%d__%s", n.ID, id), name, facts, s, marks, name+": "+numbers, shapes...)
		d.y = s.bottom + gap
	}
	d.y += panelGap - gap
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
	d.each(float64(most), []mark{{0, ""}, {float64(most), most.String()}}, func(n *capture.Node, s scale, steps []step) (id, text, numbers string, shapes []picture.Shape) {
		mean := d.rising(s, steps, func(i int) (float64, bool) {
			b := &n.Timeline.Buckets[i]
			return float64(b.Free) / float64(max(b.Frees, 1)) * float64(numa.KiB), b.Frees > 0
		})
		text, at := "not stated", ""
		if n.Least >= 0 {
			text, at = "least "+n.Least.String(), " at "+d.span.clock(n.LeastAt)
		}
		return "free", text, "free memory: " + text + at, []picture.Shape{filled("free", mean), drawn("curve", mean)}
	})
	return nil
}

// migrations places those of all VMs, as many as each step has.
func (d *hostDrawing) migrations(o *Options) []string {
	if o.Migrations == nil || len(d.steps) == 0 {
		return nil
	}
	all := make([]int64, len(d.steps))
	most, sum := int64(1), int64(0)
	for _, c := range o.Migrations {
		k, _ := slices.BinarySearchFunc(d.steps, c.Time, func(s step, at time.Time) int { return s.to.Compare(at.Add(1)) }) // the first that ends after it
		k = min(k, len(d.steps)-1)
		all[k] += c.N
		sum += c.N
		most = max(most, all[k])
	}
	s := scale{d.y, d.y + 320, float64(most)}
	var shapes []picture.Shape
	if sum > 0 {
		shapes = append(shapes, picture.Shape{Class: "amount", X: plotLeft - 60, Y: s.top + 70, Text: strconv.FormatInt(most, 10)})
	}
	for i, n := range all {
		if n > 0 {
			y := min(s.y(float64(n)), s.bottom-50)
			shapes = append(shapes, picture.Shape{Class: "event", X: d.span.x(d.steps[i].from), Y: y, H: s.bottom - y})
		}
	}
	d.panel("migrations", "migrations", []string{countText(sum)}, s, nil, fmt.Sprintf("NUMA migrations of all VMs: %d, at most %d in a step", sum, most), shapes...)
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
	switch {
	case len(vms) == 0 && o.Migrations != nil: // asked for without
		return nil
	case len(vms) == 0:
		return []string{o.source() + " does not state the home nodes of VMs."}
	}
	stated := len(vms)
	vms = d.worst(vms, o)
	if len(vms) > most {
		vms = vms[:most]
	}
	d.heading("vms", "home nodes of VMs")
	d.pic.Add(picture.Group{ID: d.pic.ID + "__remote-head", Class: "heading", Shapes: []picture.Shape{{Class: "facts", X: plotRight + 50, Y: d.y - 60, Text: "remote"}}})
	const height = picture.Px(170)
	for _, v := range vms {
		id := d.pic.ID + "__homes__" + vmPart(v)
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
		d.pic.Groups = append(d.pic.Groups, d.band(id, v, steps, scale{top: d.y, bottom: d.y + height}, false)...)
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

// worst sorts VMs: the worst findings first, then the most remote memory over time.
func (d *hostDrawing) worst(vms []*capture.VM, o *Options) []*capture.VM {
	worst := map[*capture.VM]int{}
	for _, v := range vms {
		worst[v] = o.worst(d.layout, v)
	}
	slices.SortStableFunc(vms, func(a, b *capture.VM) int {
		return cmp.Or(cmp.Compare(worst[b], worst[a]), cmp.Compare(b.Remote.Sum.Hi, a.Remote.Sum.Hi), cmp.Compare(b.Remote.Sum.Lo, a.Remote.Sum.Lo),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.GID, b.GID), cmp.Compare(a.Nth, b.Nth))
	})
	return vms
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
