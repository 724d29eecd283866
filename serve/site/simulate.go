package site

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/ask/recording"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
)

// simulation is the question of the page.
var simulation = ask.Named(recording.Entries, "simulate")

// simulateHours is the default number of hours that a page simulates.
const simulateHours = "8"

// simulateBound explains the limits of a page's simulation, which keep the response time to seconds.
var simulateBound = fmt.Sprintf("A page simulates up to %.0f hours, and up to %s VMs times hours, which events and changes double; the command line has no such bound.", recording.MostHours, words.Thousands(simulation.Budget.Steps))

// partChoices returns the clusters and hosts that can be simulated separately.
func (x *request) partChoices() []choice {
	out := []choice{{"", "the whole fleet"}}
	f := x.fleet.Result.Fleet
	for i := range f.Clusters {
		out = append(out, choice{f.Clusters[i].Name, "cluster " + f.Clusters[i].Name})
	}
	for i := range f.Hosts {
		out = append(out, choice{f.Hosts[i].Name, f.Hosts[i].Name})
	}
	return out
}

// showSimulate runs the model's scheduler over the fleet, or a part of it, for some hours.
func showSimulate(x *request) (*view, error) {
	q := simulation.Ask().(*recording.Simulate)
	fields, given, err := x.form(q)
	for i := range fields {
		switch f := &fields[i]; {
		case f.Name == "part":
			f.Choices, f.Long = x.partChoices(), false
		case f.Name == "hours" && !x.query.Has(f.Name):
			f.Value = simulateHours
		case f.Name == "what-if":
			f.Group, f.Folded = "Changed before", true
		}
	}
	more := x.asked(field{Name: "lose-host", Label: "Lose a host", Choices: x.hostsOr("none")}, field{Name: "add-host", Label: "Add hosts", Hint: "esx01"})
	at := 1 + slices.IndexFunc(fields, func(f field) bool { return f.Name == "what-if" })
	v := &view{fields: slices.Insert(fields, at, more...), most: 10}
	for _, f := range more {
		if f.Value != "" && err == nil {
			given, err = true, give(q, "what-if", f.Name+"="+f.Value)
		}
	}
	if err != nil {
		return v, err
	}
	if !given { // a simulation starts on request only, not by opening the page
		v.answer = &answer.Answer{Title: simulation.Title, Verdict: []string{simulation.Lead, simulateBound}}
		v.links = x.presets()
		return v, nil
	}
	if !q.Given("hours") {
		if err := give(q, "hours", simulateHours); err != nil {
			return v, err
		}
	}
	if err := give(q, "scenario", Source); err != nil {
		return v, err
	}
	v.command = ask.Line(simulation.Name, q)
	a, err := x.site.recent.answer(x, simulation, q)
	if err != nil {
		return v, err
	}
	out := *a
	out.Next = nil
	out.Tables = nil
	for _, t := range a.Tables {
		out.Tables = append(out.Tables, x.momentsIn(t))
	}
	out.Drawings = fewDrawings(a.Drawings)
	out.Notes = append(slices.Clone(a.Notes), answer.Note{Text: simulateBound})
	v.answer = &out
	return v, nil
}

// typicalHost returns the host with the most VMs that has another host in its cluster, or else a single host, which also returns false; nil for none.
func (x *request) typicalHost() (host *numa.Host, inCluster bool) {
	f := x.fleet.Result.Fleet
	on, ready := map[string]int{}, map[string]int{} // VMs by host, hosts by cluster
	for i := range f.VMs {
		on[f.VMs[i].Host]++
	}
	for i := range f.Hosts {
		if f.Hosts[i].Ready() {
			ready[f.Hosts[i].Cluster]++
		}
	}
	several := func(h *numa.Host) bool { return h.Cluster != "" && ready[h.Cluster] > 1 }
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if h.Ready() && onlyPlain.MatchString(h.Name) && (host == nil || several(h) && !several(host) || several(h) == several(host) && on[h.ID] > on[host.ID]) {
			host = h
		}
	}
	return host, host != nil && several(host)
}

// presets returns example stories about a typical host.
func (x *request) presets() []link {
	host, inCluster := x.typicalHost()
	if host == nil {
		return nil
	}
	part := cmp.Or(x.fleet.Result.Fleet.ClusterName(host.Cluster), host.Name)
	preset := func(text string, values ...string) link {
		q := url.Values{"part": {part}, "hours": {"4"}}
		for i := 0; i < len(values); i += 2 {
			q.Set(values[i], values[i+1])
		}
		return link{text, x.page.path + "?" + q.Encode()}
	}
	out := []link{preset(part + " as it is")}
	if inCluster {
		out = append(out, preset(host.Name+" fails at 02:00", "at", "2h fail "+host.Name), preset(host.Name+" goes into maintenance at 02:00", "at", "2h maintenance "+host.Name))
	}
	return append(out, preset("CPU hot add off for all VMs", "what-if", "vm=* hotAdd=off"))
}

// mostPlayed limits the charts of a group on a simulation's page.
const mostPlayed = 6

// fewDrawings keeps the first, worst charts of each group, so that the page of a large fleet opens at once.
func fewDrawings(all []answer.Drawing) (out []answer.Drawing) {
	n, left := 0, 0
	cut := func() {
		if left > 0 {
			out[len(out)-1].Cut = words.Plural(left, "more drawing") + " left out: choose a host or a VM."
		}
		n, left = 0, 0
	}
	for _, d := range all {
		if d.Heading != "" {
			cut()
		}
		if n++; n > mostPlayed {
			left++
			continue
		}
		out = append(out, d)
	}
	cut()
	return out
}

// momentsIn returns a table of decisions in which times link to the state at that time.
func (x *request) momentsIn(t answer.Table) answer.Table {
	i := slices.IndexFunc(t.Columns, func(c answer.Column) bool { return c.Name == "time" })
	if i < 0 || t.Name == "moment" || x.posted {
		return t
	}
	if t.Fill != nil {
		t.Rows, t.Fill = t.Fill(), nil
	}
	rows := make([][]answer.Cell, len(t.Rows))
	for k, row := range t.Rows {
		rows[k] = slices.Clone(row)
		if at := momentOf(row[i].Text); at != "" {
			rows[k][i].To = answer.Object{Kind: answer.Elsewhere, ID: x.momentAddress(at)}
		}
	}
	t.Rows = rows
	return t
}

// momentOf returns the time at the begin of a cell in the form of --moment; "" for none.
func momentOf(text string) string {
	text, _, _ = strings.Cut(text, " to ")
	if day, clock, ok := strings.Cut(text, " "); ok {
		return day + "T" + clock + strings.Repeat(":00", 2-strings.Count(clock, ":")) + "Z"
	}
	if strings.Count(text, ":") == 0 {
		return ""
	}
	return text
}

// momentAddress returns the address of the page at a moment, with the same tables.
func (x *request) momentAddress(at string) string {
	q := url.Values{}
	for name, values := range x.query {
		q[name] = values
	}
	q.Set("moment", at)
	return "/simulate?" + q.Encode() + "#drawings"
}
