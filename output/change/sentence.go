package change

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/homenode/change/diff"
	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// oneVM describes the effect on the VM of a change that affects only this VM; "" if others differ too.
func oneVM(r *whatif.Result) string {
	rows := changedRows(r.Drift, true)
	only := ""
	for i := range r.Changes {
		one := r.Changes[i].Only
		if one == "" || only != "" && one != only {
			return ""
		}
		only = one
	}
	was, is := r.A.ByID()[only], r.B.ByID()[only]
	to := movedTo(was, is, r.B.Fleet)
	switch {
	case len(rows) == 0 && only != "":
		if was != nil && was.On[0].Layout.Refused.Any() {
			return was.Name + " does not power on, before and after the change."
		} else if was != nil {
			if to != "" {
				to = "Moved to " + to
			}
			same := diff.PlaceOf(is)
			return words.Join(", ", to, words.Join(" on ", was.Name+" gets the same topology", same.Where())) + "."
		}
		return ""
	case len(rows) != 1 || rows[0].vms[0].ID != only:
		return ""
	}
	row := &rows[0]
	v := row.vms[0]
	if v.Stops() {
		return v.Name + " cannot run: " + row.why + "."
	}
	if a, b := v.From.Layout(), v.To.Layout(); a != nil && b != nil {
		sees, share := seen(v.Name, a, b), away(a.FarShare(), b.FarShare())
		if sees == "" && share != "" {
			sees = map[bool]string{true: "slows ", false: "helps "}[row.verdict == diff.Worse] + v.Name
		}
		if row.verdict == diff.Worse && b.FarShare() <= a.FarShare() && sees != "" {
			share = words.Join("; ", share, "all the same it is worse: "+row.why)
		}
		if sees != "" {
			if where := on(&v.To); !strings.Contains(share, where) {
				sees += where
			}
			return words.Join("; ", subject(to, v.Settings)+" "+sees, share) + "."
		}
	}
	if row.verdict == diff.Other {
		return words.Join(": ", v.Name+" differs, neither better nor worse", cmp.Or(row.why, arrow(row.from, row.to))) + "."
	}
	return v.Name + " is " + row.verdict.String() + ": " + row.why + "."
}

// on names the hosts of the VM with the layout of its place, unless all that it can run on have the same clients and nodes.
func on(p *diff.Place) string {
	if where := p.Where(); where != "" {
		return " on " + where
	}
	if p.VM == nil || !slices.ContainsFunc(p.VM.On, func(other rule.On) bool {
		return !other.Layout.PPDs.Equal(p.On.Layout.PPDs) || !other.Layout.VPDs.Equal(p.On.Layout.VPDs)
	}) {
		return ""
	}
	return " on " + rule.HostNames(p.VM.HostsOf(p.On.Kind))
}

// movedTo names the host or cluster of the second fleet that the VM moves to; "" if it stays.
func movedTo(was, is *rule.VM, f *numa.Fleet) string {
	switch {
	case was == nil || is == nil || was.ClusterID() == is.ClusterID() && (is.Host == nil || was.Host != nil && was.Host.ID == is.Host.ID):
		return ""
	case is.Host != nil:
		return is.Host.Name
	}
	return f.ClusterName(is.Cluster)
}

// subject describes the change as the subject of a sentence: "Switching CPU hot add off and setting cores per
// socket to 16". to is where the VM moves.
func subject(to string, settings []diff.Setting) string {
	var parts []string
	if to != "" {
		parts = append(parts, "moving it to "+to)
	}
	for _, s := range settings {
		if s.Name == "cluster" {
			continue
		}
		s.Name = numa.Title(s.Name)
		switch s.To {
		case "on", "off":
			parts = append(parts, "switching "+s.Name+" "+s.To)
		case "":
			parts = append(parts, "removing "+s.Name)
		default:
			parts = append(parts, "setting "+s.Name+" to "+s.To)
		}
	}
	if parts == nil || len(parts) > 3 {
		return "The change"
	}
	return words.Capital(words.List(parts))
}

// seen describes the change in the number of nodes that the guest sees; "" if there is none.
func seen(vm string, a, b *vnuma.Layout) string {
	was, is := a.VPDs.Len(), b.VPDs.Len()
	switch {
	case was == is && a.PPDs.Len() == b.PPDs.Len():
		return ""
	case is == 1 && a.Wide() && !b.Wide():
		return "makes " + vm + " fit one NUMA node"
	case was == is:
		return fmt.Sprintf("divides %s into %s instead of %d", vm, words.Plural(b.PPDs.Len(), "NUMA client"), a.PPDs.Len())
	case was == 1 && is == b.PPDs.Len():
		return fmt.Sprintf("lets %s see its %d NUMA nodes", vm, is)
	case is == 1 && b.Wide():
		return fmt.Sprintf("hides from %s the %d NUMA nodes that it runs on", vm, b.PPDs.Len())
	}
	return fmt.Sprintf("lets %s see %s instead of %d", vm, words.Plural(is, "NUMA node"), was)
}

// away describes the change in the share of remote memory accesses; "" if there is none.
func away(was, is float64) string {
	share := math.Abs(was - is)
	if share < 0.005 {
		return ""
	}
	if was >= 0.005 && is >= 0.005 {
		verb := map[bool]string{true: "rise", false: "fall"}[is > was]
		return fmt.Sprintf("its remote memory accesses %s from %s to %s", verb, strings.TrimSuffix(words.Percent(was), " %"), words.Percent(is))
	}
	if is < was {
		return part(share) + " of its memory accesses stop being remote"
	}
	return part(share) + " of its memory accesses become remote"
}

// part formats a share in words.
func part(share float64) string {
	for _, p := range []struct {
		share float64
		text  string
	}{{0.25, "a quarter"}, {1. / 3, "a third"}, {0.5, "half"}, {2. / 3, "two thirds"}, {0.75, "three quarters"}} {
		if math.Abs(share-p.share) < 0.005 {
			return p.text
		}
	}
	return strings.TrimSpace(words.Percent(share))
}
