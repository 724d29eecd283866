package fix

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// asked takes the requested edits of the VMs and hosts that the filter shows.
func (m *maker) asked(ctx context.Context) error {
	part := *m.fleet
	part.VMs = nil
	for _, c := range m.shown.Clusters {
		for _, v := range c.VMs {
			one := *v.VM
			one.Observed = nil
			part.VMs = append(part.VMs, one)
		}
	}
	for _, v := range m.o.Filter.Templates(m.fleet) { // they are named, and stay
		part.VMs = append(part.VMs, *v)
	}
	after, _, err := whatif.Apply(ctx, &part, m.o.Set, m.o.Rules.Choices)
	if err != nil {
		return err
	}
	is := after.VMsByID()
	for i := range part.VMs {
		if err := m.askedOf(&part.VMs[i], is[part.VMs[i].ID]); err != nil {
			return fmt.Errorf("--set: VM %s: %w", part.VMs[i].Name, err)
		}
	}
	for i := range after.Hosts {
		if err := m.askedOfHost(&part.Hosts[i], &after.Hosts[i]); err != nil {
			return fmt.Errorf("--set: host %s: %w", after.Hosts[i].Name, err)
		}
	}
	return nil
}

// askedOf takes the requested edits of one VM. It is an error when vSphere would refuse or ignore one, or when fix does not write it.
func (m *maker) askedOf(was, is *numa.VM) error {
	for _, key := range []string{"cpuid.coresPerSocket", "vcpu.hotadd", "mem.hotadd"} {
		before, _ := was.Settings.Value.Lookup(key)
		if after, set := is.Settings.Value.Lookup(key); set && after != before {
			return fmt.Errorf("%s has a field of its own, and vSphere ignores it as a setting: want coresPerSocket= or hotAdd=", key)
		}
	}
	if was.Host != is.Host || was.Cluster != is.Cluster {
		return errors.New("fix moves no VM (host=): assess --what-if shows the effect, vMotion does it")
	}
	_, doubts, _ := vnuma.NewGuest(was)
	if _, more, err := vnuma.NewGuest(is); err == nil && len(more) > len(doubts) {
		return fmt.Errorf("%s", more[len(more)-1])
	}
	if err := unwritten(numa.VMFacts, &was.Config, &is.Config); err != nil {
		return err
	}
	edits := numa.Edits(&was.Config, &is.Config)
	if edits == nil {
		return nil
	}
	for _, e := range edits {
		if err := Plannable(e); err != nil {
			return err
		}
	}
	if err := m.pcpus(was, is); err != nil {
		return err
	}
	for _, no := range is.Impossible() {
		if slices.ContainsFunc(edits, func(e numa.Edit) bool { return slices.Contains(no.By, e.Kind) && !e.To.Same(no.Cure.To) }) {
			return fmt.Errorf("%s: vSphere refuses that", no.Text)
		}
	}
	m.edits[is.ID] = edits
	if is.Template.Value {
		m.kept[is.ID] = "it is a template: make it a VM, change it, and make it a template again"
	}
	return nil
}

// pcpus refuses a CPU affinity to PCPUs that the host of the VM does not have.
func (m *maker) pcpus(was, is *numa.VM) error {
	if slices.Equal(was.CPUAffinity.Value, is.CPUAffinity.Value) {
		return nil
	}
	for i := range m.fleet.Hosts {
		h := &m.fleet.Hosts[i]
		for _, n := range is.CPUAffinity.Value {
			if h.ID == is.Host && h.Threads.Known() && n >= h.Threads.Value {
				return fmt.Errorf("PCPU %d is not on %s, which has %d", n, h.Name, h.Threads.Value)
			}
		}
	}
	return nil
}

// askedOfHost takes the edits of one host: its options.
func (m *maker) askedOfHost(was, is *numa.Host) error {
	if err := unwritten(numa.HostFacts, was, is); err != nil {
		return err
	}
	var edits []numa.Edit
	for _, s := range is.Options.Value {
		edits = append(edits, numa.Edit{Kind: numa.EditHostOption, Key: s.Key, To: numa.Is(s.Value)})
	}
	if edits = hostEdits(was, edits); edits == nil {
		return nil
	}
	for _, e := range edits {
		if err := Writable(e); err != nil {
			return err
		}
	}
	m.edits[is.ID] = edits
	if !m.o.Host {
		m.kept[is.ID] = "options of hosts are changed with --allow host only"
	}
	return nil
}

// unwritten is the error for a fact that was asked to change and that no plan writes.
func unwritten[T any](facts []numa.Property[T], was, is *T) error {
	for _, p := range facts {
		if p.Edit.Written() {
			continue
		}
		before, after := valueOf(p.Fact(was)), valueOf(p.Fact(is))
		if !reflect.DeepEqual(before, after) {
			return fmt.Errorf("%s (%s) is changed by hand: fix does not write it. --what-if judges it", p.Word, p.About)
		}
	}
	return nil
}

// valueOf returns the value of a *numa.Fact of any type.
func valueOf(fact any) any { return reflect.ValueOf(fact).Elem().FieldByName("Value").Interface() }
