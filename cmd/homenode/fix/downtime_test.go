package fix_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/internal/golden"
	"example.org/homenode/source/vsphere/write"
)

// forged writes a journal of a plan, whose hashes fit, with these lines after that of the plan.
func forged(t *testing.T, p *fix.Plan, power apply.Power, lines ...journal.Line) string {
	t.Helper()
	err := p.Identify()
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(t.TempDir(), p, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	lines = append([]journal.Line{{Step: journal.StepPlan, Whole: p, Power: string(power)}}, lines...)
	for _, l := range lines {
		l.Plan = p.ID
		if err := j.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return j.Path
}

// powered powers a VM on, as another client does.
func (s *site) powered(id string) {
	s.Helper()
	if err := s.w.PowerOn(s.Context(), id, "", func(string) error { return nil }); err != nil {
		s.Fatal(err)
	}
}

// TestForgedPower goes on with a journal that says which VMs may be powered off, that a step was begun, and that the VM is off: a running VM stays on, and
// the run does only what its question announces.
func TestForgedPower(t *testing.T) {
	for _, power := range []apply.Power{apply.PowerHard, apply.PowerGuest, apply.PowerNone} {
		s, p, before := started(t, "sql01")
		p.Changes[0].VM.Runs, p.Changes[0].Downtime = false, "none"
		id := p.Changes[0].VM.ID
		path := forged(t, p, power, journal.Line{Step: journal.StepIntent, Target: id, Do: "reconfigure", Edits: p.Changes[0].Edits, Ran: true})
		calls := s.watch(nil)
		if power != apply.PowerNone {
			if text, err := s.answered(strings.NewReader("1\n"), "--resume", path); err == nil || !strings.Contains(err.Error(), "was begun with --power "+string(power)) || !strings.Contains(err.Error(), "Nothing was changed") {
				t.Errorf("%s without --power: %v\n%s", power, err, text)
			}
		}
		text, err := s.answered(strings.NewReader("1\n"), "--resume", path, "--power", "hard")
		if err == nil || strings.Contains(text, "will be powered off") || !strings.Contains(text, "said that it has no downtime, and runs now") {
			t.Errorf("%s: %v\n%s", power, err, text)
		}
		if n := calls.count("ShutdownGuest", id) + calls.count("PowerOffVM_Task", id); n > 0 {
			t.Errorf("%s: a running VM was powered off", power)
		}
		s.same(string(power), before)
	}
}

// TestForgedHost goes on with a journal that says that a VM which is off ran on a host: the question says that it is powered on, and it is, where it is
// registered.
func TestForgedHost(t *testing.T) {
	s, p, _ := started(t, "off01")
	hosts := s.hosts()
	other := ""
	f, err := s.w.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Hosts {
		if f.Hosts[i].Name != hosts["off01"] && f.Hosts[i].ID != hosts["off01"] {
			other = f.Hosts[i].ID
		}
	}
	id := p.Changes[0].VM.ID
	line := journal.Line{Step: journal.StepIntent, Target: id, Do: "powerOff", Ran: true, Host: other}
	text, err := s.answered(strings.NewReader("2\n"), "--resume", forged(t, p, apply.PowerNone, line))
	if err == nil || !strings.Contains(text, "; 1 VM that the journal says was shut down will be powered on. Type") {
		t.Errorf("%v\n%s", err, text)
	}
	j, lines, err := journal.Open(forged(t, p, apply.PowerNone, line), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	target := &guide{Writer: s.w}
	if _, err := apply.Run(t.Context(), target, j, lines, quick(apply.PowerNone)); err != nil || other == "" || !slices.Equal(target.on, []string{hosts["off01"]}) {
		t.Errorf("%v: powered on on %v, want %s", err, target.on, hosts["off01"])
	}
}

// A guide keeps the hosts that VMs are powered on on.
type guide struct {
	write.Writer
	on []string
}

// PowerOn keeps the host.
func (g *guide) PowerOn(ctx context.Context, vm, host string, started func(task string) error) error {
	g.on = append(g.on, host)
	return g.Writer.PowerOn(ctx, vm, host, started)
}

// TestForgedName goes on with a journal that calls a VM by another name, one that runs or one that is off: it is left.
func TestForgedName(t *testing.T) {
	for name, do := range map[string]string{"sql01": "shutdown", "off01": "reconfigure"} {
		s, p, before := started(t, name)
		c := &p.Changes[0]
		c.VM.Name = "test01"
		line := journal.Line{Step: journal.StepIntent, Target: c.VM.ID, Do: do, Ran: do == "shutdown"}
		if do == "reconfigure" {
			line.Edits = c.Edits
		}
		path := forged(t, p, apply.PowerGuest, line)
		text, err := s.answered(strings.NewReader("1\n"), "--resume", path, "--power", "guest")
		if err == nil || !strings.Contains(text, fmt.Sprintf("it is called %q, the plan calls it %q", name, "test01")) {
			t.Errorf("%v\n%s", err, text)
		}
		s.same("a VM of another name", before)
	}
}

// TestRollbackRuns takes back the change of a VM that was off and runs now: the question says that it is powered off. One that is powered on after the
// question is left.
func TestRollbackRuns(t *testing.T) {
	for _, late := range []bool{false, true} {
		s, p, _ := started(t, "off01")
		id := p.Changes[0].VM.ID
		_, path, err := s.apply(p, quick(apply.PowerGuest))
		if err != nil {
			t.Fatal(err)
		}
		config := filepath.Join(t.TempDir(), "homenode.yaml")
		golden.Write(t, config, []byte("fix: {shutdown: 1 min}\n"))
		if !late {
			s.powered(id)
		}
		before := s.settings()
		calls := s.watch(nil)
		in := &answerer{func() {
			if late {
				s.powered(id)
				before = s.settings()
			}
		}, strings.NewReader("1\n")}
		text, err := s.answered(in, "--rollback", path, "--power", "guest", "--config", config)
		said := strings.Contains(text, "; 1 VM will be powered off and on. Type")
		if said == late || (err != nil) != late || calls.count("ShutdownGuest", id) > 0 == late {
			t.Errorf("powered on after the question: %v; announced: %v, shut down %d times, %v\n%s", late, said, calls.count("ShutdownGuest", id), err, text)
		}
		if late {
			s.same("powered on after the question", before)
		}
	}
}
