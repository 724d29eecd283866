package gate

import (
	"cmp"
	"slices"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/internal/words"
)

// A Change is a line of a file to change, with the names of the VMs that need it.
type Change struct {
	VMs      []string
	At, Text string
}

// Changes returns the lines to change for these VMs, in their order, each once. Attributes that VMs share and would change differently are
// not among them: conflicts names these.
func Changes(vms []*VM) (changes []Change, conflicts []string) {
	type place struct{ at, attribute string }
	var needed keyed.Lists[place, *Change]
	for _, v := range vms {
		for _, l := range v.Lines {
			p := place{cmp.Or(l.At, v.At), l.Attribute}
			same := needed.Of(p)
			i := slices.IndexFunc(same, func(c *Change) bool { return c.Text == l.Text })
			switch {
			case i < 0:
				needed.Add(p, &Change{[]string{v.Name}, p.at, l.Text})
			case !slices.Contains(same[i].VMs, v.Name):
				same[i].VMs = append(same[i].VMs, v.Name)
			}
		}
	}
	for p, all := range needed.All() {
		if len(all) == 1 {
			changes = append(changes, *all[0])
			continue
		}
		text := p.at + ": VMs share this line and need different values"
		for _, c := range all {
			text += "; " + c.Text + " for " + words.Few(c.VMs)
		}
		conflicts = append(conflicts, text)
	}
	return changes, conflicts
}
