package fix_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/given"
)

// TestRefusedInput checks what is asked for and cannot be.
func TestRefusedInput(t *testing.T) {
	f := given.Demo(t)
	set := func(text string) fix.Options {
		c, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return fix.Options{Set: []whatif.Change{c}}
	}
	drs := func(rules ...fix.DRSRule) fix.Options { return fix.Options{DRS: rules} }
	names := []string{"sql01", "sql02"}
	for i := range f.VMs {
		if v := &f.VMs[i]; slices.Contains(names, v.Name) {
			v.Memory, v.MemoryReservationLocked = numa.ReadAt(numa.Bytes(600*numa.GiB), "test"), numa.ReadAt(true, "test")
		}
	}
	for want, o := range map[string]fix.Options{
		"has a field of its own":          set("vm=sql01 cpuid.coresPerSocket=4"),
		"no VM is named typo1":            drs(fix.DRSRule{Kind: fix.Apart, VMs: names}, fix.DRSRule{Kind: fix.Apart, VMs: []string{"typo1", "typo2"}}),
		"contradict each other":           drs(fix.DRSRule{Kind: fix.Apart, VMs: names}, fix.DRSRule{Kind: fix.Together, VMs: names}),
		"reserve 1200 GB of memory, and":  drs(fix.DRSRule{Kind: fix.Together, VMs: names}),
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

// TestAssumedSizeIsNotWritten checks that a rollback writes no stored size that was only assumed, and deletes none: the source does not state it.
func TestAssumedSizeIsNotWritten(t *testing.T) {
	f, err := scenario.Read("x", []byte("release 7.0U3\nhost p1 nodes=2 cores=16 memory=512GB\nvm a host=p1 vcpus=20 memory=99GB settings=?\n"))
	if err != nil {
		t.Fatal(err)
	}
	vnuma.AssumeStored(f, vnuma.Choices{})
	if !f.VMs[0].SizeAssumed {
		t.Fatal("no size is assumed")
	}
	set, err := whatif.Parse("vm=a coresPerSocket=10")
	if err != nil {
		t.Fatal(err)
	}
	p, err := fix.Make(t.Context(), f, fix.Options{Set: []whatif.Change{set}})
	if err != nil || len(p.Changes) != 1 {
		t.Fatalf("%v, %v", p, err)
	}
	undo, err := p.Undo(func(c *fix.Change) []numa.Edit { return c.Edits })
	if err != nil || len(undo.Changes) != 1 || len(undo.Changes[0].Edits) != 1 {
		t.Fatalf("found %+v, %v; want the sockets alone", undo, err)
	}
	if c := p.Changes[0]; c.Stored != nil || !strings.Contains(strings.Join(c.Lost, "\n"), "is unknown") || len(undo.Left) != 1 || undo.Left[0].Why != c.Lost[0] {
		t.Errorf("found stored sizes %v, lost %q, left by the rollback %v", c.Stored, c.Lost, undo.Left)
	}
}

// TestAssumedSizeIsRemoved checks that a plan that removes a stored size which nobody read says so, removes whatever size the VM has, and that its
// rollback does not write the assumed one.
func TestAssumedSizeIsRemoved(t *testing.T) {
	f, err := scenario.Read("x", []byte("release 7.0U3\nhost p1 nodes=2 cores=18 memory=512GB\nvm a host=p1 vcpus=16 coresPerSocket=16 memory=384GB settings=?\n"))
	if err != nil {
		t.Fatal(err)
	}
	vnuma.AssumeStored(f, vnuma.Choices{})
	p, err := fix.Make(t.Context(), f, fix.Options{})
	if err != nil || len(p.Changes) != 1 {
		t.Fatalf("%v, %v", p, err)
	}
	c, assumed := &p.Changes[0], 0
	for _, e := range c.Edits {
		if stored := e.Kind == numa.EditExtraConfig && e.From.Set; e.Assumed != (e.Kind == numa.EditExtraConfig) {
			t.Errorf("%s from %s: assumed %t", e.Name(), e.From, e.Assumed)
		} else if stored {
			assumed++
		}
	}
	data, err := json.Marshal(c.Edits)
	if n := strings.Count(string(data), `"assumed":true`); err != nil || assumed != 2 || n != 3 {
		t.Errorf("%d assumed sizes, %d in JSON, %v; want 2, 3\n%s", assumed, n, err, data)
	}
	undo, err := p.Undo(func(c *fix.Change) []numa.Edit { return c.Edits })
	if err != nil || len(undo.Changes) != 1 || slices.ContainsFunc(undo.Changes[0].Edits, func(e numa.Edit) bool { return strings.HasPrefix(e.Key, "numa.autosize") }) {
		t.Errorf("found %+v, %v; want no stored size", undo, err)
	}
	c.Edits = slices.DeleteFunc(c.Edits, func(e numa.Edit) bool { return !e.From.Set || e.Kind != numa.EditExtraConfig })
	for size, want := range map[string]fix.Side{"16": fix.Before, "8": fix.Before, "": fix.After} {
		now := f.VMs[0].Config
		now.Settings = numa.ReadAt(numa.Settings{{Key: numa.StoredKey, Value: size}}, "test")
		if side, why := c.Compare(&now); side != want {
			t.Errorf("size %q: side %d (%s), want %d", size, side, why, want)
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
	undo, err := p.Undo(func(c *fix.Change) []numa.Edit { return c.Edits })
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

// TestAdmission checks that a plan reserves no more in total than its host has left, whether the VMs are known to run or not.
func TestAdmission(t *testing.T) {
	for _, power := range []string{"", " power=on"} {
		f, err := scenario.Read("fleet", []byte("release 8.0U3\nhost h nodes=2 cores=16 memory=512GB mhz=2400\nvm a host=h vcpus=8 memory=200GB hw=20"+power+"\nvm b host=h vcpus=8 memory=200GB hw=20"+power+"\nvm c host=h vcpus=8 memory=200GB hw=20"+power+"\nvm d host=h vcpus=4 memory=8GB hw=20 power=off\n"))
		if err != nil {
			t.Fatal(err)
		}
		change, err := whatif.Parse("reserveAll=on")
		if err != nil {
			t.Fatal(err)
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Now: now, Set: []whatif.Change{change}})
		if err != nil || len(p.Changes) != 3 || len(p.Left) == 0 || p.Left[0].VM != "c" || !strings.Contains(p.Left[0].Why, "200 GB of reserved memory are more than") {
			t.Errorf("%q: %v, left %+v; want that c is refused\n%s", power, err, p.Left, said(p))
		}
	}
}

// TestResized names another size and other virtual hardware, which the guest notices.
func TestResized(t *testing.T) {
	f := given.Fleet(t, "fleet", []byte("release 8.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm a host=h vcpus=8 memory=64GB hw=15 coresPerSocket=8\n"))
	for change, want := range map[string]string{
		"vm=a memory=32GB": "the guest gets 32 GB of memory instead of 64 GB",
		"vm=a hw=19":       "the guest gets virtual hardware 19 instead of 15, with which it may see new devices",
		"vm=a vcpus=4 coresPerSocket=4 memory=32GB": "the guest gets 4 vCPUs instead of 8 and 32 GB of memory instead of 64 GB",
	} {
		c, err := whatif.Parse(change)
		if err != nil {
			t.Fatal(err)
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Now: now, Set: []whatif.Change{c}, Resize: true, Upgrade: true})
		if err != nil || len(p.Changes) != 1 {
			t.Fatalf("%s: %v, %+v", change, err, p)
		}
		if notices := p.Changes[0].Notices; !slices.Contains(notices, want) || slices.Contains(notices, rule.NoNotice) {
			t.Errorf("%s: %q, want %q", change, notices, want)
		}
	}
}
