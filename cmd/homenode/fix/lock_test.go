package fix_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/internal/filelock"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/lab"
	"example.org/homenode/source/vsphere/write"
)

// holder returns the run that has the vCenter.
func (s *site) holder() string {
	s.Helper()
	name, err := s.w.Holder(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return name
}

// TestOneRun lets runs of one plan and of two plans begin at once, in sessions of their own: one changes the vCenter, the others are told which and
// change nothing, and no lock stays.
func TestOneRun(t *testing.T) {
	s := serveFleet(t, small(t))
	p := s.plan(fix.Options{Now: now})
	plans := []*fix.Plan{p, p, only(p, "sql01"), only(p, "sql01", "sql02")}
	var done, refused int
	var mu sync.Mutex
	var wg sync.WaitGroup
	changed := map[string]int{} // by how many runs
	for i := range plans {
		one := *s
		one.w = s.login(s.vc.URL)
		wg.Go(func() {
			own := *plans[i] // each run has read the file of its plan
			results, _, err := one.apply(&own, quick(apply.PowerGuest))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, apply.ErrLocked):
				refused++
				for name, r := range results {
					if r.Outcome != apply.NotBegun {
						t.Errorf("%s: %s beside another run", name, r.Outcome)
					}
				}
			case err != nil:
				t.Error(err)
			default:
				done++
				for name, r := range results {
					if r.Outcome == apply.Done {
						changed[name]++
					}
				}
			}
		})
	}
	wg.Wait()
	if done == 0 || done+refused != len(plans) {
		t.Errorf("%d runs done, %d refused", done, refused)
	}
	for name, n := range changed {
		if n > 1 {
			t.Errorf("%s was changed by %d runs", name, n)
		}
	}
	if name := s.holder(); name != "" {
		t.Errorf("the lock of %s stays", name)
	}
}

// TestLock kills the program while it changes VMs: another run is refused and told which has the vCenter; --resume of its journal goes on, and --unlock
// removes a lock that is left.
func TestLock(t *testing.T) {
	s := serveFleet(t, small(t))
	before := s.settings()
	p := s.plan(fix.Options{Now: now})
	yes := fmt.Sprint(len(p.Changes))
	folder, other := t.TempDir(), t.TempDir()
	if killed, _ := s.strike(cut{line: 3}, folder, "--plan", save(t, p), "--apply", "--yes", yes, "--power", "guest"); !killed {
		t.Fatal("it was not killed")
	}
	path := journalIn(folder)
	second := s.begin(other, "--plan", save(t, p), "--apply", "--yes", yes, "--power", "guest")
	if code := second.code(); code != 2 || !strings.Contains(second.out.String(), strings.TrimPrefix(path, folder+"/")) {
		t.Errorf("exit %d, the first run is not named:\n%s", code, second.out.String())
	}
	if left, err := filepath.Glob(filepath.Join(other, "*.journal*")); err != nil || len(left) > 0 {
		t.Errorf("a run that was refused leaves %v, %v", left, err)
	}
	if first := s.begin(folder, "--resume", path, "--yes", yes, "--power", "guest"); first.code() != 0 {
		t.Errorf("resume: %s", first.out.String())
	}
	if name := s.holder(); name != "" {
		t.Errorf("the lock of %s stays", name)
	}
	if _, err := s.w.Lock(t.Context(), "a run that was killed", false); err != nil {
		t.Fatal(err)
	}
	if refused := s.begin(folder, "--rollback", path, "--yes", yes, "--power", "guest"); refused.code() != 2 || !strings.Contains(refused.out.String(), "a run that was killed") {
		t.Errorf("exit %d:\n%s", refused.code(), refused.out.String())
	}
	if cleared := s.begin(folder, "--unlock", "--yes", "1"); cleared.code() != 0 || s.holder() != "" {
		t.Errorf("unlock: %s", cleared.out.String())
	}
	if back := s.begin(folder, "--rollback", path, "--yes", yes, "--power", "guest"); back.code() != 0 {
		t.Errorf("rollback: %s", back.out.String())
	}
	s.same("after the rollback", before)
}

// An answerer answers a question after it has done something.
type answerer struct {
	does func()
	io.Reader
}

func (a *answerer) Read(p []byte) (int, error) {
	if a.does != nil {
		a.does()
		a.does = nil
	}
	return a.Reader.Read(p)
}

// TestRefusedRollback asks for a rollback while another run has the vCenter: it is refused, and the journal stays as it was.
func TestRefusedRollback(t *testing.T) {
	s := serveFleet(t, small(t))
	_, path, err := s.apply(s.plan(fix.Options{Now: now}), quick(apply.PowerGuest))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err == nil {
		_, err = s.w.Lock(t.Context(), "another run", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.command("--rollback", path, "--power", "guest", "--yes", fmt.Sprint(len(undo(t, path).Changes)))
	if !errors.Is(err, apply.ErrLocked) {
		t.Errorf("%v\n%s", err, text)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		t.Errorf("the journal has %d bytes, had %d, %v", len(now), len(before), err)
	}
}

// TestUnlockAnother gives the lock to another run while --unlock waits for the answer: that run keeps it. A lock that has no name yet, or got one since, is
// told apart too.
func TestUnlockAnother(t *testing.T) {
	s := serveFleet(t, small(t))
	lock := func(name string) {
		t.Helper()
		if _, err := s.w.Lock(t.Context(), name, true); err != nil {
			t.Fatal(err)
		}
	}
	unlock := func(name string) bool {
		t.Helper()
		removed, err := s.w.Unlock(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return removed
	}
	lock("dead")
	text, err := s.answered(&answerer{func() { unlock("dead"); lock("live") }, strings.NewReader("1\n")}, "--unlock")
	if err == nil || !strings.Contains(err.Error(), "dead no longer has the lock. Nothing was changed") || s.holder() != "live" {
		t.Errorf("%v, the lock of %q\n%s", err, s.holder(), text)
	}
	if unlock(numa.UnnamedRun) || unlock("") || s.holder() != "live" {
		t.Errorf("the lock of another run was removed: %q", s.holder())
	}
	if text, err := s.answered(strings.NewReader("1\n"), "--unlock"); err != nil || s.holder() != "" {
		t.Errorf("%v, the lock of %q\n%s", err, s.holder(), text)
	}
}

// TestUnlockLive removes the lock of a run that goes on: the run ends before its next VM, and --unlock is refused while a process of this machine has the journal.
func TestUnlockLive(t *testing.T) {
	s := serveFleet(t, small(t))
	p := s.plan(fix.Options{Now: now})
	other := s.login(s.vc.URL)
	o, removed := quick(apply.PowerGuest), false
	o.Progress = func(*fix.Target, string) {
		if !removed {
			holder, err := other.Holder(t.Context())
			if err == nil {
				removed, err = other.Unlock(t.Context(), holder)
			}
			removed = removed && err == nil
		}
	}
	results, _, err := s.apply(p, o)
	if !removed || err == nil || !strings.Contains(err.Error(), "was removed while this run had it") {
		t.Errorf("removed: %v; the run: %v", removed, err)
	}
	count := map[apply.Outcome]int{}
	for _, r := range results {
		count[r.Outcome]++
	}
	if count[apply.Done] != 1 || count[apply.NotBegun] != len(p.Changes)-1 {
		t.Errorf("outcomes %v of %d", count, len(p.Changes))
	}

	folder := t.TempDir()
	j, err := journal.Create(folder, p, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.w.Lock(t.Context(), apply.Name(j.Path), false); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "homenode.yaml")
	golden.Write(t, config, fmt.Appendf(nil, "fix: {journal: %q}\n", folder))
	text, err := s.command("--unlock", "--yes", "1", "--config", config)
	if !errors.Is(err, filelock.ErrTaken) || s.holder() == "" {
		t.Errorf("the lock of a live run: %v, held by %q\n%s", err, s.holder(), text)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := s.command("--unlock", "--yes", "1", "--config", config); err != nil || s.holder() != "" {
		t.Errorf("the lock of a run that ended: %v, held by %q\n%s", err, s.holder(), text)
	}
}

// TestLockRefused lets the vCenter refuse each call that takes the lock: the run ends, and no lock stays.
func TestLockRefused(t *testing.T) {
	s := serveFleet(t, small(t))
	before := s.settings()
	p := s.plan(fix.Options{Now: now})
	for _, refused := range []string{"AddCustomFieldDef", "SetField", "RetrieveProperties"} {
		var added, done atomic.Bool
		s.vc.On(func(c lab.Call) types.BaseMethodFault {
			if c.Method == "SetField" || c.Method == refused && c.Method == "AddCustomFieldDef" {
				added.Store(true)
			}
			if c.Moment == lab.Arrives && added.Load() && strings.HasPrefix(c.Method, refused) && done.CompareAndSwap(false, true) {
				return &types.RestrictedVersion{}
			}
			return nil
		})
		_, _, err := s.apply(p, quick(apply.PowerGuest))
		s.vc.On(nil)
		if err == nil || !done.Load() || s.holder() != "" {
			t.Errorf("%s refused: %v; the lock of %q", refused, err, s.holder())
		}
	}
	s.same("after three runs that were refused", before)
}

// TestNobodyThere ends what reads the program's output, and closes its terminal, while it changes VMs: it changes all, or ends after the VM under way;
// no VM is left off, and no lock.
func TestNobodyThere(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("no pipes and terminals of the Unix kind")
	}
	s := serveFleet(t, small(t))
	before := s.settings()
	p := s.plan(fix.Options{Now: now})
	yes := fmt.Sprint(len(p.Changes))
	folder := t.TempDir()
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	run := s.prepare(folder, "--plan", save(t, p), "--apply", "--yes", yes, "--power", "guest")
	run.Stdout, run.Stderr = writes, writes
	run.start(t)
	if _, err := reads.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(reads.Close(), writes.Close()); err != nil {
		t.Fatal(err)
	}
	run.code() // that its answer could not be written
	if left := s.plan(fix.Options{Now: now}); len(left.Changes) > 0 || s.holder() != "" {
		t.Errorf("nobody read: %d changes are left, the lock of %q", len(left.Changes), s.holder())
	}
	begun, hungUp := lines(folder), make(chan struct{})
	s.vc.On(func(lab.Call) types.BaseMethodFault { // the rollback is under way until its terminal is gone
		if lines(folder) >= begun+4 {
			<-hungUp
		}
		return nil
	})
	back := s.begin(folder, "--rollback", journalIn(folder), "--yes", yes, "--power", "guest")
	for lines(folder) < begun+4 {
		time.Sleep(time.Millisecond)
	}
	err = back.Process.Signal(syscall.SIGHUP)
	time.Sleep(200 * time.Millisecond) // a loaded machine tells the process later
	close(hungUp)
	if err != nil {
		t.Fatal(err)
	}
	if code := back.code(); code != 2 || s.holder() != "" {
		t.Errorf("hung up: exit %d, the lock of %q:\n%s", code, s.holder(), back.out.String())
	}
	for key, v := range s.settings() {
		if strings.HasSuffix(key, " power") && v != before[key] {
			t.Errorf("hung up: %s is %s", key, v)
		}
	}
	s.vc.On(nil)
	if on := s.begin(folder, "--resume", journalIn(folder), "--yes", confirmed(t, journalIn(folder)), "--power", "guest"); on.code() != 0 {
		t.Errorf("resume: %s", on.out.String())
	}
	s.same("after the rollback", before)
}

// A spy keeps the edits that are sent.
type spy struct {
	write.Writer
	sent [][]string
}

// Reconfigure keeps the edits as "from to": what the VM has when they are sent, and what they set.
func (s *spy) Reconfigure(ctx context.Context, vm string, edits []numa.Edit, version string, started func(task string) error) error {
	states, err := s.States(ctx, []string{vm})
	if err != nil {
		return err
	}
	st := states[vm]
	var one []string
	for _, e := range edits {
		one = append(one, fmt.Sprintf("%s to %s: %s", e.ValueOf(&st.VM.Config), e.To, e.Name()))
	}
	s.sent = append(s.sent, one)
	return s.Writer.Reconfigure(ctx, vm, edits, version, started)
}

// TestAbsent takes a run back: what was absent before is removed once, and no setting that is absent is written.
func TestAbsent(t *testing.T) {
	s, p, before := started(t, "off01")
	results, path, err := s.apply(p, quick(apply.PowerNone))
	if err != nil {
		t.Fatal(err)
	}
	outcomes(t, results, apply.Done)
	j, lines, err := journal.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	back := undo(t, path)
	watch := &spy{Writer: s.w}
	first := journal.Line{Step: journal.StepPlan, Plan: back.ID, Whole: back, Undo: true}
	if err := j.Append(first); err != nil {
		t.Fatal(err)
	}
	if _, err := apply.Run(t.Context(), watch, j, append(lines, first), quick(apply.PowerNone)); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if len(watch.sent) == 0 {
		t.Error("nothing was sent")
	}
	for _, one := range watch.sent {
		for _, text := range one {
			if strings.HasPrefix(text, "absent to absent") {
				t.Errorf("sent: %s", text)
			}
		}
	}
	s.same("after the rollback", before)
}

// TestAskedAndBack kills the program after the guest was asked to shut down; it does, and somebody powers the VM on again. A rollback does not wait for a
// shutdown that is over.
func TestAskedAndBack(t *testing.T) {
	s, p, before := started(t, "sql01")
	s.vc.SetGuest("", lab.Guest{Shutdown: 100 * time.Millisecond})
	folder := t.TempDir()
	if killed, _ := s.strike(cut{method: "ShutdownGuest", moment: lab.Answers, nth: 1}, folder, "--plan", save(t, p), "--apply", "--yes", "1", "--power", "guest"); !killed {
		t.Fatal("it was not killed")
	}
	w := s.w
	id := p.Changes[0].VM.ID
	for off := false; !off; {
		states, err := w.States(t.Context(), []string{id})
		if err != nil {
			t.Fatal(err)
		}
		st := states[id]
		off = st.VM.Power.Value == numa.PoweredOff
	}
	if err := w.PowerOn(t.Context(), id, "", func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	o := quick(apply.PowerNone)
	o.Off = 20 * time.Second
	begin := time.Now()
	results, err := s.rollback(journalIn(folder), o)
	if waited := time.Since(begin) > o.Off/2; err != nil || waited {
		t.Errorf("waited: %v; %+v, %v", waited, results, err)
	}
	s.same("powered on by somebody", before)
}

// TestNeverAsked kills the program between the line that a guest is to be shut down and the call: a rollback looks whether it was asked, and does not
// wait for what was not.
func TestNeverAsked(t *testing.T) {
	for _, reached := range []bool{false, true} {
		s, p, before := started(t, "sql01")
		folder := t.TempDir()
		at := cut{method: "ShutdownGuest", moment: lab.Arrives, nth: 1, drop: !reached}
		if reached {
			s.vc.SetGuest("", lab.Guest{Shutdown: 300 * time.Millisecond})
			at.moment = lab.Answers
		}
		if killed, _ := s.strike(at, folder, "--plan", save(t, p), "--apply", "--yes", "1", "--power", "guest"); !killed {
			t.Fatal("it was not killed")
		}
		o := quick(apply.PowerNone)
		o.Off = 20 * time.Second
		begin := time.Now()
		results, err := s.rollback(journalIn(folder), o)
		if err != nil {
			t.Error(err)
		}
		if waited := time.Since(begin) > o.Off/2; waited || results["sql01"].Off {
			t.Errorf("asked: %v; waited: %v; %+v", reached, waited, results)
		}
		s.same(fmt.Sprintf("asked: %v", reached), before)
	}
}
