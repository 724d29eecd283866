// Package fleet has the answers about facts and predictions of a fleet: the assessment, the matrix of VMs and hosts, one VM
// explained, and the facts in files.
package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/table"
	"example.org/homenode/rules"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	judged "example.org/homenode/rules/verdict/fleet"
)

// Options are the options for showing an assessed fleet.
type Options struct {
	Version     string // version of homenode, for the table about the origin of the others
	Details     bool   // the user already sees every finding
	Read        time.Duration
	Judged      time.Duration // 0 omits the durations
	Sources     int           // number of sources
	SourceWords []string      // the SOURCEs and the flags about reading them, as typed by the user, for the next commands
	Words       []string      // those and all other flags that affect the answer
}

// Assess returns the answer which VMs of a fleet are slowed by NUMA, and why.
func Assess(r *rules.Result, o Options) *answer.Answer {
	x := newIndex(r)
	a := &answer.Answer{Command: "assess", Title: "NUMA assessment of " + r.Fleet.Source, Facts: x.facts(&o), Findings: x.findings()}
	if r.Fleet.Collected != "" {
		a.Title += ", collected " + r.Fleet.Collected
	}
	show := x.showPredicted
	switch {
	case x.kind() == stated:
		show = x.showStated
	case r.Fleet.Plans():
		show = x.showGate
	}
	show(a, &o)
	a.Tables = append(a.Tables, x.vms())
	leads(a, r, &o)
	a.Data = x.data(a, o.Version)
	return a
}

// showPredicted adds the parts about ESXi clusters to an answer.
func (x *index) showPredicted(a *answer.Answer, o *Options) {
	a.Format, a.Version, a.Verdict, a.Result = "homenode-assessment", 2, judged.Verdict(x.Result), func() any { return x.assessment() }
	a.Tables = append(a.Tables, answer.Screen(answer.Table{Name: "clusters", Foot: []string{clusterLegend}}, clusterFields, x.clusterRows))
	if n := judged.CountObserved(x.Result); n.All > 0 {
		a.Tables = append(a.Tables, observedTable(x.Result, n))
	}
	if o.Details {
		if plans := x.plansTable(); len(plans.Rows) > 0 {
			a.Tables = append(a.Tables, plans)
		}
	}
	a.Drawings = x.drawings()
}

// leads adds the notes of an assessed fleet, and the next commands.
func leads(a *answer.Answer, r *rules.Result, o *Options) {
	a.NotesFrom("source", r.Fleet.Notes...)
	a.NotesFrom("judgement", r.Unjudged...)
	a.NotesFrom("configuration", r.PolicyNotes...)
	if lacksRelease(r) {
		a.Next = append(a.Next, "homenode assess "+words.Command(append(slices.Clone(o.Words), "--assume-host", "release="+strings.ReplaceAll(r.RunsAll.String(), " ", ""))...)+"  # an example: state the release of your hosts")
	}
	if len(r.Findings) > 0 {
		var found []finding.Finding
		for _, first := range a.Findings.First() {
			found = append(found, *first.Finding)
		}
		if vm := exampleVM(r.Fleet, append(found, r.Findings...), o.Sources > 1 || r.Fleet.Plans()); vm != "" {
			named := func(name string) bool { return words.Command(name) == vm }
			if slices.ContainsFunc(r.Fleet.Clusters, func(c numa.Cluster) bool { return named(c.Name) }) || slices.ContainsFunc(r.Fleet.Hosts, func(h numa.Host) bool { return named(h.Name) }) {
				vm = "--vm=" + vm // the name alone is ambiguous
			}
			a.Next = append(a.Next, "homenode explain "+words.Command(o.SourceWords...)+" "+vm)
		}
		if !o.Details {
			a.Next = append(a.Next, "homenode assess "+words.Command(o.Words...)+" --details")
		}
	}
}

// facts describes the data that was read and assessed, the filter, the observations and the accepted findings.
func (x *index) facts(o *Options) (out []answer.Fact) {
	f := x.Fleet
	add := func(name, text string, took time.Duration) {
		if text != "" {
			out = append(out, answer.Fact{Name: name, Text: text, Took: words.Took(took)})
		}
	}
	hosts, vms, all := Hosts(f), VMs(f), words.Plural(x.VMs, "VM")
	if f.Plans() {
		add("read", fmt.Sprintf("%s · %s on %s", f.Source, words.Plural(planned(f), "planned VM"), words.Verb(len(f.Clusters), "kind of cluster or host", "kinds of clusters or hosts")), o.Read)
		add("judged", words.Plural(x.Pairs, "prediction"), o.Judged)
	} else if x.kind() == stated {
		add("read", fmt.Sprintf("%s · KVM · %s · %s", f.Source, hosts, vms), o.Read)
		add("judged", all+", as their definitions state them: nothing is predicted", o.Judged)
	} else {
		undated := "as of the file (no date)"
		if f.Collected != "" {
			undated = ""
		}
		add("read", words.Join(" · ", f.Source, hosts, vms, words.Plural(len(f.Clusters), "cluster"), undated), o.Read)
		add("judged", fmt.Sprintf("%s × the hosts of their cluster (%s)", all, words.Plural(x.Pairs, "prediction")), o.Judged)
	}
	add("shown", x.Filter, 0)
	add("observed", judged.CountObserved(x.Result).String(), 0)
	add("config", (&answer.Findings{Judgement: &x.Judgement}).Config(), 0)
	if n := len(x.Suppressed); n > 0 {
		add("suppressed", strconv.Itoa(n), 0)
	}
	return out
}

// VMs counts the VMs of a fleet, and the templates among them, which are not judged.
func VMs(f *numa.Fleet) string {
	text := words.Plural(len(f.VMs), "VM")
	if n := words.Count(f.VMs, func(v numa.VM) bool { return v.Template.Or(false) }); n > 0 {
		text += fmt.Sprintf(" (%s)", words.Verb(n, "of them is a template, counted apart", "of them are templates, counted apart"))
	}
	return text
}

// Hosts counts the hosts of a fleet, and those of them that accept no VM now.
func Hosts(f *numa.Fleet) string {
	closed, named, more := 0, 0, ""
	for i := range f.Hosts {
		switch h := &f.Hosts[i]; {
		case h.Undescribed():
			named++
			more = fmt.Sprintf(", and %d more %s", named, strings.Replace(h.Doubt, "is named", "named", 1))
		case !h.Ready():
			closed++
		}
	}
	text := words.Plural(len(f.Hosts)-named, "host")
	if closed > 0 {
		text += fmt.Sprintf(" (%d in maintenance or not connected)", closed)
	}
	return text + more
}

// vms has one row per assessed VM, on its own host or the first possible one. Only pages show it for ESXi, and for many KVM VMs.
func (x *index) vms() answer.Table {
	long := x.kind() == predicted || len(x.Stated) > mostStatedRows
	return answer.Screen(answer.Table{Name: "vms", Title: "VMs", Long: long}, answer.Of(x.kind(), vmFields), x.vmRows(true))
}

// data returns the tables for spreadsheets and scripts.
func (x *index) data(a *answer.Answer, version string) []table.Table {
	j, kind := a.Findings, x.kind()
	hosts := 0
	for range x.hostRows() {
		hosts++
	}
	return []table.Table{j.FindingTable(),
		answer.File("vms", answer.Of(kind, vmFields), len(x.Fleet.VMs), x.vmRows(false)),
		answer.File("hosts", answer.Of(kind, hostFields), hosts, x.hostRows()),
		answer.File("clusters", clusterFields, len(x.clusters), x.clusterRows),
		x.observations(), j.SuppressedTable(), j.RuleTable(), a.NoteTable(), x.about(a, version)}
}

// clusterObject returns the object of a cluster; none for the implicit cluster of a standalone host.
func clusterObject(name string) answer.Object {
	if name == "" {
		return answer.Object{}
	}
	return answer.Object{Kind: "cluster", ID: name}
}

// hostObject returns the object of a host; none for nil.
func hostObject(h *numa.Host) answer.Object {
	if h == nil {
		return answer.Object{}
	}
	return answer.Object{Kind: "host", ID: h.ID}
}

// guestSees describes the nodes that the guest of the layout sees.
func guestSees(l *vnuma.Layout) string {
	if !l.GuestSeesNUMA() {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", l.VPDs.Len())
}

// assessment is the JSON of an assessed fleet.
type assessment struct {
	Source    string           `json:"source"`
	Collected string           `json:"collected,omitempty"`
	Filter    string           `json:"filter,omitempty"`
	Hosts     int              `json:"hosts"`
	VMs       int              `json:"vms"`
	Judged    int              `json:"judged"`
	Pairs     int              `json:"pairs"`
	Clusters  []judged.Cluster `json:"clusters"`
	Layouts   []vmLayouts      `json:"layouts"`
}

// vmLayouts has the predictions and observations of a VM.
type vmLayouts struct {
	VM       string            `json:"vm"`
	ID       string            `json:"id"`
	Cluster  string            `json:"cluster,omitempty"`
	Host     string            `json:"host,omitempty"`
	On       []rule.On         `json:"on"`
	Observed []confront.Result `json:"observed,omitempty"`
	Plan     *rule.Proposal    `json:"plan,omitempty"`
}

func (x *index) assessment() *assessment {
	f := x.Fleet
	out := &assessment{Source: f.Source, Collected: f.Collected, Filter: x.Filter, Hosts: len(f.Hosts), VMs: len(f.VMs), Judged: x.VMs, Pairs: x.Pairs,
		Clusters: x.clusters, Layouts: []vmLayouts{}}
	planned := map[*rule.VM]*rule.Proposal{}
	vms, plans := x.Proposals()
	for i, v := range vms {
		planned[v] = plans[i]
	}
	for _, c := range x.Clusters {
		for _, v := range c.VMs {
			one := vmLayouts{v.Name, v.ID, c.Name, "", v.On, v.Seen, planned[v]}
			if v.Host != nil {
				one.Host = v.Host.Name
			}
			out.Layouts = append(out.Layouts, one)
		}
	}
	return out
}

// about describes the origin of the tables in files.
func (x *index) about(a *answer.Answer, version string) table.Table {
	f := x.Fleet
	text := func(name, s string) [2]table.Cell { return answer.About(name, table.Text(s)) }
	number := func(name string, n int) [2]table.Cell { return answer.About(name, table.Number(n)) }
	return a.AboutTable(
		text("Source", f.Source), text("Collected", f.Collected), text("Shown", cmp.Or(x.Filter, "everything")), text("homenode", version),
		number("Clusters", len(f.Clusters)), number("Hosts", len(f.Hosts)), number("VMs", len(f.VMs)),
		number("VMs judged", x.VMs), number("Templates, counted apart", x.Templates), number("Predictions (VM × host)", x.Pairs),
		number("Findings", len(x.Findings)), number("Findings suppressed", len(x.Suppressed)), number("Notes", len(a.Notes)),
	)
}

// TableNames lists the tables of an assessment, in order.
func TableNames() []string {
	return table.Names(Assess(&rules.Result{Fleet: &numa.Fleet{}}, Options{}).Data)
}

// lacksRelease reports whether no VM is assessed because no host states its release.
func lacksRelease(r *rules.Result) bool {
	states := func(h numa.Host) bool { return h.Release.Known() }
	return r.VMs == 0 && r.Fleet.Hypervisor != numa.KVM && len(r.Fleet.Hosts) > 0 && !slices.ContainsFunc(r.Fleet.Hosts, states)
}

// exampleVM returns the VM of the first of these findings about one as a word for a command line; "" if there is none. The word is the name. It is the ID
// if the name cannot be typed or looks like a flag, or if byID is set because names may not be unique across several sources.
func exampleVM(in *numa.Fleet, findings []finding.Finding, byID bool) string {
	for i := range findings {
		f := &findings[i]
		names := []string{f.VM, f.VMID}
		if byID || len(in.FindVMs(f.VM)) > 1 {
			slices.Reverse(names)
		}
		for _, name := range names {
			if name != "" && f.VM != "" && texttab.Clean(name) == name && !strings.HasPrefix(name, "-") {
				return words.Command(name)
			}
		}
	}
	return ""
}
