package guest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/internal/words"
	"homenode/measure/many"
	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/rules/finding"
	"homenode/source/machine"
	"homenode/source/measured"
)

// Fleet returns the results of many guests as an answer, the worst guest first.
func Fleet(r *many.Report) *answer.Answer {
	a := &answer.Answer{Command: "measure fleet", Format: "homenode-measured-fleet", Title: "Measured in " + words.Plural(len(r.Guests), "guest"), Verdict: fleetVerdict(r), Result: r}
	for _, t := range []answer.Table{guests(r), findings(r), doubts(r), broken(r)} {
		if len(t.Rows) > 0 {
			a.Tables = append(a.Tables, t)
		}
	}
	for i := range r.Guests {
		if g := &r.Guests[i]; len(g.Older) > 0 {
			a.Note(newest(g))
		}
	}
	if r.Source != "" {
		for i := range r.Guests {
			if g := &r.Guests[i]; g.VM == nil && !slices.ContainsFunc(r.Notes, func(n numa.Note) bool { return n.At == g.At }) {
				a.Note(fmt.Sprintf("%s is evidence for no VM of %s", g.Name, r.Source))
			}
		}
	}
	a.NotesFrom("source", r.Notes...)
	return a
}

// fleetVerdict states the number of guests in each class, and summarizes the findings about their VMs.
func fleetVerdict(r *many.Report) []string {
	var parts []string
	add := func(c many.Class, text string) {
		if n := r.Count(c); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(many.Remote, "with memory or vCPUs on several nodes of the host that the guest was not told of")
	add(many.NotKnown, "where that is not known")
	add(many.Untrusted, "with figures that cannot be relied on")
	add(many.OneKind, "with one kind of memory")
	out := []string{fmt.Sprintf("Of %s: %s.", words.Plural(len(r.Guests), "guest"), strings.Join(parts, "; "))}
	if len(r.Guests) == 0 {
		out[0] = "No result of a guest was read."
	}
	if len(r.Guests) > 0 {
		if g := &r.Guests[0]; g.Class == many.Remote && g.Share != nil {
			out = append(out, fmt.Sprintf("Most in %s: %s of the pages are remote (95 %% interval %s to %s).", g.Name, unit.Share(g.Share.Remote), unit.Share(g.Share.Low), unit.Share(g.Share.High)))
		}
	}
	if r.Source != "" {
		n := len(slices.DeleteFunc(slices.Clone(r.Guests), func(g many.Guest) bool { return g.VM == nil }))
		out = append(out, fmt.Sprintf("%d of %d are VMs of %s: %s about them, %d medium or high.", n, len(r.Guests), r.Source, words.Plural(r.AtLeast(finding.Info), "finding"), r.AtLeast(finding.Medium)))
	}
	return out
}

// guests has one row per guest; its CSV has plain numbers.
func guests(r *many.Report) answer.Table {
	t := answer.Table{Name: "guests", Columns: []answer.Column{
		{Name: "guest"}, {Name: "system"}, {Name: "vCPUs", Right: true}, {Name: "nodes", Right: true, About: "NUMA nodes that the guest sees"},
		{Name: "hidden nodes", About: "what latencies show of nodes that the guest was not told of"},
		{Name: "remote", Right: true, About: "share of the pages that are remote, with its 95 % interval: pages that a process can touch or map, not N%L of the VM"},
		{Name: "local", Right: true, About: "latency of RAM in the own node"}, {Name: "far", Right: true, About: "latency of RAM in another node"},
		{Name: "lost", Right: true, About: "time lost to the host or interrupts: the least that it can have been"},
		{Name: "trust", About: "whether the figures can be relied on"}, {Name: "not measured"},
	}}
	plain := answer.Table{Name: t.Name, Columns: answer.Columns("guest", "file", "started", "os", "hypervisor", ">vcpus", ">nodes", "class", "hidden", ">remote", ">remoteLow", ">remoteHigh", "remoteOf",
		">localNs", ">farNs", "fromInside", ">lostByHost", "trusted", "missing", "vm", "cluster", "host", "compared", "findings")}
	inside := false
	if r.Source != "" {
		t.Columns = append(t.Columns, answer.Column{Name: "findings", About: "of homenode assess with these files as evidence"})
	}
	for i := range r.Guests {
		g := &r.Guests[i]
		row := []answer.Cell{{Text: g.Name}, {Text: system(g)}, number(g.VCPUs), number(g.Nodes), hiddenCell(g), shareCell(g), latencyCell(g.Local, g.FromInside), latencyCell(g.Far, g.FromInside), lostCell(g),
			{Text: map[bool]string{true: "yes", false: "no"}[g.Trusted], Tone: answer.BadIf(!g.Trusted)}, {Text: words.Few(parts(g))}}
		if r.Source != "" {
			row = append(row, vmCell(g))
		}
		t.Rows = append(t.Rows, row)
		plain.Add(plainRow(g)...)
		inside = inside || g.FromInside
	}
	t.Foot = append(t.Foot, "One kind of memory may be all near, all far, or one node: this cannot be told from inside.")
	if inside {
		t.Foot = append(t.Foot, "* latency of two kinds of pages, found from inside; else of the nodes that the guest sees. The two are not measured alike.")
	}
	t.Plain = &plain
	return t
}

func number(n int) answer.Cell { return answer.Cell{Text: strconv.Itoa(n)} }

// system returns the operating system and the hypervisor.
func system(g *many.Guest) string {
	hypervisor := g.Hypervisor
	if g.NoGuest {
		hypervisor = "no guest"
	}
	return words.Join(" · ", g.OS, hypervisor)
}

func hiddenCell(g *many.Guest) answer.Cell {
	text := string(g.Hidden)
	if text == "" {
		text = "not looked for"
	}
	return answer.Cell{Text: text, Tone: answer.BadIf(g.Class == many.Remote)}
}

func shareCell(g *many.Guest) answer.Cell {
	if g.Share == nil {
		return answer.Cell{Text: "–"}
	}
	return answer.Cell{Text: fmt.Sprintf("%s (%.0f–%.0f)", unit.Share(g.Share.Remote), 100*g.Share.Low, 100*g.Share.High), Sort: plainNumber(g.Share.Remote), Tone: answer.BadIf(g.Class == many.Remote)}
}

// latencyCell formats a latency, or a range of latencies, in ns.
func latencyCell(r *many.Range, inside bool) answer.Cell {
	if r == nil {
		return answer.Cell{Text: "–"}
	}
	c := answer.Cell{Text: between([]float64{r.Low, r.High}), Sort: plainNumber(r.Low)}
	if inside {
		c.Text += " *"
	}
	return c
}

func lostCell(g *many.Guest) answer.Cell {
	if g.Lost == nil {
		return answer.Cell{Text: "–"}
	}
	return answer.Cell{Text: unit.Share(*g.Lost).String(), Sort: plainNumber(*g.Lost)}
}

// vmCell lists the checks with findings about the VM.
func vmCell(g *many.Guest) answer.Cell {
	switch {
	case g.VM == nil:
		return answer.Cell{Text: "no VM of the source", Tone: answer.Faint}
	case len(g.VM.Findings) == 0:
		return answer.Cell{Text: "none"}
	}
	return answer.Cell{Text: ids(g.VM)}
}

// ids lists the checks with findings, without duplicates.
func ids(vm *many.VM) string {
	var out []string
	for _, f := range vm.Findings {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return strings.Join(out, " ")
}

// parts lists the parts that were not measured.
func parts(g *many.Guest) (out []string) {
	for _, m := range g.Missing {
		if !slices.Contains(out, m.Part) {
			out = append(out, m.Part)
		}
	}
	return out
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// plainRow returns the CSV row of a guest: shares from 0 to 1, latencies in ns (the minimum of several).
func plainRow(g *many.Guest) []string {
	row := []string{g.Name, g.At, timeText(g.Time), g.OS, g.Hypervisor, strconv.Itoa(g.VCPUs), strconv.Itoa(g.Nodes), string(g.Class), string(g.Hidden)}
	share := [4]string{}
	if s := g.Share; s != nil {
		share = [4]string{plainNumber(s.Remote), plainNumber(s.Low), plainNumber(s.High), s.Of}
	}
	local, far, lost := "", "", ""
	if g.Local != nil {
		local = plainNumber(g.Local.Low)
	}
	if g.Far != nil {
		far = plainNumber(g.Far.Low)
	}
	if g.Lost != nil {
		lost = plainNumber(*g.Lost)
	}
	vm := &many.VM{}
	if g.VM != nil {
		vm = g.VM
	}
	row = append(append(row, share[:]...), local, far, strconv.FormatBool(g.FromInside), lost, strconv.FormatBool(g.Trusted), strings.Join(parts(g), "; "))
	return append(row, vm.Name, vm.Cluster, vm.Host, vm.Compared, ids(vm))
}

// timeText formats the time of a measurement in UTC; "" if it is unknown.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// findings lists the findings of homenode assess about the VMs, by guest.
func findings(r *many.Report) answer.Table {
	t := answer.Table{Name: "findings", Title: "Findings of homenode assess about these VMs", Columns: answer.Columns("guest", "severity", "check", "what")}
	for i := range r.Guests {
		g := &r.Guests[i]
		if g.VM == nil {
			continue
		}
		for _, f := range g.VM.Findings {
			t.Rows = append(t.Rows, []answer.Cell{{Text: g.Name}, {Text: f.Severity.String(), Tone: answer.Faint + answer.Tone(f.Severity)}, {Text: f.Rule}, {Text: f.Message}})
		}
	}
	return t
}

// doubts lists, for each guest, missing results and the reasons.
func doubts(r *many.Report) answer.Table {
	t := answer.Table{Name: "doubts", Title: "Unknown, and why", Columns: answer.Columns("guest", "what", "why", "what helps")}
	for i := range r.Guests {
		g := &r.Guests[i]
		for _, reason := range g.Reasons {
			t.Add(g.Name, "trust", reason, "")
		}
		if g.Hidden == measured.NotKnown && g.Why != "" {
			t.Add(g.Name, "hidden nodes", g.Why, "")
		}
		for _, group := range sameReason(g.Missing) {
			what := words.Texts(group, func(m machine.Missing) string { return m.Part })
			t.Add(g.Name, words.Few(what), group[0].Reason, group[0].Remedy)
		}
	}
	return t
}

// sameReason groups missing parts by reason, in order. A busy guest lacks dozens of parts.
func sameReason(all []machine.Missing) (groups [][]machine.Missing) {
	for _, m := range all {
		i := slices.IndexFunc(groups, func(g []machine.Missing) bool { return g[0].Reason == m.Reason && g[0].Remedy == m.Remedy })
		if i < 0 {
			groups = append(groups, []machine.Missing{m})
		} else {
			groups[i] = append(groups[i], m)
		}
	}
	return groups
}

// broken lists the files that could not be read.
func broken(r *many.Report) answer.Table {
	t := answer.Table{Name: "broken", Title: "Not read, or not to the end", Columns: answer.Columns("file", "why")}
	for _, b := range r.Broken {
		t.Add(b.File, strings.TrimSpace(strings.TrimPrefix(b.Why, b.File+":")))
	}
	return t
}

// newest describes the results of a guest that were superseded.
func newest(g *many.Guest) string {
	when := func(t time.Time) string {
		if t.IsZero() {
			return "without a time"
		}
		return timeText(t)
	}
	older := words.Texts(g.Older, func(o many.Older) string { return fmt.Sprintf("%s (%s)", o.At, when(o.Time)) })
	return fmt.Sprintf("%s has %s: the newest counts, %s (%s); not %s", g.Name, words.Plural(1+len(older), "result"), g.At, when(g.Time), strings.Join(older, ", "))
}
