package topo

import "strings"

// Named gives the drawing and its shapes IDs that begin with a prefix, so that a page can have the same VM on the same host twice:
// today and changed.
func (d *Drawing) Named(prefix string) *Drawing {
	if d == nil {
		return nil
	}
	name := func(id *string) {
		if rest, ok := strings.CutPrefix(*id, d.ID); ok {
			*id = prefix + d.ID + rest
		}
	}
	for i := range d.Guests {
		name(&d.Guests[i].ID)
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		for k := range n.Clients {
			name(&n.Clients[k].ID)
		}
		name(&n.More.ID)
		name(&n.ID)
	}
	for i := range d.Loose {
		name(&d.Loose[i].ID)
	}
	name(&d.LooseMore.ID)
	d.ID = prefix + d.ID
	return d
}
