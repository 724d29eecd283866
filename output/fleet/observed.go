package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/rule"
	judged "example.org/homenode/rules/verdict/fleet"
)

// mostObserved is the maximum number of observations on a page.
const mostObserved = 200

// seenColumns are the columns of an observation.
var seenColumns = []answer.Column{{Name: "Seen by"}, {Name: "When"}, {Name: "What"}, {Name: "Observed"}, {Name: "Predicted"}, {Name: "Compared"}}

// A seen is an observation of a VM. Its name is "" in the table of one VM.
type seen struct {
	vm string
	*confront.Result
}

// observedTable compares observations with predictions, one row per quantity. Differences come first.
func observedTable(r *rules.Result, n judged.Observed) answer.Table {
	t := answer.Table{
		Name: "observed", Title: "Observed beside predicted", Lead: n.String() + ".", Long: true, Folded: true,
		Columns: append([]answer.Column{{Name: "VM"}}, seenColumns...),
	}
	var all []seen
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			for i := range v.Seen {
				all = append(all, seen{v.Name, &v.Seen[i]})
			}
		}
	}
	order := map[string]int{"differs": 0, "not compared": 1, "agrees": 2}
	slices.SortStableFunc(all, func(a, b seen) int { return cmp.Compare(order[a.Verdict()], order[b.Verdict()]) })
	if cut := len(all) - mostObserved; cut > 0 {
		all = all[:mostObserved]
		t.Cut = words.Verb(cut, "more observation is", "more observations are") + " not listed here: --format json holds everything."
	}
	for _, s := range all {
		t.Rows = append(t.Rows, s.rows()...)
	}
	return t
}

func (s seen) rows() (rows [][]answer.Cell) {
	o := s.Observation
	fields := s.Fields
	if !s.Comparable() {
		fields = []confront.Field{{Name: "–", Observed: "–", Predicted: "–", Agrees: true}}
	}
	compared := s.Verdict()
	for _, remark := range remarks(s.Result) {
		compared += "; " + remark
	}
	for i, f := range fields {
		head := make([]answer.Cell, 3)
		if i == 0 {
			head = []answer.Cell{{Text: s.vm}, {Text: string(o.By) + ", " + o.At}, {Text: strings.TrimSpace(minute(o) + " " + string(o.Start))}}
		}
		if s.vm == "" {
			head = head[1:]
		}
		rows = append(rows, append(head, answer.Cell{Text: f.Name}, answer.Cell{Text: f.Observed}, answer.Cell{Text: f.Predicted, Tone: toneIf(!f.Agrees)}, answer.Cell{Text: compared}))
		compared = ""
	}
	return rows
}

// remarks lists further data about an observation: its basis, the location of memory, other settings of the VM at that
// time, changes that would make the prediction agree, and the parts that were not compared.
func remarks(s *confront.Result) []string {
	var out []string
	if s.Host != "" {
		out = append(out, fmt.Sprintf("beside the prediction for %s, %s", s.Host, s.Event))
	}
	if memory := seenMemory(s); memory != "" {
		out = append(out, memory)
	}
	out = append(out, inside(s.Observation)...)
	for _, o := range s.Other {
		out = append(out, "ran with "+o.Name+" = "+o.Observed+"; the inventory has "+o.Inventory)
	}
	return append(append(out, s.Reasons...), s.Open...)
}

// seenFields lists the observed values, with the predicted ones if they differ.
func seenFields(s *confront.Result) string {
	var parts []string
	for _, f := range s.Fields {
		text := f.Name + " " + f.Observed
		if !f.Agrees {
			text += ", predicted " + f.Predicted
		}
		parts = append(parts, text)
	}
	if memory := seenMemory(s); memory != "" {
		parts = append(parts, memory)
	}
	return strings.Join(append(parts, inside(s.Observation)...), "; ")
}

// seenMemory describes the location of memory: "memory 96 GB local, 32 GB remote (N%L 75 %)"; "" if it is unknown.
func seenMemory(s *confront.Result) string {
	var l *vnuma.Layout
	if s.Comparable() {
		l = &s.Layout
	}
	if text := rule.SeenMemory(s.Observation, l); text != "" {
		return "memory " + text
	}
	return ""
}

// inside describes the latencies measured in the guest.
func inside(o *numa.Observation) (out []string) {
	for _, f := range o.Far.Value {
		out = append(out, fmt.Sprintf("%s of the pages (%s) are far, 95 %% interval %s to %s: found from inside, fresh pages and page cache only, not N%%L of the VM",
			unit.Share(f.Share), f.Of, unit.Share(f.Low), unit.Share(f.High)))
	}
	if o.Lost.Known() {
		out = append(out, fmt.Sprintf("at least %s of the time was lost to the host", unit.Share(o.Lost.Value)))
	}
	return out
}

// minute formats the time of an observation in UTC, because logs of several hosts have different time zones. Text that is
// not RFC 3339 remains unchanged.
func minute(o *numa.Observation) string {
	t, ok := o.Instant()
	if !ok {
		return o.Time
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// An observationRow is one observation of a VM with the prediction. On KVM it is one quantity of an observation with the
// definition.
type observationRow struct {
	*numa.Observation
	vm      *numa.VM
	cluster string
	host    string
	beside  *confront.Result // nil on KVM

	what, seen, wanted, compared string
}

// observationFields are the columns of the table of observations.
var observationFields = []answer.Field[*observationRow]{
	{Name: "VM", Width: 24, Cell: func(r *observationRow) table.Cell { return table.Text(r.vm.Name) }},
	{Name: "Cluster", Width: 16, Only: predicted, Cell: func(r *observationRow) table.Cell { return table.Text(r.cluster) }},
	{Name: "Host", Width: 20, Only: stated, Cell: func(r *observationRow) table.Cell { return table.Text(r.host) }},
	{Name: "By", Width: 12, Cell: func(r *observationRow) table.Cell { return table.Text(string(r.By)) }, Head: "seen by"},
	{Name: "Time", Width: 22, Cell: func(r *observationRow) table.Cell { return table.Text(r.Time) }},
	{Name: "Start", Width: 14, Only: predicted, Cell: func(r *observationRow) table.Cell { return table.Text(string(r.Start)) }},
	{Name: "What", Width: 20, Only: stated, Cell: func(r *observationRow) table.Cell { return table.Text(r.what) }, Head: "what"},
	besideField("Verdict", 13, func(s *confront.Result) table.Cell { return table.Text(s.Verdict()) }),
	besideField("Observed", 60, func(s *confront.Result) table.Cell { return table.Text(seenFields(s)) }),
	{Name: "Observed", Width: 60, Only: stated, Cell: func(r *observationRow) table.Cell { return table.Text(r.seen) }, Head: "observed"},
	{Name: "Stated", Width: 20, Only: stated, Cell: func(r *observationRow) table.Cell { return table.Text(r.wanted) }, Head: "stated"},
	{Name: "Verdict", Width: 20, Only: stated, Cell: func(r *observationRow) table.Cell { return table.Text(r.compared) }, Head: "compared"},
	besideField("Predicted for", 20, func(s *confront.Result) table.Cell { return table.Text(s.Host) }),
	besideField("Event", 16, func(s *confront.Result) table.Cell { return table.Known(s.Host != "", table.Text(s.Event.String())) }),
	besideField("Reasons", 60, func(s *confront.Result) table.Cell { return table.Joined(s.Reasons) }),
	besideField("Other settings", 40, func(s *confront.Result) table.Cell {
		var other []string
		for _, one := range s.Other {
			other = append(other, one.Name+" = "+one.Observed+" (inventory: "+one.Inventory+")")
		}
		return table.Joined(other)
	}),
	besideField("Not compared", 40, func(s *confront.Result) table.Cell { return table.Joined(s.Open) }),
	{Name: "VM ID", Width: 14, Cell: func(r *observationRow) table.Cell { return table.Text(r.vm.ID) }},
	{Name: "Read at", Width: 40, Cell: func(r *observationRow) table.Cell { return table.Text(r.At) }, Head: "read at"},
}

// besideField is a column about an observation with a prediction.
func besideField(name string, width int, of func(*confront.Result) table.Cell) answer.Field[*observationRow] {
	return answer.Field[*observationRow]{Name: name, Width: width, Only: predicted, Cell: func(r *observationRow) table.Cell { return of(r.beside) }}
}

// observations has one row per observation of a VM.
func (x *index) observations() table.Table {
	var rows []*observationRow
	for _, c := range x.Clusters {
		for _, v := range c.VMs {
			for i := range v.Seen {
				rows = append(rows, &observationRow{Observation: v.Seen[i].Observation, vm: v.VM, cluster: c.Title(), beside: &v.Seen[i]})
			}
		}
	}
	for _, v := range x.Stated {
		rows = append(rows, statedSeen(v)...)
	}
	return answer.File("observations", answer.Of(x.kind(), observationFields), len(rows), slices.Values(rows))
}

// statedSeen returns the observations of a KVM VM with its definition.
func statedSeen(v *rule.StatedVM) (out []*observationRow) {
	for i := range v.Observed {
		o := &v.Observed[i]
		add := func(what, seen, wanted, compared string) {
			out = append(out, &observationRow{Observation: o, vm: v.VM, host: hostName(v), what: what, seen: seen, wanted: wanted, compared: compared})
		}
		if o.OnNode.Known() {
			compared, wanted := "nothing to compare", "any node"
			if far, all, home, ok := v.Stated.RemoteOf(v.Host, o); ok {
				wanted = rule.NodeList(home)
				compared = fmt.Sprintf("%s of it is remote", words.Percent(float64(far)/float64(all)))
			}
			add("memory", rule.OnNodes(o.OnNode.Value), wanted, compared)
		}
		for _, c := range rule.CompareStated(v.Stated, o) {
			compared := "agrees"
			if !c.Agrees {
				compared = "differs"
			}
			add(c.Name, c.Observed, c.Predicted, compared)
		}
	}
	return out
}
