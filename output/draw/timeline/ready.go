package timeline

import (
	"fmt"
	"strings"

	"homenode/capture"
	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/rules/rule"
)

// ready places ready time and co-stop of each vCPU.
func (d *vmDrawing) ready() {
	ready, hasReady := d.v.Ready.Peak()
	coStop, hasCoStop := d.v.CoStop.Peak()
	if !hasReady {
		d.lacks = append(d.lacks, "ready time")
	}
	if !hasReady && !hasCoStop {
		return
	}
	top, marks := shareScale(max(ready, coStop))
	s := scale{d.y, d.y + 600, top}
	name, of := "ready", "of each vCPU"
	if d.v.VCPUs == 0 {
		of = "of the whole VM"
	}
	facts := []string{of}
	if hasReady {
		facts = append(facts, "at most "+percent(ready))
	} else {
		name = "co-stop"
	}
	rate := func(of func(b *capture.VMBucket) float64) []segment {
		return d.rising(s, d.steps, func(i int) (float64, bool) { return of(d.bucket(i)) / capture.Whole, d.bucket(i).Rates > 0 })
	}
	var shapes []picture.Shape
	if hasReady {
		mean := rate(func(b *capture.VMBucket) float64 { return float64(b.Ready) / float64(max(b.Rates, 1)) })
		worst := rate(func(b *capture.VMBucket) float64 { return float64(b.MostReady) })
		shapes = append(shapes, filled("waiting", mean), drawn("worst", worst), drawn("curve", mean))
		d.legend = append(d.legend, legend{"ready", "", "ready, mean of the vCPUs"})
	}
	if hasCoStop && coStop > 0 {
		shapes = append(shapes, drawn("costop", rate(func(b *capture.VMBucket) float64 { return float64(b.CoStop) / float64(max(b.Rates, 1)) })))
		d.legend = append(d.legend, legend{"costop line", "", "co-stop"})
	}
	if hasReady && d.v.VCPUs > 0 {
		shapes = append(shapes, d.limit(s, d.rec.Options.Ready)...)
	}
	d.panel("ready", name, facts, s, marks, readyText(d.v, of), shapes...)
}

func readyText(v *capture.VM, of string) string {
	var parts []string
	for _, q := range []struct {
		name  string
		level *capture.Level
	}{{"ready", &v.Ready}, {"co-stop", &v.CoStop}} {
		if peak, ok := q.level.Peak(); ok {
			text := q.name + " at most " + percent(peak)
			if mean, ok := q.level.Mean(); ok {
				text += ", mean " + percent(mean)
			}
			parts = append(parts, text)
		}
	}
	return of + ": " + strings.Join(parts, "; ")
}

// life marks where the VM appears and where it is gone.
func (d *vmDrawing) life() {
	bottom := d.y - panelGap
	mark := func(x picture.Px, name, text string, before bool) {
		one := picture.Shape{Class: "facts", X: x + 50, Y: d.top + 110, Text: text}
		if before {
			one.Class, one.X = "facts before", x-50
		}
		d.pic.Add(picture.Group{ID: d.pic.ID + "__" + name, Class: "life", Shapes: []picture.Shape{{Class: "limit", X: x, Y: d.top, H: bottom - d.top}, one}})
	}
	if x := d.span.x(d.v.First); d.v.Appeared {
		mark(x, "appeared", "appears "+d.span.clock(d.v.First), x > plotLeft+1300)
	}
	if x := d.span.x(d.v.Last); d.v.Left {
		text := "gone after " + d.span.clock(d.v.Last)
		mark(x, "left", text, x+50+picture.Px(len(text))*letter > pictureWidth-margin)
	}
}

// sum says what some steps hold.
func (d *vmDrawing) sum(steps []step) string {
	var all capture.VMBucket
	var homes numa.NodeSet
	least := int32(capture.Whole)
	for _, one := range steps {
		b := d.bucket(one.bucket)
		all.Ticks += b.Ticks
		all.Memory += b.Memory
		all.Local += b.Local
		all.Remote += b.Remote
		all.Moves += b.Moves
		all.Rates += b.Rates
		all.Ready += b.Ready
		all.CoStop += b.CoStop
		all.MostReady = max(all.MostReady, b.MostReady)
		homes |= b.Homes
		if b.Memory > 0 {
			least = min(least, b.Least)
		}
	}
	var parts []string
	if n, ok := share(&all); ok && d.v.HasMemory {
		parts = append(parts, fmt.Sprintf("N%%L %s (least %s)", rule.NL(n), rule.NL(float64(least)/capture.Whole)),
			fmt.Sprintf("%s local, %s remote", numa.Bytes(all.Local/int64(all.Memory))*numa.KiB, numa.Bytes(all.Remote/int64(all.Memory))*numa.KiB))
	}
	if d.v.HasHomes {
		parts = append(parts, "home node "+homes.String())
	}
	if d.v.HasMoves && all.Moves > 0 {
		parts = append(parts, fmt.Sprintf("migrations %d", all.Moves))
	}
	if _, ok := d.v.Ready.Peak(); ok && all.Rates > 0 {
		parts = append(parts, fmt.Sprintf("ready %s (at most %s)", percent(float64(all.Ready)/float64(all.Rates)/capture.Whole), percent(float64(all.MostReady)/capture.Whole)))
	}
	if peak, ok := d.v.CoStop.Peak(); ok && peak > 0 && all.Rates > 0 {
		parts = append(parts, "co-stop "+percent(float64(all.CoStop)/float64(all.Rates)/capture.Whole))
	}
	return strings.Join(parts, " · ")
}
