package change

import (
	"fmt"
	"slices"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules/rule"
)

// mostDrawn is the maximum number of VMs that a what-if draws before and after the change.
const mostDrawn = 4

// drawChanged draws VMs before and after the change: first the only VM that the change names, then the VMs that differ.
func drawChanged(a *answer.Answer, r *whatif.Result) {
	var ids []string
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for i := range r.Changes {
		add(r.Changes[i].Only)
	}
	for i := range r.VMs {
		if r.VMs[i].Verdict != diff.Unchanged {
			add(r.VMs[i].ID)
		}
	}
	today, changed := r.A.ByID(), r.B.ByID()
	left := 0
	for n, id := range ids {
		if n >= mostDrawn {
			left++
			continue
		}
		heading := ""
		var before *topo.Drawing
		for _, side := range []struct {
			name string
			vm   *rule.VM
		}{{"today", today[id]}, {"changed", changed[id]}} {
			d, about := drawnVM(side.vm, side.name, r.A.Choices)
			if d == nil {
				if about != "" {
					a.Notes = append(a.Notes, answer.Note{Text: about})
				}
				continue
			}
			if before != nil {
				d.Since(before)
			}
			before = d
			one := answer.Drawing{About: about, Picture: d.Picture}
			if heading == "" {
				heading = side.vm.Name + ", today and changed"
				one.Heading = heading
			}
			a.Drawings = append(a.Drawings, one)
		}
	}
	if left > 0 && len(a.Drawings) > 0 {
		a.Drawings[len(a.Drawings)-1].Cut = words.Verb(left, "more VM differs", "more VMs differ") + ": the table names them."
	}
}

// drawnVM draws a VM on its host, or on the first of the hosts that it is assessed by. about is the caption. Without a layout there the drawing is
// nil, and about gives the reason.
func drawnVM(v *rule.VM, side string, ch vnuma.Choices) (d *topo.Drawing, about string) {
	if v == nil || len(v.On) == 0 {
		return nil, ""
	}
	place := diff.PlaceOf(v)
	host := place.Host()
	if d = topo.OfVM(v, host, ch); d == nil {
		return nil, fmt.Sprintf("%s does not power on on %s (%s), so that it is not drawn there.", v.Name, host.Name, side)
	}
	d.Prefix = side + "-"
	return d, fmt.Sprintf("%s: %s on %s", capital(side), shape(v), host.Name)
}

// shape describes the size of a VM: "32 vCPU and 384 GB".
func shape(v *rule.VM) string {
	memory := "memory unknown"
	if v.Memory.Known() {
		memory = v.Memory.Value.String()
	}
	hotAdd := ""
	if v.CPUHotAdd.Or(false) {
		hotAdd = ", CPU hot add"
	}
	if v.Power.Or(numa.PoweredOn) != numa.PoweredOn {
		hotAdd += ", not powered on"
	}
	return fmt.Sprintf("%d vCPU, %s%s", v.VCPUs.Value, memory, hotAdd)
}

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }
