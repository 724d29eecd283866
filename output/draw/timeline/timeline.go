// Package timeline draws what was recorded of a host or a VM over time: panels below each other on
// one axis, each a quantity with its scale, and the findings and events over the time that they held.
package timeline

import (
	"time"

	"homenode/capture"
	"homenode/output/draw/picture"
	"homenode/rules/finding"
	"homenode/rules/simulate"
)

// Options say what a drawing shows.
type Options struct {
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
	Events func(rec *capture.Recording, v *capture.VM) []capture.Event
	// Speed returns the performance index of a VM in the order of time; nil for none.
	Speed func(*capture.VM) []simulate.SpeedPoint
	// MostVMs is how many VMs the drawing of a host has; 0 means 12.
	MostVMs int
	// Moment is marked; zero for none.
	Moment time.Time
	// Migrations are those of all VMs of a host, in the order of time, for a panel of its drawing; nil for none.
	Migrations []capture.Count
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

func (o *Options) label(v *capture.VM) string {
	if o.Label == nil {
		return v.Name
	}
	return o.Label(v)
}

func (o *Options) blind(v *capture.VM) bool { return o.Blind != nil && o.Blind(v) }

// HostID returns the id of the drawing of a host. Every id in the drawing begins with it.
func HostID(rec *capture.Recording) string { return "capture-" + picture.ID(rec.Host) }

// VMID returns the id of the drawing of a VM: capture-esx07__vm-sql01__gid-4711.
func VMID(rec *capture.Recording, v *capture.VM) string {
	return HostID(rec) + "__" + vmPart(v)
}

// Sizes of the drawings, beside those that panels have.
const (
	pictureWidth = picture.Px(10000)
	margin       = picture.Px(80)
	plotLeft     = picture.Px(1640) // of the time axis; labels stand left of it
	plotRight    = picture.Px(9300)
	headWidth    = plotLeft - 2*margin
	panelGap     = picture.Px(140)
	letter       = picture.Letter
	boldLetter   = picture.Px(66)
)
