package site

import (
	"net/http"
	"strings"

	"homenode/output/answer"
	"homenode/output/book"
)

// mostFound is how many of a kind a search shows.
const mostFound = 50

// search finds VMs, hosts, clusters, rules and settings by parts of their names. One hit alone is shown at once.
func (s *Site) search(w http.ResponseWriter, r *http.Request) {
	x, err := s.request(&screen{path: "/search", title: "Search"}, r)
	q := strings.ToLower(strings.TrimSpace(x.query.Get("q")))
	found := answer.Table{Name: "found", Title: "Found", Columns: answer.Columns("Name", "What", "Where")}
	var only []answer.Object
	add := func(o answer.Object, name, what, where string) {
		only = append(only, o)
		found.Rows = append(found.Rows, []answer.Cell{{Text: name, To: o}, {Text: what}, {Text: where}})
	}
	match := func(texts ...string) bool {
		for _, t := range texts {
			if q != "" && strings.Contains(strings.ToLower(t), q) {
				return true
			}
		}
		return false
	}
	if x.fleet != nil {
		f := x.fleet.Result.Fleet
		hosts := map[string]string{}
		n := 0
		for i := range f.Hosts {
			h := &f.Hosts[i]
			hosts[h.ID] = h.Name
			if match(h.Name, h.ID) && n < mostFound {
				n++
				add(answer.Object{Kind: "host", ID: h.ID}, h.Name, "host", f.ClusterName(h.Cluster))
			}
		}
		for i := range f.Clusters {
			if c := &f.Clusters[i]; match(c.Name) {
				add(answer.Object{Kind: "cluster", ID: c.Name}, c.Name, "cluster", "")
			}
		}
		n = 0
		for i := range f.VMs {
			if v := &f.VMs[i]; match(v.Name, v.ID) && n < mostFound {
				n++
				add(answer.Object{Kind: "vm", ID: v.ID}, v.Name, "VM", hosts[v.Host])
			}
		}
	}
	n := 0
	entries := book.Names()
	for _, named := range []bool{true, false} { // what is named so stands before what says so
		for i := range entries {
			one := &entries[i]
			if match(one.ID, one.Title) != named || !named && (len(q) < 3 || !match(one.Text)) || n == mostFound {
				continue
			}
			n++
			add(answer.Object{Kind: "rule", ID: one.ID}, strings.TrimSpace(one.ID+" "+one.Title), one.Kind, one.Short())
		}
	}
	if len(only) == 1 && err == nil {
		http.Redirect(w, r, only[0].Address(), http.StatusSeeOther)
		return
	}
	verdict := "Nothing is named so."
	if len(only) > 0 {
		verdict = "These names match."
	}
	x.write(w, http.StatusOK, &view{answer: &answer.Answer{Title: "Search: " + x.query.Get("q"), Verdict: []string{verdict}, Tables: []answer.Table{found}}})
}
