// Package timeline draws recordings as SVG: what a VM or a host did over time, all
// quantities over one axis, so that cause and consequence stand above each other.
//
//	found           ▐██ M001 ████████▌            findings, when they held
//	home nodes  ░░░░░░░▒▒▒▒▒▒▒▒▒▒░░░░░░           one colour and pattern a node
//	N%L         ▔▔▔▔▔▔▔╲_________╱▔▔▔▔
//	memory      ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆           local below, remote hatched above
//	migrations         │││     │
//	ready       ______╱▔╲_________
//	            02:00     03:00     04:00
//
// A stretch without ticks is drawn as one: nothing is joined over it. The same recording
// gives the same bytes.
package timeline

import (
	_ "embed"
	"io"
	"time"

	"homenode/capture"
	"homenode/output/draw/picture"
	"homenode/output/draw/topo"
	"homenode/rules/finding"
)

// Options say what a drawing shows.
type Options struct {
	// Inline leaves the style out: the page that the drawing stands in has it, once for
	// all its drawings. It also leaves out the ids of the shapes in a group.
	Inline bool
	// Findings are marked over the time that they held. Those about other subjects, and
	// those without a time, are not drawn.
	Findings []finding.Finding
	// Label names a VM where its name alone would not tell which one is meant; nil takes
	// the name.
	Label func(*capture.VM) string
	// Blind reports whether N%L and remote memory of a VM mean nothing, because its memory
	// is interleaved over its home nodes; nil means of none.
	Blind func(*capture.VM) bool
	// Simulated says that what is drawn was not observed: every drawing says so.
	Simulated bool
	// Events returns what happened to a host, or to a VM of it when v is not nil, in the
	// order of time; nil for nothing.
	Events func(rec *capture.Recording, v *capture.VM) []Event
	// Speed returns the performance index of a VM in the order of time; nil for none.
	Speed func(*capture.VM) []Point
	// MostVMs is how many VMs the drawing of a host has; 0 means 12.
	MostVMs int
	// Moment is marked; zero for none.
	Moment time.Time
	// Migrations are those of all VMs of a host, in the order of time, for a panel of its drawing; nil for none.
	Migrations []Count
}

// An Event is one thing that happened, for a drawing of what followed.
type Event struct {
	Time time.Time
	Text string // a few words
	Note string // more of it, shown when it is pointed at
}

// A Count is how often something happened at a moment.
type Count struct {
	Time time.Time
	N    int64
}

// A Point is the performance index from a moment on: 1 is full speed.
type Point struct {
	Time             time.Time
	Value, Low, High float64
}

// source says what was drawn.
func (o *Options) source() string {
	if o.Simulated {
		return "The simulation"
	}
	return "The capture"
}

// title marks the title of a drawing of what was not observed.
func (o *Options) title(name string) string {
	if o.Simulated {
		return name + " (simulated)"
	}
	return name
}

// notes returns the sentences below a drawing.
func (o *Options) notes(sentences []string) []string {
	if o.Simulated {
		return append([]string{"Simulated by the model of the NUMA scheduler: nothing here was observed."}, sentences...)
	}
	return sentences
}

func (o *Options) label(v *capture.VM) string {
	if o.Label == nil {
		return v.Name
	}
	return o.Label(v)
}

func (o *Options) blind(v *capture.VM) bool { return o.Blind != nil && o.Blind(v) }

// worst returns the highest severity of the findings about a VM of the layout's host as a
// number, 0 being none.
func (o *Options) worst(l *layout, v *capture.VM) (worst int) {
	for i := range o.Findings {
		if f := &o.Findings[i]; l.aboutVM(f, v) {
			worst = max(worst, int(f.Severity)+1)
		}
	}
	return worst
}

// Style is the style sheet of all timelines. It follows the reader's preference for dark
// or light, and prints in grey.
//
//go:embed timeline.css
var Style string

// HostID returns the id of the drawing of a host. Every id in the drawing begins with it;
// parts are joined by two underscores, as capture-esx07__node-0__busy, and parts of the
// model are escaped as those of package svg are.
func HostID(rec *capture.Recording) string { return "capture-" + topo.ShapeID(rec.Host) }

// VMID returns the id of the drawing of a VM: capture-esx07__vm-sql01__gid-4711.
func VMID(rec *capture.Recording, v *capture.VM) string {
	return HostID(rec) + "__" + vmPart(v)
}

// DrawHost writes what happened on a host as one svg element: how busy its nodes were,
// how much memory was free on them, and the home nodes of VMs: those with findings, the
// worst first, then those with the most remote memory.
func DrawHost(w io.Writer, rec *capture.Recording, o Options) error {
	return write(w, placeHost(rec, &o), o)
}

// DrawVM writes what happened to v, a VM of rec, as one svg element.
func DrawVM(w io.Writer, rec *capture.Recording, v *capture.VM, o Options) error {
	return write(w, placeVM(rec, v, &o), o)
}

func write(w io.Writer, p *picture.Picture, o Options) error {
	if p.Inline = o.Inline; !o.Inline {
		p.Style = Style
	}
	return picture.Write(w, p)
}

// Sizes of the drawings, beside those that panels have.
const (
	pictureWidth = picture.Px(10000)
	margin       = picture.Px(80)
	plotLeft     = picture.Px(1640) // of the time axis; labels stand left of it
	plotRight    = picture.Px(9300)
	panelGap     = picture.Px(140)
	lineHeight   = picture.Px(150)
	letter       = picture.Px(60) // mean width of a letter at 11 px
	boldLetter   = picture.Px(66)
	titleLetter  = picture.Px(92) // and at 15 px, bold
)
