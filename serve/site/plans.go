package site

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"example.org/homenode/ask"
	"example.org/homenode/ask/change"
	"example.org/homenode/change/fix"
	"example.org/homenode/output/answer"
	answers "example.org/homenode/output/fix"
)

// A planFile is a plan that can be saved, and the command that applies it.
type planFile struct{ Name, Address, Command string }

// showPlans shows the plan for the current findings, and how to apply it.
func showPlans(x *request) (*view, error) {
	q := change.FixEntry.Ask().(*change.Plan)
	q.Fleet = Source
	fields, _, err := x.form(q)
	v := &view{fields: fields, command: ask.Line(change.FixEntry.Name, q)}
	if err != nil {
		return v, err
	}
	a, err := x.site.recent.answer(x, change.FixEntry, q)
	if err != nil {
		return v, err
	}
	v.answer = a
	if p, ok := a.Result.(*fix.Plan); ok && len(p.Changes) == 0 {
		v.answer, v.links = withWaysOn(a), x.waysOn(a, fields)
		return v, nil
	}
	if p, ok := a.Result.(*fix.Plan); ok && len(p.Changes) > 0 && x.fleet.Address != "" {
		x.site.shown.keep(p)
		name := "plan-" + p.ID + ".json"
		v.plan = &planFile{Name: name, Address: "/plan?" + url.Values{"plan": {p.ID}}.Encode(), Command: answers.Apply(p, x.fleet.Address, name)}
		out := *a
		out.Next = nil // the source is not a vCenter
		v.answer = &out
	}
	return v, nil
}

// withWaysOn returns the answer of a plan without changes, without its empty tables, and with a sentence that introduces alternatives.
func withWaysOn(a *answer.Answer) *answer.Answer {
	out := *a
	out.Tables = slices.DeleteFunc(slices.Clone(a.Tables), func(t answer.Table) bool { return len(t.Rows) == 0 && t.Fill == nil })
	out.Verdict = append(slices.Clone(a.Verdict), "Alternatives:")
	return &out
}

// waysOn returns links from a plan that changes nothing: permissions named in its reasons, findings excluded by its fields, and what-if.
func (x *request) waysOn(a *answer.Answer, fields []field) (out []link) {
	var said strings.Builder
	for _, t := range a.Tables {
		for _, row := range t.Rows {
			for i := range row {
				said.WriteString(row[i].Text + "\n")
			}
		}
	}
	asked := false
	for _, f := range fields {
		flag, value, is := strings.Cut(f.Name, "-")
		if is && f.Check && f.Value == "" && strings.Contains(said.String(), "--"+flag+" "+value) {
			q := cloned(x.query)
			q.Set(f.Name, "on")
			out = append(out, link{f.Label, x.page.path + "?" + q.Encode()})
		}
		asked = asked || f.Value != "" && !f.Check
	}
	if asked {
		out = append(out, link{"Plan for the whole fleet", x.page.path})
	}
	q := url.Values{}
	if vm := x.query.Get("vm"); vm != "" {
		q.Set("vm", vm)
	}
	return append(out, link{"What if …", "/what-if?" + q.Encode()})
}

// plansKept is the number of shown plans that can be saved. The plan of a live fleet is another one a minute later.
const plansKept = 16

// shownPlans has the last plans shown on pages.
type shownPlans struct {
	mu  sync.Mutex
	all []*fix.Plan // newest first
}

func (s *shownPlans) keep(p *fix.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(q *fix.Plan) bool { return q.ID == p.ID })
	s.all = slices.Insert(s.all, 0, p)
	s.all = s.all[:min(len(s.all), plansKept)]
}

// of returns the plan with an ID; nil if it is no longer available.
func (s *shownPlans) of(id string) *fix.Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.all, func(p *fix.Plan) bool { return p.ID == id }); i >= 0 {
		return s.all[i]
	}
	return nil
}

// download answers with the file of a shown plan.
func (s *Site) download(w http.ResponseWriter, r *http.Request) {
	x, err := s.request(&screen{path: "/plans", title: "Plan"}, r)
	p := s.shown.of(x.query.Get("plan"))
	if err == nil && p == nil {
		err = &unknownError{"this plan is not kept any more: the page Plan makes it anew"}
	}
	var b bytes.Buffer
	if err == nil {
		err = p.Write(&b)
	}
	if err != nil {
		x.write(w, statusOf(err), &view{answer: x.cannot(err), back: "/plans"})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "plan-"+p.ID+".json"))
	_, _ = w.Write(b.Bytes()) // the client is gone
}
