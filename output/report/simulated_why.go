package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"homenode/esxi/scheduler"
	"homenode/internal/texttab"
	"homenode/output/table"
	"homenode/rules/simulate"
	"homenode/rules/verdict/recording"
)

// WhyOptions say which decisions Why writes.
type WhyOptions struct {
	VM, Host string // of this VM, on this host; "" for all
	Colour   bool
}

// Why writes the decisions of the scheduler with their reasons, in the order of time, as
// table, json or csv. A name that nobody bears is an error that names those alike.
func Why(w io.Writer, r *simulate.Result, form string, o WhyOptions) error {
	s := newSimulated(r).sim
	chosen, err := s.Decisions(o.VM, o.Host)
	if err != nil {
		return err
	}
	switch form {
	case "json":
		j := whyJSON{Format: "homenode-why", Version: JSONVersion, Simulated: true, Story: storyJSONOf(s), Decisions: decisionsOf(s, chosen)}
		return writeJSON(w, &j)
	case "csv":
		return table.CSV(w, simulatedTable(decisionTable(s, chosen)))
	}
	p := &printer{w: w, colour: o.Colour}
	p.printf("%s\n\n", p.paint(bold, fmt.Sprintf("Simulated: %s of the NUMA scheduler in %s", plural(len(chosen), "decision"), s.Story.Name)))
	t := texttab.Table{}
	t.Row("TIME", "HOST", "VM", "DECISION", "WHY", "RULES")
	for _, d := range chosen {
		one := s.Decision(d)
		client := one.VM
		if one.Client != nil && client != "" {
			client += "." + strconv.Itoa(*one.Client)
		}
		t.Row(moment(s, d.At), one.Host, dash(client), one.Decision, dash(one.Why), strings.Join(one.Rules, " "))
	}
	p.table(&t)
	for _, d := range chosen {
		if ids := d.Kind.Rules(); len(ids) > 0 {
			p.printf("\nnext   homenode rules %s\n", ids[0])
			break
		}
	}
	return p.err
}

// moment writes a time of the story to the second: decisions are 2 s apart.
func moment(s *recording.Simulation, d time.Duration) string {
	at := s.Story.Start.Add(d).UTC()
	const day = 24 * time.Hour
	if last := s.Story.Start.Add(s.Story.Length - 1); last.Truncate(day).Equal(s.Story.Start.Truncate(day)) { // days of UTC
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// every returns all decisions.
func every(s *recording.Simulation) []*scheduler.Decision {
	all, _ := s.Decisions("", "") // no name can be wrong
	return all
}

// decisionTable has a row for each decision.
func decisionTable(s *recording.Simulation, all []*scheduler.Decision) table.Table {
	number := func(n *int) table.Cell {
		if n == nil {
			return table.Cell{}
		}
		return table.Number(*n)
	}
	return table.Table{
		Name: "decisions", Len: len(all), Columns: []table.Column{column("Time", 22), column("Host", 20), column("VM", 24), column("Client", 7), column("Decision", 22), column("From node", 9), column("To node", 9), column("With VM", 24),
			column("From host", 20), column("Why", 80), column("Rules", 18), column("VM ID", 14)},
		Rows: func(yield func([]table.Cell) bool) {
			for _, d := range all {
				one := s.Decision(d)
				row := []table.Cell{table.Time(one.Time), table.Text(one.Host), table.Text(one.VM), number(one.Client), table.Text(one.Decision), number(one.From), number(one.To),
					table.Text(one.WithVM), table.Text(one.FromHost), table.Text(one.Why), table.Text(strings.Join(one.Rules, " ")), table.Text(one.VMID)}
				if !yield(row) {
					return
				}
			}
		},
	}
}

type whyJSON struct {
	Format    string               `json:"format"`
	Version   int                  `json:"version"`
	Simulated bool                 `json:"simulated"`
	Story     storyJSON            `json:"story"`
	Decisions []recording.Decision `json:"decisions"`
}

func decisionsOf(s *recording.Simulation, all []*scheduler.Decision) []recording.Decision {
	out := make([]recording.Decision, 0, len(all))
	for _, d := range all {
		out = append(out, s.Decision(d))
	}
	return out
}
