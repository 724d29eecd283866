package site

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/source/story"
)

// Bounds of what a page simulates, so that an answer comes in seconds: hours, and VMs times hours.
const (
	simulateHours   = 48.0
	simulateVMHours = 24_000
)

// simulateBound says so.
var simulateBound = fmt.Sprintf("A page simulates up to %.0f hours, and up to %s VMs times hours; the command line has no such bound.", simulateHours, words.Thousands(simulateVMHours))

// partChoices are the clusters and hosts that can be simulated alone.
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

// showSimulate runs the scheduler of the model over the fleet, or a part of it, for some hours.
func showSimulate(x *request) (*view, error) {
	if x.fleet == nil {
		return nil, errNoFleet
	}
	fields, flags := x.asked(
		field{Group: "What runs", Name: "part", Label: "Hosts", Choices: x.partChoices()},
		field{Name: "hours", Label: "Hours", Hint: "8", Default: "8"},
		field{Name: "load", Label: "Load of VMs", Hint: "sql* cpu=60%"},
		field{Name: "at", Label: "What happens", Hint: "2h fail esx07"},
		field{Name: "vm", Label: "One VM alone", Hint: "sql01"},
		field{Name: "moment", Label: "Moment", Hint: "02:30"},
		field{Group: "Changed before", Folded: true, Name: "what-if", Label: "Change", Hint: "vm=sql* hotAdd=off", Long: true},
		field{Name: "lose-host", flag: "what-if=lose-host=", Label: "Lose a host", Choices: x.loseChoices()},
		field{Name: "add-host", flag: "what-if=add-host=", Label: "Add hosts", Hint: "like=esx01"},
	)
	v := &view{fields: fields, most: 10}
	part := x.fleet.Result.Fleet
	if name := valueOf(fields, "part"); name != "" {
		var err error
		if part, err = story.Part(part, []string{name}); err != nil {
			return v, err
		}
	}
	hours, err := strconv.ParseFloat(valueOf(fields, "hours"), 64)
	if err != nil || !(hours > 0) {
		return v, fmt.Errorf("hours: found %q, want a number such as 8", valueOf(fields, "hours"))
	}
	if !slices.ContainsFunc(fields, func(f field) bool { return x.query.Has(f.Name) }) { // it is asked for, not made by looking at the page
		v.answer = &answer.Answer{Title: "Simulate", Verdict: []string{"The model of the NUMA scheduler runs over this fleet, or a part of it, when you press Show.", simulateBound}}
		return v, nil
	}
	if on := running(part); hours > simulateHours || float64(on)*hours > simulateVMHours {
		asked := fmt.Errorf("%s for %s hours are too much for a page: choose a cluster or host, or fewer hours", words.Plural(on, "VM"), valueOf(fields, "hours"))
		return v, fmt.Errorf("%w. %s", asked, strings.TrimSuffix(simulateBound, "."))
	}
	for _, f := range []string{"load", "at"} {
		if strings.ContainsAny(valueOf(fields, f), "\r\n") {
			return v, errors.New(f + ": found a line break, want one line")
		}
	}
	v.command = commandOf([]string{"simulate"}, flags, Source)
	a, err := x.site.recent.ask(x, v.command...)
	if err != nil {
		return v, err
	}
	out := *a
	out.Next = nil
	if valueOf(fields, "vm") == "" {
		why, err := x.site.recent.ask(x, commandOf([]string{"simulate", "--why"}, slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return strings.HasPrefix(f, "--moment=") }), Source)...)
		if err != nil {
			return v, err
		}
		decided := why.Tables[0]
		decided.Title, decided.Lead = "Decisions", "Every decision of the scheduler, with its reason. A time leads to what stood then."
		out.Tables = append(slices.Clone(a.Tables), decided)
	} else {
		out.Tables = slices.Clone(a.Tables)
	}
	for i := range out.Tables {
		out.Tables[i] = x.momentsIn(out.Tables[i])
	}
	out.Drawings = fewDrawings(a.Drawings)
	out.Notes = append(slices.Clone(a.Notes), answer.Note{Text: simulateBound})
	v.answer = &out
	return v, nil
}

// mostPlayed is how many drawings of a group a page of a simulation has.
const mostPlayed = 6

// fewDrawings leaves the first drawings of each group, the worst, so that the page of a large fleet opens at once.
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

// running counts the VMs that may run.
func running(f *numa.Fleet) (n int) {
	for i := range f.VMs {
		if v := &f.VMs[i]; v.Power.Or(numa.PoweredOn) == numa.PoweredOn && !v.Template.Or(false) {
			n++
		}
	}
	return n
}

// momentsIn returns a table of decisions with links from their times to what stood then.
func (x *request) momentsIn(t answer.Table) answer.Table {
	i := slices.IndexFunc(t.Columns, func(c answer.Column) bool { return c.Name == "time" })
	if i < 0 || t.Name == "moment" {
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

// momentOf returns the time that a cell begins with, as --moment takes it; "" for none.
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

// momentAddress is the page at a moment, where its tables stand as they do.
func (x *request) momentAddress(at string) string {
	q := url.Values{}
	for name, values := range x.query {
		q[name] = values
	}
	q.Set("moment", at)
	return "/simulate?" + q.Encode() + "#drawings"
}
