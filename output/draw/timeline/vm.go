package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homenode/capture"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/output/draw/topo"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// vmPart returns the part of an id that tells a VM: its name and, where the source states
// one, its scheduler group, because VMs can have one name.
func vmPart(v *capture.VM) string {
	id := "vm-" + topo.ShapeID(v.Name)
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
	lacks []string // what the capture does not state
	blind bool     // N%L and remote memory mean nothing
}

func (d *vmDrawing) bucket(i int) *capture.VMBucket { return &d.v.Timeline.Buckets[i] }

func placeVM(rec *capture.Recording, v *capture.VM, o *Options) *picture.Picture {
	facts := []string{"on " + rec.Host}
	if v.VCPUs > 0 {
		facts = append(facts, strconv.Itoa(v.VCPUs)+" vCPU")
	}
	if v.Size > 0 {
		facts = append(facts, v.Size.String())
	}
	d := &vmDrawing{v: v}
	d.layout = newLayout(rec, VMID(rec, v), o.title(o.label(v)), strings.Join(append(facts, spanOfText(rec)), " · "))
	d.pic.Title = o.title(fmt.Sprintf("%s on %s over time", o.label(v), rec.Host))
	d.steps = stepsOf(&v.Timeline, rec, func(b *capture.VMBucket) int32 { return b.Ticks })
	d.behind, d.top = len(d.pic.Groups), d.y
	d.events(o, v)
	d.found(o, func(f *finding.Finding) bool { return d.aboutVM(f, v) })
	d.blind = o.blind(v)
	d.homes()
	d.locality()
	d.memory()
	d.migrations()
	d.ready()
	d.speed(o)
	d.life()
	bottom := d.y - panelGap + 60
	d.axis(gapsOf(d.steps))
	d.slices(d.steps, bottom, d.sum)
	d.moment(o, bottom)
	var sentences []string
	if len(d.lacks) > 0 {
		sentences = append(sentences, o.source()+" does not state "+strings.Join(d.lacks, ", ")+" of this VM.")
	}
	if n := len(v.Timeline.Buckets); n > 0 {
		sentences = append(sentences, "A step is "+rule.Duration(v.Timeline.Width)+": its mean, and a thin line for its worst tick.")
	}
	d.foot(o.notes(sentences)...)
	return d.pic
}

func spanOfText(rec *capture.Recording) string {
	s := spanOf(rec)
	return s.title()
}

// homes places the band of home nodes.
func (d *vmDrawing) homes() {
	if !d.v.HasHomes {
		d.lacks = append(d.lacks, "home nodes")
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
	s := scale{top: d.y, bottom: d.y + 280}
	d.panel("homes", "home nodes", []string{facts}, s, nil, "home nodes: "+homesText(d.v))
	d.pic.Groups = append(d.pic.Groups, d.band(d.pic.ID, d.v, d.steps, s, true)...)
	for n := 0; n <= d.nodes; n++ {
		if anyHome(d.v, n) {
			d.legend = append(d.legend, legend{fmt.Sprintf("node-%d", n%picture.Textures), strconv.Itoa(n % picture.Textures), fmt.Sprintf("node %d", n)})
		}
	}
}

// band returns the home nodes of a VM as groups, one for each stretch of the same nodes.
// Several nodes at once stand above each other.
func (l *layout) band(id string, v *capture.VM, steps []step, s scale, labels bool) []picture.Group {
	var out []picture.Group
	for from := 0; from < len(steps); {
		homes := v.Timeline.Buckets[steps[from].bucket].Homes
		to := from + 1
		for to < len(steps) && v.Timeline.Buckets[steps[to].bucket].Homes == homes && steps[to].from.Equal(steps[to-1].to) {
			to++
		}
		x, w := l.span.box(steps[from].from, steps[to-1].to)
		g := picture.Group{ID: fmt.Sprintf("%s__home-%d", id, steps[from].bucket), Class: "home",
			Numbers: fmt.Sprintf("home node %s from %s to %s", homes, l.span.clock(steps[from].from), l.span.clock(steps[to-1].to))}
		i, n := 0, homes.Len()
		for node := range homes.All() {
			l.nodes = max(l.nodes, node)
			y0, y1 := s.top+(s.bottom-s.top)*picture.Px(i)/picture.Px(n), s.top+(s.bottom-s.top)*picture.Px(i+1)/picture.Px(n)
			g.Shapes = append(g.Shapes, picture.Shape{Class: "band", X: x, Y: y0, W: w, H: y1 - y0, Fill: strconv.Itoa(node % picture.Textures)})
			if label := strconv.Itoa(node); labels && y1-y0 >= 110 && w > picture.Px(len(label)+2)*letter {
				g.Shapes = append(g.Shapes, picture.Shape{Class: "inside", X: x + w/2, Y: (y0+y1)/2 + 38, Text: label})
			}
			i++
		}
		if len(g.Shapes) > 0 {
			out = append(out, g)
		}
		from = to
	}
	return out
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

func anyHome(v *capture.VM, node int) bool {
	return slices.ContainsFunc(v.Timeline.Buckets, func(b capture.VMBucket) bool { return b.Ticks > 0 && b.Homes.Has(node) })
}

// share returns N%L of a bucket, its mean over memory and ticks.
func share(b *capture.VMBucket) (float64, bool) {
	if b.Memory == 0 || b.Local+b.Remote <= 0 {
		return 0, false
	}
	return float64(b.Local) / float64(b.Local+b.Remote), true
}

// locality places N%L: the mean, its least, and the limit that rules judge by.
func (d *vmDrawing) locality() {
	if !d.v.HasMemory {
		d.lacks = append(d.lacks, "local and remote memory")
		return
	}
	s := scale{d.y, d.y + 700, 1}
	facts := []string{"no memory on a node"}
	if all := d.v.Least.Local + d.v.Least.Remote; all > 0 {
		facts = []string{"least " + rule.NL(float64(d.v.Least.Local)/float64(all)), "at " + d.span.clock(d.v.Least.Time)}
	}
	if d.blind {
		facts = notMeasurable
	}
	mean := d.rising(s, d.steps, func(i int) (float64, bool) { return share(d.bucket(i)) })
	least := d.rising(s, d.steps, func(i int) (float64, bool) { return float64(d.bucket(i).Least) / capture.Whole, d.bucket(i).Memory > 0 })
	shapes := append([]picture.Shape{filled("local", mean), drawn("worst", least), drawn("curve", mean)}, d.limit(s, d.rec.Options.Locality)...)
	d.panel("locality", "N%L", facts, s, []mark{{0, "0"}, {.5, "50 %"}, {1, "100 %"}}, d.localityText(), shapes...)
}

func (d *vmDrawing) localityText() string {
	low := &d.v.Low
	if d.blind {
		return "N%L means nothing: the memory is interleaved over the home nodes (M006)"
	}
	if low.Count == 0 {
		return fmt.Sprintf("N%%L never below %s", percent(d.rec.Options.Locality))
	}
	return fmt.Sprintf("N%%L below %s for %s, longest from %s to %s with at least %s local", percent(d.rec.Options.Locality), rule.Duration(low.Time),
		d.span.clock(low.Longest.From), d.span.clock(low.Longest.To), rule.NL(low.Longest.Worst))
}

// notMeasurable stands for what N%L and remote memory do not tell of interleaved memory.
var notMeasurable = []string{"not measurable:", "interleaved (M006)"}

// memory places local memory with remote memory above it.
func (d *vmDrawing) memory() {
	if !d.v.HasMemory {
		return
	}
	amount := func(i int) (local, remote numa.Bytes) {
		b := d.bucket(i)
		n := int64(max(b.Memory, 1))
		return numa.Bytes(b.Local/n) * numa.KiB, numa.Bytes(b.Remote/n) * numa.KiB
	}
	var most numa.Bytes
	for i := range d.v.Timeline.Buckets {
		local, remote := amount(i)
		most = max(most, local+remote)
	}
	top, marks := memoryScale(most)
	s := scale{d.y, d.y + 900, top}
	facts := []string{"never remote"}
	if d.v.Remote.Most > 0 {
		facts = []string{"remote at most", d.v.Remote.Most.String(), "at " + d.span.clock(d.v.Remote.At)}
	}
	text := fmt.Sprintf("memory: at most %s remote, at the end %s local and %s remote", d.v.Remote.Most, d.v.LastLocal, d.v.LastRemote)
	if d.blind {
		facts = notMeasurable
		text = fmt.Sprintf("memory: at the end %s; how much of it is remote is not measurable, it is interleaved over the home nodes (M006)", d.v.LastLocal+d.v.LastRemote)
	}
	var shapes []picture.Shape
	if here := d.rising(s, d.steps, func(i int) (float64, bool) {
		local, _ := amount(i)
		return float64(local), d.bucket(i).Memory > 0
	}); len(here) > 0 {
		shapes = append(shapes, filled("local", here), drawn("curve", here))
	}
	if far := curve(&d.span, d.steps, func(i int) (picture.Px, picture.Px, bool) {
		local, remote := amount(i)
		return s.y(float64(local)), s.y(float64(local + remote)), d.bucket(i).Memory > 0 && remote > 0
	}); len(far) > 0 {
		d.remote = true
		shapes = append(shapes, picture.Shape{Class: "remote", Path: area(far), Fill: "remote"})
	}
	d.panel("memory", "memory", facts, s, marks, text, shapes...)
	local := "local memory"
	if d.blind {
		local = "memory on the home nodes"
	}
	d.legend = append(d.legend, legend{"local", "", local})
	if d.remote {
		d.legend = append(d.legend, legend{"remote", "remote", "remote memory"})
	}
}

// migrations places a tick for each step with NUMA migrations, as long as they are many.
func (d *vmDrawing) migrations() {
	if !d.v.HasMoves {
		d.lacks = append(d.lacks, "NUMA migrations")
		return
	}
	most := int64(1)
	for i := range d.v.Timeline.Buckets {
		most = max(most, d.bucket(i).Moves)
	}
	s := scale{d.y, d.y + 240, float64(most)}
	var shapes []picture.Shape
	if d.v.Moves.All > 0 {
		shapes = append(shapes, picture.Shape{Class: "amount", X: plotLeft - 60, Y: s.top + 70, Text: strconv.FormatInt(most, 10)})
	}
	for _, one := range d.steps {
		if n := d.bucket(one.bucket).Moves; n > 0 {
			y := min(s.y(float64(n)), s.bottom-50)
			shapes = append(shapes, picture.Shape{Class: "event", X: d.span.x(one.from), Y: y, H: s.bottom - y})
		}
	}
	d.panel("migrations", "migrations", []string{countText(d.v.Moves.All)}, s, nil,
		fmt.Sprintf("NUMA migrations: %d, at most %d in a step of %s", d.v.Moves.All, most, rule.Duration(d.v.Timeline.Width)), shapes...)
}

func countText(n int64) string {
	if n == 0 {
		return "none"
	}
	return strconv.FormatInt(n, 10) + " in all"
}
