package fix

import (
	"cmp"
	"slices"

	"example.org/homenode/numa"
)

// Refused says why a VM may not be touched as it is now; "" when it may.
func Refused(st *numa.State) string {
	switch {
	case st.VM.Template.Value:
		return "it is a template"
	case st.VM.Power.Value == numa.Suspended:
		return "it is suspended"
	case st.Snapshots:
		return "it has snapshots, which keep the old settings"
	case st.Protected:
		return "Fault Tolerance protects it"
	case st.Question != "":
		return "a question waits for an answer: " + st.Question
	case st.Manager != "":
		return "the extension " + st.Manager + " manages it"
	case st.Task != "":
		return "a task runs: " + st.Task
	}
	return ""
}

// Guard takes the VMs as they are now: it notes their change versions, and leaves out those that may not be touched.
// States are by ID; a VM without one is gone.
func (p *Plan) Guard(states map[string]numa.State) error {
	kept := []Change{}
	for _, c := range p.Changes {
		if c.VM == nil {
			kept = append(kept, c)
			continue
		}
		st, there := states[c.VM.ID]
		why := "it is no longer in the inventory"
		if there {
			why = Refused(&st)
		}
		if why == "" {
			kept = append(kept, c)
			continue
		}
		for _, id := range c.Findings {
			p.Left = append(p.Left, Left{VM: c.VM.Name, ID: c.VM.ID, Rule: id, Why: why})
		}
		if len(c.Findings) == 0 {
			p.Left = append(p.Left, Left{VM: c.VM.Name, ID: c.VM.ID, Why: why})
		}
	}
	p.Changes = kept
	slices.SortStableFunc(p.Left, compareLeft)
	p.batch()
	return p.Identify()
}

func compareLeft(a, b Left) int {
	return cmp.Or(cmp.Compare(a.VM, b.VM), cmp.Compare(a.Host, b.Host), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Rule, b.Rule))
}
