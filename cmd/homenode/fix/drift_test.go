package fix_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/change/whatif"
	"example.org/homenode/numa"
)

// TestForgedBasis leaves VMs whose plan hides what it was made for: it predicts nothing of the host, or names another cluster.
func TestForgedBasis(t *testing.T) {
	for why, forge := range map[string]func(c *fix.Change){
		"the plan predicts nothing": func(c *fix.Change) { c.Layout = nil },
		`the plan says "test"`:      func(c *fix.Change) { c.VM.Cluster = "test" },
	} {
		s := serveFleet(t, fleetOf(t, `release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=512GB
vm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on
`))
		p := s.plan(fix.Options{Now: now})
		if len(p.Changes) != 1 {
			t.Fatalf("%d changes", len(p.Changes))
		}
		forge(&p.Changes[0])
		if err := p.Identify(); err != nil {
			t.Fatal(err)
		}
		results, _, err := s.apply(p, quick(apply.PowerGuest))
		if r := results["sql01"]; err != nil || r.Outcome != apply.Drift || !strings.Contains(r.Why, why) {
			t.Errorf("sql01 is %s (%s), %v, want %q", r.Outcome, r.Why, err, why)
		}
		// A host whose ID is that of another one than its name says.
		before := s.settings()
		p = s.wished("Numa.PreferHT=1")
		p.Changes[0].Host.Name, p.Changes[1].Host.Name = p.Changes[1].Host.Name, p.Changes[0].Host.Name
		results, _, err = s.apply(p, quick(apply.PowerNone))
		if err != nil {
			t.Error(err)
		}
		outcomes(t, results, apply.Drift)
		s.same("options of hosts whose names were exchanged", before)
	}
}

// TestForgedStored leaves a VM whose plan states another stored size than the one that it has: a rollback would write that.
func TestForgedStored(t *testing.T) {
	s := serveFleet(t, fleetOf(t, `release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=512GB
vm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on numa.autosize.cookie=240122 numa.autosize.vcpu.maxPerVirtualNode=12
`))
	made, before := s.wished("coresPerSocket=12", "hotAdd=off"), s.settings()
	stored := func(c *fix.Change, e numa.Edit) {
		c.Edits = append(slices.Clone(c.Edits), e)
	}
	for name, forge := range map[string]func(c *fix.Change){
		"another size":   func(c *fix.Change) { c.Stored[1].Value = "3" },
		"none":           func(c *fix.Change) { c.Stored = nil },
		"another cookie": func(c *fix.Change) { c.Stored[0].Value = "240032" },
		"an edit of another size": func(c *fix.Change) {
			stored(c, numa.Edit{Kind: numa.EditExtraConfig, Key: numa.StoredKey, From: numa.Is("3")})
		},
		"an edit of none": func(c *fix.Change) {
			stored(c, numa.Edit{Kind: numa.EditExtraConfig, Key: numa.StoredKey, To: numa.Is("12"), Assumed: true})
		},
	} {
		p := *made
		p.Changes = slices.Clone(made.Changes)
		p.Changes[0].Stored = slices.Clone(made.Changes[0].Stored)
		forge(&p.Changes[0])
		results, _, err := s.apply(&p, quick(apply.PowerGuest))
		if r := results["sql01"]; err != nil || r.Outcome != apply.Drift || !strings.Contains(r.Why, "numa.autosize.") {
			t.Errorf("%s: sql01 is %s (%s), %v", name, r.Outcome, r.Why, err)
		}
		s.same(name, before)
	}
	results, _, err := s.apply(made, quick(apply.PowerGuest))
	if r := results["sql01"]; err != nil || r.Outcome != apply.Done {
		t.Errorf("the plan that was made: sql01 is %s (%s), %v", r.Outcome, r.Why, err)
	}
}

// TestMisstated leaves VMs whose plan states another result than its edits have, or the result on some hosts alone: values that homenode writes do not make a
// plan one that it made.
func TestMisstated(t *testing.T) {
	setting := func(key, to string) func(*fix.Change) {
		return func(c *fix.Change) {
			c.Edits = append(slices.Clone(c.Edits), numa.Edit{Kind: numa.EditExtraConfig, Key: key, To: numa.Is(to)})
		}
	}
	s := serveFleet(t, fleetOf(t, `release 7.0U3
cluster prod
host esx01 nodes=2 cores=18 memory=512GB
host esx02 nodes=4 cores=10 memory=512GB
vm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on
vm off01 host=esx01 power=off vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on
`))
	made, before := s.plan(fix.Options{Now: now}), s.settings()
	for name, c := range map[string]struct {
		why   string
		forge func(c *fix.Change)
	}{
		"a setting that makes more nodes": {"with these settings there would be 4 nodes", setting("numa.vcpu.maxPerVirtualNode", "6")},
		"another shape of the sockets": {"the plan says 2 nodes", func(c *fix.Change) {
			c.Edits = []numa.Edit{{Kind: numa.EditCoresPerSocket, From: numa.Is("2"), To: numa.Is("6")}}
		}},
		"fewer edits than it states": {"with these settings there would be", func(c *fix.Change) {
			c.Edits = c.Edits[:1]
			c.Edits[0] = numa.EditMemory.To(65536)
			c.Edits[0].From = numa.Is("131072")
		}},
		"memory that is all local":   {"the plan says", func(c *fix.Change) { c.Layout[0].After.FarShare, c.Layout[0].Now.FarShare = 0.25, 0.5 }},
		"a worse layout before it":   {"without the change there would be", func(c *fix.Change) { c.Layout[0].Now.PPDs = []int{1, 23} }},
		"another word for it":        {"the plan says", func(c *fix.Change) { c.Layout[0].After.Text = "1×24" }},
		"nothing of the other hosts": {"esx02 of its cluster has 7.0 U3", func(c *fix.Change) { c.Layout = c.Layout[:1] }},
	} {
		for _, vm := range []string{"sql01", "off01"} {
			var p fix.Plan // a copy that shares nothing
			data, err := json.Marshal(only(made, vm, "esx02"))
			if err == nil {
				err = json.Unmarshal(data, &p)
			}
			if err != nil || len(p.Changes) != 1 || len(p.Changes[0].Layout) < 2 {
				t.Fatalf("%v: %d changes", err, len(p.Changes))
			}
			c.forge(&p.Changes[0])
			p.Changes[0].Expects = nil
			results, _, err := s.apply(&p, quick(apply.PowerGuest))
			if r := results[vm]; err != nil || r.Outcome != apply.Refused && r.Outcome != apply.Drift || !strings.Contains(r.Why, c.why) {
				t.Errorf("%s: %s is %s (%s), %v, want %q", name, vm, r.Outcome, r.Why, err, c.why)
			}
			s.same(name, before)
		}
	}
}

// TestDrift changes each input of the prediction between plan and run: the VM is skipped with a reason, nothing of it is written, and the other VM of the plan
// is carried out where it does not rest on the same input.
func TestDrift(t *testing.T) {
	other, off := "", ""
	all := map[string]apply.Outcome{"sql01": apply.Drift, "sql02": apply.Drift, "off01": apply.Drift}
	allocation := &types.ResourceAllocationInfo{Reservation: types.NewInt64(1024)}
	for name, c := range map[string]struct {
		do   func(s *site, id string)
		want map[string]apply.Outcome // of others than drift of sql01; VMs that are not named are done
	}{
		"CPU affinity": {do: func(s *site, id string) {
			s.vc.Set(id, "config.cpuAffinity", types.VirtualMachineAffinityInfo{AffinitySet: []int32{0, 1}})
		}},
		"memory affinity": {do: func(s *site, id string) {
			s.vc.Set(id, "config.memoryAffinity", types.VirtualMachineAffinityInfo{AffinitySet: []int32{0}})
		}},
		"latency sensitivity": {do: func(s *site, id string) {
			s.vc.Set(id, "config.latencySensitivity", &types.LatencySensitivity{Level: "high"})
		}},
		"CPU reservation":     {do: func(s *site, id string) { s.vc.Set(id, "config.cpuAllocation", *allocation) }},
		"memory reservation":  {do: func(s *site, id string) { s.vc.Set(id, "config.memoryAllocation", *allocation) }},
		"reserve all":         {do: func(s *site, id string) { s.vc.Set(id, "config.memoryReservationLockedToMax", true) }},
		"a setting":           {do: func(s *site, id string) { s.edit(id, &types.OptionValue{Key: "sched.vcpu0.affinity", Value: "3"}) }},
		"an option of a host": {want: all, do: func(s *site, id string) { s.option(s.hostOf(id), "Numa.PreferHT", 1) }},
		"another cluster": {do: func(s *site, id string) {
			if err := s.vc.Place(id, other, numa.PoweredOn); err != nil {
				s.Error(err)
			}
		}},
		"a host that takes no VM": {want: map[string]apply.Outcome{"sql01": apply.Refused}, do: func(s *site, id string) { s.vc.Connect(s.hostOf(id), "connected", true) }},
		"the power state": {want: map[string]apply.Outcome{"off01": apply.Drift}, do: func(s *site, id string) {
			if err := s.vc.Place(off, s.hostOf(id), numa.PoweredOn); err != nil {
				s.Error(err)
			}
		}},
		"another name": {do: func(s *site, id string) { s.vc.Set(id, "name", "web01") }},
		"nothing":      {want: map[string]apply.Outcome{}, do: func(s *site, id string) { s.edit(id, &types.OptionValue{Key: "guestinfo.note", Value: "3"}) }},
	} {
		f := fleetOf(t, `release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=512GB
vm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on
vm sql02 host=esx02 vcpus=36 coresPerSocket=1 memory=128GB hotAdd=on
vm off01 host=esx02 power=off vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on
cluster test
host esx03 nodes=4 cores=10 memory=512GB
`)
		s := serveFleet(t, f)
		p := s.plan(fix.Options{Now: now})
		if len(p.Changes) != 3 || len(p.Hosts) == 0 {
			t.Fatalf("%d changes, %d hosts", len(p.Changes), len(p.Hosts))
		}
		other, off = f.Hosts[2].ID, f.VMs[2].ID
		c.do(s, f.VMs[0].ID)
		results, _, err := s.apply(p, quick(apply.PowerGuest))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.want == nil {
			c.want = map[string]apply.Outcome{"sql01": apply.Drift}
		}
		for _, vm := range []string{"sql01", "sql02", "off01"} {
			outcome := cmp.Or(c.want[vm], apply.Done)
			if r := results[vm]; r.Outcome != outcome || outcome != apply.Done && r.Why == "" {
				t.Errorf("%s: %s is %s (%s), want %s", name, vm, r.Outcome, r.Why, outcome)
			}
		}
	}
}

// TestGone removes a VM between plan and run: it is left, and the others are changed.
func TestGone(t *testing.T) {
	s := serveFleet(t, small(t))
	p := s.plan(fix.Options{Now: now})
	for _, c := range p.Changes {
		if c.VM.Name == "off01" {
			s.control(func(vc *vim25.Client) error {
				task, err := object.NewVirtualMachine(vc, types.ManagedObjectReference{Type: "VirtualMachine", Value: c.VM.ID}).Destroy(s.Context())
				if err != nil {
					return err
				}
				return task.Wait(s.Context())
			})
		}
	}
	o := quick(apply.PowerGuest)
	o.MaxFailures = 1
	results, _, err := s.apply(p, o)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range results {
		want := apply.Done
		if name == "off01" {
			want = apply.Drift
		}
		if r.Outcome != want {
			t.Errorf("%s is %s (%s), want %s", name, r.Outcome, r.Why, want)
		}
	}
	if results["off01"].Outcome == "" || len(results) < 2 {
		t.Errorf("results %v", results)
	}
}

// TestImpossible carries out plans that no VM can have: each is refused before its guest is touched. A fault that arrives all the same is named.
func TestImpossible(t *testing.T) {
	s := serveFleet(t, small(t))
	made := only(s.plan(fix.Options{Now: now}), "sql01")
	calls := s.watch(nil)
	for text, edit := range map[string]numa.Edit{
		"logical CPUs": {Kind: numa.EditVCPUs, From: numa.Is("24"), To: numa.Is("96")},
		"reservation":  {Kind: numa.EditMemoryReservation, From: numa.Is("0"), To: numa.Is("999999")},
	} {
		p := *made
		p.Changes = slices.Clone(made.Changes)
		p.Changes[0].Edits = []numa.Edit{edit}
		if p.Changes[0].Needs() == numa.NeedsNothing {
			p.Changes[0].Downtime = "none"
		}
		if err := p.Identify(); err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		results, _, err := s.apply(&p, quick(apply.PowerGuest))
		if r := results["sql01"]; err != nil || r.Outcome != apply.Refused || !strings.Contains(r.Why, text) {
			t.Errorf("%s: %v, %+v", text, err, r)
		}
	}
	if n := calls.count("ShutdownGuest", made.Changes[0].VM.ID) + calls.count("ReconfigVM_Task", made.Changes[0].VM.ID); n > 0 {
		t.Errorf("the VM was touched %d times", n)
	}
	err := s.w.Reconfigure(t.Context(), made.Changes[0].VM.ID, []numa.Edit{{Kind: numa.EditCoresPerSocket, To: numa.Is("7")}}, "", nil)
	if err == nil || strings.Contains(err.Error(), "*types") || !strings.Contains(err.Error(), "InvalidArgument configSpec.numCoresPerSocket") {
		t.Errorf("the fault: %v", err)
	}
}

// TestImpossibleGoneOn goes on with a journal that began to give a VM that is off more than its host has: it is refused.
func TestImpossibleGoneOn(t *testing.T) {
	s, p, before := started(t, "off01")
	c := &p.Changes[0]
	c.Edits = []numa.Edit{{Kind: numa.EditMemoryReservation, From: numa.Is("0"), To: numa.Is("999999")}}
	for i := range c.Layout {
		c.Layout[i].After = c.Layout[i].Now
	}
	c.Expects = nil
	path := forged(t, p, apply.PowerGuest, journal.Line{Step: journal.StepIntent, Target: c.VM.ID, Do: "reconfigure", Edits: c.Edits})
	results, err := s.resume(path, quick(apply.PowerGuest))
	if r := results["off01"]; err != nil || r.Outcome != apply.Refused || !strings.Contains(r.Why, "reservation") {
		t.Errorf("%v, %+v", err, r)
	}
	s.same("a VM that would not power on", before)
}

// hostOf returns the ID of the host of a VM.
func (s *site) hostOf(id string) string {
	s.Helper()
	states, err := s.w.States(s.Context(), []string{id})
	if err != nil {
		s.Fatal(err)
	}
	return states[id].VM.Host
}

// option sets an option of a host as another client does.
func (s *site) option(host, key string, value int64) {
	s.Helper()
	s.control(func(c *vim25.Client) error {
		m, err := object.NewHostSystem(c, types.ManagedObjectReference{Type: "HostSystem", Value: host}).ConfigManager().OptionManager(s.Context())
		if err != nil {
			return err
		}
		return m.Update(s.Context(), []types.BaseOptionValue{&types.OptionValue{Key: key, Value: value}})
	})
}

// TestResources sets latency sensitivity and reservations as asked, reads them back, and takes them back.
func TestResources(t *testing.T) {
	s := serveFleet(t, small(t))
	before := s.settings()
	var wishes []whatif.Change
	for _, text := range []string{"vm=web01 latency=low", "vm=web01 memoryReservation=8GB", "vm=sql02 reserveAll=yes", "vm=sql01 cpuReservation=2000"} {
		c, err := whatif.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		wishes = append(wishes, c)
	}
	p := s.plan(fix.Options{Now: now, Set: wishes})
	results, path, err := s.apply(p, quick(apply.PowerGuest))
	if err != nil {
		t.Fatal(err)
	}
	outcomes(t, results, apply.Done)
	got := s.settings()
	for key, want := range map[string]string{"web01 latency": "low", "web01 memoryReservation": "8192", "sql02 reserveAll": "true", "sql02 memoryReservation": "131072", "sql01 cpuReservation": "2000"} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
	if results, err = s.rollback(path, quick(apply.PowerGuest)); err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Done)
	s.same("after the rollback", before)
}
