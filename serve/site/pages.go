package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/ask"
	"homenode/ask/fleet"
	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules/filter"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/serve/board"
)

// pages returns every page in the order of the navigation.
func pages() []*screen {
	return []*screen{
		{"/", "Fleet", true, "", showFleet},
		{"/cluster", "Cluster", false, "cluster", showCluster},
		{"/host", "Host", false, "host", showHost},
		{"/vm", "VM", false, "vm", showVM},
		{"/what-if", "What if", true, "", showWhatIf},
		{"/calculator", "Calculator", true, "", showCalculator},
		{"/simulate", "Simulate", true, "", showSimulate},
		{"/plans", "Plans", true, "", showPlans},
		{"/captures", "Captures", true, "", showCaptures},
		{"/capture", "Capture", false, "capture", showCapture},
		{"/counters", "Counters", false, "capture", showCounters},
		{"/compare", "Compare", false, "", showCompare},
		{"/rules", "Rules", true, "", showRules},
		{"/rule", "Rule", false, "rule", showRule},
		{"/status", "Status", true, "", showStatus},
	}
}

// showFleet shows what is bad in the fleet now and since when, and what cannot be seen; of a file, what its settings lead to.
func showFleet(x *request) (*view, error) {
	q := assessing()
	fields, given, err := x.form(q, "severity", "rule", "cluster", "host", "vm", "select")
	fields[0].Group, fields[0].Folded = "Some findings", true
	for i := range fields {
		if of := map[string]string{"cluster": "cluster", "host": "host", "vm": "VM"}[fields[i].Name]; of != "" {
			fields[i].Hint = patternOf(x.example(of))
		}
	}
	if err != nil {
		return &view{fields: fields}, err
	}
	if given {
		return x.findings(q, fields)
	}
	v := &view{fields: fields, most: 3, live: x.site.Live != nil}
	if x.fleet != nil {
		v.command = ask.Line(fleet.AssessEntry.Name, q)
		if v.answer, err = x.site.recent.answer(x, fleet.AssessEntry, q); err != nil {
			return nil, err
		}
	}
	if x.site.Live == nil {
		if x.fleet == nil {
			return nil, errNoFleet
		}
		d, err := x.site.placed.of(x.fleet)
		if err != nil {
			return nil, err
		}
		out := *v.answer
		out.Drawings = []answer.Drawing{d} // those of hosts stand on their pages
		out.Tables = append(slices.Clone(out.Tables), x.accepted(nil)...)
		v.answer = &out
		return v, nil
	}
	v.answer, err = x.site.Live.present.of(x.page.path, x.fleet, func() (*answer.Answer, error) { return x.fleetNow(v.answer) })
	return v, err
}

// accepted lists the findings that the configuration accepts and the filter shows; nothing where there is none.
func (x *request) accepted(shown *filter.Filter) []answer.Table {
	t := answer.Table{Name: "accepted", Title: "Accepted findings", Columns: answer.Columns("Rule", "Of", "Finding", "Reason", "Until", "Written in")}
	for i := range x.fleet.Result.Suppressed {
		s := &x.fleet.Result.Suppressed[i]
		if !shown.Seen(&s.Finding) {
			continue
		}
		of := answer.Cell{Text: s.Subject()}
		switch {
		case s.VMID != "":
			of.To = answer.Object{Kind: "vm", ID: s.VMID}
		case s.HostID != "":
			of.To = answer.Object{Kind: "host", ID: s.HostID}
		}
		t.Rows = append(t.Rows, []answer.Cell{{Text: s.Rule, To: answer.Object{Kind: "rule", ID: s.Rule}}, of, {Text: s.Message}, {Text: s.By.Reason}, {Text: s.By.Until}, {Text: s.By.At}})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []answer.Table{t}
}

// fleetNow returns what is bad now and over the last day, and then what the settings lead to, which is nil before there is an inventory.
func (x *request) fleetNow(settings *answer.Answer) (*answer.Answer, error) {
	vcenter := ""
	if x.fleet != nil {
		vcenter = x.fleet.Name
	}
	at := time.Now()
	now := x.site.Live.now(vcenter, at)
	trend, ok, err := x.site.Live.trend(x.Context(), at)
	switch {
	case err != nil:
		now.NotesFrom("", numa.Note{Text: "The store does not answer: " + err.Error()})
	case ok:
		now.Drawings = append(now.Drawings, trend)
	case x.site.Live.Keeper != nil:
		now.NotesFrom("", numa.Note{Text: "The trend of the locality is drawn of whole hours: it comes when two are over."})
	}
	past, err := x.site.Live.lost(x.Context(), vcenter, at)
	if err != nil {
		now.NotesFrom("", numa.Note{Text: "The store does not answer: " + err.Error()})
	}
	if t, said, ok := past.table(at); ok {
		now.Verdict = append(now.Verdict, said)
		i := slices.IndexFunc(now.Tables, func(t answer.Table) bool { return t.Name == "lowest" })
		if i < 0 {
			i = len(now.Tables)
		}
		now.Tables = slices.Insert(now.Tables, i, t)
	} else if said != "" {
		now.Verdict = append(now.Verdict, said)
	}
	if a := settings; a != nil {
		now.Command, now.Findings = a.Command, a.Findings
		now.Verdict = append(now.Verdict, a.Verdict...)
		now.Facts, now.Tables, now.Notes, now.Data, now.Result = a.Facts, slices.Concat(now.Tables, a.Tables, x.accepted(nil)), append(now.Notes, a.Notes...), a.Data, a.Result
	}
	now.Drawings[0].Heading = "Now"
	return now, nil
}

// assessing returns the question about the findings of the fleet of a page.
func assessing() *fleet.Assess {
	q := fleet.AssessEntry.Ask().(*fleet.Assess)
	q.Sources = []string{Source}
	return q
}

// findings shows the findings that a filter leaves.
func (x *request) findings(q *fleet.Assess, fields []field) (*view, error) {
	v := &view{fields: fields, command: ask.Line(fleet.AssessEntry.Name, q), most: 10}
	if x.fleet == nil {
		return v, errNoFleet
	}
	a, err := x.site.recent.answer(x, fleet.AssessEntry, q)
	if v.answer = a; q.Rules != nil {
		v.most = rowsShown
	}
	if err != nil {
		return v, err
	}
	shown, err := q.Compile()
	if err != nil {
		return v, err
	}
	out := *a
	out.Tables = append(slices.Clone(out.Tables), x.accepted(shown)...)
	v.answer = &out
	if x.site.Live != nil {
		err = x.addSeen(v, shown)
	}
	return v, err
}

// addSeen adds the findings about what is seen now that the filter leaves.
func (x *request) addSeen(v *view, shown *filter.Filter) error {
	at := time.Now()
	open := slices.DeleteFunc(x.site.Live.alarms(x.fleet.Name), func(a board.Alarm) bool { return !shown.Seen(&a.Finding) })
	out := *v.answer
	if err := x.addLost(&out, at, shown.Seen); err != nil {
		return err
	}
	v.live = true
	if len(open) > 0 {
		t := alarmTable(open, nil, at)
		t.Title = "Seen now"
		out.Tables = append([]answer.Table{t}, out.Tables...)
		out.Verdict = append([]string{fmt.Sprintf("%s about what is seen now.", words.Plural(len(open), "finding"))}, out.Verdict...)
	}
	v.answer = &out
	return nil
}

// addLost adds to an answer who lost locality over the last day, of the findings that are shown.
func (x *request) addLost(out *answer.Answer, at time.Time, shown func(*finding.Finding) bool) error {
	past, err := x.site.Live.lost(x.Context(), x.fleet.Name, at)
	if err != nil {
		return err
	}
	t, said, ok := past.only(shown).table(at)
	if ok {
		out.Tables = append([]answer.Table{t}, out.Tables...)
	}
	if said != "" {
		out.Verdict = append(slices.Clone(out.Verdict), said)
	}
	return nil
}

// showCluster shows whether every VM fits every host of a cluster.
func showCluster(x *request) (*view, error) {
	name := x.query.Get("cluster")
	if x.fleet == nil {
		return nil, errNoFleet
	}
	if name == "" {
		return x.which("cluster"), nil
	}
	if !slices.ContainsFunc(x.fleet.Result.Fleet.Clusters, func(c numa.Cluster) bool { return c.Name == name }) {
		return nil, &unknownError{fmt.Sprintf("no cluster is named %q", name)}
	}
	a, command, err := x.explained("cluster", name)
	if err != nil {
		return nil, err
	}
	judged, err := x.judgedOf("cluster", name)
	if err != nil {
		return nil, err
	}
	return &view{answer: joined(a, judged), command: command, most: 3}, nil
}

// explained explains something of the fleet: the names of fields of the question, each with its value. It also returns the command.
func (x *request) explained(values ...string) (*answer.Answer, []string, error) {
	q := fleet.ExplainEntry.Ask()
	if err := give(q, append([]string{"source", Source}, values...)...); err != nil {
		return nil, nil, err
	}
	a, err := x.answerOf(fleet.ExplainEntry, q)
	return a, ask.Line(fleet.ExplainEntry.Name, q), err
}

// which lets readers choose a VM, host or cluster: all that there are.
func (x *request) which(kind string) *view {
	f := x.fleet.Result.Fleet
	t := answer.Table{Name: kind, Title: map[string]string{"vm": "VMs", "host": "Hosts", "cluster": "Clusters"}[kind], Columns: answer.Columns("Name", "Cluster")}
	add := func(id, name, cluster string) {
		t.Rows = append(t.Rows, []answer.Cell{{Text: name, To: answer.Object{Kind: kind, ID: id}}, {Text: cluster, To: clusterObject(cluster)}})
	}
	switch kind {
	case "vm":
		for i := range f.VMs {
			add(f.VMs[i].ID, f.VMs[i].Name, f.ClusterName(f.VMs[i].Cluster))
		}
	case "host":
		for i := range f.Hosts {
			add(f.Hosts[i].ID, f.Hosts[i].Name, f.ClusterName(f.Hosts[i].Cluster))
		}
	default:
		t.Columns = t.Columns[:1]
		for i := range f.Clusters {
			t.Rows = append(t.Rows, []answer.Cell{{Text: f.Clusters[i].Name, To: clusterObject(f.Clusters[i].Name)}})
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b []answer.Cell) int { return strings.Compare(a[0].Text, b[0].Text) })
	return &view{answer: &answer.Answer{Title: x.page.title, Verdict: []string{"Choose one of " + strconv.Itoa(len(t.Rows)) + "."}, Tables: []answer.Table{t}}, most: rowsShown}
}

// judgedOf returns the findings of a cluster or host.
func (x *request) judgedOf(kind, name string) (*answer.Answer, error) {
	q := assessing()
	if err := give(q, kind, ask.One(name)); err != nil {
		return nil, err
	}
	return x.answerOf(fleet.AssessEntry, q)
}

// joined returns an answer with the findings of another one.
func joined(a, judged *answer.Answer) *answer.Answer {
	out := *a
	out.Findings, out.Notes = judged.Findings, append(slices.Clone(a.Notes), judged.Notes...)
	if len(out.Verdict) == 0 {
		out.Verdict = judged.Verdict
	}
	return &out
}

// showHost shows what the NUMA nodes of a host hold, now and over time.
func showHost(x *request) (*view, error) {
	name := x.query.Get("host")
	if x.fleet == nil {
		return nil, errNoFleet
	}
	if name == "" {
		return x.which("host"), nil
	}
	hosts := x.fleet.Result.Fleet.FindHosts(name)
	if len(hosts) == 0 {
		return nil, &unknownError{fmt.Sprintf("no host is named %q", name)}
	}
	a, command, err := x.explained("host", name)
	if err != nil {
		return nil, err
	}
	judged, err := x.judgedOf("host", name)
	if err != nil {
		return nil, err
	}
	v := &view{answer: joined(a, judged), command: command, most: 10}
	if len(hosts) == 1 && !slices.ContainsFunc(x.fleet.Result.Fleet.VMs, func(v numa.VM) bool { return v.Host == hosts[0].ID }) {
		v.answer.Verdict = []string{fmt.Sprintf("No VM is on %s.", texttab.Line(hosts[0].Name))}
	}
	if x.site.Live == nil || len(hosts) > 1 {
		return v, nil
	}
	return v, x.addHostLive(v, hosts[0])
}

// addHostLive adds what is seen of a host now and was over time, and what can be asked of its collector.
func (x *request) addHostLive(v *view, h *numa.Host) error {
	l, vcenter, at := x.site.Live, x.fleet.Name, time.Now()
	v.live = true
	v.fields, _ = x.asked(field{Name: "host", Value: h.ID, Hidden: true}, spanField())
	span, length, err := x.span()
	if err != nil {
		return err
	}
	past, ok, err := l.pastHost(x.Context(), vcenter, h.Name, span, length, at)
	if err != nil {
		return err
	}
	if ok {
		v.answer.Drawings = append(slices.Clone(v.answer.Drawings), past)
	}
	if err := x.addLost(v.answer, at, func(f *finding.Finding) bool { return numa.SameHost(f.Host, h.Name) }); err != nil {
		return err
	}
	if now := l.hostNow(vcenter, h.ID, at); now != nil {
		v.answer.Tables = append(now, v.answer.Tables...)
		v.answer.Notes = slices.Clone(v.answer.Notes)
		v.answer.Note("free memory of the drawing and of its table is what is left once the VMs have touched all their memory; the nodes as they are seen have what is free now")
	}
	status, every, ok := l.seenOf(vcenter, h.ID)
	if !ok {
		return nil
	}
	text := "every " + rule.Duration(every)
	switch {
	case !status.Closely.IsZero():
		text = "closely, until " + moment(status.Closely, at)
	case l.Closely != nil:
		v.actions = append(v.actions, action{Path: "/host/closely", Label: "Look closely", Note: "The collector asks this host more often for an hour.", Hidden: []choice{{"fleet", vcenter}, {"host", h.ID}}})
	}
	if !status.Last.IsZero() {
		text += ", last at " + moment(status.Last, at)
	}
	v.answer.Facts = append(slices.Clone(v.answer.Facts), answer.Fact{Name: "collected", Text: text})
	if status.Failing != "" {
		v.answer.Facts = append(v.answer.Facts, answer.Fact{Name: "cannot be seen", Text: status.Failing + ", since " + moment(status.Since, at)})
	}
	return nil
}

// showVM explains the topology of a VM, and shows what is seen of it now and was over time.
func showVM(x *request) (*view, error) {
	name := x.query.Get("vm")
	if x.fleet == nil {
		return nil, errNoFleet
	}
	if name == "" {
		return x.which("vm"), nil
	}
	asks := []field{{Name: "on", Label: "On host", Choices: x.hostChoices()}, {Name: "event", Label: "Event", Choices: eventChoices()}}
	if x.site.Live != nil {
		asks = append(asks, spanField())
	}
	fields, _ := x.asked(asks...)
	found := x.fleet.Result.Fleet.FindVMs(name)
	if len(found) == 0 {
		return nil, &unknownError{fmt.Sprintf("no VM is named %q", name)}
	}
	a, command, err := x.explained("vm", name, "on", valueOf(fields, "on"), "event", valueOf(fields, "event"))
	v := &view{answer: a, fields: append([]field{{Name: "vm", Value: name, Label: "VM"}}, fields...), command: command, most: rowsShown}
	v.links = x.furtherOf(found)
	if err != nil || x.site.Live == nil || len(found) > 1 {
		return v, err
	}
	v.live = true
	return v, x.addVMLive(v, found[0])
}

// addVMLive adds what is seen of a VM now and was over time.
func (x *request) addVMLive(v *view, vm *numa.VM) error {
	l, vcenter, at := x.site.Live, x.fleet.Name, time.Now()
	span, length, err := x.span()
	if err != nil {
		return err
	}
	out := *v.answer
	past, err := l.pastOfVM(x.Context(), vcenter, vm.ID, length, at)
	if err != nil {
		return err
	}
	found, err := l.over(x.Context(), vcenter, []string{vm.ID}, at.Add(-length), at)
	if err != nil {
		return err
	}
	if past != nil {
		out.Drawings = append(slices.Clone(out.Drawings), pastVM(past, found, span))
	}
	if len(found) > 0 {
		t := foundOverTable("Found over the "+labelOf(span), found, at)
		out.Tables = append([]answer.Table{t}, out.Tables...)
		out.Verdict = append([]string{fmt.Sprintf("Over the %s, %s: %s.", labelOf(span), t.Rows[0][3].Text, lower(found[0].Finding.Title))}, out.Verdict...)
	}
	if t, said, ok := l.vmNow(vcenter, vm.ID, at); ok {
		out.Tables = append([]answer.Table{t}, out.Tables...)
		if said != "" {
			out.Verdict = append([]string{said}, out.Verdict...)
		}
	} else {
		out.Facts = append([]answer.Fact{{Name: "now", Text: "not seen: it is switched off, or its host cannot be seen"}}, out.Facts...)
	}
	v.answer = &out
	return nil
}

// hostChoices are the hosts of the fleet.
func (x *request) hostChoices() []choice {
	out := []choice{{"", "its own"}}
	hosts := x.fleet.Result.Fleet.Hosts
	for i := range hosts {
		out = append(out, choice{hosts[i].ID, hosts[i].Name})
	}
	return out
}

// showStatus shows how collecting goes.
func showStatus(x *request) (*view, error) {
	if x.site.Status == nil {
		verdict := "Nothing is collected: these pages are of a file."
		return &view{answer: &answer.Answer{Title: "Status", Verdict: []string{verdict}, Facts: []answer.Fact{{Name: "source", Text: strings.Join(x.fleet.Sources, " ")}}}}, nil
	}
	if x.site.Live == nil {
		return &view{answer: x.site.Status(), live: true}, nil
	}
	a, err := x.site.Live.present.of(x.page.path, nil, func() (*answer.Answer, error) { return x.site.Status(), nil })
	return &view{answer: a, live: true}, err
}

// allOf returns the address of all findings of a rule and severity.
func (x *request) allOf(rule string, s finding.Severity) string {
	return "/?rule=" + rule + "&severity=" + strings.ToLower(s.String())
}
