package report

import (
	"cmp"
	"slices"
	"strings"

	"homenode/rules"
	"homenode/rules/confront"
)

// htmlSeen is one observation of the table; it has at least one field.
type htmlSeen struct {
	VM, By, At, When string
	Fields           []confront.Field
	Verdict          string
	Remarks          []string
}

// seenRows lists the observations, those that differ first, and counts what does
// not fit.
func seenRows(r *rules.Result, most int) (rows []htmlSeen, cut int) {
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			for i := range v.Seen {
				s := &v.Seen[i]
				row := htmlSeen{VM: v.Name, By: string(s.Observation.By), At: s.Observation.At, Fields: s.Fields, Verdict: seenVerdict(s)}
				row.When = strings.TrimSpace(minute(s.Observation) + " " + string(s.Observation.Start))
				if !s.Comparable() {
					row.Fields = []confront.Field{{Name: "–", Observed: "–", Predicted: "–", Agrees: true}}
				}
				if memory := seenMemory(s); memory != "" {
					row.Remarks = append(row.Remarks, memory)
				}
				for _, o := range s.Other {
					row.Remarks = append(row.Remarks, "ran with "+o.Name+" = "+o.Observed+"; the inventory has "+o.Inventory)
				}
				row.Remarks = append(row.Remarks, s.Reasons...)
				row.Remarks = append(row.Remarks, s.Open...)
				rows = append(rows, row)
			}
		}
	}
	order := map[string]int{"differs": 0, "not compared": 1, "agrees": 2}
	slices.SortStableFunc(rows, func(a, b htmlSeen) int { return cmp.Compare(order[a.Verdict], order[b.Verdict]) })
	if len(rows) > most {
		rows, cut = rows[:most], len(rows)-most
	}
	return rows, cut
}
