package recording

import (
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/simulate"
	verdict "example.org/homenode/rules/verdict/recording"
	"example.org/homenode/rules/verdict/simulation"
)

// data returns the tables of captures for spreadsheets and scripts.
func (r *report) data(a *answer.Answer) []table.Table {
	return []table.Table{a.Findings.FindingTable(), lifeData("vms", r.VMs), r.nodeData(), r.hostData(), r.changeData(), r.fileData(), a.Findings.SuppressedTable(), a.Findings.RuleTable(), a.NoteTable(), r.about(a)}
}

// mib returns a memory size; 0 is unknown, because every VM and node has memory.
func mib(b numa.Bytes) table.Cell { return table.Known(b > 0, table.MB(b)) }

func levelCells(l *capture.Level) []table.Cell {
	mean, hasMean := l.Mean()
	peak, hasPeak := l.Peak()
	return []table.Cell{table.Known(hasMean, table.Percent(mean)), table.Known(hasPeak, table.Percent(peak)), table.Time(l.At)}
}

// spellColumns returns the columns of Spells with this name.
func spellColumns(name, worst string) []table.Column {
	return []table.Column{table.Col(name, 8), table.Col(name+" seconds", 12), table.Col(name+" longest from", 22), table.Col(name+" longest to", 22), table.Col(name+" "+worst, 14)}
}

func spellCells(s *capture.Spells, worst func(float64) table.Cell) []table.Cell {
	return []table.Cell{table.Number(s.Count), table.Seconds(s.Time), table.Time(s.Longest.From), table.Time(s.Longest.To), table.Known(s.Count > 0, worst(s.Longest.Worst))}
}

// lifeData has one row for each life of a VM.
func lifeData(name string, lives []*verdict.VM) table.Table {
	columns := slices.Concat([]table.Column{
		table.Col("VM", 24), table.Col("Host", 20), table.Col("GID", 10), table.Col("Nth", 5), table.Col("vCPUs", 7), table.Col("Memory MB", 12), table.Col("First", 22), table.Col("Last", 22), table.Col("Ticks", 8), table.Col("Present seconds", 14),
		table.Col("Appeared", 9), table.Col("Left", 7), table.Col("Home nodes", 30), table.Col("Home node changes", 16), table.Col("Returns", 8), table.Col("Migrations", 11),
		table.Col("Least N%L", 10), table.Col("Least N%L at", 22), table.Col("Mean N%L", 10), table.Col("Most remote MB", 14), table.Col("Most remote at", 22), table.Col("Mean remote MB", 14), table.Col("Last local MB", 13), table.Col("Last remote MB", 14),
	}, spellColumns("Low N%L", "least N%L"), spellColumns("Much remote", "most MB"), []table.Column{
		table.Col("Ready mean %", 12), table.Col("Ready max %", 12), table.Col("Ready max at", 22), table.Col("Co-stop mean %", 13), table.Col("Co-stop max %", 13), table.Col("Co-stop max at", 22), table.Col("Used mean %", 12), table.Col("Used max %", 12), table.Col("Used max at", 22),
	}, answer.CountColumns, answer.SaidColumns, []table.Column{table.Col("Predicted clients", 16), table.Col("Predicted guest nodes", 19), table.Col("Predicted home nodes", 19), table.Col("VM ID", 14)})
	return table.Each(name, columns, lives, vmRow)
}

func vmRow(v *verdict.VM) []table.Cell {
	mean, hasMean := v.VM.MeanLocality()
	meanRemote, hasRemote := v.Remote.Mean(v.Managed)
	_, hasLeast := v.LeastLocality()
	row := []table.Cell{
		table.Text(v.Name), table.Text(v.Rec.Host), gid(v.VM), table.Number(v.Nth), table.Known(v.VCPUs > 0, table.Number(v.VCPUs)), mib(v.Size), table.Time(v.First), table.Time(v.Last),
		table.Number(v.Ticks), table.Seconds(v.Present), table.YesNo(v.Appeared), table.YesNo(v.Left),
		table.Text(homes(v.VM)), table.Known(v.HasHomes, table.Number(float64(v.Changed.Total))), table.Known(v.HasHomes, table.Number(float64(v.Returns.Total))), table.Known(v.HasMoves, table.Number(float64(v.Moves.All))),
		leastCell(v), table.Known(hasLeast, table.Time(v.Least.Time)), table.Known(hasMean, table.Percent(mean)), table.Known(v.HasMemory, table.MB(v.Remote.Most)), table.Known(v.HasMemory, table.Time(v.Remote.At)),
		table.Known(hasRemote, table.MB(meanRemote)), table.Known(v.HasMemory, table.MB(v.LastLocal)), table.Known(v.HasMemory, table.MB(v.LastRemote)),
	}
	if v.HasMemory {
		row = slices.Concat(row, spellCells(&v.Low, table.Percent), spellCells(&v.Far, func(b float64) table.Cell { return table.MB(numa.Bytes(b)) }))
	} else { // no data
		row = append(row, make([]table.Cell, 2*len(spellColumns("", "")))...)
	}
	row = slices.Concat(row, levelCells(&v.Ready), levelCells(&v.CoStop), levelCells(&v.Used), answer.Counts(v.Findings), answer.Said(v.Findings))
	if v.InFleet == nil || len(v.InFleet.On) == 0 {
		return append(row, table.Cell{}, table.Cell{}, table.Cell{}, table.Cell{})
	}
	l := &v.InFleet.On[0].Layout
	return append(row, table.Number(l.PPDs.Len()), table.Number(l.VPDs.Len()), table.Number(l.HomeNodes), table.Text(v.InFleet.ID))
}

// gid returns the scheduler group of a VM.
func gid(v *capture.VM) table.Cell { return table.Known(v.GID >= 0, table.Number(float64(v.GID))) }

func leastCell(v *verdict.VM) table.Cell {
	least, ok := v.LeastLocality()
	return table.Known(ok, table.Percent(least))
}

// nodeData has one row per NUMA node.
func (r *report) nodeData() table.Table {
	var rows [][]table.Cell
	for _, n := range nodesOf(r.Recordings) {
		rows = append(rows, slices.Concat([]table.Cell{table.Text(n.rec.Host), table.Number(n.ID), mib(n.Total)}, levelCells(&n.Busy), []table.Cell{
			table.Known(n.Least >= 0, table.MB(n.Least)), table.Known(n.Least >= 0, table.Time(n.LeastAt)), table.Known(n.LastFree >= 0, table.MB(n.LastFree))}))
	}
	return table.Of("nodes", []table.Column{table.Col("Host", 20), table.Col("Node", 6), table.Col("Memory MB", 12), table.Col("Busy mean %", 11), table.Col("Busy max %", 11), table.Col("Busy max at", 22),
		table.Col("Least free MB", 14), table.Col("Least free at", 22), table.Col("Last free MB", 13)}, rows)
}

// hostData has one row per recorded host.
func (r *report) hostData() table.Table {
	var rows [][]table.Cell
	for _, rec := range r.Recordings {
		files := words.Texts(rec.Files, func(f capture.File) string { return f.Name })
		row := []table.Cell{
			table.Text(rec.Host), table.Text(strings.Join(files, ", ")), table.Time(rec.First), table.Time(rec.Last), table.Number(rec.Ticks), table.Seconds(rec.Covered),
			table.Seconds(max(0, rec.Last.Sub(rec.First)-rec.Covered)), table.Known(len(rec.Nodes) > 0, table.Number(len(rec.Nodes))), table.Number(verdict.CountVMs(r.On(rec))), table.Known(moves(rec) != "", table.Number(float64(rec.Moves.Total))),
			mib(rec.MinFree),
		}
		for _, d := range rec.States {
			row = append(row, table.Known(rec.HasStates, table.Seconds(d)))
		}
		rows = append(rows, slices.Concat(row, spellCells(&rec.Imbalance, table.Percent), []table.Cell{table.Text(strings.Join(rec.Lacks, ", "))}, answer.Counts(r.OfHost[rec]), answer.Said(r.OfHost[rec])))
	}
	columns := []table.Column{table.Col("Host", 20), table.Col("Files", 30), table.Col("First", 22), table.Col("Last", 22), table.Col("Ticks", 8), table.Col("Covered seconds", 14), table.Col("Without ticks seconds", 19), table.Col("NUMA nodes", 11), table.Col("VMs", 6), table.Col("Migrations", 11), table.Col("MinFree MB", 12)}
	for s := numa.High; s <= numa.Low; s++ {
		columns = append(columns, table.Col("State "+s.String()+" seconds", 14))
	}
	return table.Of("hosts", slices.Concat(columns, spellColumns("Node overloaded beside idle one", "difference %"), []table.Column{table.Col("Lacks", 40)}, answer.CountColumns, answer.SaidColumns), rows)
}

// changeData has one row for each stored change of home nodes.
func (r *report) changeData() table.Table {
	columns := []table.Column{table.Col("VM", 24), table.Col("Host", 20), table.Col("GID", 10), table.Col("Nth", 5), table.Col("Time", 22), table.Col("From", 12), table.Col("To", 12)}
	of := func(v *verdict.VM) []capture.Change { return v.Changes }
	return table.Within("changes", columns, r.VMs, of, func(v *verdict.VM, ch *capture.Change) []table.Cell {
		return []table.Cell{table.Text(v.Name), table.Text(v.Rec.Host), gid(v.VM), table.Number(v.Nth), table.Time(ch.Time), table.Text(homeNodes(ch.From)), table.Text(homeNodes(ch.To))}
	})
}

// fileData has one row per host and file.
func (r *report) fileData() table.Table {
	columns := []table.Column{table.Col("File", 40), table.Col("Host", 20), table.Col("Format", 20), table.Col("First", 22), table.Col("Last", 22), table.Col("Ticks", 8), table.Col("Warnings", 9), table.Col("Warned of", 60)}
	of := func(rec *capture.Recording) []capture.File { return rec.Files }
	return table.Within("files", columns, r.Recordings, of, func(rec *capture.Recording, f *capture.File) []table.Cell {
		return []table.Cell{table.Text(f.Name), table.Text(rec.Host), table.Text(f.Format), table.Time(f.First), table.Time(f.Last), table.Number(f.Ticks), table.Number(len(f.Warnings)), table.Joined(f.Warnings)}
	})
}

// about describes the origin of the other tables.
func (r *report) about(a *answer.Answer) table.Table {
	rows := [][2]table.Cell{
		answer.About("Files", table.Text(r.Source())), answer.About("First", table.Time(r.First)), answer.About("Last", table.Time(r.Last)),
		answer.About("homenode", table.Text(r.o.Version)), answer.About("Hosts", table.Number(len(r.Recordings))), answer.About("VMs", table.Number(verdict.CountVMs(r.VMs))), answer.About("Findings", table.Number(len(r.Findings))),
		answer.About("Findings suppressed", table.Number(len(r.Suppressed))), answer.About("Notes", table.Number(len(a.Notes))), answer.About("Times", table.Text("UTC")),
	}
	if r.Fleet != nil {
		rows = append(rows, answer.About("Inventory", table.Text(r.Fleet.Fleet.Source+": "+r.joined())))
	}
	if r.Filter != "" {
		rows = append(rows, answer.About("Shown", table.Text(r.Filter)))
	}
	return a.AboutTable(rows...)
}

// simulatedTables returns the tables of a simulation for spreadsheets and scripts.
func (r *report) simulatedTables(a *answer.Answer, happened []simulation.Happening) []table.Table {
	f := a.Findings
	all := []table.Table{f.FindingTable(), simulatedData(r.sim, r.sim.Order), r.hostData(), decisionData(r.sim, r.sim.About()), speedData(r.sim.Order), storyData(happened),
		lifeData("lives", r.VMs), r.nodeData(), r.changeData(), f.SuppressedTable(), f.RuleTable(), a.NoteTable(), r.about(a)}
	for i := range all {
		all[i] = marked(all[i])
	}
	return all
}

// marked adds a column to a table that marks every row as simulated.
func marked(t table.Table) table.Table {
	rows := t.Rows
	t.Columns = append(slices.Clone(t.Columns), table.Col("Simulated", 10))
	t.Rows = func(yield func([]table.Cell) bool) {
		for row := range rows {
			if !yield(append(slices.Clip(row), table.YesNo(true))) {
				return
			}
		}
	}
	return t
}

// simulatedData has one row per VM.
func simulatedData(s *simulation.Judged, vms []*simulation.VM) table.Table {
	columns := slices.Concat([]table.Column{
		table.Col("VM", 24), table.Col("Hosts", 30), table.Col("vCPUs", 7), table.Col("Ran seconds", 12), table.Col("Mean N%L", 10), table.Col("Least N%L", 10), table.Col("Least N%L at", 22), table.Col("Far %", 8), table.Col("Ready %", 8), table.Col("Co-stop %", 9),
		table.Col("Mean swapped MB", 14), table.Col("Migrations", 11), table.Col("For load", 9), table.Col("For locality", 12), table.Col("For fairness", 12),
		table.Col("Performance", 11), table.Col("Performance low", 14), table.Col("Performance high", 14), table.Col("Performance worst", 15), table.Col("Performance worst at", 22), table.Col("Far accesses %", 12), table.Col("Extrapolated", 12), table.Col("Extrapolated why", 60), table.Col("Workload", 12),
		table.Col("Most swapped MB", 14), table.Col("Most ballooned MB", 14), table.Col("Moments without price", 12), table.Col("Load assumed", 12),
	}, answer.CountColumns, answer.SaidColumns, []table.Column{table.Col("VM ID", 14)})
	return table.Each("vms", columns, vms, func(v *simulation.VM) []table.Cell { return simulatedRow(s, v) })
}

func simulatedRow(s *simulation.Judged, v *simulation.VM) []table.Cell {
	share := func(n float64, ok bool) table.Cell { return table.Known(ok, table.Percent(n)) }
	m := &v.Out.Moves
	row := []table.Cell{table.Text(v.Name), table.Text(strings.Join(v.Hosts(), ", ")), table.Known(v.VCPUs() > 0, table.Number(v.VCPUs())), table.Seconds(v.Ran()), share(v.Out.Locality()), {}, {},
		share(v.Out.FarShare()), share(v.Out.ReadyShare()), share(v.Out.CoStopShare()), table.MB(meanSwapped(v)),
		table.Number(float64(m.All)), table.Number(float64(m.Balance + m.LoadSwap)), table.Number(float64(m.Locality + m.LocalitySwap)), table.Number(float64(m.Fairness))}
	if l := v.Least(); l != nil {
		row[5], row[6] = leastCell(l), table.Time(l.Least.Time)
	}
	if p := v.Speed; p != nil {
		row = append(row, ratio(p.Mean), ratio(p.Low), ratio(p.High), ratio(p.Worst), table.Time(p.WorstAt), table.Percent(p.Far), table.YesNo(p.Extrapolated), table.Joined(p.Why), table.Text(p.Workload))
	} else {
		row = append(row, make([]table.Cell, 9)...)
	}
	if p := v.Took; p != nil {
		row = append(row, table.MB(p.Swapped), table.MB(p.Balloon), table.Number(float64(p.Unpriced)))
	} else {
		row = append(row, make([]table.Cell, 3)...)
	}
	return slices.Concat(row, []table.Cell{table.YesNo(!s.Stated(v))}, answer.Counts(v.Findings), answer.Said(v.Findings), []table.Cell{table.Text(v.ID)})
}

// meanSwapped returns the mean swapped memory of a VM.
func meanSwapped(v *simulation.VM) numa.Bytes {
	return numa.Bytes(v.Out.Swapped/max(v.Out.Steps, 1)) * numa.PageSize
}

// ratio returns a performance index, rounded to four decimals.
func ratio(n float64) table.Cell { return table.Number(float64(int(n*10000+0.5)) / 10000) }

// speedData has one row for each moment with a computed speed of a VM.
func speedData(vms []*simulation.VM) table.Table {
	columns := []table.Column{table.Col("VM", 24), table.Col("Time", 22), table.Col("Performance", 11), table.Col("Performance low", 14), table.Col("Performance high", 14), table.Col("VM ID", 14)}
	of := func(v *simulation.VM) []simulate.SpeedPoint {
		if v.Speed == nil {
			return nil
		}
		return v.Speed.Points
	}
	return table.Within("speed", columns, vms, of, func(v *simulation.VM, p *simulate.SpeedPoint) []table.Cell {
		return []table.Cell{table.Text(v.Name), table.Time(p.Time), ratio(p.Value), ratio(p.Low), ratio(p.High), table.Text(v.ID)}
	})
}

// storyData has one row for each line of the story.
func storyData(happened []simulation.Happening) table.Table {
	columns := []table.Column{table.Col("From", 22), table.Col("To", 22), table.Col("By", 10), table.Col("Host", 20), table.Col("What", 80), table.Col("Followed", 60), table.Col("Note", 60), table.Col("Rules", 18)}
	return table.Each("story", columns, happened, func(h simulation.Happening) []table.Cell {
		kind := "scheduler"
		if h.Event {
			kind = "event"
		}
		return []table.Cell{table.Time(h.From), table.Time(h.To), table.Text(kind), table.Text(h.Host), table.Text(h.Text), table.Text(h.Followed), table.Text(h.Note), table.Text(strings.Join(h.Rules, " "))}
	})
}

// decisionData has one row per decision.
func decisionData(s *simulation.Judged, all []*scheduler.Decision) table.Table {
	number := func(n *int) table.Cell {
		if n == nil {
			return table.Cell{}
		}
		return table.Number(*n)
	}
	columns := []table.Column{table.Col("Time", 22), table.Col("Host", 20), table.Col("VM", 24), table.Col("Client", 7), table.Col("Decision", 22), table.Col("From node", 9), table.Col("To node", 9), table.Col("With VM", 24),
		table.Col("From host", 20), table.Col("Why", 80), table.Col("Rules", 18), table.Col("VM ID", 14)}
	return table.Each("decisions", columns, all, func(d *scheduler.Decision) []table.Cell {
		one := s.Decision(d)
		return []table.Cell{table.Time(one.Time), table.Text(one.Host), table.Text(one.VM), number(one.Client), table.Text(one.Decision), number(one.From), number(one.To),
			table.Text(one.WithVM), table.Text(one.FromHost), table.Text(one.Why), table.Text(strings.Join(one.Rules, " ")), table.Text(one.VMID)}
	})
}
