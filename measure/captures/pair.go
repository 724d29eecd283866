package captures

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/match"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	verdict "example.org/homenode/rules/verdict/recording"
)

// A named is a VM of one capture with the keys for matching it in the other.
type named struct {
	vm   vm
	name string // name, with a distinction if it is not unique
	keys []string
}

// hosts lists the hosts of the VM in time order.
func (n *named) hosts() string {
	var hosts []string
	for _, v := range n.vm {
		hosts = words.Once(hosts, v.Rec.Host)
	}
	return strings.Join(hosts, ", ")
}

// vms returns the VMs of a capture; other maps its hosts to their names in the other capture. Consecutive lives of one name are one VM, on
// whatever hosts. Simultaneous lives of one name are distinguished by host, else by group.
func vms(j *verdict.Judged, other map[string]string) []named {
	var out []named
	by := func(lives []*verdict.VM, key func(*verdict.VM) string) iter.Seq2[string, []*verdict.VM] {
		var groups keyed.Lists[string, *verdict.VM]
		for _, v := range lives {
			groups.Add(key(v), v)
		}
		return groups.All()
	}
	add := func(lives []*verdict.VM, name, certain string) {
		slices.SortStableFunc(lives, func(a, b *verdict.VM) int { return a.First.Compare(b.First) })
		first := lives[0]
		host := cmp.Or(other[first.Rec.Host], first.Rec.Host)
		gid := ""
		if first.GID >= 0 && first.VCPUs > 0 && first.Size > 0 {
			gid = fmt.Sprintf("%s\x00%d\x00%d\x00%d", host, first.GID, first.VCPUs, first.Size)
		}
		out = append(out, named{lives, name, []string{certain, host + "/" + first.Name, gid}})
	}
	for _, same := range by(j.VMs, func(v *verdict.VM) string { return v.Name }) {
		if verdict.CountVMs(same) == 1 {
			add(same, same[0].Name, same[0].Name)
			continue
		}
		for _, on := range by(same, func(v *verdict.VM) string { return v.Rec.Host }) {
			if verdict.CountVMs(on) == 1 {
				add(on, on[0].Name+" on "+on[0].Rec.Host, "")
				continue
			}
			for _, v := range on {
				add([]*verdict.VM{v}, v.Label+" on "+v.Rec.Host, "")
			}
		}
	}
	return out
}

// pairVMs pairs the VMs of two captures by name, by host and name, and the remaining ones by host, group, vCPUs and memory: a VM that was
// renamed while running keeps its group. If no VM with the same name kept its group, the host renumbered the groups, and they are ignored.
func pairVMs(a, b []named) [][2]int {
	keys := func(all []named) (out [][]string) {
		for i := range all {
			out = append(out, all[i].keys)
		}
		return out
	}
	const byGroup = 2
	var before [][2]int
	pairs := match.Pairs(keys(a), keys(b), func(round, i, j int) bool {
		if round < byGroup {
			before = append(before, [2]int{i, j})
			return false
		}
		kept, changed := false, false
		for _, p := range before {
			x, y := &a[p[0]], &b[p[1]]
			if numa.SameHost(x.hosts(), a[i].hosts()) {
				same := x.keys[byGroup] == y.keys[byGroup]
				kept, changed = kept || same, changed || !same
			}
		}
		return changed && !kept
	})
	slices.SortFunc(pairs, func(x, y [2]int) int { return x[0] - y[0] })
	return pairs
}

// pairHosts pairs hosts by name, ignoring differences that administrators ignore. If each side has a single host, these are a pair.
func pairHosts(a, b []*capture.Recording) (pairs [][2]int) {
	for i, x := range a {
		if j := slices.IndexFunc(b, func(y *capture.Recording) bool { return numa.SameHost(x.Host, y.Host) }); j >= 0 {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	if len(pairs) == 0 && len(a) == 1 && len(b) == 1 {
		pairs = append(pairs, [2]int{0, 0})
	}
	return pairs
}

// alone lists the VMs that the other side lacks.
func alone(all []named, pairs [][2]int, side int) string {
	var names []string
	for i := range all {
		if !slices.ContainsFunc(pairs, func(p [2]int) bool { return p[side] == i }) {
			names = append(names, all[i].name)
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s", words.Plural(len(names), "VM"), words.Few(names))
}
