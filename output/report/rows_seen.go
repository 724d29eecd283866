package report

import (
	"homenode/output/table"
	"homenode/rules/confront"
)

// observationTable has a row for each observation of a VM, beside its prediction.
func observationTable(x *index) table.Table {
	n := 0
	for _, c := range x.Clusters {
		for _, v := range c.VMs {
			n += len(v.Seen)
		}
	}
	return table.Table{
		Name: "observations",
		Columns: []table.Column{
			column("VM", 24), column("Cluster", 16), column("By", 12), column("Time", 22), column("Start", 14), column("Verdict", 13), column("Observed", 60), column("Predicted for", 20), column("Event", 16),
			column("Reasons", 60), column("Other settings", 40), column("Not compared", 40), column("VM ID", 14), column("Read at", 40),
		},
		Len: n,
		Rows: func(yield func([]table.Cell) bool) {
			for _, c := range x.Clusters {
				for _, v := range c.VMs {
					for i := range v.Seen {
						s := &v.Seen[i]
						o := s.Observation
						event := table.Cell{}
						if s.Host != "" {
							event = table.Text(s.Event.String())
						}
						if !yield([]table.Cell{
							table.Text(v.Name), table.Text(ClusterTitle(c)), table.Text(string(o.By)), table.Text(o.Time), table.Text(string(o.Start)), table.Text(seenVerdict(s)),
							table.Text(seenFields(s)), table.Text(s.Host), event, joined(s.Reasons), joined(otherTexts(s.Other)), joined(s.Open), table.Text(v.ID), table.Text(o.At),
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
