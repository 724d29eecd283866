package site

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/book"
)

// leastText is the minimum number of letters for a search in the texts of the rule book, not only its names.
const leastText = 3

// A search finds objects with all words in their names; in the rule book also in the text.
type search struct {
	words []string // in lower case
	found answer.Table
}

// match reports whether the texts contain all words.
func (s *search) match(texts ...string) bool {
	if len(s.words) == 0 {
		return false
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(s.words, func(w string) bool { return !strings.Contains(all, w) })
}

// add adds a result.
func (s *search) add(kind, id, name, what, where string) {
	s.found.Rows = append(s.found.Rows, []answer.Cell{{Text: name, To: answer.Object{Kind: kind, ID: id}}, {Text: what}, {Text: where}})
}

// fleet searches hosts, clusters and VMs.
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

// book searches the rule book: matches in names come before matches in texts.
func (s *search) book() {
	entries := book.Names()
	for _, named := range []bool{true, false} {
		for i := range entries {
			one := &entries[i]
			says := len(strings.Join(s.words, "")) >= leastText && s.match(one.ID, one.Title, one.Text)
			if is := s.match(one.ID, one.Title); is == named && (is || says) {
				s.add("rule", one.ID, strings.TrimSpace(one.ID+" "+one.Title), one.Kind, one.Short())
			}
		}
	}
}

// search finds VMs, hosts, clusters, rules, statements and settings. A single hit is shown at once.
func (s *Site) search(w http.ResponseWriter, r *http.Request) {
	x, err := s.request(&screen{path: "/search", title: "Search"}, r)
	q := strings.TrimSpace(x.query.Get("q"))
	found := search{words: strings.Fields(strings.ToLower(q)), found: answer.Table{Name: "found", Title: "Found", Columns: answer.Columns("Name", "What", "Where, or what it says")}}
	if err == nil && len(q) > numa.MaxName { // each word is looked for in every name
		err = fmt.Errorf("found %d bytes to search for, want at most %d", len(q), numa.MaxName)
	}
	v := &view{answer: &answer.Answer{Title: "Search: " + q}}
	if err != nil {
		v.answer = x.cannot(err)
		x.write(w, statusOf(err), v)
		return
	}
	if x.fleet != nil {
		found.fleet(x.fleet.Result.Fleet)
	}
	found.book()
	if len(found.found.Rows) == 1 {
		http.Redirect(w, r, x.withFleet(found.found.Rows[0][0].To.Address()), http.StatusSeeOther)
		return
	}
	switch n := len(found.found.Rows); {
	case n > 0:
		v.answer.Verdict, v.answer.Tables = []string{words.Plural(n, "name") + " found."}, []answer.Table{found.found}
	case q == "":
		v.answer.Verdict = []string{"Type a part of the name of a VM, host, cluster, rule or setting."}
	default:
		v.answer.Verdict = []string{fmt.Sprintf("No VM, host, rule or setting is named like %q.", q), "Parts of names are enough; upper and lower case do not matter."}
	}
	x.write(w, http.StatusOK, v)
}
