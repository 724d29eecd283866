package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
)

// pages returns every page in the order of the navigation.
func pages() []*screen {
	return []*screen{
		{"/", "Fleet", bar, "", false, showFleet},
		{"/cluster", "Cluster", linked, "cluster", true, showCluster},
		{"/host", "Host", bar, "host", true, showHost},
		{"/vm", "VM", bar, "vm", true, showVM},
		{"/what-if", "What if", bar, "", false, showWhatIf},
		{"/plans", "Plan", bar, "", false, showPlans},
		{"/calculator", "Size", bar, "", false, showCalculator},
		{"/simulate", "Simulate", bar, "", true, showSimulate},
		{"/captures", "Captures", bar, "", false, showCaptures},
		{"/capture", "Capture", linked, "capture", false, showCapture},
		{"/compare", "Compare", linked, "", false, showCompare},
		{"/rules", "Rules", foot, "", false, showRules},
		{"/rule", "Rule", linked, "rule", false, showRule},
		{"/status", "Status", foot, "", false, showStatus},
	}
}

// showCluster shows whether every VM fits every host of a cluster.
func showCluster(x *request) (*view, error) {
	name := x.query.Get("cluster")
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
	v := &view{answer: joined(a, judged), command: command, most: 3, first: true}
	return v, x.addMemoryOfMany(v.answer, name, nil, "vcenter", x.fleet.Name, "cluster", name)
}

// explained explains an object of the fleet; values are names and values of fields of the question. It also returns the command.
func (x *request) explained(values ...string) (*answer.Answer, []string, error) {
	q := fleet.ExplainEntry.Ask()
	if err := give(q, append([]string{"source", Source}, values...)...); err != nil {
		return nil, nil, err
	}
	a, err := x.answerOf(fleet.ExplainEntry, q)
	return a, ask.Line(fleet.ExplainEntry.Name, q), err
}

// which lists all VMs, hosts or clusters for selection.
func (x *request) which(kind string) *view {
	f := x.fleet.Result.Fleet
	t := answer.Table{Name: kind, Title: map[string]string{"vm": "VMs", "host": "Hosts", "cluster": "Clusters"}[kind], Columns: answer.Columns("Name", "Cluster")}
	add := func(id, name, cluster string) {
		t.Rows = append(t.Rows, []answer.Cell{{Text: name, To: answer.Object{Kind: kind, ID: id}}, {Text: cluster, To: answer.Cluster(cluster)}})
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
			t.Rows = append(t.Rows, []answer.Cell{{Text: f.Clusters[i].Name, To: answer.Cluster(f.Clusters[i].Name)}})
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

// showStatus shows the status of collecting.
func showStatus(x *request) (*view, error) {
	if x.site.Status == nil {
		verdict := "Nothing is collected: these pages show a file."
		return &view{answer: &answer.Answer{Title: "Status", Verdict: []string{verdict}, Facts: []answer.Fact{{Name: "source", Text: strings.Join(x.fleet.Sources, " ")}}}}, nil
	}
	if x.site.Live == nil {
		return &view{answer: x.site.Status(), live: true}, nil
	}
	a, err := x.site.recent.once(x, presentFor, x.page.path, func() (*answer.Answer, error) { return x.site.Status(), nil })
	return &view{answer: a, live: true}, err
}

// allOf returns the address of all findings of a rule.
func allOf(rule string) string { return "/?rule=" + rule }
