package fleet

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	judged "example.org/homenode/rules/verdict/fleet"
)

// Maximum numbers of kinds of problems and of hosts that a page draws, so that the page of a large fleet loads
// quickly. It states how many it omits.
const mostTroubles, mostHosts = 8, 4

// A drawnVM represents the VMs with the same kind of problem.
type drawnVM struct {
	judged.Urgent
	drawing *topo.Drawing
}

// drawnVMs returns one VM for each rule with findings of high severity about VMs. Hidden NUMA is one kind of trouble, by whatever rule.
func drawnVMs(r *rules.Result) (out []drawnVM) {
	drawn := map[string]bool{}
	for _, v := range judged.UrgentVMs(r) {
		if v.Off() || len(out) == mostTroubles { // a powered-off VM has no layout
			continue
		}
		host, kind := judged.FaultyHost(v.VM), v.Finding.Rule
		if on := v.OnHost(host.ID); on != nil && on.Layout.HidesNUMA() {
			kind = "hidden NUMA"
		}
		if !drawn[kind] {
			drawn[kind] = true
			out = append(out, drawnVM{v, topo.OfVM(v.VM, host, r.Choices)})
		}
	}
	return out
}

// drawings returns one VM for each kind of problem, and one host of each kind.
func (x *index) drawings() []answer.Drawing {
	var out []answer.Drawing
	const lead = "Each box is a NUMA node, each block a NUMA client; its height is its vCPUs. The column is the memory of the node."
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
	for i, v := range x.urgent {
		add("One VM for each kind of trouble", i, v.Finding.Rule+": "+v.Finding.Title, func() *topo.Drawing { return v.drawing })
	}
	drawn, cut := 0, 0
	whole := cmp.Or(x.Whole, x.Result) // hosts are drawn with VMs outside of the filter, too
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
		out[len(out)-1].Cut = words.Verb(cut, "more kind of hosts is", "more kinds of hosts are") + " not drawn here."
	}
	return out
}

func kindText(c *rule.Cluster, k *rule.Kind) string {
	if len(k.Hosts) == 1 {
		return c.Title() + ": the only host of its kind"
	}
	return fmt.Sprintf("%s: one of %s hosts of its kind (%s)", c.Title(), words.Thousands(len(k.Hosts)), rule.HostNames(k.Hosts))
}

// drawing returns the drawing of a host or VM.
func drawing(about string, of func() *topo.Drawing) answer.Drawing {
	return answer.Drawing{About: about, Picture: func() *picture.Picture { return of().Picture() }}
}
