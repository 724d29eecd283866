package recording

import (
	"slices"
	"strings"
	"time"

	"homenode/esxi/scheduler"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/table"
	"homenode/rules/finding"
	"homenode/rules/simulate"
	verdict "homenode/rules/verdict/recording"
)

// simulatedTables returns the tables of a simulation for spreadsheets and scripts.
func (r *report) simulatedTables(a *answer.Answer, happened []verdict.Happening) []table.Table {
	f := a.Findings
	every, _ := r.sim.Decisions("", "") // no name can be wrong
	all := []table.Table{f.FindingTable(), simulatedData(r.sim, r.sim.Order), r.hostData(), decisionData(r.sim, every), speedData(r.sim.Order), storyData(happened),
		lifeData("lives", r.VMs), r.nodeData(), r.changeData(), f.SuppressedTable(), f.RuleTable(), a.NoteTable(), r.about(a)}
	for i := range all {
		all[i] = marked(all[i])
	}
	return all
}

// marked returns a table of which every row says that it was simulated.
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

// simulatedData has a row for each of these VMs.
func simulatedData(s *verdict.Simulation, vms []*verdict.SimulatedVM) table.Table {
	return table.Table{
		Name: "vms", Len: len(vms), Columns: slices.Concat([]table.Column{
			table.Col("VM", 24), table.Col("Hosts", 30), table.Col("vCPUs", 7), table.Col("Ran seconds", 12), table.Col("Mean N%L", 10), table.Col("Least N%L", 10), table.Col("Least N%L at", 22), table.Col("Far %", 8), table.Col("Ready %", 8), table.Col("Co-stop %", 9),
			table.Col("Mean swapped MiB", 14), table.Col("Migrations", 11), table.Col("For load", 9), table.Col("For locality", 12), table.Col("For fairness", 12),
			table.Col("Performance", 11), table.Col("Performance low", 14), table.Col("Performance high", 14), table.Col("Performance worst", 15), table.Col("Performance worst at", 22), table.Col("Far accesses %", 12), table.Col("Extrapolated", 12), table.Col("Extrapolated why", 60), table.Col("Workload", 12),
			table.Col("Most swapped MiB", 14), table.Col("Most ballooned MiB", 14), table.Col("Moments without price", 12), table.Col("Load assumed", 12),
		}, answer.CountColumns, answer.SaidColumns, []table.Column{table.Col("VM ID", 14)}),
		Rows: func(yield func([]table.Cell) bool) {
			for _, v := range vms {
				if !yield(simulatedRow(s, v)) {
					return
				}
			}
		},
	}
}

func simulatedRow(s *verdict.Simulation, v *verdict.SimulatedVM) []table.Cell {
	share := func(n float64, ok bool) table.Cell { return table.Known(ok, table.Percent(n)) }
	m := &v.Out.Moves
	row := []table.Cell{table.Text(v.Name), table.Text(strings.Join(v.Hosts(), ", ")), table.Known(v.VCPUs() > 0, table.Number(v.VCPUs())), table.Seconds(v.Ran()), share(v.Mean()), {}, {},
		share(v.Far()), share(v.Waited()), share(v.Stopped()), table.MiB(meanSwapped(v)),
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
		row = append(row, table.MiB(p.Swapped), table.MiB(p.Balloon), table.Number(float64(p.Unpriced)))
	} else {
		row = append(row, make([]table.Cell, 3)...)
	}
	return slices.Concat(row, []table.Cell{table.YesNo(!s.Stated(v))}, answer.Counts(v.Findings), answer.Said(v.Findings), []table.Cell{table.Text(v.ID)})
}

// meanSwapped returns how much of the memory of a VM was swapped, on average over its time.
func meanSwapped(v *verdict.SimulatedVM) numa.Bytes {
	return numa.Bytes(v.Out.Swapped/max(v.Out.Steps, 1)) * numa.PageSize
}

// ratio returns a performance index with four digits.
func ratio(n float64) table.Cell { return table.Number(float64(int(n*10000+0.5)) / 10000) }

// speedData has a row for each moment at which the speed of one of these VMs was computed.
func speedData(vms []*verdict.SimulatedVM) table.Table {
	n := 0
	for _, v := range vms {
		if v.Speed != nil {
			n += len(v.Speed.Points)
		}
	}
	return table.Table{
		Name: "speed", Len: n, Columns: []table.Column{table.Col("VM", 24), table.Col("Time", 22), table.Col("Performance", 11), table.Col("Performance low", 14), table.Col("Performance high", 14), table.Col("VM ID", 14)},
		Rows: func(yield func([]table.Cell) bool) {
			for _, v := range vms {
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

// storyData has a row for each line of what happened.
func storyData(happened []verdict.Happening) table.Table {
	var rows [][]table.Cell
	for _, h := range happened {
		kind := "scheduler"
		if h.Event {
			kind = "event"
		}
		rows = append(rows, []table.Cell{table.Time(h.From), table.Time(h.To), table.Text(kind), table.Text(h.Host), table.Text(h.Text), table.Text(h.Followed), table.Text(h.Note), table.Text(strings.Join(h.Rules, " "))})
	}
	return table.Of("story", []table.Column{table.Col("From", 22), table.Col("To", 22), table.Col("By", 10), table.Col("Host", 20), table.Col("What", 80), table.Col("Followed", 60), table.Col("Note", 60), table.Col("Rules", 18)}, rows)
}

// decisionData has a row for each decision.
func decisionData(s *verdict.Simulation, all []*scheduler.Decision) table.Table {
	number := func(n *int) table.Cell {
		if n == nil {
			return table.Cell{}
		}
		return table.Number(*n)
	}
	return table.Table{
		Name: "decisions", Len: len(all), Columns: []table.Column{table.Col("Time", 22), table.Col("Host", 20), table.Col("VM", 24), table.Col("Client", 7), table.Col("Decision", 22), table.Col("From node", 9), table.Col("To node", 9), table.Col("With VM", 24),
			table.Col("From host", 20), table.Col("Why", 80), table.Col("Rules", 18), table.Col("VM ID", 14)},
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

// A simulatedResult is the JSON of a simulation.
type simulatedResult struct {
	result
	Judged    bool                `json:"judged"`
	Story     storyJSON           `json:"story"`
	Happened  []verdict.Happening `json:"happened"`
	Lives     []simulatedJSON     `json:"simulatedVMs"`
	Decisions []verdict.Decision  `json:"decisions"`
}

type storyJSON struct {
	Name    string    `json:"name"`
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"`
	Every   float64   `json:"everySeconds"`
	Seed    uint64    `json:"seed"`
	Hosts   int       `json:"hosts"`
	VMs     int       `json:"vms"`
	Model   string    `json:"model"`
	Assumed int       `json:"vmsWithAssumedLoad"`
	Load    string    `json:"assumedLoad,omitempty"`
	Ticks   int64     `json:"clientTicks"`
}

type simulatedJSON struct {
	VM      string     `json:"vm"`
	VMID    string     `json:"vmId"`
	Hosts   []string   `json:"hosts"`
	VCPUs   int        `json:"vcpus,omitempty"`
	Seconds float64    `json:"seconds"`
	Mean    *float64   `json:"meanLocality,omitempty"`
	Far     *float64   `json:"farShare,omitempty"`
	Ready   *float64   `json:"readyShare,omitempty"`
	CoStop  *float64   `json:"coStopShare,omitempty"`
	Swapped numa.Bytes `json:"meanSwappedBytes"`
	// At the moment at which their sum was most, and how many moments have no price for it.
	MostSwapped numa.Bytes      `json:"mostSwappedBytes,omitempty"`
	MostBalloon numa.Bytes      `json:"mostBalloonedBytes,omitempty"`
	Unpriced    int             `json:"unpricedMoments,omitempty"`
	Moves       numa.Moves      `json:"migrations"`
	Speed       *simulate.Speed `json:"performance,omitempty"`
	Rules       []string        `json:"rules"`
}

// lifeJSON is one stay of a VM on a host, with what was found and what was not.
type lifeJSON struct {
	Host string `json:"host"`
	vmJSON
	Findings []*finding.Finding `json:"findings"`
}

func (r *report) simulatedResult(happened []verdict.Happening) simulatedResult {
	every, _ := r.sim.Decisions("", "")
	j := simulatedResult{result: r.result(), Judged: r.sim.Watched != nil, Story: r.storyJSON(), Happened: list(happened), Lives: []simulatedJSON{}, Decisions: decisions(r.sim, every)}
	j.Inventory = "" // it is the story
	j.VMs, j.Hosts = len(r.sim.Order), len(r.sim.Story.Fleet.Hosts)
	for _, v := range r.sim.Order {
		j.Lives = append(j.Lives, simulatedOf(v, false))
	}
	return j
}

func (r *report) storyJSON() storyJSON {
	s, story := r.sim, r.sim.Story
	return storyJSON{Name: story.Name, Start: story.Start, Seconds: story.Length.Seconds(), Every: story.Every.Seconds(), Seed: story.Seed, Hosts: len(story.Fleet.Hosts),
		VMs: len(s.Order), Model: model(s), Assumed: len(s.Assumed()), Load: assumed(s), Ticks: s.Outcome.ClientTicks}
}

// simulatedOf returns the JSON of a VM, with points also its speed at every moment.
func simulatedOf(v *verdict.SimulatedVM, points bool) simulatedJSON {
	number := func(share float64, ok bool) *float64 {
		if !ok {
			return nil
		}
		return &share
	}
	j := simulatedJSON{VM: v.Name, VMID: v.ID, Hosts: list(v.Hosts()), VCPUs: v.VCPUs(), Seconds: v.Ran().Seconds(), Mean: number(v.Mean()), Far: number(v.Far()),
		Ready: number(v.Waited()), CoStop: number(v.Stopped()), Swapped: meanSwapped(v), Moves: v.Out.Moves, Rules: []string{}}
	for _, f := range v.Findings {
		if !slices.Contains(j.Rules, f.Rule) {
			j.Rules = append(j.Rules, f.Rule)
		}
	}
	if p := v.Took; p != nil {
		j.MostSwapped, j.MostBalloon, j.Unpriced = p.Swapped, p.Balloon, p.Unpriced
	}
	if v.Speed != nil {
		speed := *v.Speed
		if !points {
			speed.Points = nil
		}
		j.Speed = &speed
	}
	return j
}
