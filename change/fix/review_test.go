package fix_test

import (
	"strings"
	"testing"

	"homenode/change/fix"
	"homenode/change/whatif"
	"homenode/numa"
	"homenode/source/demo"
)

// TestRefusedInput checks what is asked for and cannot be.
func TestRefusedInput(t *testing.T) {
	f, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	set := func(text string) fix.Options {
		c, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return fix.Options{Set: []whatif.Change{c}}
	}
	drs := func(rules ...fix.DRSRule) fix.Options { return fix.Options{DRS: rules} }
	names := []string{"sql01", "sql02"}
	for want, o := range map[string]fix.Options{
		"has a field of its own":          set("vm=sql01 cpuid.coresPerSocket=4"),
		"at least two of these VMs":       drs(fix.DRSRule{Kind: fix.Apart, VMs: names}, fix.DRSRule{Kind: fix.Apart, VMs: []string{"typo1", "typo2"}}),
		"contradict each other":           drs(fix.DRSRule{Kind: fix.Apart, VMs: names}, fix.DRSRule{Kind: fix.Together, VMs: names}),
		"cannot be kept apart on 8 hosts": drs(fix.DRSRule{Kind: fix.Apart, VMs: []string{"app*"}}),
	} {
		if _, err := fix.Make(t.Context(), f, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestStoredSame compares a VM whose stored size was removed and written again as it was: the other edits tell.
func TestStoredSame(t *testing.T) {
	c := fix.Change{Edits: []numa.Edit{
		{Kind: numa.EditCPUHotAdd, From: numa.Is("true"), To: numa.Is("false")},
		{Kind: numa.EditExtraConfig, Key: "numa.autosize.vcpu.maxPerVirtualNode", From: numa.Is("16")},
	}}
	stored := numa.ReadAt(numa.Settings{{Key: "numa.autosize.vcpu.maxPerVirtualNode", Value: "16"}}, "test")
	for hotAdd, want := range map[bool]fix.Side{true: fix.Before, false: fix.After} {
		if side, why := c.Compare(&numa.Config{CPUHotAdd: numa.ReadAt(hotAdd, "test"), Settings: stored}); side != want {
			t.Errorf("hot add %v: side %d (%s), want %d", hotAdd, side, why, want)
		}
	}
}

// TestUndoBatches checks that a rollback keeps apart what the plan keeps apart, and begins with the last.
func TestUndoBatches(t *testing.T) {
	p := planned(t, fix.Options{AtOnce: 3, Apart: []string{"sql*"}})
	of := map[string]int{}
	for _, c := range p.Changes {
		of[c.Target().ID] = c.Batch
	}
	undo, err := p.Undo(func(id string) []numa.Edit {
		for _, c := range p.Changes {
			if c.Target().ID == id {
				return c.Edits
			}
		}
		return nil
	})
	if err != nil || len(undo.Changes) < 20 {
		t.Fatalf("%d changes, %v", len(undo.Changes), err)
	}
	last := 0
	for i, c := range undo.Changes {
		if c.Batch != last && c.Batch != last+1 {
			t.Errorf("batch %d follows %d", c.Batch, last)
		}
		last = c.Batch
		for _, o := range undo.Changes[:i] {
			if same := o.Batch == c.Batch; same != (of[o.Target().ID] == of[c.Target().ID]) {
				t.Errorf("%s and %s: together %v, in the plan otherwise", o.Target().Name, c.Target().Name, same)
			}
		}
	}
}
