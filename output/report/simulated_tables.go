package report

import (
	"slices"
	"strings"

	"homenode/esxi/scheduler"
	"homenode/numa"
	"homenode/output/table"
	"homenode/rules"
	"homenode/rules/simulate"
	"homenode/rules/verdict/recording"
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
	all := []table.Table{{}, simVMTable(s), c.hostTable(), decisionTable(s, every(s)), speedTable(s), storyTable(s)}
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
func simVMTable(s *recording.Simulation) table.Table {
	return table.Table{
		Name: "vms", Len: len(s.Order), Columns: slices.Concat([]table.Column{
			column("VM", 24), column("Hosts", 30), column("vCPUs", 7), column("Ran seconds", 12), column("Mean N%L", 10), column("Least N%L", 10), column("Least N%L at", 22), column("Far %", 8), column("Ready %", 8), column("Co-stop %", 9),
			column("Mean swapped MiB", 14), column("Migrations", 11), column("For load", 9), column("For locality", 12), column("For fairness", 12),
			column("Performance", 11), column("Performance low", 14), column("Performance high", 14), column("Performance worst", 15), column("Performance worst at", 22), column("Far accesses %", 12), column("Extrapolated", 12), column("Extrapolated why", 60), column("Workload", 12),
			column("Most swapped MiB", 14), column("Most ballooned MiB", 14), column("Moments without price", 12), column("Load assumed", 12),
		}, countColumns, saidColumns, []table.Column{column("VM ID", 14)}),
		Rows: func(yield func([]table.Cell) bool) {
			for _, v := range s.Order {
				if !yield(simVMRow(s, v)) {
					return
				}
			}
		},
	}
}

func simVMRow(s *recording.Simulation, v *recording.SimulatedVM) []table.Cell {
	share := func(n float64, ok bool) table.Cell { return known(ok, percentOf(n)) }
	m := &v.Out.Moves
	row := []table.Cell{table.Text(v.Name), table.Text(strings.Join(v.Hosts(), ", ")), known(v.VCPUs() > 0, table.Number(v.VCPUs())), seconds(v.Ran()), share(v.Mean()), {}, {},
		share(v.Far()), share(v.Waited()), share(v.Stopped()), mib(numa.Bytes(v.Out.Swapped/max(v.Out.Steps, 1)) * numa.PageSize),
		table.Number(float64(m.All)), table.Number(float64(m.Balance + m.LoadSwap)), table.Number(float64(m.Locality + m.LocalitySwap)), table.Number(float64(m.Fairness))}
	if l := v.Least(); l != nil {
		row[5], row[6] = leastCell(l), table.Time(l.Least.Time)
	}
	if p := v.Speed; p != nil {
		row = append(row, ratio(p.Mean), ratio(p.Low), ratio(p.High), ratio(p.Worst), table.Time(p.WorstAt), percentOf(p.Far), table.YesNo(p.Extrapolated), joined(p.Why), table.Text(p.Workload))
	} else {
		row = append(row, make([]table.Cell, 9)...)
	}
	if p := v.Took; p != nil {
		row = append(row, mib(p.Swapped), mib(p.Balloon), table.Number(float64(p.Unpriced)))
	} else {
		row = append(row, make([]table.Cell, 3)...)
	}
	return slices.Concat(row, []table.Cell{table.YesNo(!s.Stated(v))}, counts(v.Findings), said(v.Findings), []table.Cell{table.Text(v.ID)})
}

// ratio returns a performance index with four digits.
func ratio(n float64) table.Cell { return table.Number(float64(int(n*10000+0.5)) / 10000) }

// speedTable has a row for each moment at which the speed of a VM was computed.
func speedTable(s *recording.Simulation) table.Table {
	n := 0
	for _, v := range s.Order {
		if v.Speed != nil {
			n += len(v.Speed.Points)
		}
	}
	return table.Table{
		Name: "speed", Len: n, Columns: []table.Column{column("VM", 24), column("Time", 22), column("Performance", 11), column("Performance low", 14), column("Performance high", 14), column("VM ID", 14)},
		Rows: func(yield func([]table.Cell) bool) {
			for _, v := range s.Order {
				if v.Speed == nil {
					continue
				}
				for _, p := range v.Speed.Points {
					if !yield([]table.Cell{table.Text(v.Name), table.Time(p.Time), ratio(p.Value), ratio(p.Low), ratio(p.High), table.Text(v.ID)}) {
						return
					}
				}
			}
		},
	}
}

// storyTable has a row for each line of what happened.
func storyTable(s *recording.Simulation) table.Table {
	var rows [][]table.Cell
	for _, h := range s.Happened() {
		kind := "scheduler"
		if h.Event {
			kind = "event"
		}
		rows = append(rows, []table.Cell{table.Time(h.From), table.Time(h.To), table.Text(kind), table.Text(h.Host), table.Text(h.Text), table.Text(h.Followed), table.Text(h.Note), table.Text(strings.Join(h.Rules, " "))})
	}
	return table.Of("story", []table.Column{column("From", 22), column("To", 22), column("By", 10), column("Host", 20), column("What", 80), column("Followed", 60), column("Note", 60), column("Rules", 18)}, rows)
}
