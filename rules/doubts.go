package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// Doubts returns notes about what is assumed or unknown of several VMs or hosts of the clusters at once, with their number.
func (r *Result) Doubts() []numa.Note { return append(r.releaseDoubts(), r.assumed()...) }

// releaseDoubts notes unknown releases, whose hosts are assessed with the model of an older one.
func (r *Result) releaseDoubts() (notes []numa.Note) {
	type pair struct{ of, model numa.Release }
	hosts, unknown := map[pair]int{}, map[pair]int{}
	for _, c := range r.Clusters {
		for _, k := range c.Kinds {
			if model, own, ok := numa.ModelOf(k.Machine.Release); ok && !own {
				hosts[pair{k.Machine.Release, model}] += len(k.Hosts)
			}
			if last, ok := numa.LastUpdate(k.Machine.Release); ok && k.Machine.Release > last {
				unknown[pair{k.Machine.Release, last}] += len(k.Hosts)
			}
		}
	}
	tell := func(hosts map[pair]int, format string) {
		for _, p := range slices.SortedFunc(maps.Keys(hosts), func(a, b pair) int { return cmp.Compare(a.of, b.of) }) {
			notes = append(notes, numa.Note{Text: fmt.Sprintf("%s: "+format, words.Plural(hosts[p], "host"), p.of, p.model)})
		}
	}
	tell(hosts, "release %s is not described yet: the model of %s is used")
	tell(unknown, "release %s is not known: it is judged as %s, the newest that is")
	return notes
}

// assumed counts the assumptions.
func (r *Result) assumed() (notes []numa.Note) {
	hosts, tiers, blind, unstated := 0, 0, 0, 0
	var sockets []string // VMs
	each := "one a package is"
	for _, c := range r.Clusters {
		for _, h := range c.Hosts {
			if h.Nodes.Origin.Kind == numa.Assumed && !strings.HasPrefix(h.Nodes.Origin.Where, "--") {
				if hosts++; h.Dies() > 1 && !h.Nested() {
					each = "one a package, or one for each of several dies of a package, is"
				}
			}
			if h.Release.Value >= numa.ESXi80+3 && h.Nodes.Origin.Kind == numa.Assumed && h.Memory.Origin.Kind == numa.Read && !h.TierMemory.Known() {
				tiers++
			}
		}
		for _, v := range c.VMs {
			if l := &v.On[0].Layout; l.Wide() && l.Assumes&vnuma.AssumedHotAdd != 0 {
				blind++
			}
			if v.EditionDecides() {
				if sockets = append(sockets, v.Name); v.On[0].Layout.Assumes&vnuma.AssumedCPS != 0 {
					unstated++
				}
			}
		}
	}
	assumed := ""
	if unstated > 0 {
		assumed = fmt.Sprintf(", where %d of them do not state cores per socket and 1 is assumed", unstated)
	}
	for _, d := range []struct {
		n    int
		noun string
		text string
	}{
		{hosts, "host", "the source knows no NUMA nodes, " + each + " assumed; say better with --nodes-per-socket"},
		{tiers, "host", "whether memory tiering is on is unknown: then the memory read includes NVMe, and that of a node is less (A-12)"},
		{blind, "wide VM", "CPU hot add is unknown and taken as off; with it on, their guests see one node"},
		{len(sockets), "Windows VM", fmt.Sprintf("more than %d sockets or %d vCPUs (%s)%s, and what runs in them is not stated: it depends, SQL Server Standard uses the lesser of %[1]d sockets and %[2]d cores (32 in 2025) and leaves the others idle; say what runs with --product", rule.FewSockets, rule.FewCores, words.Few(sockets), assumed)},
		{r.Templates, "template", "judged as if powered on, for clones inherit their settings; counted apart"},
	} {
		if d.n > 0 {
			notes = append(notes, numa.Note{Text: words.Plural(d.n, d.noun) + ": " + d.text})
		}
	}
	return notes
}
