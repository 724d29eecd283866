package fleet

import (
	"cmp"
	"fmt"
	"slices"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/draw/picture"
	"homenode/output/draw/topo"
	"homenode/rules"
	"homenode/rules/rule"
	judged "homenode/rules/verdict/fleet"
)

// Most of what a page draws, so that one of a large fleet opens; it says what it leaves out.
const mostHosts, mostVMs = 24, 20

// A drawnVM has findings of high severity, and a drawing where that fits.
type drawnVM struct {
	judged.Urgent
	drawing *topo.Drawing // empty for those after mostVMs
}

func drawnVMs(r *rules.Result) []drawnVM {
	var out []drawnVM
	for _, v := range judged.UrgentVMs(r) {
		if v.Off() {
			continue // it has no layout
		}
		one := drawnVM{v, &topo.Drawing{}}
		if len(out) < mostVMs {
			one.drawing = topo.OfVM(v.VM, judged.FaultyHost(v.VM))
		}
		out = append(out, one)
	}
	return out
}

// drawings are the VMs with findings of high severity and one host of each kind.
func (x *index) drawings() []answer.Drawing {
	var out []answer.Drawing
	const lead = "Rooms are NUMA nodes; a block is a NUMA client, as high as it has vCPUs; the column is the memory of the node."
	add := func(heading string, nth int, about string, of func() *topo.Drawing) {
		d := drawing(about, of)
		if nth == 0 {
			d.Heading = heading
			if len(out) == 0 {
				d.Lead = lead
			}
		}
		out = append(out, d)
	}
	for i, v := range x.urgent[:min(mostVMs, len(x.urgent))] {
		add("VMs with findings of high severity", i, v.Finding.Rule+": "+v.Finding.Title, func() *topo.Drawing { return v.drawing })
	}
	if cut := len(x.urgent) - mostVMs; cut > 0 {
		out[len(out)-1].Cut = words.Verb(cut, "more VM with findings of high severity is", "more VMs with findings of high severity are") + " not drawn here: homenode explain SOURCE VM draws any of them."
	}
	drawn, cut := 0, 0
	whole := cmp.Or(x.Whole, x.Result) // VMs that are not shown have their place, too
	for _, c := range x.Clusters {
		for _, k := range c.Kinds {
			shown := slices.DeleteFunc(slices.Clone(k.Hosts), func(h *numa.Host) bool { return !x.shows(h) })
			switch {
			case len(shown) == 0:
				continue
			case drawn == mostHosts:
				cut++
				continue
			}
			add("One host of each kind", drawn, kindText(c, k), func() *topo.Drawing { return topo.OfHost(whole, judged.TellingHost(x.Result, shown)) })
			drawn++
		}
	}
	if cut > 0 {
		out[len(out)-1].Cut = words.Verb(cut, "more kind of hosts is", "more kinds of hosts are") + " not drawn here: homenode explain SOURCE HOST draws any host."
	}
	return out
}

func kindText(c *rule.Cluster, k *rule.Kind) string {
	if len(k.Hosts) == 1 {
		return c.Title() + ": the only host of its kind"
	}
	return fmt.Sprintf("%s: one of %s hosts of its kind (%s)", c.Title(), words.Thousands(len(k.Hosts)), rule.HostNames(k.Hosts))
}

// drawing returns the drawing of a host or VM; its shapes have the anchor.
func drawing(about string, of func() *topo.Drawing) answer.Drawing {
	return answer.Drawing{About: about, Picture: func() *picture.Picture { return of().Picture() }}
}
