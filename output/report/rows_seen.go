package report

import (
	"homenode/confront"
)

// observationTable has a row for each observation of a VM, beside its prediction.
func observationTable(x *index) Table {
	n := 0
	for _, c := range x.Clusters {
		for _, v := range c.VMs {
			n += len(v.Seen)
		}
	}
	return Table{
		Name: "observations",
		Columns: []Column{
			{"VM", 24}, {"Cluster", 16}, {"By", 12}, {"Time", 22}, {"Start", 14}, {"Verdict", 13}, {"Observed", 60}, {"Predicted for", 20}, {"Event", 16},
			{"Reasons", 60}, {"Other settings", 40}, {"Not compared", 40}, {"VM ID", 14}, {"Read at", 40},
		},
		Len: n,
		Rows: func(yield func([]Cell) bool) {
			for _, c := range x.Clusters {
				for _, v := range c.VMs {
					for i := range v.Seen {
						s := &v.Seen[i]
						o := s.Observation
						event := Cell{}
						if s.Host != "" {
							event = textOf(s.Event.String())
						}
						if !yield([]Cell{
							textOf(v.Name), textOf(ClusterTitle(c)), textOf(string(o.By)), textOf(o.Time), textOf(string(o.Start)), textOf(seenVerdict(s)),
							textOf(seenFields(s)), textOf(s.Host), event, joined(s.Reasons), joined(otherTexts(s.Other)), joined(s.Open), textOf(v.ID), textOf(o.At),
						}) {
							return
						}
					}
				}
			}
		},
	}
}

func otherTexts(settings []confront.Setting) []string {
	var out []string
	for _, s := range settings {
		out = append(out, s.Name+" = "+s.Observed+" (inventory: "+s.Inventory+")")
	}
	return out
}
