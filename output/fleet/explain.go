package fleet

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	judged "example.org/homenode/rules/verdict/fleet"
)

// Explain returns the answer why a VM gets its layout on a host.
func Explain(x *judged.Explanation) *answer.Answer {
	m := &x.Machine
	on := "on " + x.On
	switch own := x.VM.Host; {
	case x.VM.Home != nil || x.Host == own:
	case own != nil:
		on = fmt.Sprintf("predicted as on %s, since its host %s %s", x.On, own.Name, cmp.Or(own.Doubt, "is not described by the source"))
	default:
		on = words.Join(" of ", "on an unknown host", x.Cluster) + ", assumed to be like " + x.On
		if n := len(x.VM.On) + len(x.VM.Refused); n > 1 {
			on += fmt.Sprintf(", one of its %d kinds", n)
		}
	}
	a := &answer.Answer{
		Command: "explain", Format: "homenode-explanation", Version: 2, Result: x,
		Question: fmt.Sprintf("%s %s (%s, %s), %s", x.Name, on, m.Release, m.Shape(), eventText(x)),
		Verdict:  []string{explained(x)}, Facts: layoutFacts(x), Findings: explainedFindings(x),
	}
	for _, text := range x.VM.Assumed(&x.Layout) {
		a.Assumed = append(a.Assumed, answer.Assumption{What: text, Origin: unit.Assumed})
	}
	if x.Policy != nil {
		a.Facts = append(a.Facts, answer.Fact{Name: "config", Text: x.Policy.File})
	}
	if n := len(x.Suppressed); n > 0 {
		a.Facts = append(a.Facts, answer.Fact{Name: "suppressed", Text: strconv.Itoa(n)})
	}
	a.Tables = append(a.Tables, stepTable(x), usedTable(x))
	if t := disagreements(x); len(t.Rows) > 0 {
		a.Tables = append(a.Tables, t)
	}
	if len(x.Observed) > 0 {
		a.Tables = append(a.Tables, lifeTable(x))
	}
	if len(x.Others) > 0 {
		a.Tables = append(a.Tables, otherTable(x))
	}
	if x.Plan != nil {
		a.Tables = append(a.Tables, planTable(x.Plan))
	}
	if d := topo.OfVM(x.VM, x.Host, x.Case.Choices); d != nil && x.Case.Event == vnuma.PowerCycle {
		a.Drawings = []answer.Drawing{drawing(d.Title, func() *topo.Drawing { return d })}
	}
	for _, one := range x.VM.Products() {
		if _, text := rule.Parallel(&one, &x.Layout); text != "" {
			a.Note(text + ".")
		}
	}
	if text := x.VM.UnknownProduct(); text != "" {
		a.Note(words.Capital(text) + ".")
	}
	if was := x.VM.Host; was != nil && was.ID == x.Host.ID && x.Case.Event == vnuma.VMotionIn && x.VM.MayRun() {
		a.Note("The VM runs on " + x.On + " already: --on names another destination of the vMotion.")
	}
	if !x.Host.Ready() {
		a.Note(x.On + " is in maintenance or not connected: it takes no VM now.")
	}
	for _, problem := range x.Problems {
		a.Notes = append(a.Notes, answer.Note{Text: problem, From: "judgement"})
	}
	return a
}

// explained describes the guest's nodes, the clients and the findings, or why no vMotion takes the VM to the host.
func explained(x *judged.Explanation) string {
	if x.Case.Event == vnuma.VMotionIn && x.VM.MayRun() {
		if why := numa.NotRunning(x.VM.Host, x.Host); why != "" {
			return words.Capital(why) + ". The answer without --event vmotion holds. Below is the layout that a vMotion would give."
		}
	}
	found, l := x.Verdict(), &x.Layout
	here, elsewhere := unlike(x)
	switch {
	case l.Refused.Any() && here != "":
		return here + " " + words.Lower(found) + elsewhere
	case l.Refused.Any():
		return found
	}
	if text := x.Unknown(); text != "" {
		found += " " + text
	}
	carried := "no client"
	if l.Managed {
		carried = words.Plural(l.PPDs.Len(), "client")
	}
	text := fmt.Sprintf("%s guest sees %s, carried by %s.%s %s", words.Capital(words.Join(" ", here, "the")), guestSees(l), carried, elsewhere, found)
	if n := len(x.Problems); n > 0 {
		text += fmt.Sprintf(" %s not understood and counted as unset: see the notes.", words.Verb(n, "setting is", "settings are"))
	}
	return text
}

// unlike returns the hosts with the explained layout of a VM whose host is unknown, and a sentence for each other layout in its cluster; "" if there is none.
func unlike(x *judged.Explanation) (here, elsewhere string) {
	if x.VM.Host != nil {
		return "", ""
	}
	same, layouts := asHere, otherLayouts(x)
	if x.Layout.Refused.Any() {
		same = refused + x.Layout.Refused.String()
	}
	for text, hosts := range layouts.All() {
		if text != same {
			elsewhere += fmt.Sprintf(" On %s: %s.", rule.HostNames(hosts), text)
		}
	}
	if elsewhere == "" {
		return "", ""
	}
	return "On " + rule.HostNames(append([]*numa.Host{x.Host}, layouts.Of(same)...)), elsewhere
}

// unmanaged is the text for a VM without clients.
const unmanaged = "no client · not NUMA-managed: no home node, memory from anywhere"

func eventText(x *judged.Explanation) string {
	s := map[vnuma.Event]string{
		vnuma.PowerCycle:   "next power cycle",
		vnuma.FirstPowerOn: "first power-on, nothing stored",
		vnuma.Reboot:       "guest reboot",
		vnuma.VMotionIn:    "after vMotion to it",
		vnuma.Resume:       "after resume from suspend",
		vnuma.VCPUsChanged: "power-on after a change of the vCPU count",
	}[x.Case.Event]
	if x.Case.From != nil {
		s += " from a host with " + x.Case.From.Shape()
	}
	return s
}

// layoutFacts describes the guest's nodes and the clients.
func layoutFacts(x *judged.Explanation) []answer.Fact {
	l := &x.Layout
	if l.Refused.Any() {
		return []answer.Fact{{Name: "powers on", Text: "no"}, {Name: "to do", Text: x.Cure()}}
	}
	seen := fmt.Sprintf("%d vCPU", l.VPDs.Sum())
	if l.GuestSeesNUMA() {
		seen = l.VPDs.String() + " vCPU"
	}
	carried := unmanaged
	if l.Managed {
		carried = fmt.Sprintf("%s · %s vCPU · %s, memory %s", words.Plural(l.PPDs.Len(), "client"), l.PPDs, words.Plural(l.HomeNodes, "home node"), memoryText(l, x.Host))
	}
	out := []answer.Fact{
		{Name: "guest sees", Text: fmt.Sprintf("%s · %s · %s × %s", guestSees(l), seen, words.Plural(l.VSockets.Len(), "socket"), words.Plural(l.CoresPerSocket, "core"))},
		{Name: "carried by", Text: carried},
	}
	if l.GuestSeesNUMA() && l.Slice(0) > 0 {
		out = append(out, answer.Fact{Name: "memory", Text: sliceText(l)})
	}
	if l.Stored.Written {
		out = append(out, answer.Fact{Name: "stores", Text: fmt.Sprintf("size %d · cookie %d", l.Stored.Size, l.Stored.Cookie)})
	}
	return out
}

func memoryText(l *vnuma.Layout, on *numa.Host) string {
	r := &l.Memory
	switch {
	case l.Hidden > 1:
		return fmt.Sprintf("about %s on another package: the host hides %d", words.Percent(l.FarShare()), l.Hidden)
	case !r.Known:
		if r.Placement == vnuma.Interleaved {
			return r.Placement.String()
		}
		return "unknown"
	case r.Placement == vnuma.Anywhere, r.Placement == vnuma.Interleaved:
		return r.Placement.String()
	}
	s := r.Placement.String()
	if r.Away() > 0 {
		s = fmt.Sprintf("%s local, %s once touched", r.Local, r.AwayText())
	}
	if r.Missed() > r.Away() {
		s += fmt.Sprintf(", %s of it far from its vCPUs", r.Crossed)
	}
	return s
}

// sliceText returns the memory of the virtual nodes.
func sliceText(l *vnuma.Layout) string {
	if l.VPDs.Even() {
		return fmt.Sprintf("%d × %s", l.VPDs.Len(), l.Slice(0))
	}
	var parts []string
	for i := range l.VPDs.Len() {
		parts = append(parts, l.Slice(i).String())
	}
	return strings.Join(parts, " + ")
}

// stepTable lists the decisions that determine the layout.
func stepTable(x *judged.Explanation) answer.Table {
	t := answer.Table{Name: "why", Title: "why", Columns: []answer.Column{{Name: "step", Right: true}, {Name: "because"}, {Name: "result"}, {Name: "rule book"}, {Name: ""}}}
	for i, s := range x.Trace {
		rules, mark := answer.Cell{Text: s.Rules}, ""
		if s.Choice != "" {
			rules.Text += ", " + s.Choice
		}
		for _, id := range strings.FieldsFunc(rules.Text, func(r rune) bool { return r == ',' || r == ' ' }) {
			rules.Parts = append(rules.Parts, answer.Cell{Text: id, To: answer.Object{Kind: "rule", ID: id}})
		}
		if s.Decides {
			mark = "← decides"
		}
		t.Rows = append(t.Rows, []answer.Cell{{Text: strconv.Itoa(i + 1)}, {Text: s.Because}, {Text: s.Result}, rules, {Text: mark}})
	}
	return t
}

// usedTable lists the facts used by the steps, each at its first use.
func usedTable(x *judged.Explanation) answer.Table {
	t := answer.Table{Name: "facts", Title: "facts", Columns: []answer.Column{{Name: "step", Right: true}, {Name: "fact"}, {Name: "value"}, {Name: "origin"}, {Name: "read at"}}}
	told := map[vnuma.Used]bool{}
	for i, s := range x.Trace {
		for _, u := range s.Facts {
			if told[u] {
				continue
			}
			told[u] = true
			at := u.ReadFrom()
			if u.Origin.Kind != numa.Read {
				at = ""
			}
			t.Add(strconv.Itoa(i+1), u.Name, u.Value, u.Origin.String(), at)
		}
	}
	return t
}

// disagreements lists the points on which the sources of the steps disagree.
func disagreements(x *judged.Explanation) answer.Table {
	t := answer.Table{Name: "disagree", Title: "sources disagree", Columns: []answer.Column{{Name: "point"}, {Name: "taken"}, {Name: "else"}}}
	told := map[string]bool{}
	for _, s := range x.Trace {
		for _, c := range vnuma.ChoiceList {
			if c.ID != s.Choice || told[c.ID] {
				continue
			}
			told[c.ID] = true
			taken, other := c.Default, c.Alternative
			if *c.Field(&x.Case.Choices) {
				taken, other = other, taken
			}
			t.Rows = append(t.Rows, []answer.Cell{{Text: c.ID, To: answer.Object{Kind: "rule", ID: c.ID}}, {Text: taken}, {Text: other}})
		}
	}
	return t
}

// lifeTable lists the observations of the VM.
func lifeTable(x *judged.Explanation) answer.Table {
	t := answer.Table{Name: "observed", Title: "observed", Columns: seenColumns}
	for i := range x.Observed {
		t.Rows = append(t.Rows, seen{Result: &x.Observed[i]}.rows()...)
	}
	return t
}

// asHere describes the layout on another host with that of the explained one, refused begins the reason why the VM does not power on there.
const asHere, refused = "the same", "does not power on: "

// otherLayouts describes the layouts on the other hosts of the cluster, with the hosts that have each.
func otherLayouts(x *judged.Explanation) *keyed.Lists[string, *numa.Host] {
	var hosts keyed.Lists[string, *numa.Host]
	for _, o := range x.Others {
		text := fmt.Sprintf("guest sees %s, carried by %s (%s vCPU)", guestSees(o.Layout), words.Plural(o.Layout.PPDs.Len(), "client"), o.Layout.PPDs)
		switch {
		case !o.Layout.Managed && !o.Layout.Refused.Any() && !o.Same:
			text = fmt.Sprintf("guest sees %s, carried by %s", guestSees(o.Layout), unmanaged)
		case o.Layout.Refused.Any():
			text = refused + o.Layout.Refused.String()
		case o.Same:
			text = asHere
		case o.SameNodes:
			text = "the same, but memory " + memoryText(o.Layout, o.Of[0])
		}
		hosts.Add(text, o.Of...)
	}
	return &hosts
}

// otherTable has the layouts on the other hosts of the cluster.
func otherTable(x *judged.Explanation) answer.Table {
	t := answer.Table{Name: "others", Title: "on the others", Columns: []answer.Column{{Name: "hosts"}, {Name: "layout"}}}
	for text, list := range otherLayouts(x).All() {
		t.Add(rule.HostNames(list), text)
	}
	return t
}

// explainedFindings returns the findings about the VM.
func explainedFindings(x *judged.Explanation) *answer.Findings {
	all := make([]*finding.Finding, len(x.Findings))
	for i := range x.Findings {
		all[i] = &x.Findings[i]
	}
	return &answer.Findings{
		Judgement: &x.Judgement, Source: x.Name, Kind: "explain/", NoExit: true, Rules: answer.RulesWhere(func(one *rule.Rule) bool { return one.Check != nil && one.VMs }),
		Subject: func(f *finding.Finding) answer.Subject {
			return answer.Subject{Name: f.Subject(), Short: f.VM, Group: f.Cluster, Key: "vm\x00" + f.VMID, ID: f.VMID, At: x.VM.At}
		},
		Suites: []answer.Suite{{Name: x.On, Cases: []answer.Case{{Name: x.Name, ID: x.VM.ID, Findings: all}}}},
	}
}
