package recording

import (
	"fmt"
	"slices"
	"strconv"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/timeline"
	verdict "example.org/homenode/rules/verdict/recording"
)

// mostRows is the maximum number of hosts, VMs or nodes in the overview, the worst first.
// fewHosts is the maximum number of simulated hosts whose nodes it lists.
const (
	mostRows = 15
	fewHosts = 6
)

// columns is answer.Columns.
var columns = answer.Columns

// short returns a table of the first rows and, if that omits some, also the complete table for
// pages.
func short[T any](rows []T, first int, cut string, of func([]T) answer.Table) []answer.Table {
	if len(rows) == 0 {
		return nil
	}
	t := of(rows[:first])
	if first == len(rows) {
		return []answer.Table{t}
	}
	t.Cut = cut
	return []answer.Table{t, {Name: t.Name, Columns: t.Columns, Lead: t.Lead, Foot: t.Foot, Long: true, Fill: func() [][]answer.Cell { return of(rows).Rows }}}
}

// overview returns the table for the overview, limited to most rows.
func overview[T any](r *report, rows []T, most int, noun string, of func([]T) answer.Table) []answer.Table {
	first := len(rows)
	if first > most+1 && !r.o.Details {
		first = most
	}
	return short(rows, first, fmt.Sprintf("%s more %ss: --details", words.Thousands(len(rows)-first), noun), of)
}

func (r *report) hosts() []answer.Table {
	return overview(r, r.WeightedHosts(), mostRows, "host", r.hostTable)
}

func (r *report) hostTable(hosts []*capture.Recording) answer.Table {
	t := answer.Table{Name: "hosts", Columns: columns("host", ">nodes", ">VMs", ">ticks", ">every", "covered", "without ticks", ">migrations", "memory state")}
	for _, rec := range hosts {
		t.Rows = append(t.Rows, []answer.Cell{r.link(rec.Host, timeline.HostID(rec)), count(len(rec.Nodes)), number(float64(verdict.CountVMs(r.On(rec))), strconv.Itoa(verdict.CountVMs(r.On(rec)))),
			number(float64(rec.Ticks), words.Thousands(rec.Ticks)), text(every(rec)), number(float64(rec.Covered), words.Duration(rec.Covered)), text(without(rec)),
			number(float64(rec.Moves.Total), moves(rec)), text(states(rec))})
	}
	return t
}

// link returns a name with a link to its drawing, if the page has it.
func (r *report) link(name, id string) answer.Cell {
	c := answer.Cell{Text: name}
	if r.drawn[id] {
		c.Ref = id
	}
	return c
}

func (r *report) vms() []answer.Table {
	least := 3
	if r.o.Details {
		least = len(r.VMs)
	}
	all, first := r.Weighted(len(r.VMs)), len(r.Weighted(least))
	if first > mostRows+1 && !r.o.Details {
		first = mostRows
	}
	return short(all, first, r.more(all, first), r.vmTable)
}

func (r *report) vmTable(vms []*verdict.VM) answer.Table {
	t := answer.Table{Name: "VMs", Lead: "Times are UTC. N%L is in whole percent, truncated as esxtop does; ready and co-stop are of each vCPU."}
	several, expected := len(r.Recordings) > 1, slices.ContainsFunc(r.VMs, func(v *verdict.VM) bool { return v.InFleet != nil })
	t.Columns = columns("VM", ">vCPU", "home nodes", ">N%L least", ">mean", ">remote max", ">migrated", ">ready mean", ">max", ">co-stop max")
	if several {
		t.Columns = slices.Insert(t.Columns, 1, answer.Column{Name: "host"})
	}
	if expected {
		t.Columns = append(t.Columns, answer.Column{Name: "predicted"})
	}
	t.Columns = append(t.Columns, answer.Column{Name: "found"})
	for _, v := range vms {
		least, _ := v.LeastLocality()
		mean, _ := v.VM.MeanLocality()
		row := []answer.Cell{r.link(v.Label, timeline.VMID(v.Rec, v.VM)), count(v.VCPUs), text(homes(v.VM)), number(least, leastText(v)), number(mean, meanText(v)),
			number(float64(v.Remote.Most), remoteText(v)), number(float64(v.Moves.All), migratedText(v.VM)), share(v.Ready.Mean()), share(v.Ready.Peak()), share(v.CoStop.Peak())}
		if several {
			row = slices.Insert(row, 1, answer.Cell{Text: v.Rec.Host})
		}
		if expected {
			row = append(row, text(predicted(v)))
		}
		t.Rows = append(t.Rows, append(row, found(v.Findings)))
	}
	t.Foot = footnotes(r.Weighted(len(r.VMs))) // also of VMs without a row here
	return t
}

// more describes the VMs that a table omits.
func (r *report) more(all []*verdict.VM, first int) string {
	with := slices.DeleteFunc(slices.Clone(all), func(v *verdict.VM) bool { return len(v.Findings) == 0 })
	left := verdict.CountVMs(all) - verdict.CountVMs(all[:first])
	if left == 0 { // VMs that have rows above, of other hosts
		return fmt.Sprintf("and %s: --details", words.Plural(len(all)-first, "more row"))
	}
	text := "and " + words.Plural(left, "more VM")
	if n := verdict.CountVMs(with) - verdict.CountVMs(with[:min(first, len(with))]); n > 0 {
		return fmt.Sprintf("%s, %d of them with findings: --details", text, n)
	}
	return text + " without findings: --details"
}

// footnotes explains the columns about locality, and names the VMs for which they are
// meaningless.
func footnotes(vms []*verdict.VM) (notes []string) {
	var blind, several []string
	mean := false
	for _, v := range vms {
		switch {
		case v.Blind:
			blind = append(blind, v.Label)
		case v.HasMemory && v.SeveralHomes() && v.InFleet == nil:
			several = append(several, v.Label)
		}
		mean = mean || meanText(v) != ""
	}
	if mean {
		notes = append(notes, "MEAN is N%L over the whole time, by memory: local ÷ (local + remote), both added up over time.")
	}
	if slices.ContainsFunc(vms, func(v *verdict.VM) bool { return v.Label != v.Name }) {
		notes = append(notes, "A VM that left a host and came back has a row for each stay; the host gives it another gid each time.")
	}
	if len(blind) > 0 {
		notes = append(notes, words.Few(blind)+": N%L and remote memory are not measurable, the memory is interleaved over the home nodes (M006).")
	}
	if len(several) > 0 {
		notes = append(notes, words.Few(several)+": N%L counts all home nodes as local; with --fleet homenode knows whether the guest can place its memory.")
	}
	return notes
}

// A node is a NUMA node of a recorded host.
type node struct {
	rec *capture.Recording
	*capture.Node
}

func nodesOf(hosts []*capture.Recording) (all []node) {
	for _, rec := range hosts {
		for i := range rec.Nodes {
			all = append(all, node{rec, &rec.Nodes[i]})
		}
	}
	return all
}

func (r *report) nodes() []answer.Table {
	if r.sim != nil { // complete hosts: only they have the last columns
		return overview(r, r.WeightedHosts(), fewHosts, "host", func(hosts []*capture.Recording) answer.Table { return r.nodeTable(nodesOf(hosts)) })
	}
	return overview(r, nodesOf(r.WeightedHosts()), mostRows, "node", r.nodeTable)
}

func (r *report) nodeTable(nodes []node) answer.Table {
	t := answer.Table{Name: "nodes", Columns: columns("host", ">node", ">memory", ">busy mean", ">peak", "peak at", ">least free", "least at")}
	for _, n := range nodes {
		free := number(0, "")
		if n.Least >= 0 {
			free = number(float64(n.Least), n.Least.String())
		}
		row := []answer.Cell{{Text: n.rec.Host}, number(float64(n.ID), strconv.Itoa(n.ID)), memory(n.Total), share(n.Busy.Mean()), share(n.Busy.Peak()),
			text(r.Clock.At(n.Busy.At)), free, text(r.Clock.At(n.LeastAt))}
		switch {
		case r.sim == nil:
		case n.Node == &n.rec.Nodes[0]:
			row = append(row, text(states(n.rec)), text(moveKinds(n.rec)))
		default:
			row = append(row, answer.Cell{}, answer.Cell{})
		}
		t.Rows = append(t.Rows, row)
	}
	if r.sim != nil {
		t.Columns = append(t.Columns, columns("memory state", "migrations")...)
	}
	return t
}

// files lists the input files, on a page.
func (r *report) files() []answer.Table {
	t := answer.Table{Name: "files", Long: true, Columns: columns("file", "host", "format", ">ticks")}
	for _, rec := range r.Recordings {
		for _, f := range rec.Files {
			t.Rows = append(t.Rows, []answer.Cell{{Text: f.Name}, {Text: rec.Host}, {Text: f.Format}, number(float64(f.Ticks), words.Thousands(f.Ticks))})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []answer.Table{t}
}
