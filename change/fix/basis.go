package fix

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
)

// A Known is a setting that a prediction rests on, as it was when the plan was made.
type Known struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// basisKinds are the properties of a VM that its prediction rests on.
var basisKinds = []numa.EditKind{numa.EditHardware, numa.EditVCPUs, numa.EditMemory, numa.EditCoresPerSocket, numa.EditCPUHotAdd, numa.EditCoresPerNUMANode, numa.EditVNUMAHotAdd,
	numa.EditCPUAffinity, numa.EditMemoryAffinity, numa.EditLatency, numa.EditCPUReservation, numa.EditMemoryReservation, numa.EditReserveAll, numa.EditIOMMU}

// basisOf returns the properties and settings that the prediction of a VM rests on, those that are set.
func basisOf(c *numa.Config) (out []Known) {
	for _, kind := range basisKinds {
		v := (numa.Edit{Kind: kind}).ValueOf(c)
		if k := (Known{string(kind), v.Text}); v.Set && !k.unset() {
			out = append(out, k)
		}
	}
	for _, s := range c.Settings.Value {
		key := strings.ToLower(s.Key)
		_, read := settingForms[general(key)]
		if (read || strings.HasPrefix(key, "numa.")) && !volatile(key) && !strings.EqualFold(key, RebootKey) {
			out = append(out, Known{s.Key, s.Value})
		}
	}
	return out
}

// unset reports whether the value is that of a VM where nothing was set: readers may leave it out.
func (k *Known) unset() bool {
	kind := numa.EditKind(k.Name)
	if kind == numa.EditCPUAffinity || kind == numa.EditMemoryAffinity {
		return k.Value == ""
	}
	return slices.Contains(basisKinds, kind) && slices.Contains([]string{"0", "false", "normal"}, k.Value)
}

// formOf returns the values that a property of a VM may have. VMs have values that no plan may write, such as any memory and the sensitivity custom.
func formOf(kind numa.EditKind) form {
	switch f := kindForms[kind]; kind {
	case numa.EditMemoryAffinity:
		return form{list: true, single: true, most: numa.MaxNodes - 1}
	case numa.EditIOMMU:
		return form{truth: true}
	case numa.EditLatency:
		return form{only: append(f.only[:len(f.only):len(f.only)], "custom")}
	default:
		f.least, f.step = 0, 0
		return f
	}
}

// check says why no plan rests on the value, which also gets into scripts: properties have the values of formOf, and settings are of the closed list or begin with numa.
func (k *Known) check() error {
	kind := numa.EditKind(k.Name)
	if _, written := kindForms[kind]; written || slices.Contains(basisKinds, kind) {
		f := formOf(kind)
		if err := f.check(k.Value); err != nil {
			return fmt.Errorf("the VM cannot have had the %s that the plan states: %w", k.Name, err)
		}
		return nil
	}
	key := strings.ToLower(k.Name)
	if _, read := settingForms[general(key)]; !read && !strings.HasPrefix(key, "numa.") || !printable(k.Name) || !printable(k.Value) {
		return fmt.Errorf("the VM is stated to have had %.80q = %.80q, which is no property or setting that predictions read", k.Name, k.Value)
	}
	return nil
}

// volatile reports whether ESXi itself writes the setting, at power-on.
func volatile(key string) bool { return strings.HasPrefix(strings.ToLower(key), "numa.autosize.") }

// storedKeys are the settings that ESXi writes at a power-on.
var storedKeys = []string{numa.CookieKey, numa.StoredKey}

// storedIn returns the sizes that are stored in a configuration; none that is only assumed.
func storedIn(c *numa.Config) (out []Known) {
	if !c.Settings.Known() {
		return nil
	}
	for _, key := range storedKeys {
		if v := (numa.Edit{Kind: numa.EditExtraConfig, Key: key}).ValueOf(c); v.Set {
			out = append(out, Known{key, v.Text})
		}
	}
	return out
}

// restored returns the edits with which a rollback gives a VM its stored sizes back, where a power-on of the changed VM may have stored others:
// with those, what the guest sees would not come back.
func (c *Change) restored() (out []numa.Edit) {
	if c.VM == nil || c.Needs() == numa.NeedsNothing || c.StoredUnknown {
		return nil
	}
	for _, key := range storedKeys {
		e := numa.Edit{Kind: numa.EditExtraConfig, Key: key}
		for _, k := range c.Stored {
			if strings.EqualFold(k.Name, key) {
				e.To = numa.Is(k.Value)
			}
		}
		if !slices.ContainsFunc(c.Edits, func(o numa.Edit) bool { return strings.EqualFold(o.Key, key) }) {
			out = append(out, e)
		}
	}
	return out
}

// storedBack returns the edits with which a rollback gives a VM its stored sizes back, those that the plan changes too.
func (c *Change) storedBack() []numa.Edit {
	out := c.restored()
	for _, e := range c.Edits {
		if undo := e.Undo(); e.Kind == numa.EditExtraConfig && volatile(e.Key) && undo.From != undo.To {
			out = append(out, undo)
		}
	}
	return out
}

// basisValue returns what the configuration has for a Known; kept is false for what the source does not say.
func basisValue(c *numa.Config, name string) (v numa.Value, kept bool) {
	if slices.Contains(basisKinds, numa.EditKind(name)) {
		v = numa.Edit{Kind: numa.EditKind(name)}.ValueOf(c)
		return v, v.Set
	}
	return numa.Edit{Kind: numa.EditExtraConfig, Key: name}.ValueOf(c), c.Settings.Known()
}

// A HostBasis is a host that predictions of a plan rest on, as it was when the plan was made.
type HostBasis struct {
	ID      string `json:"moref"`
	Name    string `json:"name"`
	Cluster string `json:"cluster,omitempty"` // ID
	Shape   string `json:"shape"`             // nodes, release and options
}

// hostBasis returns the hosts that the layouts of a plan are about.
func (p *Plan) hostBasis(f *numa.Fleet) (out []HostBasis) {
	named := map[string]bool{}
	for i := range p.Changes {
		for _, l := range p.Changes[i].Layout {
			for _, name := range l.Hosts {
				named[name] = true
			}
		}
	}
	for i := range f.Hosts {
		if h := &f.Hosts[i]; named[h.Name] {
			out = append(out, HostBasis{h.ID, h.Name, h.Cluster, shapeOf(h)})
		}
	}
	return out
}

// shapeOf describes the facts of a host that a prediction reads.
func shapeOf(h *numa.Host) string {
	parts := []string{h.Release.Value.String()}
	for _, n := range h.Nodes.Value {
		parts = append(parts, fmt.Sprintf("node %d: %d cores, %d threads, %v", n.ID, n.Cores, n.Threads, n.Memory.Value))
	}
	if len(h.Nodes.Value) == 0 {
		parts = append(parts, fmt.Sprintf("%d packages, %d cores, %d threads, %v", h.Packages.Value, h.Cores.Value, h.Threads.Value, h.Memory.Value))
	}
	for _, o := range h.Options.Value {
		if _, reads := optionForm(o.Key); reads {
			parts = append(parts, o.Key+" = "+o.Value)
		}
	}
	return strings.Join(parts, "; ")
}

// unstated returns a host that takes VMs now, in the cluster of the host of a VM, has a shape of which the change predicts nothing, and takes the VM; nil for none.
func (p *Plan) unstated(f *numa.Fleet, c *Change, vm *numa.VM, h *numa.Host, shapes map[string]string) *numa.Host {
	stated := map[string]bool{}
	for _, b := range p.Hosts {
		stated[b.Shape] = stated[b.Shape] || b.Cluster == h.Cluster && c.On(b.Name) != nil
	}
	for i := range f.Hosts {
		x := &f.Hosts[i]
		if h.Cluster != "" && x.Cluster == h.Cluster && x.Ready() && !stated[shapes[x.ID]] && takes(x, vm) {
			return x
		}
	}
	return nil
}

// takes reports whether the nodes of a host are known and it would power the VM on.
func takes(h *numa.Host, v *numa.VM) bool {
	m, err := vnuma.NewMachine(h)
	g, _, bad := vnuma.NewGuest(v)
	return err == nil && bad == nil && !vnuma.Refuse(&g, &m).Any()
}

// Moved returns, by ID, why a VM, host or cluster of the plan is not changed: the host or cluster has another name, or the prediction of the VM no longer holds. A host of its
// cluster has another shape then, one of a new shape takes it, or the VM runs on a host, or in a cluster, that the plan predicts nothing of. f is the fleet as it is now.
func (p *Plan) Moved(f *numa.Fleet) map[string]string {
	hosts, names := f.HostsByID(), map[string]string{}
	for id, h := range hosts {
		names[id] = h.Name
	}
	for i := range f.Clusters {
		names[f.Clusters[i].ID] = f.Clusters[i].Name
	}
	differs := map[string]string{} // by name of the host
	for _, b := range p.Hosts {
		switch h := hosts[b.ID]; {
		case h == nil:
			differs[b.Name] = b.Name + " is no longer there"
		case h.Cluster != b.Cluster:
			differs[b.Name] = b.Name + " is in another cluster"
		case shapeOf(h) != b.Shape:
			differs[b.Name] = fmt.Sprintf("%s has %s, the plan was made for %s", b.Name, shapeOf(h), b.Shape)
		}
	}
	now, shapes := f.VMsByID(), map[string]string{}
	for id, h := range hosts {
		shapes[id] = shapeOf(h)
	}
	out := map[string]string{}
	for i := range p.Changes {
		c := &p.Changes[i]
		t := c.Target()
		if is, there := names[t.ID]; c.VM == nil && there && texttab.Clean(is) != texttab.Clean(t.Name) {
			out[t.ID] = fmt.Sprintf("it is called %q, the plan calls it %q", is, t.Name)
		}
		if c.VM == nil || now[t.ID] == nil || p.Undoes != "" {
			continue
		}
		vm := now[t.ID]
		h := hosts[vm.Host]
		if h != nil && c.VM.Cluster != "" && f.ClusterName(h.Cluster) != c.VM.Cluster {
			out[c.VM.ID] = fmt.Sprintf("it is in the cluster %q, the plan says %q", f.ClusterName(h.Cluster), c.VM.Cluster)
		}
		for _, l := range c.Layout {
			for _, name := range l.Hosts {
				if why := differs[name]; why != "" && out[c.VM.ID] == "" {
					out[c.VM.ID] = why
				}
			}
		}
		if h != nil && len(c.Layout) > 0 && vm.Tied() == nil && out[c.VM.ID] == "" {
			if x := p.unstated(f, c, vm, h, shapes); x != nil {
				out[c.VM.ID] = fmt.Sprintf("%s of its cluster has %s, for which the plan predicts nothing", x.Name, shapes[x.ID])
			}
		}
		// Without known nodes nothing could be predicted.
		if h != nil && out[c.VM.ID] == "" && c.On(h.Name) == nil && (len(c.Layout) > 0 || len(h.Nodes.Value) > 0) {
			out[c.VM.ID] = fmt.Sprintf("it is on %s, for which the plan predicts nothing", h.Name)
		}
	}
	return out
}
