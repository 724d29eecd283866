package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/output/table"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/rules/verdict/recording"
)

// CaptureTableNames lists the tables that CaptureTables returns, in their order.
func CaptureTableNames() []string {
	return table.Names(CaptureTables(&rules.Watched{}, ""))
}

// CaptureTables returns judged recordings as tables. version is that of homenode.
func CaptureTables(w *rules.Watched, version string) []table.Table {
	return newCaptured(w).tables(version)
}

func (c *captured) tables(version string) []table.Table {
	j := c.judged
	return []table.Table{findingTable(j), c.vmTable(), c.nodeTable(), c.hostTable(), c.changeTable(), c.fileTable(), suppressedTable(j), ruleTable(j), noteTable(j), c.aboutTable(version)}
}

// seconds returns a length of time.
func seconds(d time.Duration) table.Cell { return table.Number(d.Seconds()) }

// known returns the cell when ok.
func known(ok bool, c table.Cell) table.Cell {
	if !ok {
		return table.Cell{}
	}
	return c
}

// mibKnown returns an amount, unknown when it is 0: a VM or node without memory is none.
func mibKnown(b numa.Bytes) table.Cell { return known(b > 0, mib(b)) }

func levelCells(l *capture.Level) []table.Cell {
	mean, hasMean := l.Mean()
	peak, hasPeak := l.Peak()
	return []table.Cell{known(hasMean, percentOf(mean)), known(hasPeak, percentOf(peak)), table.Time(l.At)}
}

// spellColumns describe Spells under a name.
func spellColumns(name, worst string) []table.Column {
	return []table.Column{column(name, 8), column(name+" seconds", 12), column(name+" longest from", 22), column(name+" longest to", 22), column(name+" "+worst, 14)}
}

func spellCells(s *capture.Spells, worst func(float64) table.Cell) []table.Cell {
	return []table.Cell{table.Number(s.Count), seconds(s.Time), table.Time(s.Longest.From), table.Time(s.Longest.To), known(s.Count > 0, worst(s.Longest.Worst))}
}

// vmTable has a row for each life of a VM, by host and name.
func (c *captured) vmTable() table.Table {
	columns := slices.Concat([]table.Column{
		column("VM", 24), column("Host", 20), column("GID", 10), column("Nth", 5), column("vCPUs", 7), column("Memory MiB", 12), column("First", 22), column("Last", 22), column("Ticks", 8), column("Present seconds", 14),
		column("Appeared", 9), column("Left", 7), column("Home nodes", 30), column("Home node changes", 16), column("Returns", 8), column("Migrations", 11),
		column("Least N%L", 10), column("Least N%L at", 22), column("Mean N%L", 10), column("Most remote MiB", 14), column("Most remote at", 22), column("Mean remote MiB", 14), column("Last local MiB", 13), column("Last remote MiB", 14),
	}, spellColumns("Low N%L", "least N%L"), spellColumns("Much remote", "most MiB"), []table.Column{
		column("Ready mean %", 12), column("Ready max %", 12), column("Ready max at", 22), column("Co-stop mean %", 13), column("Co-stop max %", 13), column("Co-stop max at", 22), column("Used mean %", 12), column("Used max %", 12), column("Used max at", 22),
	}, countColumns, saidColumns, []table.Column{column("Predicted clients", 16), column("Predicted guest nodes", 19), column("Predicted home nodes", 19), column("VM ID", 14)})
	return table.Table{
		Name: "vms", Columns: columns, Len: len(c.VMs),
		Rows: func(yield func([]table.Cell) bool) {
			for _, v := range c.VMs {
				if !yield(vmRow(v)) {
					return
				}
			}
		},
	}
}

func vmRow(v *recording.VM) []table.Cell {
	mean, hasMean := rule.MeanLocality(v.VM)
	meanRemote, hasRemote := v.Remote.Mean(v.Managed)
	_, hasLeast := v.LeastLocality()
	row := []table.Cell{
		table.Text(v.Name), table.Text(v.Rec.Host), gidOf(v.GID, true), table.Number(v.Nth), known(v.VCPUs > 0, table.Number(v.VCPUs)), mibKnown(v.Size), table.Time(v.First), table.Time(v.Last),
		table.Number(v.Ticks), seconds(v.Present), table.YesNo(v.Appeared), table.YesNo(v.Left),
		table.Text(homesOf(v.VM)), known(v.HasHomes, table.Number(float64(v.Changed.Total))), known(v.HasHomes, table.Number(float64(v.Returns.Total))), known(v.HasMoves, table.Number(float64(v.Moves.All))),
		leastCell(v), known(hasLeast, table.Time(v.Least.Time)), known(hasMean, percentOf(mean)), known(v.HasMemory, mib(v.Remote.Most)), known(v.HasMemory, table.Time(v.Remote.At)),
		known(hasRemote, mib(meanRemote)), known(v.HasMemory, mib(v.LastLocal)), known(v.HasMemory, mib(v.LastRemote)),
	}
	row = slices.Concat(row, memorySpells(v.HasMemory, spellCells(&v.Low, percentOf)), memorySpells(v.HasMemory, spellCells(&v.Far, func(b float64) table.Cell { return mib(numa.Bytes(b)) })),
		levelCells(&v.Ready), levelCells(&v.CoStop), levelCells(&v.Used), counts(v.Findings), said(v.Findings))
	if v.InFleet == nil || len(v.InFleet.On) == 0 {
		return append(row, table.Cell{}, table.Cell{}, table.Cell{}, table.Cell{})
	}
	l := &v.InFleet.On[0].Layout
	return append(row, table.Number(l.PPDs.Len()), table.Number(l.VPDs.Len()), table.Number(l.HomeNodes), table.Text(v.InFleet.ID))
}

// memorySpells leaves spells of a VM without known memory unknown.
func memorySpells(has bool, cells []table.Cell) []table.Cell {
	if !has {
		return make([]table.Cell, len(cells))
	}
	return cells
}

// nodeTable has a row for each NUMA node.
func (c *captured) nodeTable() table.Table {
	var rows [][]table.Cell
	for _, rec := range c.Recordings {
		for i := range rec.Nodes {
			n := &rec.Nodes[i]
			rows = append(rows, slices.Concat([]table.Cell{table.Text(rec.Host), table.Number(n.ID), mibKnown(n.Total)}, levelCells(&n.Busy), []table.Cell{
				known(n.Least >= 0, mib(n.Least)), known(n.Least >= 0, table.Time(n.LeastAt)), known(n.LastFree >= 0, mib(n.LastFree))}))
		}
	}
	return table.Of("nodes", []table.Column{column("Host", 20), column("Node", 6), column("Memory MiB", 12), column("Busy mean %", 11), column("Busy max %", 11), column("Busy max at", 22),
		column("Least free MiB", 14), column("Least free at", 22), column("Last free MiB", 13)}, rows)
}

// hostTable has a row for each recorded host.
func (c *captured) hostTable() table.Table {
	var rows [][]table.Cell
	for _, rec := range c.Recordings {
		row := []table.Cell{
			table.Text(rec.Host), table.Text(strings.Join(filesOf(rec), ", ")), table.Time(rec.First), table.Time(rec.Last), table.Number(rec.Ticks), seconds(rec.Covered),
			table.Number(max(0, (rec.Last.Sub(rec.First) - rec.Covered).Seconds())), known(len(rec.Nodes) > 0, table.Number(len(rec.Nodes))), table.Number(recording.CountVMs(c.On(rec))), known(movesOf(rec) != "", table.Number(float64(rec.Moves.Total))),
			mibKnown(rec.MinFree),
		}
		for _, d := range rec.States {
			row = append(row, known(rec.HasStates, seconds(d)))
		}
		row = append(row, spellCells(&rec.Imbalance, percentOf)...)
		rows = append(rows, slices.Concat(row, []table.Cell{table.Text(strings.Join(rec.Lacks, ", "))}, counts(c.OfHost[rec]), said(c.OfHost[rec])))
	}
	columns := []table.Column{column("Host", 20), column("Files", 30), column("First", 22), column("Last", 22), column("Ticks", 8), column("Covered seconds", 14), column("Without ticks seconds", 19), column("NUMA nodes", 11), column("VMs", 6), column("Migrations", 11), column("MinFree MiB", 12)}
	for s := numa.High; s <= numa.Low; s++ {
		columns = append(columns, column("State "+s.String()+" seconds", 14))
	}
	return table.Of("hosts", slices.Concat(columns, spellColumns("Node overloaded beside idle one", "difference %"), []table.Column{column("Lacks", 40)}, countColumns, saidColumns), rows)
}

func filesOf(rec *capture.Recording) []string {
	var names []string
	for _, f := range rec.Files {
		names = append(names, f.Name)
	}
	return names
}

// changeTable has a row for each change of home nodes that was kept.
func (c *captured) changeTable() table.Table {
	n := 0
	for _, v := range c.VMs {
		n += len(v.Changes)
	}
	return table.Table{
		Name: "changes", Columns: []table.Column{column("VM", 24), column("Host", 20), column("GID", 10), column("Nth", 5), column("Time", 22), column("From", 12), column("To", 12)}, Len: n,
		Rows: func(yield func([]table.Cell) bool) {
			for _, v := range c.VMs {
				for _, ch := range v.Changes {
					if !yield([]table.Cell{table.Text(v.Name), table.Text(v.Rec.Host), gidOf(v.GID, true), table.Number(v.Nth), table.Time(ch.Time), table.Text(recording.Nodes(ch.From)), table.Text(recording.Nodes(ch.To))}) {
						return
					}
				}
			}
		},
	}
}

// fileTable has a row for each file of each host.
func (c *captured) fileTable() table.Table {
	var rows [][]table.Cell
	for _, rec := range c.Recordings {
		for _, f := range rec.Files {
			rows = append(rows, []table.Cell{table.Text(f.Name), table.Text(rec.Host), table.Text(f.Format), table.Time(f.First), table.Time(f.Last), table.Number(f.Ticks), table.Number(len(f.Warnings)), joined(f.Warnings)})
		}
	}
	return table.Of("files", []table.Column{column("File", 40), column("Host", 20), column("Format", 20), column("First", 22), column("Last", 22), column("Ticks", 8), column("Warnings", 9), column("Warned of", 60)}, rows)
}

// aboutTable says what the other tables are about.
func (c *captured) aboutTable(version string) table.Table {
	verdict, rest := c.verdict()
	row := func(name string, cell table.Cell) []table.Cell { return []table.Cell{table.Text(name), cell} }
	rows := [][]table.Cell{
		row("Verdict", table.Text(strings.TrimSpace(verdict+" "+rest))), row("Files", table.Text(c.Source())), row("First", table.Time(c.First)), row("Last", table.Time(c.Last)),
		row("homenode", table.Text(version)), row("Hosts", table.Number(len(c.Recordings))), row("VMs", table.Number(recording.CountVMs(c.VMs))), row("Findings", table.Number(len(c.Findings))),
		row("Findings suppressed", table.Number(len(c.Suppressed))), row("Notes", table.Number(len(c.judged.notes()))),
	}
	rows = append(rows, row("Times", table.Text("UTC")))
	if c.Fleet != nil {
		rows = append(rows, row("Inventory", table.Text(fmt.Sprintf("%s: %s", c.Fleet.Fleet.Source, c.joinedText()))))
	}
	return table.Of("about", []table.Column{column("What", 26), column("Value", 80)}, rows)
}

func leastCell(v *recording.VM) table.Cell {
	least, ok := v.LeastLocality()
	return known(ok, percentOf(least))
}
