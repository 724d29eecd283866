package tables

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// hostGroups returns the rows of each host, in the order of the first row of each. Rows with the same reference are one host, unless their
// names differ, as in a file merged from several vCenters. A row without a reference belongs to the host with its name, if that is unique.
func hostGroups(hosts []hostRow, prefix func(string) string) [][]hostRow {
	ids, seen := map[string][]string{}, map[[2]string]bool{} // by name
	names := map[string][]string{}                           // by reference: names of different hosts
	long := map[string]map[string]string{}                   // by name without domain: clusters by name with it
	for i := range hosts {
		h := &hosts[i]
		full := strings.ToLower(h.host.Name)
		if short, _, ok := strings.Cut(full, "."); ok && h.named(short) {
			key := prefix(h.vcenter) + short
			if long[key] == nil {
				long[key] = map[string]string{}
			}
			long[key][full] = cmp.Or(long[key][full], h.cluster)
		}
	}
	name := func(h *hostRow) string {
		key := prefix(h.vcenter) + strings.ToLower(h.host.Name)
		for full, cluster := range long[key] {
			if len(long[key]) == 1 && (h.cluster == "" || cluster == "" || h.cluster == cluster) {
				return prefix(h.vcenter) + full
			}
		}
		return key
	}
	for i := range hosts {
		h := &hosts[i]
		if h.id != "" && h.host.Name != h.id && !slices.ContainsFunc(names[prefix(h.vcenter)+h.id], h.named) {
			names[prefix(h.vcenter)+h.id] = append(names[prefix(h.vcenter)+h.id], h.host.Name)
		}
		if h.id != "" && !seen[[2]string{name(h), h.id}] {
			seen[[2]string{name(h), h.id}] = true
			ids[name(h)] = append(ids[name(h)], h.id)
		}
	}
	place := map[[2]string]int{}
	var groups [][]hostRow
	for i := range hosts {
		h := &hosts[i]
		key := [2]string{prefix(h.vcenter) + h.id}
		switch of := ids[name(h)]; {
		case h.id == "" && len(of) == 1:
			key[0] = prefix(h.vcenter) + of[0]
		case h.id == "":
			key[1] = name(h)
		}
		if of := names[key[0]]; len(of) > 1 && h.host.Name != h.id {
			key[1] = of[slices.IndexFunc(of, h.named)]
		}
		at, ok := place[key]
		if !ok {
			at = len(groups)
			place[key], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], *h)
	}
	return groups
}

// named reports whether name is the name of the host, with or without its domain.
func (r *hostRow) named(name string) bool { return numa.SameHost(r.host.Name, name) }

// joined merges the rows of one host, independent of their order. Facts that differ between rows are unknown, and a note lists the places.
func (n *notes) joined(rows []hostRow) hostRow {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b hostRow) int { return cmp.Or(cmp.Compare(b.id, a.id), cmp.Compare(a.host.Name, b.host.Name)) })
	all := rows[0]
	var counts []numa.AnyFact
	for i := range rows {
		all.odd, all.tiered = all.odd || rows[i].odd, all.tiered || rows[i].tiered
		counts = append(counts, &rows[i].nodes)
	}
	text := func(what string, of func(*hostRow) string) string {
		var stated []string
		for i := range rows {
			if s := of(&rows[i]); s != "" {
				stated = append(stated, s)
			}
		}
		slices.Sort(stated)
		if stated = slices.Compact(stated); len(stated) > 1 {
			n.add(n.hosts, fmt.Sprintf("host %s is in %s by its rows: unknown", all.host.Name, what+" "+strings.Join(stated, " and ")))
		}
		if len(stated) != 1 {
			return ""
		}
		return stated[0]
	}
	all.vcenter = text("the vCenter", func(h *hostRow) string { return h.vcenter })
	all.datacenter = text("the datacenter", func(h *hostRow) string { return h.datacenter })
	all.cluster = text("the cluster", func(h *hostRow) string { return h.cluster })
	differ := n.facts(&all.host, rows)
	differ["nodes"] = n.together(all.host.Name, "NUMA nodes", &all.nodes, counts) || differ["nodes"]
	if all.tiered {
		all.host.Memory = numa.Fact[numa.Bytes]{}
	}
	all.finish(differ, n)
	return all
}

// facts sets the facts of h from all rows, and returns the names of the facts that differ.
func (n *notes) facts(h *numa.Host, rows []hostRow) map[string]bool {
	differ := map[string]bool{}
	to := reflect.ValueOf(h).Elem()
	for i := range to.NumField() {
		name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("json"), ",")
		if !strings.HasPrefix(to.Field(i).Type().Name(), "Fact[") {
			continue
		}
		var stated []numa.AnyFact
		for r := range rows {
			stated = append(stated, reflect.ValueOf(&rows[r].host).Elem().Field(i).Addr().Interface().(numa.AnyFact))
		}
		differ[name] = n.together(h.Name, name, to.Field(i).Addr().Interface().(numa.AnyFact), stated)
	}
	return differ
}

// finish removes values derived from facts that differ, and builds the nodes if no single row has both packages and cores.
func (r *hostRow) finish(differ map[string]bool, n *notes) {
	h := &r.host
	if differ["cores"] || differ["hyperThreading"] && h.Threads.Origin.Kind != numa.Read {
		h.Threads = numa.Fact[int]{}
	} else if !differ["threads"] {
		deriveThreads(h)
	}
	switch {
	case differ["packages"] || differ["cores"] || differ["nodes"]:
		h.Nodes = numa.Fact[[]numa.Node]{}
	case h.Nodes.Known() && h.Nodes.Origin.Kind == numa.Read, r.odd, !h.Packages.Known(), !h.Cores.Known():
	case r.nodes.Known(): // rebuilt: another row may state threads or memory
		if err := h.SetNodeCount(r.nodes.Value, r.nodes.Origin.Where); err != nil {
			n.add(n.hosts, fmt.Sprintf("host %s: %v: its NUMA nodes are unknown", h.Name, err))
		}
	case h.Nodes.Known() && h.Nodes.Origin.Kind != numa.Assumed:
	case h.Cores.Value%h.Packages.Value == 0 && h.Cores.Value/h.Packages.Value <= maxPackageCores:
		h.Nodes = h.PackageNodes(h.Cores.Value/h.Packages.Value, "the table has no NUMA nodes")
	}
}

// together sets the fact to that in the rows. A stated one takes precedence over an assumed one; if the rows differ, the fact is unknown, with a
// note. If free texts agree, the longest is used.
func (n *notes) together(host, what string, fact numa.AnyFact, rows []numa.AnyFact) (differ bool) {
	fact.Forget()
	rows = slices.DeleteFunc(rows, func(f numa.AnyFact) bool { return !f.Known() })
	if stated := slices.DeleteFunc(slices.Clone(rows), func(f numa.AnyFact) bool { return f.From().Kind == numa.Assumed }); len(stated) > 0 {
		rows = stated
	}
	if len(rows) == 0 {
		return false
	}
	slices.SortFunc(rows, func(a, b numa.AnyFact) int {
		return cmp.Or(cmp.Compare(weight(b.Any()), weight(a.Any())), cmp.Compare(fmt.Sprint(a.Any()), fmt.Sprint(b.Any())), cmp.Compare(a.From().Where, b.From().Where))
	})
	first := rows[0]
	for _, f := range rows[1:] {
		if first.From().Kind != numa.Assumed && what != "vendor" && what != "model" && what != "cpuModel" && !agree(what, first.Any(), f.Any()) {
			n.add(n.hosts, fmt.Sprintf("host %s has %v %s by %s and %v by %s: unknown", host, shown(first.Any()), what, first.From().Where, shown(f.Any()), f.From().Where))
			return true
		}
	}
	fact.Take(first, first.From())
	return false
}

// weight ranks values that agree: most memory, longest text and nodes with memory first.
func weight(v any) (w int64) {
	switch v := v.(type) {
	case numa.Bytes:
		return int64(v)
	case string:
		return int64(len(v))
	case []numa.Node:
		for i := range v {
			if v[i].Memory.Known() {
				w++
			}
		}
	}
	return w
}

// agree reports whether two values of rows are equal, up to the rounding of memory and frequencies. Nodes are compared by their number.
func agree(what string, a, b any) bool {
	switch a := a.(type) {
	case int:
		if what == "coreMHz" {
			return math.Abs(float64(a-b.(int))) <= float64(a)/100
		}
	case numa.Bytes:
		return a-b.(numa.Bytes) <= a/16 // a is the larger one
	case []numa.Node:
		return len(a) == len(b.([]numa.Node))
	}
	return reflect.DeepEqual(a, b)
}

// shown returns a value in the form for a note.
func shown(v any) any {
	if nodes, ok := v.([]numa.Node); ok {
		return len(nodes)
	}
	return v
}
