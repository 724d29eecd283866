package timeline

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/rules/rule"
)

// vmPart returns the part of an ID that identifies a VM: its name and, if the source has one,
// its scheduler group, because names of VMs need not be unique.
func vmPart(v *capture.VM) string {
	id := "vm-" + picture.ID(v.Name)
	if v.GID >= 0 {
		id += "__gid-" + strconv.FormatInt(v.GID, 10)
	}
	if v.Nth > 0 {
		id += "__nth-" + strconv.Itoa(v.Nth)
	}
	return id
}

// vmDrawing is the state of the drawing of a VM.
type vmDrawing struct {
	*layout
	v     *capture.VM
	steps []step
	all   []capture.VMBucket // of its timeline
	lacks []string           // quantities that the capture lacks
	blind bool               // N%L and remote memory are meaningless
}

func (d *vmDrawing) bucket(i int) *capture.VMBucket { return &d.all[i] }

func vmSteps(rec *capture.Recording, v *capture.VM) []step {
	return stepsOf(&v.Timeline, rec, func(b *capture.VMBucket) int32 { return b.Ticks })
}

// VM draws the history of v, a VM of rec.
func VM(rec *capture.Recording, v *capture.VM, o Options) *picture.Picture {
	facts := []string{"on " + rec.Host}
	if v.VCPUs > 0 {
		facts = append(facts, strconv.Itoa(v.VCPUs)+" vCPU")
	}
	if v.Size > 0 {
		facts = append(facts, v.Size.String())
	}
	d := &vmDrawing{layout: newLayout(rec, &o, v, facts...), v: v, steps: vmSteps(rec, v), all: v.Timeline.Buckets(), blind: o.blind(v)}
	d.homes()
	d.locality()
	d.memory()
	d.migrations()
	d.ready()
	d.speed()
	d.life()
	var sentences []string
	if len(d.lacks) > 0 {
		sentences = append(sentences, o.source()+" does not state "+strings.Join(d.lacks, ", ")+" of this VM.")
	}
	if len(d.all) > 0 {
		sentences = append(sentences, "A step is "+words.Duration(v.Timeline.Width)+": its mean, and a thin line for its worst tick.")
	}
	return d.finish(d.steps, d.sum, sentences)
}

// states returns ok. If ok is false it records that the capture lacks the quantity.
func (d *vmDrawing) states(ok bool, what string) bool {
	if !ok {
		d.lacks = append(d.lacks, what)
	}
	return ok
}

// homes adds the band of home nodes.
func (d *vmDrawing) homes() {
	if !d.states(d.v.HasHomes, "home nodes") {
		return
	}
	facts := "not NUMA-managed"
	switch main, share, ok := rule.Homes(d.v); {
	case ok && main != 0 && len(d.v.Homes) > 1:
		facts = fmt.Sprintf("%s for %s", main, percent(share))
	case ok && main != 0:
		facts = rule.Nodes(main) + " always"
	case !ok && d.v.LastHomes != 0:
		facts = rule.Nodes(d.v.LastHomes)
	}
	s := d.scale(280, 1)
	d.panel("homes", "home nodes", []string{facts}, s, nil, "home nodes: "+homesText(d.v))
	d.band("", d.v, d.steps, s, true)
	d.explainHomes(d.v)
}

// explainHomes adds a legend for the colours of the home nodes of VMs.
func (l *layout) explainHomes(vms ...*capture.VM) {
	var homes numa.NodeSet
	for _, v := range vms {
		for _, b := range v.Timeline.All() {
			if b.Ticks > 0 {
				homes |= b.Homes
			}
		}
	}
	for n := range homes.All() {
		l.explain(picture.Fill("node", n), picture.Fill("node", n), fmt.Sprintf("home node %d", n))
	}
}

// band adds the home nodes of a VM, one group for each period with the same nodes. Simultaneous
// home nodes are stacked.
func (l *layout) band(id string, v *capture.VM, steps []step, s picture.Scale, labels bool) {
	buckets := v.Timeline.Buckets()
	for from, to := 0, 0; from < len(steps); from = to {
		homes := buckets[steps[from].bucket].Homes
		for to = from + 1; to < len(steps) && buckets[steps[to].bucket].Homes == homes && steps[to].from.Equal(steps[to-1].to); to++ {
		}
		x, w := l.span.Box(steps[from].from, steps[to-1].to)
		g := picture.Group{ID: fmt.Sprintf("%s__%shome-%d", l.ID, id, steps[from].bucket), Class: "home",
			Numbers: fmt.Sprintf("home node %s from %s", homes, l.span.FromTo(steps[from].from, steps[to-1].to))}
		y, n := s.To, picture.Px(homes.Len())
		for node := range homes.All() {
			end := y + (s.From-y)/n
			g.Shapes = append(g.Shapes, picture.Shape{Class: "band", X: x, Y: y, W: w, H: end - y, Fill: picture.Fill("node", node)})
			if label := strconv.Itoa(node); labels && end-y >= 110 && w > picture.Px(len(label)+2)*letter {
				g.Shapes = append(g.Shapes, picture.Shape{Class: "inside", X: x + w/2, Y: (y+end)/2 + 38, Text: label})
			}
			y, n = end, n-1
		}
		if len(g.Shapes) > 0 {
			l.Add(g)
		}
	}
}

func homesText(v *capture.VM) string {
	var all int64
	for _, h := range v.Homes {
		all += int64(h.Time)
	}
	if all == 0 {
		return v.LastHomes.String()
	}
	parts := words.Texts(v.Homes, func(h capture.HomeTime) string {
		return fmt.Sprintf("%s for %s", h.Homes, percent(float64(h.Time)/float64(all)))
	})
	return strings.Join(parts, "; ") + "; changed " + words.Plural(int(v.Changed.Total), "time")
}

// locality adds N%L: the mean, the minimum, and the threshold of rules.
func (d *vmDrawing) locality() {
	if !d.states(d.v.HasMemory, "local and remote memory") {
		return
	}
	s, low, most := d.scale(700, 1), &d.v.Low, d.rec.Options.Locality
	facts, text := []string{"no memory on a node"}, fmt.Sprintf("N%%L never below %s", percent(most))
	if all := d.v.Least.Local + d.v.Least.Remote; all > 0 {
		facts = []string{"least " + rule.NL(float64(d.v.Least.Local)/float64(all)), "at " + d.span.Clock(d.v.Least.Time)}
	}
	if low.Count > 0 {
		text = fmt.Sprintf("N%%L below %s for %s, longest from %s with at least %s local", percent(most), words.Duration(low.Time),
			d.span.FromTo(low.Longest.From, low.Longest.To), rule.NL(low.Longest.Worst))
	}
	var shapes []picture.Shape
	if d.blind {
		facts, text = notMeasurable, "N%L means nothing: the memory is interleaved over the home nodes (M006)"
	} else {
		shapes = d.measured(s, d.steps, "local", true, func(i int) (mean, least float64, ok bool) { return d.bucket(i).Locality() })
	}
	d.panel("locality", "N%L", facts, s, []picture.Tick{{Label: "0"}, {Value: .5, Label: "50 %"}, {Value: 1, Label: "100 %"}}, text, append(shapes, limit(s, most)...)...)
}

// notMeasurable replaces N%L and remote memory for interleaved memory.
var notMeasurable = []string{"not measurable:", "interleaved (M006)"}

// memory adds local memory, with remote memory on top.
func (d *vmDrawing) memory() {
	if !d.v.HasMemory {
		return
	}
	var most numa.Bytes
	for i := range d.all {
		local, remote, _ := d.bucket(i).Amounts()
		most = max(most, local+remote)
	}
	axis := bytesAxis.Scale(picture.Reach{High: float64(max(most, 4*numa.MiB)), Any: true}, 4, true, true)
	s := d.scale(900, axis.High)
	facts, name := []string{"never remote"}, "local memory"
	if d.v.Remote.Most > 0 {
		facts = []string{"remote at most", d.v.Remote.Most.String(), "at " + d.span.Clock(d.v.Remote.At)}
	}
	text := fmt.Sprintf("memory: at most %s remote, at the end %s local and %s remote", d.v.Remote.Most, d.v.LastLocal, d.v.LastRemote)
	if d.blind {
		facts, name = notMeasurable, "memory on the home nodes"
		text = fmt.Sprintf("memory: at the end %s; how much of it is remote is not measurable, it is interleaved over the home nodes (M006)", d.v.LastLocal+d.v.LastRemote)
	}
	shapes := d.measured(s, d.steps, "local", false, func(i int) (mean, _ float64, ok bool) {
		local, _, ok := d.bucket(i).Amounts()
		return float64(local), 0, ok
	})
	if far := curve(&d.span, d.steps, func(i int) (low, high picture.Px, ok bool) {
		local, remote, ok := d.bucket(i).Amounts()
		return s.At(float64(local)), s.At(float64(local + remote)), ok && remote > 0
	}); len(far) > 0 {
		shapes = append(shapes, picture.Shape{Class: "remote", Path: picture.Area(far), Fill: "remote"})
	}
	d.panel("memory", "memory", facts, s, axis.Ticks, text, shapes...)
	d.explain("local", "", name)
	if d.Uses("remote") {
		d.explain("remote", "remote", "remote memory")
	}
}

// migrations adds the number of NUMA migrations in each step.
func (d *vmDrawing) migrations() {
	if !d.states(d.v.HasMoves, "NUMA migrations") {
		return
	}
	var all []int64
	for _, one := range d.steps {
		all = append(all, d.bucket(one.bucket).Moves)
	}
	name := "NUMA migrations"
	if d.v.Moves.All == 0 && d.v.Changed.Total > 0 {
		name += " that ESXi counted (NMIG), though the home nodes changed"
	}
	d.counts(d.steps, all, d.v.Moves.All, name, "a step of "+words.Duration(d.v.Timeline.Width))
}

// ready adds ready time and co-stop of each vCPU.
func (d *vmDrawing) ready() {
	ready, hasReady := d.v.Ready.Peak()
	coStop, hasCoStop := d.v.CoStop.Peak()
	if !d.states(hasReady, "ready time") && !hasCoStop {
		return
	}
	top, marks := shareScale(max(ready, coStop))
	s := d.scale(600, top)
	name, of := "co-stop", "of each vCPU"
	if d.v.VCPUs == 0 {
		of = "of the whole VM"
	}
	facts := []string{of}
	var shapes []picture.Shape
	if hasReady {
		name, facts = "ready", append(facts, "at most "+percent(ready))
		shapes = d.measured(s, d.steps, "waiting", true, func(i int) (mean, most float64, ok bool) {
			mean, most, _, ok = d.bucket(i).Waiting()
			return mean, most, ok
		})
		d.explain("waiting", "", "ready, mean of the vCPUs")
	}
	if coStop > 0 {
		mean := func(i int) (float64, bool) { _, _, v, ok := d.bucket(i).Waiting(); return v, ok }
		shapes = append(shapes, picture.Shape{Class: "costop", Path: picture.Line(d.rising(s, d.steps, mean))})
		d.legend = append(d.legend, picture.Stroke("", "line", "costop", "co-stop"))
	}
	if hasReady && d.v.VCPUs > 0 {
		shapes = append(shapes, limit(s, d.rec.Options.Ready)...)
	}
	var parts []string
	for _, q := range []struct {
		name  string
		level *capture.Level
	}{{"ready", &d.v.Ready}, {"co-stop", &d.v.CoStop}} {
		if peak, ok := q.level.Peak(); ok {
			text := q.name + " at most " + percent(peak)
			if mean, ok := q.level.Mean(); ok {
				text += ", mean " + percent(mean)
			}
			parts = append(parts, text)
		}
	}
	d.panel("ready", name, facts, s, marks, of+": "+strings.Join(parts, "; "), shapes...)
}

// life marks the times when the VM appears and disappears.
func (d *vmDrawing) life() {
	bottom := d.Y - panelGap
	mark := func(x picture.Px, name, text string, before bool) {
		one := picture.Shape{Class: "facts", X: x + 50, Y: d.top + 110, Text: text}
		if before {
			one.Class, one.X = "facts before", x-50
		}
		d.add(name, "life", "", picture.Shape{Class: "limit", X: x, Y: d.top, H: bottom - d.top}, one)
	}
	if x := d.span.X(d.v.First); d.v.Appeared {
		mark(x, "appeared", "appears "+d.span.Clock(d.v.First), x > plotLeft+1300)
	}
	if x := d.span.X(d.v.Last); d.v.Left {
		text := "gone after " + d.span.Clock(d.v.Last)
		mark(x, "left", text, x+50+picture.Wide(text, letter) > pictureWidth-margin)
	}
}

// sum describes the given steps.
func (d *vmDrawing) sum(steps []step) string {
	all := capture.VMBucket{Least: capture.Whole}
	for _, one := range steps {
		b := d.bucket(one.bucket)
		all.Memory, all.Local, all.Remote = all.Memory+b.Memory, all.Local+b.Local, all.Remote+b.Remote
		all.Rates, all.Ready, all.CoStop = all.Rates+b.Rates, all.Ready+b.Ready, all.CoStop+b.CoStop
		all.MostReady = max(all.MostReady, b.MostReady)
		all.Moves += b.Moves
		all.Homes |= b.Homes
		if b.Memory > 0 {
			all.Least = min(all.Least, b.Least)
		}
	}
	var parts []string
	if n, least, ok := all.Locality(); ok && d.v.HasMemory {
		local, remote, _ := all.Amounts()
		if d.blind {
			parts = append(parts, fmt.Sprintf("memory %s", local+remote))
		} else {
			parts = append(parts, fmt.Sprintf("N%%L %s (least %s)", rule.NL(n), rule.NL(least)), fmt.Sprintf("%s local, %s remote", local, remote))
		}
	}
	if d.v.HasHomes {
		parts = append(parts, "home node "+all.Homes.String())
	}
	if d.v.HasMoves && all.Moves > 0 {
		parts = append(parts, fmt.Sprintf("migrations %d", all.Moves))
	}
	ready, most, coStop, stated := all.Waiting()
	if _, ok := d.v.Ready.Peak(); ok && stated {
		parts = append(parts, fmt.Sprintf("ready %s (at most %s)", percent(ready), percent(most)))
	}
	if peak, ok := d.v.CoStop.Peak(); ok && peak > 0 && stated {
		parts = append(parts, "co-stop "+percent(coStop))
	}
	return strings.Join(parts, " · ")
}
