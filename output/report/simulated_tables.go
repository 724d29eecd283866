package report

import (
	"slices"
	"strings"

	"homenode/esxi/scheduler"
	"homenode/numa"
	"homenode/output/table"
	"homenode/rules"
	"homenode/rules/simulate"
)

// SimulatedTableNames lists the tables that SimulatedTables returns, in their order.
func SimulatedTableNames() []string {
	return table.Names(SimulatedTables(&simulate.Result{Story: &numa.Story{Fleet: &numa.Fleet{}}, Outcome: &scheduler.Outcome{}, Watched: &rules.Watched{}}, ""))
}

// SimulatedTables returns a simulation as tables. Each has a column that says that
// nothing in it was observed.
func SimulatedTables(r *simulate.Result, version string) []table.Table {
	c := newSimulated(r)
	s := c.sim
	all := []table.Table{{}, s.vmTable(), c.hostTable(), s.decisionTable(s.all()), s.speedTable(), s.storyTable()}
	for _, t := range c.tables(version) {
		switch t.Name {
		case "findings":
			all[0] = t
		case "vms":
			t.Name = "lives"
			all = append(all, t)
		case "hosts", "files":
		default:
			all = append(all, t)
		}
	}
	for i := range all {
		all[i] = simulatedTable(all[i])
	}
	return all
}

// simulatedTable marks every row of a table.
func simulatedTable(t table.Table) table.Table {
	rows := t.Rows
	t.Columns = append(slices.Clone(t.Columns), column("Simulated", 10))
	t.Rows = func(yield func([]table.Cell) bool) {
		for row := range rows {
			if !yield(append(slices.Clip(row), table.YesNo(true))) {
				return
			}
		}
	}
	return t
}

// vmTable has a row for each VM that ran, the worst first.
func (s *simulated) vmTable() table.Table {
	return table.Table{
		Name: "vms", Len: len(s.order), Columns: slices.Concat([]table.Column{
			column("VM", 24), column("Hosts", 30), column("vCPUs", 7), column("Ran seconds", 12), column("Mean N%L", 10), column("Least N%L", 10), column("Least N%L at", 22), column("Far %", 8), column("Ready %", 8), column("Co-stop %", 9),
			column("Mean swapped MiB", 14), column("Migrations", 11), column("For load", 9), column("For locality", 12), column("For fairness", 12),
			column("Performance", 11), column("Performance low", 14), column("Performance high", 14), column("Performance worst", 15), column("Performance worst at", 22), column("Far accesses %", 12), column("Extrapolated", 12), column("Extrapolated why", 60), column("Workload", 12),
			column("Most swapped MiB", 14), column("Most ballooned MiB", 14), column("Moments without price", 12), column("Load assumed", 12),
		}, countColumns, saidColumns, []table.Column{column("VM ID", 14)}),
		Rows: func(yield func([]table.Cell) bool) {
			for _, v := range s.order {
				if !yield(s.vmRow(v)) {
					return
				}
			}
		},
	}
}

func (s *simulated) vmRow(v *simulatedVM) []table.Cell {
	share := func(n float64, ok bool) table.Cell { return known(ok, percentOf(n)) }
	m := &v.out.Moves
	row := []table.Cell{table.Text(v.Name), table.Text(strings.Join(v.hosts(), ", ")), known(v.vcpus() > 0, table.Number(v.vcpus())), seconds(v.ran()), share(v.mean()), {}, {},
		share(v.far()), share(v.waited()), share(v.stopped()), mib(numa.Bytes(v.out.Swapped/max(v.out.Steps, 1)) * numa.PageSize),
		table.Number(float64(m.All)), table.Number(float64(m.Balance + m.LoadSwap)), table.Number(float64(m.Locality + m.LocalitySwap)), table.Number(float64(m.Fairness))}
	if l := v.least(); l != nil {
		row[5], row[6] = percentOf(leastLocality(l.VM)), table.Time(l.Least.Time)
	}
	if p := v.speed; p != nil {
		row = append(row, ratio(p.Mean), ratio(p.Low), ratio(p.High), ratio(p.Worst), table.Time(p.WorstAt), percentOf(p.Far), table.YesNo(p.Extrapolated), joined(p.Why), table.Text(p.Workload))
	} else {
		row = append(row, make([]table.Cell, 9)...)
	}
	if p := v.taken; p != nil {
		row = append(row, mib(p.Swapped), mib(p.Balloon), table.Number(float64(p.Unpriced)))
	} else {
		row = append(row, make([]table.Cell, 3)...)
	}
	return slices.Concat(row, []table.Cell{table.YesNo(!s.stated(v))}, counts(v.findings), said(v.findings), []table.Cell{table.Text(v.ID)})
}

// ratio returns a performance index with four digits.
func ratio(n float64) table.Cell { return table.Number(float64(int(n*10000+0.5)) / 10000) }

// speedTable has a row for each moment at which the speed of a VM was computed.
func (s *simulated) speedTable() table.Table {
	n := 0
	for _, v := range s.order {
		if v.speed != nil {
			n += len(v.speed.Points)
		}
	}
	return table.Table{
		Name: "speed", Len: n, Columns: []table.Column{column("VM", 24), column("Time", 22), column("Performance", 11), column("Performance low", 14), column("Performance high", 14), column("VM ID", 14)},
		Rows: func(yield func([]table.Cell) bool) {
			for _, v := range s.order {
				if v.speed == nil {
					continue
				}
				for _, p := range v.speed.Points {
					if !yield([]table.Cell{table.Text(v.Name), table.Time(p.Time), ratio(p.Value), ratio(p.Low), ratio(p.High), table.Text(v.ID)}) {
						return
					}
				}
			}
		},
	}
}

// storyTable has a row for each line of what happened.
func (s *simulated) storyTable() table.Table {
	var rows [][]table.Cell
	for _, h := range s.happenings() {
		kind := "scheduler"
		if h.event {
			kind = "event"
		}
		rows = append(rows, []table.Cell{table.Time(s.Story.Start.Add(h.from)), table.Time(s.Story.Start.Add(h.to)), table.Text(kind), table.Text(h.host), table.Text(h.text), table.Text(h.followed), table.Text(h.note), table.Text(strings.Join(h.rules, " "))})
	}
	return table.Of("story", []table.Column{column("From", 22), column("To", 22), column("By", 10), column("Host", 20), column("What", 80), column("Followed", 60), column("Note", 60), column("Rules", 18)}, rows)
}
