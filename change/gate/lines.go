package gate

import (
	"cmp"
	"slices"

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
	needed := map[place][]*Change{}
	var order []place
	for _, v := range vms {
		for _, l := range v.Lines {
			p := place{cmp.Or(l.At, v.At), l.Attribute}
			i := slices.IndexFunc(needed[p], func(c *Change) bool { return c.Text == l.Text })
			switch {
			case i < 0:
				if needed[p] == nil {
					order = append(order, p)
				}
				needed[p] = append(needed[p], &Change{[]string{v.Name}, p.at, l.Text})
			case !slices.Contains(needed[p][i].VMs, v.Name):
				needed[p][i].VMs = append(needed[p][i].VMs, v.Name)
			}
		}
	}
	for _, p := range order {
		all := needed[p]
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
