// Package timeline draws the recorded history of a host or a VM: ribbons of home nodes and panels on a common time
// axis, with findings and events.
package timeline

import (
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
)

// Options are the options of a drawing.
type Options struct {
	// Findings are drawn over the time of each finding. Findings about other subjects, and those without a time,
	// are not drawn.
	Findings []finding.Finding
	// Label returns a unique name of a VM; nil uses the name.
	Label func(*capture.VM) string
	// Blind reports whether N%L and remote memory of a VM are meaningless, because its memory is interleaved
	// over its home nodes; nil means never.
	Blind func(*capture.VM) bool
	// Simulated means that the data was not observed. Every drawing states this.
	Simulated bool
	// Events returns the events of a host, or of its VM v if v is not nil, in time order; nil for none.
	Events func(rec *capture.Recording, v *capture.VM) []capture.Event
	// Speed returns the performance index of a VM in time order; nil for none.
	Speed func(*capture.VM) []simulate.SpeedPoint
	// MostVMs is the maximum number of VMs in the drawing of a host; 0 means 12.
	MostVMs int
	// Moment is marked in the drawing; zero for none.
	Moment time.Time
	// Migrations are the migrations of all VMs of a host in time order, for a panel of its drawing; nil for
	// none.
	Migrations []capture.Count
}

// source names the origin of the data.
func (o *Options) source() string {
	if o.Simulated {
		return "The simulation"
	}
	return "The capture"
}

// title adds a remark to the title of a drawing of simulated data.
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

// HostID returns the ID of the drawing of a host. All other IDs in the drawing begin with it.
func HostID(rec *capture.Recording) string { return "capture-" + picture.ID(rec.Host) }

// VMID returns the ID of the drawing of a VM: capture-esx07__vm-sql01__gid-4711.
func VMID(rec *capture.Recording, v *capture.VM) string {
	return HostID(rec) + "__" + vmPart(v)
}

// Sizes of the drawings, other than those of panels.
const (
	pictureWidth = picture.Px(10000)
	margin       = picture.Px(80)
	plotLeft     = picture.Px(1640) // of the time axis; labels are to the left of it
	plotRight    = picture.Px(9300)
	headWidth    = plotLeft - 2*margin
	panelGap     = picture.Px(140)
	letter       = picture.Letter
	boldLetter   = picture.Px(66)
)
