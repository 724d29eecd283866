package whatif

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/word"
)

// A namePattern matches VMs, hosts or clusters: names, IDs, cluster/name, patterns of
// path.Match and ranges such as esx[01-08], separated by commas.
type namePattern struct {
	text  string
	col   int
	items []string
	parts []part // of the list; each must match something
}

// A part is the text between two commas: a name, a pattern, or a range of names.
type part struct {
	text  string
	items []string
}

func newPattern(w word.Word) (*namePattern, error) {
	p := &namePattern{text: w.Value, col: w.Col}
	for item := range strings.SplitSeq(w.Value, ",") {
		if item == "" {
			return nil, word.Errorf(w.Col, "found %s=%q, want names or patterns", word.Short(w.Key), word.Short(w.Value))
		}
		if word.Range.MatchString(item) {
			names, err := word.Expand(item, w.Col)
			if err != nil {
				return nil, err
			}
			p.items = append(p.items, names...)
			p.parts = append(p.parts, part{item, names})
			continue
		}
		if _, err := path.Match(item, ""); err != nil {
			return nil, word.Errorf(w.Col, "found pattern %q: %v", word.Short(item), err)
		}
		p.items = append(p.items, item)
		p.parts = append(p.parts, part{item, []string{item}})
	}
	return p, nil
}

// A named is an object that a pattern can match.
type named struct {
	id, name, short, cluster string
}

// idle returns the first part of a list that matches nothing, as a pattern of its own; nil if
// each matches something. "none" means no cluster.
func (p *namePattern) idle(all []named) *namePattern {
	if p == nil || len(p.parts) < 2 {
		return nil
	}
	for _, one := range p.parts {
		alone := &namePattern{text: one.text, col: p.col, items: one.items}
		if one.text != "none" && alone.match(all) == nil {
			return alone
		}
	}
	return nil
}

// match returns the indexes of the objects that p matches; if nothing matches exactly, case is
// ignored. nil matches all.
func (p *namePattern) match(all []named) []int {
	var found []int
	for _, fold := range []bool{false, true} {
		for i := range all {
			if p == nil || p.matches(&all[i], fold) {
				found = append(found, i)
			}
		}
		if found != nil {
			break
		}
	}
	return found
}

func (p *namePattern) matches(n *named, fold bool) bool {
	for _, item := range p.items {
		if item == "*" || item == n.id { // a pattern such as vm-* never matches IDs
			return true
		}
		for _, name := range []string{n.name, n.short, n.cluster + "/" + n.name} {
			if fold {
				item, name = strings.ToLower(item), strings.ToLower(name)
			}
			if ok, _ := path.Match(item, name); ok || item == name { // newPattern validated the pattern
				return true
			}
		}
	}
	return false
}

// none returns the error for a pattern that matches nothing.
func (p *namePattern) none(noun string, all []named) error {
	known := words.Texts(all, func(one named) string { return one.name })
	return word.Errorf(p.col, "found no %s %q%s", noun, word.Short(p.text), alike.After(p.items[0], known))
}

func hostNames(f *numa.Fleet) []named {
	clusters := clusterNames(f)
	out := make([]named, len(f.Hosts))
	for i := range f.Hosts {
		h := &f.Hosts[i]
		short, _, _ := strings.Cut(h.Name, ".")
		out[i] = named{h.ID, h.Name, short, clusters[h.Cluster]}
	}
	return out
}

func vmNames(f *numa.Fleet) []named {
	clusters := clusterNames(f)
	out := make([]named, len(f.VMs))
	for i := range f.VMs {
		v := &f.VMs[i]
		out[i] = named{v.ID, v.Name, v.Name, clusters[v.Cluster]}
	}
	return out
}

func clusterNames(f *numa.Fleet) map[string]string {
	out := make(map[string]string, len(f.Clusters))
	for i := range f.Clusters {
		out[f.Clusters[i].ID] = f.Clusters[i].Name
	}
	return out
}

// clusterIDs returns the IDs of the clusters that p matches; a nil p matches every cluster and
// every standalone host.
func (p *namePattern) clusterIDs(f *numa.Fleet) (map[string]bool, error) {
	if p == nil {
		return nil, nil
	}
	all := make([]named, len(f.Clusters))
	for i := range f.Clusters {
		all[i] = named{f.Clusters[i].ID, f.Clusters[i].Name, f.Clusters[i].Name, ""}
	}
	out := map[string]bool{}
	if idle := p.idle(all); idle != nil {
		return nil, idle.none("cluster", all)
	}
	for _, i := range p.match(all) {
		out[all[i].id] = true
	}
	for _, item := range p.items {
		if item == "none" { // as in scenarios: standalone hosts and their VMs
			out[""] = true
		}
	}
	if len(out) == 0 {
		return nil, p.none("cluster", all)
	}
	return out, nil
}

var lastNumber = pattern.Of(`^(.*?)(\d+)$`)

// numbered returns count names that begin with name: esx30, esx31. The default is the name of
// the copied host.
func numbered(name, like string, count int) []string {
	switch {
	case name == "" && count == 1:
		return []string{like + "-new"}
	case name == "":
		name = like + "-new1"
	case count > 1 && !lastNumber.MatchString(name):
		name += "1"
	}
	out := []string{name}
	if m := lastNumber.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[2])
		for i := 1; i < count; i++ {
			out = append(out, fmt.Sprintf("%s%0*d", m[1], len(m[2]), n+i))
		}
	}
	return out
}

// VMs returns the indexes of the VMs that a value of vm= matches, in the order of the fleet.
func VMs(f *numa.Fleet, value string) ([]int, error) {
	p, err := newPattern(word.Word{Key: "vm", Value: value, HasValue: true, Col: 1})
	if err != nil {
		return nil, err
	}
	names := vmNames(f)
	if idle := p.idle(names); idle != nil {
		return nil, idle.none("VM", names)
	}
	found := p.match(names)
	if found == nil {
		return nil, p.none("VM", names)
	}
	return found, nil
}
