package report

import (
	"fmt"
	"io"
	"strings"

	"homenode/capture"
	"homenode/internal/alike"
	"homenode/output/draw/timeline"
	"homenode/rules"
	"homenode/rules/verdict/recording"
)

// CaptureSVG draws one recorded host or VM over time, with its findings. A VM is named as
// the reports name it, or with its host before it: esx07/sql01. The name may be empty when
// there is one host.
func CaptureSVG(w io.Writer, r *rules.Watched, name string) error {
	return newCaptured(r).svg(w, name)
}

// drawing returns the options of the drawings of a report.
func (c *captured) drawing() timeline.Options {
	lives := map[*capture.VM]*recording.VM{}
	for _, v := range c.VMs {
		lives[v.VM] = v
	}
	o := timeline.Options{Findings: c.Findings, Label: func(v *capture.VM) string { return lives[v].Label }, Blind: func(v *capture.VM) bool { return lives[v].Blind }}
	if c.sim != nil {
		drawSimulated(c.sim, &o)
	}
	return o
}

func (c *captured) svg(w io.Writer, name string) error {
	o := c.drawing()
	var names, found []string
	var draw func() error
	take := func(full string, d func() error) {
		found, draw = append(found, full), d
	}
	for _, rec := range c.Recordings {
		names = append(names, rec.Host)
		if name == rec.Host || name == "" {
			take(rec.Host, func() error { return timeline.DrawHost(w, rec, o) })
		}
	}
	for _, v := range c.VMs {
		full := v.Rec.Host + "/" + v.Label
		names = append(names, v.Label)
		if name == v.Label || name == full || name == v.Name || name == v.Rec.Host+"/"+v.Name {
			take(full, func() error { return timeline.DrawVM(w, v.Rec, v.VM, o) })
		}
	}
	switch {
	case len(found) == 1:
		return draw()
	case len(found) > 1 && name == "":
		return fmt.Errorf("%d hosts were %s: name one with --vm: %s", len(found), c.Words.Seen, strings.Join(found[:min(len(found), 10)], ", "))
	case len(found) > 1:
		return fmt.Errorf("%q could be each of %s", name, strings.Join(found, ", "))
	case name == "":
		return fmt.Errorf("no host was %s", c.Words.Seen)
	}
	return fmt.Errorf("no host or VM %q was %s%s", name, c.Words.Seen, alike.After(name, names))
}
