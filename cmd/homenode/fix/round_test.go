package fix_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/lab"
)

var now = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// TestRound plans the demo, carries the plan out, plans again, and takes all back.
func TestRound(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    fix.Options
		do   apply.Options
	}{
		{"guest", fix.Options{Now: now}, quick(apply.PowerGuest)},
		{"hard", fix.Options{Now: now}, quick(apply.PowerHard)},
		{"eight at once", fix.Options{Now: now, AtOnce: 8}, quick(apply.PowerGuest)},
		{"all that can be", fix.Options{Now: now, AtOnce: 8, Better: true, Host: true}, quick(apply.PowerGuest)},
	} {
		if !testdeps.Proof() && (tt.name == "guest" || tt.name == "eight at once") { // the last one has all of these
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			s := serveFleet(t, nil)
			before := s.settings()
			if tt.name == "hard" {
				s.vc.SetGuest("", lab.Guest{Shutdown: -1})
				tt.do.Off = time.Millisecond
			}
			p := s.plan(tt.o)
			if len(p.Changes) < 20 {
				t.Fatalf("%d changes", len(p.Changes))
			}
			s.same("planning", before)
			results, path, err := s.apply(p, tt.do)
			if err != nil {
				t.Error(err)
			}
			outcomes(t, results, apply.Done)
			for key, v := range s.settings() {
				if strings.HasSuffix(key, " power") && v != before[key] {
					t.Errorf("%s is %s, was %s", key, v, before[key])
				}
			}
			again := s.plan(tt.o)
			for _, c := range again.Changes {
				t.Errorf("a second plan changes %s: %v", c.Target().Name, c.Edits)
			}
			if a, b := lefts(p), lefts(again); !slices.Equal(a, b) {
				t.Errorf("left are\n%s\nthe plan said\n%s", strings.Join(b, "\n"), strings.Join(a, "\n"))
			}

			after := s.settings()
			calls := s.watch(nil)
			results, _, err = s.apply(p, tt.do)
			if err != nil {
				t.Error(err)
			}
			outcomes(t, results, apply.Already)
			s.same("the same plan again", after)
			for what := range calls.n {
				if method, _, _ := strings.Cut(what, " "); slices.Contains(writing, method) {
					t.Errorf("the same plan again: %s", what)
				}
			}
			s.vc.On(nil)

			results, err = s.rollback(path, tt.do)
			if err != nil {
				t.Error(err)
			}
			outcomes(t, results, apply.Done)
			if d := differences(before, s.settings(), lost(p)); d != nil {
				t.Errorf("after the rollback:\n%s", strings.Join(d, "\n"))
			}
		})
	}
}

// lost reports what the plan says that a rollback does not bring back.
func lost(p *fix.Plan) func(key string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(p.Changes, func(c fix.Change) bool {
			if c.Host != nil { // which value an option had that is not set is not known
				return slices.ContainsFunc(c.Edits, func(e numa.Edit) bool { return !e.From.Set && key == c.Host.Name+" "+e.Key })
			}
			return key == c.VM.Name+" coresPerSocket" && slices.ContainsFunc(c.Lost, func(why string) bool { return strings.Contains(why, "does not take") })
		})
	}
}

// writing are the methods that change something.
var writing = []string{"ReconfigVM_Task", "PowerOnVM_Task", "PowerOffVM_Task", "ShutdownGuest", "RebootGuest", "UpdateOptions", "ResetVM_Task", "SuspendVM_Task"}

// lefts returns what a plan leaves, less the reasons.
func lefts(p *fix.Plan) (out []string) {
	for _, l := range p.Left {
		out = append(out, l.Rule+" "+l.VM+l.Host)
	}
	for i := range p.Changes { // findings that the changes bring are there afterwards
		for _, text := range p.Changes[i].Brings {
			id, _, _ := strings.Cut(text, " ")
			out = append(out, id+" "+p.Changes[i].Target().Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestPowerNone writes what may be written while VMs run, and tells what needs more.
func TestPowerNone(t *testing.T) {
	s := serveFleet(t, nil)
	before := s.settings()
	p := s.plan(fix.Options{Now: now})
	calls := s.watch(nil)
	results, path, err := s.apply(p, quick(apply.PowerNone))
	if err != nil {
		t.Error(err)
	}
	seen := map[apply.Outcome]int{}
	for i := range p.Changes {
		c := &p.Changes[i]
		r := results[c.VM.Name]
		seen[r.Outcome]++
		want := apply.Done
		if c.VM.Runs {
			want = map[numa.Needs]apply.Outcome{numa.NeedsOff: apply.NeedsOff, numa.NeedsCycle: apply.Pending, numa.NeedsNothing: apply.Done}[c.Needs()]
		}
		if r.Outcome != want {
			t.Errorf("%s: %s (%s), want %s", c.VM.Name, r.Outcome, r.Why, want)
		}
		if n := calls.count("ReconfigVM_Task", c.VM.ID); (n > 0) != (want != apply.NeedsOff) || n > 1 {
			t.Errorf("%s: %s, reconfigured %d times", c.VM.Name, want, n)
		}
		if calls.count("ShutdownGuest", c.VM.ID)+calls.count("PowerOffVM_Task", c.VM.ID)+calls.count("PowerOnVM_Task", c.VM.ID) > 0 {
			t.Errorf("%s was powered off or on", c.VM.Name)
		}
	}
	if seen[apply.NeedsOff] == 0 || seen[apply.Pending] == 0 || seen[apply.Done] == 0 {
		t.Errorf("outcomes %v: the demo lost a kind", seen)
	}
	s.vc.On(nil)
	if _, err := s.rollback(path, quick(apply.PowerNone)); err != nil {
		t.Error(err)
	}
	if d := differences(before, s.settings(), lost(p)); d != nil {
		t.Errorf("after the rollback:\n%s", strings.Join(d, "\n"))
	}
}

// TestPowerReboot lets the guests' next reboot be a power cycle.
func TestPowerReboot(t *testing.T) {
	s := serveFleet(t, small(t))
	before := s.settings()
	p := only(s.plan(fix.Options{Now: now}), "grown01")
	if len(p.Changes) != 1 || p.Changes[0].Needs() != numa.NeedsCycle {
		t.Fatalf("changes %+v", p.Changes)
	}
	id := p.Changes[0].VM.ID
	results, path, err := s.apply(p, quick(apply.PowerReboot))
	if err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Pending)
	if key := s.settings()["grown01 vmx.reboot.powercycle"]; key != "TRUE" {
		t.Fatalf("the key is %q", key)
	}
	reboot(s, id)
	if d := differences(before, s.settings(), nil); d != nil {
		t.Errorf("after the reboot: %v", d)
	}
	if in, _ := s.vc.InEffect(id); in.Settings.Value.Without("numa.autosize.cookie") == nil || slices.ContainsFunc(p.Changes[0].Edits, func(e numa.Edit) bool {
		return e.ValueOf(&in.Config) == e.From && e.Key == "numa.autosize.vcpu.maxPerVirtualNode"
	}) {
		t.Errorf("in effect is %v", in.Settings.Value)
	}
	results, err = s.rollback(path, quick(apply.PowerReboot))
	if err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Pending)

	// Taken back before the guest reboots, the key goes too.
	s = serveFleet(t, small(t))
	before = s.settings()
	_, path, _ = s.apply(p, quick(apply.PowerReboot))
	results, err = s.rollback(path, quick(apply.PowerNone))
	if err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Pending)
	s.same("taken back before the reboot", before)
}

// reboot reboots a guest, as its administrator does, and waits until it is up.
func reboot(s *site, id string) {
	s.Helper()
	s.control(func(c *vim25.Client) error {
		return object.NewVirtualMachine(c, vmRef(id)).RebootGuest(s.Context())
	})
	s.eventually("the guest is up again", func() bool {
		st, err := s.w.States(s.Context(), []string{id})
		return err == nil && st[id].VM.Power.Value == numa.PoweredOn && st[id].Tools && s.settings()["grown01 vmx.reboot.powercycle"] == ""
	})
}

func vmRef(id string) types.ManagedObjectReference {
	return types.ManagedObjectReference{Type: "VirtualMachine", Value: id}
}

// control makes a call in the session as somebody else would.
func (s *site) control(call func(*vim25.Client) error) {
	s.Helper()
	live := s.login(s.vc.URL)
	if err := live.Call(s.Context(), "control", func(_ context.Context, c *vim25.Client) error { return call(c) }); err != nil {
		s.Fatal(err)
	}
}

// eventually waits until something is so.
func (s *site) eventually(what string, ok func() bool) {
	s.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	s.Fatalf("not so: %s", what)
}

// TestPowerWait changes VMs when somebody powers them off.
func TestPowerWait(t *testing.T) {
	s := serveFleet(t, small(t))
	p := only(s.plan(fix.Options{Now: now}), "sql01", "sql02", "off01")
	before := s.settings()
	o := quick(apply.PowerWait)
	o.Progress = func(target *fix.Target, text string) {
		if strings.HasPrefix(text, "waiting until") {
			s.control(func(c *vim25.Client) error {
				_, err := object.NewVirtualMachine(c, vmRef(target.ID)).PowerOff(s.Context())
				return err
			})
		}
	}
	results, path, err := s.apply(p, o)
	if err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Done)
	if results, err = s.rollback(path, quick(apply.PowerGuest)); err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Done)
	s.same("after the rollback", before)

	o = quick(apply.PowerWait)
	o.Wait = time.Millisecond
	results, _, _ = s.apply(only(p, "sql01"), o)
	outcomes(t, results, apply.NeedsOff)
	s.same("it was not powered off", before)
}
