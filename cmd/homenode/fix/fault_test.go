package fix_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	called "github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/lab"
)

// started plans a small fleet, and leaves the VMs with these names in the plan; no name leaves all.
func started(t *testing.T, names ...string) (*site, *fix.Plan, map[string]string) {
	t.Helper()
	s := serveFleet(t, small(t))
	p := s.plan(fix.Options{Now: now})
	if names != nil {
		p = only(p, names...)
	}
	if len(p.Changes) < max(1, len(names)) {
		t.Fatalf("changes %+v", p.Changes)
	}
	return s, p, s.settings()
}

// edit changes a VM as another client does.
func (s *site) edit(id string, options ...types.BaseOptionValue) {
	s.Helper()
	s.control(func(c *vim25.Client) error {
		task, err := object.NewVirtualMachine(c, vmRef(id)).Reconfigure(s.Context(), types.VirtualMachineConfigSpec{ExtraConfig: options})
		if err != nil {
			return err
		}
		return task.Wait(s.Context())
	})
}

// TestOtherEditor lets another client change a VM at every step until its edits are written: one that changes what the plan rests on
// stops it, any other one does not.
func TestOtherEditor(t *testing.T) {
	for _, tt := range []struct {
		key    string
		method string
		moment lab.Moment
		want   apply.Outcome
	}{
		{"numa.vcpu.min", "ShutdownGuest", lab.Arrives, apply.Drift},
		{"numa.vcpu.min", "ReconfigVM_Task", lab.Arrives, apply.Drift},
		{"numa.vcpu.min", "HasPrivilegeOnEntities", lab.Answers, apply.Drift},
		{"guestinfo.note", "ShutdownGuest", lab.Arrives, apply.Done},
		{"guestinfo.note", "ReconfigVM_Task", lab.Arrives, apply.Done},
	} {
		s, p, before := started(t, "sql01")
		id := p.Changes[0].VM.ID
		s.vc.On(lab.Once(tt.moment, tt.method, func() types.BaseMethodFault {
			s.edit(id, &types.OptionValue{Key: tt.key, Value: "30"})
			return nil
		}))
		results, path, err := s.apply(p, quick(apply.PowerGuest))
		if err != nil {
			t.Error(err)
		}
		s.vc.On(nil)
		if r := results["sql01"]; r.Outcome != tt.want || r.Off {
			t.Errorf("%s at %s: %s (%s), want %s", tt.key, tt.method, r.Outcome, r.Why, tt.want)
		}
		if tt.want == apply.Done {
			if results, err = s.rollback(path, quick(apply.PowerGuest)); err != nil {
				t.Error(err)
			}
			outcomes(t, results, apply.Done)
		}
		before["sql01 "+tt.key] = "30"
		s.same(tt.key+" at "+tt.method, before)
	}
}

// methods are those of a run, with how often each is called for sql01.
var methods = []string{"HasPrivilegeOnEntities", "RetrievePropertiesEx", "ShutdownGuest", "ReconfigVM_Task", "CreatePropertyCollector", "CreateFilter", "WaitForUpdatesEx", "PowerOnVM_Task"}

// TestPassing lets sessions expire, answers get lost and the vCenter restart at each call of a run, before it is carried out and after:
// the run comes to its end, the VM is as planned, and what it wrote can be taken back. make prove does it at every call.
func TestPassing(t *testing.T) {
	type trouble struct {
		name   string
		moment lab.Moment
		do     func(s *site) types.BaseMethodFault
	}
	troubles := []trouble{
		{"the session expires", lab.Arrives, func(s *site) types.BaseMethodFault { s.vc.ExpireSessions(); return nil }},
		{"it is lost", lab.Arrives, func(*site) types.BaseMethodFault { return lab.Drop }},
		{"its answer is lost", lab.Answers, func(*site) types.BaseMethodFault { return lab.Drop }},
		{"the vCenter restarts before it", lab.Arrives, func(s *site) types.BaseMethodFault { s.vc.Restart(); return nil }},
		{"the vCenter restarts after it", lab.Answers, func(s *site) types.BaseMethodFault { s.vc.Restart(); return nil }},
	}
	rounds := 0
	for _, method := range methods {
		for nth := range int64(1 + testdeps.KillRounds(0)) {
			met := false
			for _, tr := range troubles {
				s, p, before := started(t, "sql01")
				var n atomic.Int64
				var hit atomic.Bool
				calls := s.watch(func(c lab.Call) types.BaseMethodFault {
					if c.Method != method || c.Moment != tr.moment || n.Add(1) != nth+1 {
						return nil
					}
					hit.Store(true)
					return tr.do(s)
				})
				results, path, err := s.apply(p, quick(apply.PowerGuest))
				s.vc.On(nil)
				name := fmt.Sprintf("%s %d: %s", method, nth+1, tr.name)
				if !hit.Load() {
					s.vc.Close()
					continue
				}
				met = true
				rounds++
				id := p.Changes[0].VM.ID
				r := results["sql01"]
				if err != nil || r.Outcome != apply.Done || r.Off {
					t.Errorf("%s: %s (%s, left off: %v), %v", name, r.Outcome, r.Why, r.Off, err)
				}
				if n := calls.count("PowerOffVM_Task", id); n > 0 {
					t.Errorf("%s: powered off hard", name)
				}
				results, err = s.rollback(path, quick(apply.PowerGuest))
				if err != nil || results["sql01"].Outcome != apply.Done {
					t.Errorf("%s: rollback: %v, %v", name, results, err)
				}
				s.same(name, before)
				s.vc.Close()
			}
			if !met {
				break
			}
		}
	}
	if rounds < 35 {
		t.Errorf("%d rounds: the troubles missed the calls", rounds)
	}
	t.Logf("%d rounds: all changed as planned and taken back", rounds)
}

// TestTaskFails lets each task of a VM fail.
func TestTaskFails(t *testing.T) {
	fail := func() types.BaseMethodFault { return &types.InvalidState{} }
	s, p, before := started(t, "sql01")
	s.vc.On(lab.Once(lab.Runs, "ReconfigVM_Task", fail))
	results, _, _ := s.apply(p, quick(apply.PowerGuest))
	outcomes(t, results, apply.Failed)
	s.same("reconfigure failed", before)

	s.vc.SetGuest("", lab.Guest{Shutdown: -1})
	s.vc.On(lab.Once(lab.Runs, "PowerOffVM_Task", fail))
	o := quick(apply.PowerHard)
	o.Off = time.Millisecond
	results, _, _ = s.apply(p, o)
	outcomes(t, results, apply.Failed)
	s.same("power-off failed", before)

	// The first power-on alone fails: the second one is the other way.
	s, p, before = started(t, "sql01")
	s.vc.On(lab.Once(lab.Runs, "PowerOnVM_Task", fail))
	results, path, _ := s.apply(p, quick(apply.PowerGuest))
	outcomes(t, results, apply.Done)
	if results, err := s.rollback(path, quick(apply.PowerGuest)); err != nil {
		t.Error(results, err)
	}
	s.same("after the rollback", before)
}

// TestLost lets a VM not power on with its new settings: they are taken back, and it is on.
func TestLost(t *testing.T) {
	s, p, before := started(t, "sql01")
	id := p.Changes[0].VM.ID
	s.vc.On(func(c lab.Call) types.BaseMethodFault {
		if c.Moment == lab.Runs && c.Method == "PowerOnVM_Task" && s.settings()["sql01 cpuHotAdd"] == "false" {
			return &types.InvalidState{}
		}
		return nil
	})
	results, path, err := s.apply(p, quick(apply.PowerGuest))
	if err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Lost)
	s.same("it does not power on with the edits", before)
	s.vc.On(nil)
	results, err = s.rollback(path, quick(apply.PowerGuest))
	if err != nil {
		t.Error(err)
	}
	s.same("nothing is to be taken back", before)
	if st, _ := s.w.States(t.Context(), []string{id}); st[id].VM.Power.Value != numa.PoweredOn {
		t.Error("it is off", results)
	}

	// It powers on in no way now: it is named, and --resume powers it on later.
	s, p, before = started(t, "sql01")
	s.vc.On(func(c lab.Call) types.BaseMethodFault {
		if c.Moment == lab.Runs && c.Method == "PowerOnVM_Task" {
			return &types.InvalidState{}
		}
		return nil
	})
	results, path, _ = s.apply(p, quick(apply.PowerGuest))
	if r := results["sql01"]; !r.Off || r.Outcome != apply.Lost {
		t.Errorf("it is off: %+v", r)
	}
	s.vc.On(nil)
	if results, err = s.resume(path, quick(apply.PowerGuest)); err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Done)
	results, _ = s.rollback(path, quick(apply.PowerGuest))
	outcomes(t, results, apply.Done)
	s.same("after resume and rollback", before)
}

// TestSlowGuest has guests that do not shut down, do so late, and Tools that do not come.
func TestSlowGuest(t *testing.T) {
	s, p, before := started(t, "sql01")
	s.vc.SetGuest("", lab.Guest{Shutdown: -1})
	o := quick(apply.PowerGuest)
	o.Off = 5 * time.Millisecond
	results, path, _ := s.apply(p, o)
	outcomes(t, results, apply.Timeout)
	s.same("it never shuts down", before)

	// It goes off after the run: --resume goes on, and powers it on.
	s.vc.SetGuest("", lab.Guest{})
	s.control(func(c *vim25.Client) error {
		return object.NewVirtualMachine(c, vmRef(p.Changes[0].VM.ID)).ShutdownGuest(s.Context())
	})
	s.eventually("it is off", func() bool { return s.settings()["sql01 power"] == "poweredOff" })
	results, err := s.resume(path, quick(apply.PowerNone))
	if err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Done)
	if results, err = s.rollback(path, quick(apply.PowerGuest)); err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Done)
	s.same("after the rollback", before)

	// It goes off while another VM is under way.
	s, p, before = started(t, "sql01", "sql02")
	s.vc.SetGuest(p.Changes[0].VM.ID, lab.Guest{Shutdown: 50 * time.Millisecond})
	s.vc.SetGuest(p.Changes[1].VM.ID, lab.Guest{Shutdown: -1})
	o.Off = 20 * time.Millisecond
	o.Progress = func(target *fix.Target, text string) {
		if target.Name == p.Changes[1].VM.Name && strings.HasPrefix(text, "timeout") {
			s.eventually("the other is off", func() bool { return s.settings()[p.Changes[0].VM.Name+" power"] == "poweredOff" })
		}
	}
	results, _, _ = s.apply(p, o)
	outcomes(t, results, apply.Timeout)
	s.same("it went off later", before)

	// Killed after the guest was asked, a run that need not power off waits whether it goes off.
	s, p, before = started(t, "sql01")
	s.vc.SetGuest("", lab.Guest{Shutdown: 50 * time.Millisecond})
	o = quick(apply.PowerGuest)
	o.Off = time.Nanosecond
	_, path, _ = s.apply(p, o)
	results, _ = s.rollback(path, quick(apply.PowerNone))
	outcomes(t, results, apply.Done)
	s.same("taken back while it went off", before)

	s, p, before = started(t, "sql01")
	s.vc.SetGuest("", lab.Guest{Tools: -1})
	o = quick(apply.PowerGuest)
	o.Tools = time.Millisecond
	results, path, _ = s.apply(p, o)
	outcomes(t, results, apply.Failed)
	if why := results["sql01"].Why; !strings.Contains(why, "Tools do not run") {
		t.Error(why)
	}
	s.vc.SetTools(p.Changes[0].VM.ID, true)
	s.vc.SetGuest("", lab.Guest{})
	results, _ = s.rollback(path, quick(apply.PowerGuest))
	outcomes(t, results, apply.Done)
	s.same("after the rollback", before)
}

// TestIgnored lets vSphere take an edit and not keep it: the others are taken back.
func TestIgnored(t *testing.T) {
	s, p, before := started(t, "sql01")
	c := &p.Changes[0]
	c.Edits = append(c.Edits, numa.Edit{Kind: numa.EditCoresPerNUMANode, To: numa.Is("4")}) // older virtual hardware has no such field
	for _, power := range []apply.Power{apply.PowerGuest, apply.PowerHard} {
		results, path, err := s.apply(p, quick(power))
		if err != nil {
			t.Error(err)
		}
		outcomes(t, results, apply.Ignored)
		if why := results["sql01"].Why; !strings.Contains(why, "coresPerNUMANode") {
			t.Error(why)
		}
		s.same("an edit was ignored", before)
		results, _ = s.rollback(path, quick(power))
		outcomes(t, results, apply.Done)
		s.same("nothing is to be taken back", before)
	}
	// The taking back is lost, and its answer.
	for _, moment := range []lab.Moment{lab.Arrives, lab.Answers} {
		var n atomic.Int64
		s.vc.On(func(call lab.Call) types.BaseMethodFault {
			if call.Method == "ReconfigVM_Task" && call.Moment == moment && n.Add(1) == 2 {
				return lab.Drop
			}
			return nil
		})
		results, _, _ := s.apply(p, quick(apply.PowerGuest))
		outcomes(t, results, apply.Ignored)
		s.same("the taking back was lost", before)
	}
}

// TestAltered lets vSphere keep another value than the one that was sent: it is taken back, and where it comes again it is named.
func TestAltered(t *testing.T) {
	for _, again := range []bool{false, true} {
		s, p, before := started(t, "sql01")
		c := &p.Changes[0]
		c.Edits = append(c.Edits, numa.Edit{Kind: numa.EditExtraConfig, Key: "numa.vcpu.maxPerClient", To: numa.Is("12")})
		var n atomic.Int64
		s.vc.On(func(call lab.Call) types.BaseMethodFault {
			if call.Method == "ReconfigVM_Task" && call.Moment == lab.Answers {
				if k := n.Add(1); k == 1 || again && k%2 == 1 { // its own edit is a call too
					s.edit(c.VM.ID, &types.OptionValue{Key: "numa.vcpu.maxPerClient", Value: "7"})
				}
			}
			return nil
		})
		results, _, _ := s.apply(p, quick(apply.PowerGuest))
		s.vc.On(nil)
		r := results["sql01"]
		if !again {
			outcomes(t, results, apply.Ignored)
			s.same("altered", before)
			continue
		}
		if r.Outcome != apply.Failed || !strings.Contains(r.Why, "numa.vcpu.maxPerClient stays 7") {
			t.Errorf("%s: %s", r.Outcome, r.Why)
		}
	}
}

// TestBusy lets another task of the VM run for a while, and for too long.
func TestBusy(t *testing.T) {
	s, p, before := started(t, "sql01")
	o := quick(apply.PowerGuest)
	o.Busy = time.Minute // the task ends after so many tries, however long they take
	var tries atomic.Int64
	s.vc.On(func(c lab.Call) types.BaseMethodFault {
		if c.Moment == lab.Runs && c.Method == "ReconfigVM_Task" && tries.Add(1) < 20 {
			return &types.TaskInProgress{}
		}
		return nil
	})
	results, path, _ := s.apply(p, o)
	outcomes(t, results, apply.Done)
	s.vc.On(nil)
	if results, err := s.rollback(path, o); err != nil {
		t.Error(results, err)
	}
	s.same("after the rollback", before)

	s.vc.On(func(c lab.Call) types.BaseMethodFault {
		if c.Moment == lab.Runs && c.Method == "ReconfigVM_Task" {
			return &types.TaskInProgress{}
		}
		return nil
	})
	o.Busy = 20 * time.Millisecond
	results, _, _ = s.apply(p, o)
	outcomes(t, results, apply.Failed)
	s.same("another task ran on", before)
}

// TestClock lets the clock go back and forth.
func TestClock(t *testing.T) {
	s, p, before := started(t)
	at := now
	o := quick(apply.PowerGuest)
	o.Now = func() time.Time {
		at = at.Add(-36 * time.Hour)
		if at.Day()%2 == 0 {
			at = at.Add(100 * time.Hour)
		}
		return at
	}
	results, path, err := s.apply(p, o)
	if err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Done)
	results, _ = s.rollback(path, o)
	outcomes(t, results, apply.Done)
	s.same("after the rollback", before)
}

// A mute authorization manager answers which privileges an account has with nothing.
type mute struct{ mo.AuthorizationManager }

// HasPrivilegeOnEntities answers nothing.
func (*mute) HasPrivilegeOnEntities(*simulator.Context, *types.HasPrivilegeOnEntities) soap.HasFault {
	return &called.HasPrivilegeOnEntitiesBody{Res: &types.HasPrivilegeOnEntitiesResponse{}}
}

// TestPrivilegesUnanswered lets a vCenter answer nothing about privileges: none is taken as granted, and nothing is changed.
func TestPrivilegesUnanswered(t *testing.T) {
	s := serveFleet(t, small(t))
	before := s.settings()
	m := &mute{}
	m.Self = *s.vc.Model.ServiceContent.AuthorizationManager
	s.vc.Model.Map().Put(m)
	results, _, err := s.apply(s.plan(fix.Options{Now: now}), quick(apply.PowerGuest))
	if !errors.Is(err, numa.ErrPrivilege) || !strings.Contains(err.Error(), "VirtualMachine.Config.CPUCount (on VirtualMachine ") {
		t.Errorf("found %v", err)
	}
	outcomes(t, results, apply.NotBegun)
	s.same("privileges that are not known", before)
}

// TestPrivileges takes each privilege away in turn: the privilege and an object are named, and nothing at all is changed.
func TestPrivileges(t *testing.T) {
	s, _, before := started(t)
	p := s.plan(fix.Options{Now: now})
	needs := p.Needs(true)
	if len(needs) < 4 {
		t.Fatalf("needs %v", needs)
	}
	for _, need := range needs {
		u := s.vc.Add(lab.Account{User: "fixer", Password: "secret", May: lab.AllBut(need.Privilege)})
		s.w = s.login(u)
		calls := s.watch(nil)
		_, path, err := s.apply(p, quick(apply.PowerGuest))
		s.vc.On(nil)
		if err == nil || !strings.Contains(err.Error(), need.Privilege) || !strings.Contains(err.Error(), strings.Replace(need.Objects[0], numa.RootFolder, "Folder group-d1", 1)) {
			t.Errorf("without %s: %v", need.Privilege, err)
		}
		s.same("without "+need.Privilege, before)
		for what := range calls.n {
			if method, _, _ := strings.Cut(what, " "); slices.Contains(writing, method) {
				t.Errorf("without %s: %s", need.Privilege, what)
			}
		}
		if n := len(read(t, path)); n != 1 {
			t.Errorf("without %s: %d lines in the journal", need.Privilege, n)
		}
	}
	// On one VM alone.
	u := s.vc.Add(lab.Account{User: "fixer", Password: "secret", May: func(privilege string, on types.ManagedObjectReference) bool {
		return privilege != "VirtualMachine.Config.AdvancedConfig" || on.Value != p.Changes[0].VM.ID
	}})
	s.w = s.login(u)
	if _, _, err := s.apply(p, quick(apply.PowerGuest)); err == nil {
		t.Errorf("without a privilege on %s nothing is refused", p.Changes[0].VM.Name)
	}
	// With those of a plan without settings, which are those of its rollback too.
	one, names := only(p, "sql01"), []string(nil)
	for _, need := range one.Needs(true) {
		names = append(names, need.Privilege)
	}
	s.w = s.login(s.vc.Add(lab.Account{User: "fixer", Password: "secret", May: lab.Only(names...)}))
	_, path, err := s.apply(one, quick(apply.PowerGuest))
	if err == nil {
		_, err = s.rollback(path, quick(apply.PowerGuest))
	}
	if err != nil || slices.ContainsFunc(one.Changes[0].Edits, func(e numa.Edit) bool { return e.Kind == numa.EditExtraConfig }) {
		t.Errorf("with %v: %v", names, err)
	}
	// Read-only plans.
	s.w = s.login(s.vc.Add(lab.Account{User: "reader", Password: "secret", May: lab.Only()}))
	if again := s.plan(fix.Options{Now: now}); again.ID == "" {
		t.Error("no plan")
	}
	if _, _, err := s.apply(p, quick(apply.PowerGuest)); err == nil || !strings.Contains(err.Error(), "VirtualMachine.Config") {
		t.Errorf("read-only: %v", err)
	}
}

// TestStop ends a run on request: the VMs under way end, no further one begins, and --resume goes on.
func TestStop(t *testing.T) {
	s, p, before := started(t)
	stop := make(chan struct{})
	s.vc.On(lab.Once(lab.Arrives, "ReconfigVM_Task", func() types.BaseMethodFault { close(stop); return nil }))
	o := quick(apply.PowerGuest)
	o.Stop = stop
	results, path, err := s.apply(p, o)
	if err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Error(err)
	}
	count := map[apply.Outcome]int{}
	for _, r := range results {
		count[r.Outcome]++
	}
	if count[apply.Done] != 1 || count[apply.NotBegun] != len(p.Changes)-1 {
		t.Errorf("outcomes %v", count)
	}
	results, err = s.resume(path, quick(apply.PowerGuest))
	if err != nil {
		t.Error(err)
	}
	outcomes(t, results, apply.Done)
	results, _ = s.rollback(path, quick(apply.PowerGuest))
	outcomes(t, results, apply.Done)
	s.same("after the rollback", before)
}

// TestInterrupt sends the program SIGINT once: it ends after the VM under way; and twice: it ends at once, and --resume goes on.
func TestInterrupt(t *testing.T) {
	for _, signals := range []int{1, 2} {
		s, p, before := started(t)
		folder := t.TempDir()
		c := make(chan *child, 1)
		s.vc.On(lab.Once(lab.Runs, "ReconfigVM_Task", func() types.BaseMethodFault {
			one := <-c
			for range signals {
				if err := one.Process.Signal(os.Interrupt); err != nil {
					t.Error(err)
				}
				time.Sleep(200 * time.Millisecond) // two at once are one
			}
			return nil
		}))
		yes := fmt.Sprint(len(p.Changes))
		one := s.begin(folder, "--plan", save(t, p), "--apply", "--yes", yes, "--power", "guest")
		c <- one
		code := one.code()
		s.vc.On(nil)
		path := journalIn(folder)
		if signals == 1 {
			if code != 2 || !strings.Contains(one.out.String(), "--resume") || len(writtenIn(t, path)) != 1 {
				t.Errorf("exit %d, %d written:\n%s", code, len(writtenIn(t, path)), one.out.String())
			}
			for key, v := range s.settings() {
				if strings.HasSuffix(key, " power") && v != before[key] {
					t.Errorf("%s is %s", key, v)
				}
			}
		} else if code != 2 || !strings.Contains(one.out.String(), "ended at once") {
			t.Errorf("after two signals: exit %d:\n%s", code, one.out.String())
		}
		for _, args := range [][]string{{"--resume", path, "--yes", yes, "--power", "guest"}, {"--rollback", path, "--yes", yes, "--power", "guest"}} {
			if again := s.begin(folder, args...); again.code() != 0 {
				t.Errorf("%v after %d signals: exit %d:\n%s", args[0], signals, again.code(), again.out.String())
			}
		}
		s.same(fmt.Sprintf("after %d signals", signals), before)
	}
}

// hostile are names that mean something to terminals, shells and the inventory.
var hostile = []string{`'; rm -rf ~; echo '`, `$(reboot)`, "`id`", "a\nb", "\x1b[2J\x1b[31mred", "\x1b]0;title\x07", `quote"d \ back`, "100%2f/%25", "größe-数据-🙂", "\u202egnp.exe", "--rollback"}

// TestHostileNames lets VMs have such names: the program shows none of them to a terminal uncleaned, and changes the right VMs.
func TestHostileNames(t *testing.T) {
	f := small(t)
	for _, name := range hostile {
		v := f.VMs[0]
		v.Name, v.ID, v.UUID = name, fmt.Sprintf("vm-9%d", len(f.VMs)), fmt.Sprintf("u-%d", len(f.VMs))
		f.VMs = append(f.VMs, v)
	}
	s := serveFleet(t, f)
	before := s.settings()
	folder := t.TempDir()
	check := func(c *child) {
		t.Helper()
		code := c.code()
		if code != 0 && code != 1 {
			t.Errorf("exit %d: %q", code, c.out.String())
		}
		for _, bad := range []string{"\x1b", "\x07", "\u202e"} {
			if bad == "\u202e" && slices.Contains(c.Args, "json") { // JSON escapes what acts, and keeps names as they are
				continue
			}
			if i := bytes.Index(c.out.Bytes(), []byte(bad)); i >= 0 {
				t.Errorf("%v: %q reaches the terminal: %q", c.Args[2:], bad, c.out.Bytes()[max(0, i-60):min(c.out.Len(), i+60)])
			}
		}
		if bytes.Contains(c.out.Bytes(), []byte("\na\nb")) || bytes.Contains(c.out.Bytes(), []byte("  a\nb")) {
			t.Errorf("%v: a name breaks its line", c.Args[2:])
		}
	}
	check(s.begin(folder))
	check(s.begin(folder, "--format", "json"))
	p := s.plan(fix.Options{Now: now, AtOnce: 8})
	var ids []string
	for i := range p.Changes {
		ids = append(ids, p.Changes[i].VM.ID)
		for j, name := range hostile {
			if p.Changes[i].VM.ID == fmt.Sprintf("vm-9%d", 5+j) {
				p.Changes[i].VM.Name = name // XML has no escape characters: a plan that somebody sent may
			}
		}
	}
	states, err := s.w.States(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Guard(states); err != nil {
		t.Fatal(err)
	}
	for _, name := range hostile {
		if !slices.ContainsFunc(p.Changes, func(c fix.Change) bool { return c.VM.Name == name }) {
			t.Fatalf("the plan lacks %q", name)
		}
	}
	yes := fmt.Sprint(len(p.Changes))
	s.same("planned", before)
	check(s.begin(folder, "--plan", save(t, p)))
	check(s.begin(folder, "--plan", save(t, p), "--apply", "--yes", yes, "--power", "guest"))
	if again := s.plan(fix.Options{Now: now}); len(again.Changes) > 0 {
		t.Errorf("%d changes are left", len(again.Changes))
	}
	path := journalIn(folder)
	for _, l := range read(t, path) {
		if l.Name != "" && !slices.ContainsFunc(p.Changes, func(c fix.Change) bool { return c.VM.Name == l.Name && c.VM.ID == l.Target }) {
			t.Errorf("the journal has %q for %s", l.Name, l.Target)
		}
	}
	data := golden.Read(t, path)
	if i := bytes.IndexAny(data, "\x1b\x07"); i >= 0 {
		t.Errorf("the journal holds a control character at %d", i)
	}
	check(s.begin(folder, "--rollback", path, "--yes", yes, "--power", "guest"))
	s.same("after the rollback", before)
}
