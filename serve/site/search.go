package site

import (
	"net/http"
	"strings"

	"homenode/esxi/rulebook"
	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules"
)

// A search finds what has all words in its name, or for the rule book in its text.
type search struct {
	words []string
	found answer.Table
	first answer.Object
}

// match reports whether the words are in the texts.
func (s *search) match(texts ...string) bool {
	if len(s.words) == 0 {
		return false
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	for _, w := range s.words {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}

// add adds what was found.
func (s *search) add(kind, id, name, what, where string) {
	o := answer.Object{Kind: kind, ID: id}
	if len(s.found.Rows) == 0 {
		s.first = o
	}
	s.found.Rows = append(s.found.Rows, []answer.Cell{{Text: name, To: o}, {Text: what}, {Text: where}})
}

// fleet finds hosts, clusters and VMs.
func (s *search) fleet(f *numa.Fleet) {
	hosts := map[string]string{}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		hosts[h.ID] = h.Name
		if s.match(h.Name, h.ID) {
			s.add("host", h.ID, h.Name, "host", f.ClusterName(h.Cluster))
		}
	}
	for i := range f.Clusters {
		if c := &f.Clusters[i]; s.match(c.Name) {
			s.add("cluster", c.Name, c.Name, "cluster", "")
		}
	}
	for i := range f.VMs {
		if v := &f.VMs[i]; s.match(v.Name, v.ID) {
			s.add("vm", v.ID, v.Name, "VM", hosts[v.Host])
		}
	}
}

// book finds what the rule book has: by its ID first, and by its text.
func (s *search) book() {
	for _, r := range rules.All {
		if s.match(r.ID, r.Name, r.Title, r.Why, r.Fix) {
			s.add("rule", r.ID, r.ID+" "+r.Title, "check", "")
		}
	}
	for _, one := range rulebook.Settings {
		if s.match(one.Key, one.Text) {
			of := "setting of a VM"
			if one.Host {
				of = "option of a host"
			}
			s.add("rule", one.Key, one.Key, of, one.Text)
		}
	}
	for _, one := range rulebook.Statements {
		if s.match(one.ID, one.Text) {
			s.add("rule", one.ID, one.ID, "statement", one.Text)
		}
	}
	for _, c := range vnuma.ChoiceList {
		if s.match(c.ID, c.Default, c.Alternative) {
			s.add("rule", c.ID, c.ID, "sources disagree", c.Default)
		}
	}
	for _, e := range rulebook.Experiments {
		if s.match(e.Name, e.Title) {
			s.add("rule", e.Name, e.Name, "published experiment", e.Title)
		}
	}
}

// search finds VMs, hosts, clusters, rules, statements and settings. One hit alone, or what has the very ID, is shown at once.
func (s *Site) search(w http.ResponseWriter, r *http.Request) {
	x, err := s.request(&screen{path: "/search", title: "Search"}, r)
	q := strings.TrimSpace(x.query.Get("q"))
	found := search{words: strings.Fields(strings.ToLower(q)), found: answer.Table{Name: "found", Columns: answer.Columns("Name", "What", "Where or what it says")}}
	v := &view{answer: &answer.Answer{Title: "Search", Question: "Search: " + q}, title: "Search: " + q}
	switch {
	case err != nil:
		v.answer.Verdict = []string{sentence(err.Error())}
		x.write(w, statusOf(err), v)
		return
	case x.fleet != nil:
		found.fleet(x.fleet.Result.Fleet)
	}
	found.book()
	if to, ok := found.only(q); ok {
		http.Redirect(w, r, x.withFleet(to.Address()), http.StatusSeeOther)
		return
	}
	v.answer.Verdict = []string{"Nothing has this name."}
	if n := len(found.found.Rows); n > 0 {
		v.answer.Verdict = []string{words.Plural(n, "name") + " found."}
		v.answer.Tables = []answer.Table{found.found}
	} else if q == "" {
		v.answer.Verdict = []string{"Type a part of the name of a VM, host, cluster, rule or setting."}
	}
	x.write(w, http.StatusOK, v)
}

// only returns what alone was found, or has the very name.
func (s *search) only(q string) (to answer.Object, ok bool) {
	n := 0
	for _, row := range s.found.Rows {
		if strings.EqualFold(row[0].To.ID, q) || strings.EqualFold(row[0].Text, q) {
			to = row[0].To
			n++
		}
	}
	if len(s.found.Rows) == 1 {
		return s.first, true
	}
	return to, n == 1
}
