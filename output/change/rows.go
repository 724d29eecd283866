package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/change/diff"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A changedRow is one VM, or several VMs of a cluster with the same change.
type changedRow struct {
	verdict        diff.Verdict
	vms            []*diff.VM
	from, to, why  string
	cluster, first string
}

// word returns the verdict in words.
func (r *changedRow) word() string {
	if r.vms[0].Stops() {
		return "cannot run"
	}
	return r.verdict.String()
}

// subjects returns "prod-a/sql01 +4".
func (r *changedRow) subjects() string {
	if len(r.vms) == 1 {
		return r.first
	}
	return fmt.Sprintf("%s +%d", r.first, len(r.vms)-1)
}

// changedRows returns the VMs with a verdict, merging those with the same change. For VMs that
// cannot run only the cause matters, not their previous layout.
func changedRows(d *diff.Drift, each bool) []changedRow {
	var out []changedRow
	for i := range d.VMs {
		v := &d.VMs[i]
		if v.Verdict == diff.Unchanged {
			continue
		}
		r := changedRow{v.Verdict, []*diff.VM{v}, placeText(&v.From), toText(v), strings.Join(v.Why, ", "), v.Cluster, v.Subject()}
		if d.A.Fleet.ClusterName(v.A.Cluster) != v.Cluster {
			r.first = v.Name // it is in one cluster today, and in another one then
		}
		k := slices.IndexFunc(out, func(o changedRow) bool {
			if v.Stops() && o.vms[0].Stops() {
				return o.why == r.why
			}
			return o.verdict == r.verdict && o.cluster == r.cluster && o.from == r.from && o.to == r.to && o.why == r.why
		})
		if k < 0 || each {
			out = append(out, r)
			continue
		}
		out[k].vms = append(out[k].vms, v)
		if out[k].from != r.from {
			out[k].from = "various"
		}
	}
	return out
}

func placeText(p *diff.Place) string {
	if p.Layout() == nil {
		return "–"
	}
	return p.Short()
}

// toText returns placeText of the new place; "–" for a VM that does not run.
func toText(v *diff.VM) string {
	if v.Stops() {
		return "–"
	}
	return placeText(&v.To)
}

// A findingGroup is the findings of a rule with the same change.
type findingGroup struct {
	change   string // new, gone, or "was high"
	severity finding.Severity
	rule     *rule.Rule
	findings []*finding.Finding
	cures    []string // each once
}

func findingGroups(d *diff.Drift, findings []diff.Finding) []findingGroup {
	var out []findingGroup
	for i := range findings {
		f := findings[i].Of()
		change := findings[i].Change()
		k := slices.IndexFunc(out, func(g findingGroup) bool {
			return g.change == change && g.severity == f.Severity && g.rule.ID == f.Rule
		})
		if k < 0 {
			k = len(out)
			out = append(out, findingGroup{change: change, severity: f.Severity, rule: d.B.Rule(f.Rule)})
		}
		out[k].findings = append(out[k].findings, f)
		if text := cure(&findings[i]); text != "" && !slices.Contains(out[k].cures, text) {
			out[k].cures = append(out[k].cures, text)
		}
	}
	rank := func(g *findingGroup) int { return slices.Index([]string{"new", g.change, "gone"}, g.change) } // the others are in between
	slices.SortStableFunc(out, func(a, b findingGroup) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.severity, a.severity))
	})
	return out
}

// A settingRow is a setting of one object, or of several with the same change.
type settingRow struct {
	first, name, from, to string
	count                 int
}

// of returns "esx01 +7".
func (r *settingRow) of() string {
	if r.count == 1 {
		return r.first
	}
	return fmt.Sprintf("%s +%d", r.first, r.count-1)
}

// settingRows returns the settings that differ, hosts first.
func settingRows(hosts []diff.Host, vms []diff.VM, each bool) []settingRow {
	var out []settingRow
	index := map[diff.Setting]int{}
	add := func(subject string, s []diff.Setting, named func(string) string) {
		for _, one := range s {
			if i, ok := index[one]; ok && !each {
				out[i].count++
				continue
			}
			index[one] = len(out)
			out = append(out, settingRow{subject, named(one.Name), one.From, one.To, 1})
		}
	}
	for i := range hosts {
		add(hosts[i].Name, hosts[i].Settings, func(name string) string { return name })
	}
	clear(index) // VMs are counted separately from hosts
	for i := range vms {
		add(vms[i].Subject(), vms[i].Settings, title)
	}
	return out
}

// title returns the name in the vSphere Client of a setting of a VM, with its key in parentheses if that is another.
func title(setting string) string {
	name := numa.Title(setting)
	if name != setting && !strings.HasSuffix(name, ")") {
		name += " (" + setting + ")"
	}
	return name
}
