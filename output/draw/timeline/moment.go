package timeline

import (
	"time"

	"homenode/capture"
	"homenode/output/draw/picture"
)

// moment marks the moment of the options through all panels, and says above the axis when it is.
func (d *layout) moment(o *Options, bottom picture.Px) {
	if o.Moment.IsZero() || o.Moment.Before(d.span.first) || o.Moment.After(d.span.last) {
		return
	}
	x := d.span.x(o.Moment)
	d.pic.Add(picture.Group{ID: d.pic.ID + "__moment", Class: "moment", Focus: true, Numbers: "the moment " + d.span.clock(o.Moment),
		Shapes: []picture.Shape{{Class: "cursor", X: x - 6, Y: d.top, W: 12, H: bottom - d.top}}})
}

// HostAt says what the nodes of a host held at a moment, and from when to when that stood; "" where nothing is known.
func HostAt(rec *capture.Recording, at time.Time) (from, to time.Time, text string) {
	d := &hostDrawing{layout: &layout{rec: rec, span: spanOf(rec)}}
	for i := range rec.Nodes {
		if steps := nodeSteps(rec, &rec.Nodes[i]); len(steps) > len(d.steps) {
			d.steps = steps
		}
	}
	return atMoment(d.steps, at, d.sum)
}

// VMAt says the same of a VM of a recording.
func VMAt(rec *capture.Recording, v *capture.VM, blind bool, at time.Time) (from, to time.Time, text string) {
	d := &vmDrawing{layout: &layout{rec: rec, span: spanOf(rec)}, v: v, blind: blind}
	d.steps = stepsOf(&v.Timeline, rec, func(b *capture.VMBucket) int32 { return b.Ticks })
	return atMoment(d.steps, at, d.sum)
}

func atMoment(steps []step, at time.Time, sum func([]step) string) (from, to time.Time, text string) {
	for i := range steps {
		if !at.Before(steps[i].from) && (at.Before(steps[i].to) || i == len(steps)-1 && at.Equal(steps[i].to)) {
			return steps[i].from, steps[i].to, sum(steps[i : i+1])
		}
	}
	return at, at, ""
}
