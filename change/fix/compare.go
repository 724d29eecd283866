package fix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// A Side says on which side of a change a VM is.
type Side uint8

// The sides.
const (
	Before  Side = iota // as the plan saw it
	After               // as the plan leaves it
	Drifted             // neither: somebody else changed it
)

// Compare says on which side of the change the VM is, and for Drifted why.
func (c *Change) Compare(config *numa.Config) (Side, string) {
	before, after := true, true
	var differ []string
	// What ESXi writes itself at a power-on may be anything after it: a stored size that is gone was removed, whatever
	// stands there now.
	stored := func(e numa.Edit) bool { return e.Kind == numa.EditExtraConfig && volatile(e.Key) }
	others := slices.ContainsFunc(c.Edits, func(e numa.Edit) bool { return !stored(e) })
	removed := slices.ContainsFunc(c.Edits, func(e numa.Edit) bool { return stored(e) && e.From.Set && !e.Assumed && e.ValueOf(config) != e.From })
	for _, e := range c.Edits {
		v := e.ValueOf(config)
		isFrom, isTo := holds(e, v, e.From), holds(e, v, e.To)
		switch {
		case stored(e) && others: // the same size may be written again, and another one where a rollback brought it back: the other edits tell
			isFrom, isTo = true, true
		case stored(e) && e.From.Set && !e.Assumed:
			isFrom, isTo = !removed, removed
		case stored(e):
			isFrom = true
		}
		before, after = before && isFrom, after && isTo
		if !isFrom && !isTo {
			differ = append(differ, fmt.Sprintf("%s is %s, not %s", e.Name(), v, e.From))
		}
	}
	switch {
	case after:
		return After, ""
	case !before && differ != nil:
		return Drifted, strings.Join(differ, "; ")
	case !before:
		return Drifted, "some of the edits are made, others are not"
	}
	for _, k := range c.Basis {
		if v, kept := basisValue(config, k.Name); kept && !v.Same(numa.Is(k.Value)) {
			differ = append(differ, fmt.Sprintf("%s is %s, the plan was made for %s", k.Name, v, k.Value))
		}
	}
	for _, k := range basisOf(config) { // what was set since
		if !k.unset() && !slices.ContainsFunc(c.Basis, func(o Known) bool { return strings.EqualFold(o.Name, k.Name) }) && c.Basis != nil {
			differ = append(differ, fmt.Sprintf("%s = %s was set since the plan was made", k.Name, k.Value))
		}
	}
	for _, e := range c.storedBack() {
		if v := e.ValueOf(config); c.Basis != nil && config.Settings.Known() && !v.Same(e.To) {
			differ = append(differ, fmt.Sprintf("%s is %s, the plan was made for %s", e.Name(), v, e.To))
		}
	}
	if differ != nil {
		return Drifted, strings.Join(differ, "; ")
	}
	return Before, ""
}

// Kept reports whether the configuration has the values that the edits set.
func Kept(edits []numa.Edit, config *numa.Config) bool {
	return !slices.ContainsFunc(edits, func(e numa.Edit) bool { return !holds(e, e.ValueOf(config), e.To) })
}

// Partly reports whether some of the edits are made and all others are not, which vSphere does alone when it ignores
// some: it makes all edits of a task or none.
func (c *Change) Partly(config *numa.Config) bool {
	from, to := 0, 0
	for _, e := range c.Edits {
		switch v := e.ValueOf(config); {
		case holds(e, v, e.To):
			to++
		case holds(e, v, e.From) || e.Kind == numa.EditExtraConfig && volatile(e.Key):
			from++
		default:
			return false
		}
	}
	return from > 0 && to > 0
}

// RebootKey makes the next reboot of the guest a power cycle, and removes itself.
const RebootKey = "vmx.reboot.powerCycle"

// holds reports whether v is the wanted value. Absent NUMA nodes and nodes that are assigned at power on are alike.
func holds(e numa.Edit, v, want numa.Value) bool {
	switch e.Kind {
	case numa.EditCoresPerNUMANode:
		if !v.Set || v.Text == "0" {
			return !want.Set || want.Text == "0"
		}
	case numa.EditCPUHotAdd, numa.EditMemoryHotAdd, numa.EditVNUMAHotAdd: // the API leaves out what is off
		if !v.Set || !want.Set {
			return v.Text != "true" && want.Text != "true"
		}
	case numa.EditExtraConfig: // what a rollback would remove removes itself when the guest reboots
		if strings.EqualFold(e.Key, RebootKey) && !v.Set && !e.To.Set {
			return true
		}
	}
	return v.Same(want)
}

// oneWay says why an edit cannot be taken back; "" when it can.
func (c *Change) oneWay(e numa.Edit) string {
	switch {
	case e.Kind == numa.EditHardware:
		return "the virtual hardware version cannot be lowered"
	case e.Kind == numa.EditHostOption && !e.From.Set:
		return fmt.Sprintf("%s had no value, vSphere removes no option of a host, and the host states no default", e.Key)
	}
	if e.Kind != numa.EditCoresPerSocket {
		return ""
	}
	vcpus, _ := strconv.Atoi(c.known(string(numa.EditVCPUs)))
	cores, _ := strconv.Atoi(e.From.Text)
	if cores > 0 && vcpus%cores != 0 {
		return fmt.Sprintf("vSphere does not take %d cores per socket for %d vCPUs again", cores, vcpus)
	}
	return ""
}

// lost lists the parts of the edits that a rollback does not restore.
func (c *Change) lost() (out []string) {
	for _, e := range c.Edits {
		switch why := c.oneWay(e); {
		case e.Kind == numa.EditHostOption && why != "":
			out = append(out, e.Key+" has no known value: vSphere removes no option of a host, so a rollback sets the default that the host states")
		case why != "":
			out = append(out, why)
		}
	}
	return out
}

// known returns what the plan was made for; "" for what was not known.
func (c *Change) known(name string) string {
	for _, k := range c.Basis {
		if k.Name == name {
			return k.Value
		}
	}
	return ""
}

// Undo returns the plan that takes the edits back that were written, of a change: the last first. Its Left has each edit that stays.
func (p *Plan) Undo(written func(*Change) []numa.Edit) (*Plan, error) {
	out := *p
	out.Changes, out.Left, out.Undoes = []Change{}, []Left{}, p.ID
	out.Asked.Filter, out.Asked.Set = "", []string{"take back " + p.ID}
	for i := len(p.Changes) - 1; i >= 0; i-- {
		c := p.Changes[i]
		edits := written(&c)
		if edits == nil {
			continue
		}
		u := Change{VM: c.VM, Host: c.Host, Cluster: c.Cluster, Batch: c.Batch, Findings: []string{}, Downtime: c.Downtime}
		for _, e := range slices.Backward(edits) {
			if why := c.oneWay(e); why != "" {
				out.stays(&c, e, fmt.Sprintf("%s stays %s: %s", e.Name(), e.To, why))
				continue
			}
			if undo := e.Undo(); undo.From != undo.To {
				u.Edits = append(u.Edits, undo)
			}
		}
		switch {
		case c.VM != nil && c.losesStored():
			out.stays(&c, numa.Edit{}, storedStays)
		case u.Edits != nil:
			u.Edits = append(u.Edits, c.restored()...)
		}
		for _, l := range c.Layout {
			u.Layout = append(u.Layout, Effect{Hosts: l.Hosts, Now: l.After, After: l.Now, Moved: l.Moved})
		}
		if u.Edits != nil {
			out.Changes = append(out.Changes, u)
		}
	}
	return &out, out.Drop(func(*Change) bool { return false })
}

// Drop removes changes from the plan. Its batches are numbered anew: those that were not one batch are none now.
func (p *Plan) Drop(without func(*Change) bool) error {
	kept := []Change{}
	last, n := 0, 0
	for i := range p.Changes {
		c := p.Changes[i]
		if without(&c) {
			continue
		}
		if c.Batch != last {
			last, n = c.Batch, n+1
		}
		c.Batch = n
		kept = append(kept, c)
	}
	p.Changes = kept
	return p.Identify()
}

// stays adds notes about settings of a VM, host or cluster that a rollback does not restore.
func (p *Plan) stays(c *Change, e numa.Edit, why string) {
	l := Left{ID: c.Target().ID, Why: why, edit: e}
	if c.VM != nil {
		l.VM = c.VM.Name
	} else {
		l.Host = c.Target().Name
	}
	p.Left = append(p.Left, l)
}

// LeaveWritten removes from what a rollback leaves the edits that are not written, as those of a run that failed. options reads an option of a host, by
// the ID of the host; what cannot be read is left.
func (p *Plan) LeaveWritten(states map[string]numa.State, options func(host, key string) (numa.Settings, error)) error {
	p.Left = slices.DeleteFunc(p.Left, func(l Left) bool {
		if l.edit.Kind == numa.EditHostOption {
			set, err := options(l.ID, l.edit.Key)
			is, there := set.Lookup(l.edit.Key)
			return err == nil && !(there && numa.Is(is).Same(l.edit.To))
		}
		st, there := states[l.ID]
		return l.VM != "" && there && l.edit.Kind != "" && !Kept([]numa.Edit{l.edit}, &st.VM.Config)
	})
	return p.Identify()
}

// LeaveUnwritable removes the edits that homenode does not write, such as one that would restore an invalid value, and notes them in the plan. Scripts for
// other tools keep them.
func (p *Plan) LeaveUnwritable() error {
	for i := range p.Changes {
		c := &p.Changes[i]
		c.Edits = slices.DeleteFunc(slices.Clone(c.Edits), func(e numa.Edit) bool {
			err := Writable(e)
			if err != nil {
				p.stays(c, e.Undo(), fmt.Sprintf("%s stays %s: %v", e.Name(), e.From, err))
			}
			return err != nil
		})
	}
	return p.Drop(func(c *Change) bool { return len(c.Edits) == 0 })
}
