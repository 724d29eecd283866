package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// Texts about groups of decisions.

// sum describes a group of decisions.
func (s *Judged) sum(g *group) []Happening {
	first, last := g.all[0], g.all[len(g.all)-1]
	h := Happening{from: first.At, to: last.At, Host: s.hostName(first.Host), weight: important, size: len(g.all)}
	for _, d := range g.all {
		for _, id := range d.Kind.Rules() {
			h.Rules = words.Once(h.Rules, id)
		}
	}
	switch g.class {
	case moves:
		h.Text, h.weight = s.movesText(g.all), movement
	case states:
		var out []Happening
		for _, d := range g.all {
			one := h
			one.from, one.to, one.Text = d.At, d.At, "memory state "+d.Why(s.Story.Fleet)
			out = append(out, one)
		}
		return out
	case spills:
		h.Text = s.spillText(g.all)
	case widens:
		h.Text = fmt.Sprintf("node %d becomes a home node of %s: %s", first.To, s.whoText(g.all), first.Why(s.Story.Fleet))
	case home:
		h.Text, h.weight = "memory came home: "+s.whoText(g.all), detail
	case reclaims:
		h.Text = fmt.Sprintf("memory is taken from %s: %s%s", s.whoText(g.all), first.Why(s.Story.Fleet), s.mostTaken(g.all))
	case shares:
		h.Text, h.weight = fmt.Sprintf("pages are shared of %s", s.whoText(g.all)), detail
	}
	return []Happening{h}
}

// spillText names the VMs whose new memory did not fit at home. The figures are those of the
// decisions: the first time.
func (s *Judged) spillText(all []*scheduler.Decision) string {
	type amount struct{ remote, swapped numa.Bytes }
	sums := map[string]*amount{}
	var names []string
	var whole amount
	for _, d := range all {
		name := s.vmName(d.VM)
		if sums[name] == nil {
			sums[name] = &amount{}
			names = append(names, name)
		}
		_, remote, swapped := d.Spill()
		sums[name].remote += remote
		sums[name].swapped += swapped
		whole.remote += remote
		whole.swapped += swapped
	}
	what := "goes remote"
	switch {
	case whole.remote == 0:
		what = "finds no room and is swapped"
	case whole.swapped > 0:
		what = "goes remote or is swapped"
	}
	if len(all) == 1 {
		return fmt.Sprintf("new memory of %s %s: %s", names[0], what, all[0].Why(s.Story.Fleet))
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b].swapped, sums[a].swapped), cmp.Compare(sums[b].remote, sums[a].remote))
	})
	for i, name := range names {
		var parts []string
		if n := sums[name].remote; n > 0 {
			parts = append(parts, n.String()+" remote")
		}
		if n := sums[name].swapped; n > 0 {
			parts = append(parts, n.String()+" swapped")
		}
		names[i] = name + " " + strings.Join(parts, " and ")
	}
	return fmt.Sprintf("new memory %s, at first %s", what, words.Few(names))
}

// mostTaken names the VM of a group with the most swapped or ballooned memory, and the amount.
func (s *Judged) mostTaken(all []*scheduler.Decision) string {
	var most *VM
	for _, d := range all {
		if v := s.VMs[d.VM]; v.Took != nil && (most == nil || v.Took.Taken() > most.Took.Taken()) {
			most = v
		}
	}
	if most == nil {
		return ""
	}
	return fmt.Sprintf("; most in all %s, %s", most.Name, most.TakenText())
}

// whoText names the VMs of decisions without duplicates.
func (s *Judged) whoText(all []*scheduler.Decision) string {
	var names []string
	for _, d := range all {
		if d.VM < 0 {
			continue
		}
		names = words.Once(names, s.vmName(d.VM))
	}
	return words.Few(names)
}

// movesText counts the moves of the balancer: "16 moves, 9 for load and 7 for locality: a, b".
func (s *Judged) movesText(all []*scheduler.Decision) string {
	var kinds []string
	count := map[string]int{}
	clients := 0
	var names []string
	often := map[string]int{}
	for _, d := range all {
		kind, n := "load", 1
		switch d.Kind {
		case scheduler.LocalityMoved, scheduler.LocalitySwapped:
			kind = "locality"
		case scheduler.FairnessMoved:
			kind = "fairness"
		}
		who := []int{d.VM}
		if (d.Kind == scheduler.BalanceSwapped || d.Kind == scheduler.LocalitySwapped) && d.Other >= 0 {
			n, who = 2, append(who, d.Other)
		}
		if count[kind] == 0 {
			kinds = append(kinds, kind)
		}
		count[kind] += n
		clients += n
		for _, vm := range who {
			name := s.vmName(vm)
			if often[name]++; often[name] == 1 {
				names = append(names, name)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(often[b], often[a]) })
	if clients == 1 {
		return fmt.Sprintf("%s moved for %s, %s", names[0], kinds[0], betweenText(all))
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d for %s", count[kind], kind)
	}
	return fmt.Sprintf("%d migrations %s, %s: %s", clients, betweenText(all), strings.Join(kinds, ", "), words.Few(names))
}

// betweenText names the nodes of the moves.
func betweenText(all []*scheduler.Decision) string {
	if len(all) == 1 && all[0].Other < 0 {
		return fmt.Sprintf("node %d to %d", all[0].From, all[0].To)
	}
	var nodes numa.NodeSet
	for _, d := range all {
		for _, n := range []int{d.From, d.To} {
			if n >= 0 {
				nodes |= 1 << n
			}
		}
	}
	var ids []string
	for n := range nodes.All() {
		ids = append(ids, fmt.Sprint(n))
	}
	return "between nodes " + strings.Join(ids, " and ")
}
