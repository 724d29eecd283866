package site

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"homenode/internal/words"
	"homenode/output/answer"
	"homenode/rules/policy"
	"homenode/serve/accept"
)

// acceptFields are what a suppression says.
func acceptFields() []field {
	return []field{
		{Name: "rule", Label: "Rule", Hint: "N001"},
		{Name: "vm", Label: "VM", Hint: "sql*"},
		{Name: "host", Label: "Host", Hint: "esx0*"},
		{Name: "cluster", Label: "Cluster", Hint: "prod*"},
		{Name: "reason", Label: "Reason", Hint: "ticket 4711", Long: true},
		{Name: "until", Label: "Until, the last day", Hint: "2027-01-31", Default: time.Now().AddDate(0, 3, 0).Format(time.DateOnly)},
	}
}

// showAccepted shows what is accepted, and the form that accepts more.
func showAccepted(x *request) (*view, error) {
	a := &answer.Answer{Command: "assess", Title: "Accepted findings"}
	v := &view{answer: a}
	if x.fleet == nil {
		return nil, errNoFleet
	}
	all := x.fleet.Result.Suppressed
	t := answer.Table{Name: "accepted", Title: "Accepted now", Columns: answer.Columns("Rule", "Of", "Finding", "Reason", "Until", "Written in")}
	for i := range all {
		s := &all[i]
		of := answer.Cell{Text: s.Subject()}
		switch {
		case s.VMID != "":
			of.To = answer.Object{Kind: "vm", ID: s.VMID}
		case s.HostID != "":
			of.To = answer.Object{Kind: "host", ID: s.HostID}
		}
		t.Rows = append(t.Rows, []answer.Cell{{Text: s.Rule, To: answer.Object{Kind: "rule", ID: s.Rule}}, of, {Text: s.Message}, {Text: s.By.Reason}, {Text: s.By.Until}, {Text: s.By.At}})
	}
	switch len(all) {
	case 0:
		a.Verdict = []string{"No finding is accepted."}
	default:
		a.Verdict = []string{words.Plural(len(all), "finding") + " accepted. They count for nothing until the day that stands beside them."}
	}
	a.Tables = []answer.Table{t}
	if x.site.Accepted == nil {
		a.Notes = []answer.Note{{Text: "To accept findings here, start the server with --accepted FILE; or write them into the configuration (docs/config.md)."}}
		return v, nil
	}
	fields := acceptFields()
	for i := range fields {
		if x.query.Has(fields[i].Name) {
			fields[i].Value = x.query.Get(fields[i].Name)
		} else {
			fields[i].Value = fields[i].Default
		}
	}
	v.actions = append(v.actions, action{Path: "/accepted/add", Label: "Accept", Note: "Findings of this rule about what the names mean count for nothing until the day is over. Names may have * and ?.", Fields: fields})
	for _, s := range x.site.Accepted.Own() {
		v.actions = append(v.actions, action{Path: "/accepted/remove", Label: "Withdraw", Note: said(&s), Hidden: []choice{{"key", accept.Key(&s)}}})
	}
	return v, nil
}

// said says what a suppression means.
func said(s *policy.Suppression) string {
	parts := []string{strings.Join(s.Rules, ", ")}
	for _, one := range []struct {
		what  string
		names []string
	}{{"VM", s.VM}, {"host", s.Host}, {"cluster", s.Cluster}, {"tag", s.Tag}, {"folder", s.Folder}} {
		if len(one.names) > 0 {
			parts = append(parts, one.what+" "+strings.Join(one.names, ", "))
		}
	}
	return strings.Join(parts, " · ") + " · " + s.Reason + " · until " + s.Until
}

// accept accepts findings, or withdraws what was accepted.
func (s *Site) accept(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, func(*request) (string, error) {
		if s.Accepted == nil {
			return "/accepted", &unknownError{"nothing can be accepted here: the server was started without --accepted"}
		}
		form := func(name string) []string {
			if v := strings.TrimSpace(r.PostForm.Get(name)); v != "" {
				return []string{v}
			}
			return nil
		}
		var err error
		back := "/accepted"
		switch r.PathValue("what") {
		case "add":
			one := policy.Suppression{Rules: form("rule"), VM: form("vm"), Host: form("host"), Cluster: form("cluster"), Reason: strings.TrimSpace(r.PostForm.Get("reason")), Until: strings.TrimSpace(r.PostForm.Get("until"))}
			if err = s.Accepted.Add(one); err != nil {
				q := url.Values{}
				for _, f := range acceptFields() {
					q.Set(f.Name, r.PostForm.Get(f.Name))
				}
				back += "?" + q.Encode()
			}
		case "remove":
			own := s.Accepted.Own()
			i := slices.IndexFunc(own, func(o policy.Suppression) bool { return accept.Key(&o) == r.PostForm.Get("key") })
			if i < 0 {
				return back, &unknownError{"it is not accepted any more"}
			}
			err = s.Accepted.Remove(own[i])
		default:
			return back, &unknownError{"nothing of this name can be done"}
		}
		if err == nil {
			s.Accept()
		}
		return back, err
	})
}
