package report

import (
	"slices"
	"strings"

	"homenode/numa"
	"homenode/rules"
	"homenode/sim"
	"homenode/simulate"
)

// SimulatedTableNames lists the tables that SimulatedTables returns, in their order.
func SimulatedTableNames() []string {
	var names []string
	for _, t := range SimulatedTables(&simulate.Result{Story: &numa.Story{Fleet: &numa.Fleet{}}, Outcome: &sim.Outcome{}, Watched: &rules.Watched{}}, "") {
		names = append(names, t.Name)
	}
	return names
}

// SimulatedTables returns a simulation as tables. Each has a column that says that
// nothing in it was observed.
func SimulatedTables(r *simulate.Result, version string) []Table {
	c := newSimulated(r)
	s := c.sim
	all := []Table{{}, s.vmTable(), c.hostTable(), s.decisionTable(s.all()), s.speedTable(), s.storyTable()}
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
func simulatedTable(t Table) Table {
	rows := t.Rows
	t.Columns = append(slices.Clone(t.Columns), Column{"Simulated", 10})
	t.Rows = func(yield func([]Cell) bool) {
		for row := range rows {
			if !yield(append(slices.Clip(row), yesNo(true))) {
				return
			}
		}
	}
	return t
}

// vmTable has a row for each VM that ran, the worst first.
func (s *simulated) vmTable() Table {
	return Table{
		Name: "vms", Len: len(s.order), Columns: slices.Concat([]Column{
			{"VM", 24}, {"Hosts", 30}, {"vCPUs", 7}, {"Ran seconds", 12}, {"Mean N%L", 10}, {"Least N%L", 10}, {"Least N%L at", 22}, {"Far %", 8}, {"Ready %", 8}, {"Co-stop %", 9},
			{"Mean swapped MiB", 14}, {"Migrations", 11}, {"For load", 9}, {"For locality", 12}, {"For fairness", 12},
			{"Performance", 11}, {"Performance low", 14}, {"Performance high", 14}, {"Performance worst", 15}, {"Performance worst at", 22}, {"Far accesses %", 12}, {"Extrapolated", 12}, {"Extrapolated why", 60}, {"Workload", 12},
			{"Most swapped MiB", 14}, {"Most ballooned MiB", 14}, {"Moments without price", 12}, {"Load assumed", 12},
		}, countColumns, saidColumns, []Column{{"VM ID", 14}}),
		Rows: func(yield func([]Cell) bool) {
			for _, v := range s.order {
				if !yield(s.vmRow(v)) {
					return
				}
			}
		},
	}
}

func (s *simulated) vmRow(v *simulatedVM) []Cell {
	share := func(n float64, ok bool) Cell { return known(ok, percentOf(n)) }
	m := &v.out.Moves
	row := []Cell{textOf(v.Name), textOf(strings.Join(v.hosts(), ", ")), known(v.vcpus() > 0, numberOf(v.vcpus())), seconds(v.ran()), share(v.mean()), {}, {},
		share(v.far()), share(v.waited()), share(v.stopped()), mib(numa.Bytes(v.out.Swapped/max(v.out.Steps, 1)) * numa.PageSize),
		numberOf(float64(m.All)), numberOf(float64(m.Balance + m.LoadSwap)), numberOf(float64(m.Locality + m.LocalitySwap)), numberOf(float64(m.Fairness))}
	if l := v.least(); l != nil {
		row[5], row[6] = percentOf(leastLocality(l.VM)), timeOf(l.Least.Time)
	}
	if p := v.speed; p != nil {
		row = append(row, ratio(p.Mean), ratio(p.Low), ratio(p.High), ratio(p.Worst), timeOf(p.WorstAt), percentOf(p.Far), yesNo(p.Extrapolated), joined(p.Why), textOf(p.Workload))
	} else {
		row = append(row, make([]Cell, 9)...)
	}
	if p := v.taken; p != nil {
		row = append(row, mib(p.Swapped), mib(p.Balloon), numberOf(float64(p.Unpriced)))
	} else {
		row = append(row, make([]Cell, 3)...)
	}
	return slices.Concat(row, []Cell{yesNo(!s.stated(v))}, counts(v.findings), said(v.findings), []Cell{textOf(v.ID)})
}

// ratio returns a performance index with four digits.
func ratio(n float64) Cell { return numberOf(float64(int(n*10000+0.5)) / 10000) }

// speedTable has a row for each moment at which the speed of a VM was computed.
func (s *simulated) speedTable() Table {
	n := 0
	for _, v := range s.order {
		if v.speed != nil {
			n += len(v.speed.Points)
		}
	}
	return Table{
		Name: "speed", Len: n, Columns: []Column{{"VM", 24}, {"Time", 22}, {"Performance", 11}, {"Performance low", 14}, {"Performance high", 14}, {"VM ID", 14}},
		Rows: func(yield func([]Cell) bool) {
			for _, v := range s.order {
				if v.speed == nil {
					continue
				}
				for _, p := range v.speed.Points {
					if !yield([]Cell{textOf(v.Name), timeOf(p.Time), ratio(p.Value), ratio(p.Low), ratio(p.High), textOf(v.ID)}) {
						return
					}
				}
			}
		},
	}
}

// storyTable has a row for each line of what happened.
func (s *simulated) storyTable() Table {
	var rows [][]Cell
	for _, h := range s.happenings() {
		kind := "scheduler"
		if h.event {
			kind = "event"
		}
		rows = append(rows, []Cell{timeOf(s.Story.Start.Add(h.from)), timeOf(s.Story.Start.Add(h.to)), textOf(kind), textOf(h.host), textOf(h.text), textOf(h.followed), textOf(h.note), textOf(strings.Join(h.rules, " "))})
	}
	return tableOf("story", []Column{{"From", 22}, {"To", 22}, {"By", 10}, {"Host", 20}, {"What", 80}, {"Followed", 60}, {"Note", 60}, {"Rules", 18}}, rows)
}
