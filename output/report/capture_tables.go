package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rule"
	"homenode/rules"
)

// CaptureTableNames lists the tables that CaptureTables returns, in their order.
func CaptureTableNames() []string {
	var names []string
	for _, t := range CaptureTables(&rules.Watched{}, "") {
		names = append(names, t.Name)
	}
	return names
}

// CaptureTables returns judged recordings as tables. version is that of homenode.
func CaptureTables(w *rules.Watched, version string) []Table {
	return newCaptured(w).tables(version)
}

func (c *captured) tables(version string) []Table {
	j := c.judged
	return []Table{findingTable(j), c.vmTable(), c.nodeTable(), c.hostTable(), c.changeTable(), c.fileTable(), suppressedTable(j), ruleTable(j), noteTable(j), c.aboutTable(version)}
}

// seconds returns a length of time.
func seconds(d time.Duration) Cell { return numberOf(d.Seconds()) }

// known returns the cell when ok.
func known(ok bool, c Cell) Cell {
	if !ok {
		return Cell{}
	}
	return c
}

// mibKnown returns an amount, unknown when it is 0: a VM or node without memory is none.
func mibKnown(b numa.Bytes) Cell { return known(b > 0, mib(b)) }

func levelCells(l *capture.Level) []Cell {
	mean, hasMean := l.Mean()
	peak, hasPeak := l.Peak()
	return []Cell{known(hasMean, percentOf(mean)), known(hasPeak, percentOf(peak)), timeOf(l.At)}
}

// spellColumns describe Spells under a name.
func spellColumns(name, worst string) []Column {
	return []Column{{name, 8}, {name + " seconds", 12}, {name + " longest from", 22}, {name + " longest to", 22}, {name + " " + worst, 14}}
}

func spellCells(s *capture.Spells, worst func(float64) Cell) []Cell {
	return []Cell{numberOf(s.Count), seconds(s.Time), timeOf(s.Longest.From), timeOf(s.Longest.To), known(s.Count > 0, worst(s.Longest.Worst))}
}

// vmTable has a row for each life of a VM, by host and name.
func (c *captured) vmTable() Table {
	columns := slices.Concat([]Column{
		{"VM", 24}, {"Host", 20}, {"GID", 10}, {"Nth", 5}, {"vCPUs", 7}, {"Memory MiB", 12}, {"First", 22}, {"Last", 22}, {"Ticks", 8}, {"Present seconds", 14},
		{"Appeared", 9}, {"Left", 7}, {"Home nodes", 30}, {"Home node changes", 16}, {"Returns", 8}, {"Migrations", 11},
		{"Least N%L", 10}, {"Least N%L at", 22}, {"Mean N%L", 10}, {"Most remote MiB", 14}, {"Most remote at", 22}, {"Mean remote MiB", 14}, {"Last local MiB", 13}, {"Last remote MiB", 14},
	}, spellColumns("Low N%L", "least N%L"), spellColumns("Much remote", "most MiB"), []Column{
		{"Ready mean %", 12}, {"Ready max %", 12}, {"Ready max at", 22}, {"Co-stop mean %", 13}, {"Co-stop max %", 13}, {"Co-stop max at", 22}, {"Used mean %", 12}, {"Used max %", 12}, {"Used max at", 22},
	}, countColumns, saidColumns, []Column{{"Predicted clients", 16}, {"Predicted guest nodes", 19}, {"Predicted home nodes", 19}, {"VM ID", 14}})
	return Table{
		Name: "vms", Columns: columns, Len: len(c.vms),
		Rows: func(yield func([]Cell) bool) {
			for _, v := range c.vms {
				if !yield(v.row()) {
					return
				}
			}
		},
	}
}

func (v *capturedVM) row() []Cell {
	mean, hasMean := rule.MeanLocality(v.VM)
	meanRemote, hasRemote := v.Remote.Mean(v.Managed)
	hasLeast := v.Least.Local+v.Least.Remote > 0
	least := Cell{}
	if hasLeast {
		least = percentOf(leastLocality(v.VM))
	}
	row := []Cell{
		textOf(v.Name), textOf(v.rec.Host), gidOf(v.GID, true), numberOf(v.Nth), known(v.VCPUs > 0, numberOf(v.VCPUs)), mibKnown(v.Size), timeOf(v.First), timeOf(v.Last),
		numberOf(v.Ticks), seconds(v.Present), yesNo(v.Appeared), yesNo(v.Left),
		textOf(homesOf(v.VM)), known(v.HasHomes, numberOf(float64(v.Changed.Total))), known(v.HasHomes, numberOf(float64(v.Returns.Total))), known(v.HasMoves, numberOf(float64(v.Moves.All))),
		least, known(hasLeast, timeOf(v.Least.Time)), known(hasMean, percentOf(mean)), known(v.HasMemory, mib(v.Remote.Most)), known(v.HasMemory, timeOf(v.Remote.At)),
		known(hasRemote, mib(meanRemote)), known(v.HasMemory, mib(v.LastLocal)), known(v.HasMemory, mib(v.LastRemote)),
	}
	row = slices.Concat(row, memorySpells(v.HasMemory, spellCells(&v.Low, percentOf)), memorySpells(v.HasMemory, spellCells(&v.Far, func(b float64) Cell { return mib(numa.Bytes(b)) })),
		levelCells(&v.Ready), levelCells(&v.CoStop), levelCells(&v.Used), counts(v.findings), said(v.findings))
	if v.inFleet == nil || len(v.inFleet.On) == 0 {
		return append(row, Cell{}, Cell{}, Cell{}, Cell{})
	}
	l := &v.inFleet.On[0].Layout
	return append(row, numberOf(l.PPDs.Len()), numberOf(l.VPDs.Len()), numberOf(l.HomeNodes), textOf(v.inFleet.ID))
}

// memorySpells leaves spells of a VM without known memory unknown.
func memorySpells(has bool, cells []Cell) []Cell {
	if !has {
		return make([]Cell, len(cells))
	}
	return cells
}

// nodeTable has a row for each NUMA node.
func (c *captured) nodeTable() Table {
	var rows [][]Cell
	for _, rec := range c.Recordings {
		for i := range rec.Nodes {
			n := &rec.Nodes[i]
			rows = append(rows, slices.Concat([]Cell{textOf(rec.Host), numberOf(n.ID), mibKnown(n.Total)}, levelCells(&n.Busy), []Cell{
				known(n.Least >= 0, mib(n.Least)), known(n.Least >= 0, timeOf(n.LeastAt)), known(n.LastFree >= 0, mib(n.LastFree))}))
		}
	}
	return tableOf("nodes", []Column{{"Host", 20}, {"Node", 6}, {"Memory MiB", 12}, {"Busy mean %", 11}, {"Busy max %", 11}, {"Busy max at", 22},
		{"Least free MiB", 14}, {"Least free at", 22}, {"Last free MiB", 13}}, rows)
}

// hostTable has a row for each recorded host.
func (c *captured) hostTable() Table {
	var rows [][]Cell
	for _, rec := range c.Recordings {
		row := []Cell{
			textOf(rec.Host), textOf(strings.Join(filesOf(rec), ", ")), timeOf(rec.First), timeOf(rec.Last), numberOf(rec.Ticks), seconds(rec.Covered),
			numberOf(max(0, (rec.Last.Sub(rec.First) - rec.Covered).Seconds())), known(len(rec.Nodes) > 0, numberOf(len(rec.Nodes))), numberOf(countVMs(c.of(rec))), known(movesOf(rec) != "", numberOf(float64(rec.Moves.Total))),
			mibKnown(rec.MinFree),
		}
		for _, d := range rec.States {
			row = append(row, known(rec.HasStates, seconds(d)))
		}
		row = append(row, spellCells(&rec.Imbalance, percentOf)...)
		rows = append(rows, slices.Concat(row, []Cell{textOf(strings.Join(rec.Lacks, ", "))}, counts(c.hosts[rec]), said(c.hosts[rec])))
	}
	columns := []Column{{"Host", 20}, {"Files", 30}, {"First", 22}, {"Last", 22}, {"Ticks", 8}, {"Covered seconds", 14}, {"Without ticks seconds", 19}, {"NUMA nodes", 11}, {"VMs", 6}, {"Migrations", 11}, {"MinFree MiB", 12}}
	for s := numa.High; s <= numa.Low; s++ {
		columns = append(columns, Column{"State " + s.String() + " seconds", 14})
	}
	return tableOf("hosts", slices.Concat(columns, spellColumns("Node overloaded beside idle one", "difference %"), []Column{{"Lacks", 40}}, countColumns, saidColumns), rows)
}

func filesOf(rec *capture.Recording) []string {
	var names []string
	for _, f := range rec.Files {
		names = append(names, f.Name)
	}
	return names
}

// changeTable has a row for each change of home nodes that was kept.
func (c *captured) changeTable() Table {
	n := 0
	for _, v := range c.vms {
		n += len(v.Changes)
	}
	return Table{
		Name: "changes", Columns: []Column{{"VM", 24}, {"Host", 20}, {"GID", 10}, {"Nth", 5}, {"Time", 22}, {"From", 12}, {"To", 12}}, Len: n,
		Rows: func(yield func([]Cell) bool) {
			for _, v := range c.vms {
				for _, ch := range v.Changes {
					if !yield([]Cell{textOf(v.Name), textOf(v.rec.Host), gidOf(v.GID, true), numberOf(v.Nth), timeOf(ch.Time), textOf(nodesText(ch.From)), textOf(nodesText(ch.To))}) {
						return
					}
				}
			}
		},
	}
}

// fileTable has a row for each file of each host.
func (c *captured) fileTable() Table {
	var rows [][]Cell
	for _, rec := range c.Recordings {
		for _, f := range rec.Files {
			rows = append(rows, []Cell{textOf(f.Name), textOf(rec.Host), textOf(f.Format), timeOf(f.First), timeOf(f.Last), numberOf(f.Ticks), numberOf(len(f.Warnings)), joined(f.Warnings)})
		}
	}
	return tableOf("files", []Column{{"File", 40}, {"Host", 20}, {"Format", 20}, {"First", 22}, {"Last", 22}, {"Ticks", 8}, {"Warnings", 9}, {"Warned of", 60}}, rows)
}

// aboutTable says what the other tables are about.
func (c *captured) aboutTable(version string) Table {
	verdict, rest := c.verdict()
	row := func(name string, cell Cell) []Cell { return []Cell{textOf(name), cell} }
	rows := [][]Cell{
		row("Verdict", textOf(strings.TrimSpace(verdict+" "+rest))), row("Files", textOf(c.source())), row("First", timeOf(c.first)), row("Last", timeOf(c.last)),
		row("homenode", textOf(version)), row("Hosts", numberOf(len(c.Recordings))), row("VMs", numberOf(countVMs(c.vms))), row("Findings", numberOf(len(c.Findings))),
		row("Findings suppressed", numberOf(len(c.Suppressed))), row("Notes", numberOf(len(c.judged.notes()))),
	}
	rows = append(rows, row("Times", textOf("UTC")))
	if c.Fleet != nil {
		rows = append(rows, row("Inventory", textOf(fmt.Sprintf("%s: %s", c.Fleet.Fleet.Source, c.joinedText()))))
	}
	return tableOf("about", []Column{{"What", 26}, {"Value", 80}}, rows)
}
