package fix_test

import (
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/lab"
)

// upgrading plans an upgrade of the virtual hardware of one VM beside the other edits of its plan.
func upgrading(t *testing.T) (*site, *fix.Plan, string) {
	t.Helper()
	s := serveFleet(t, fleetOf(t, `release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=512GB
vm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on hw=13
`))
	p := s.plan(fix.Options{Now: now})
	c := &p.Changes[0]
	c.Edits = append([]numa.Edit{{Kind: numa.EditHardware, From: numa.Is("13"), To: numa.Is("19")}}, c.Edits...)
	if len(c.Edits) < 2 {
		t.Fatalf("edits %v", c.Edits)
	}
	return s, p, c.VM.ID
}

// TestUpgrade upgrades the virtual hardware and makes the other edits in one power cycle, each task with the version that was checked. The program is
// killed before, in and after each task: --resume comes to the same end, and a rollback, of a run that was resumed or not, brings back all but the virtual
// hardware. make prove does it at every line of the journal and call.
func TestUpgrade(t *testing.T) {
	cuts := someCuts([]cut{{}, {method: "UpgradeVM_Task", moment: lab.Arrives, nth: 1, drop: true}, {method: "UpgradeVM_Task", moment: lab.Answers, nth: 1},
		{method: "ReconfigVM_Task", moment: lab.Arrives, nth: 1, drop: true}, {method: "ReconfigVM_Task", moment: lab.Answers, nth: 1}}, 12,
		map[string]int{"ShutdownGuest": 1, "UpgradeVM_Task": 1, "ReconfigVM_Task": 1, "PowerOnVM_Task": 1})
	for i, at := range cuts {
		s, p, id := upgrading(t)
		folder, before := t.TempDir(), s.settings()
		args := []string{"--plan", save(t, p), "--apply", "--yes", "1", "--power", "guest"}
		if at.method != "" || at.line > 0 {
			killed, path := s.strike(at, folder, args...)
			if !killed && i < 5 {
				t.Errorf("%v: it was not killed", at)
			}
			if path == "" || lines(folder) == 0 {
				s.same(at.String(), before)
				continue
			}
			args = []string{"--resume", path, "--yes", "1", "--power", "guest"}
		}
		if i < 5 || i%2 == 0 {
			s.upgraded(at, id, folder, args)
		}
		results, err := s.rollback(journalIn(folder), quick(apply.PowerGuest))
		if err != nil {
			t.Error(err)
		}
		if len(undo(t, journalIn(folder)).Changes) > 0 || len(results) > 0 {
			outcomes(t, results, apply.Done, apply.Already)
		}
		if d := differences(before, s.settings(), func(key string) bool { return key == "sql01 hardware" }); d != nil {
			t.Errorf("%v: after the rollback:\n%s", at, strings.Join(d, "\n"))
		}
		s.vc.Close()
	}
	t.Logf("%d rounds: one power cycle each, all but the virtual hardware came back", len(cuts))
}

// upgraded carries the upgrade out, or goes on with it.
func (s *site) upgraded(at cut, id, folder string, args []string) {
	s.Helper()
	calls := s.watch(nil)
	if c := s.begin(folder, args...); c.code() != 0 {
		s.Errorf("%v: exit %d:\n%s", at, c.code(), c.out.String())
	}
	s.vc.On(nil)
	for _, method := range []string{"ShutdownGuest", "UpgradeVM_Task", "ReconfigVM_Task", "PowerOnVM_Task"} {
		if n := calls.count(method, id); n > 1 || n == 0 && args[0] == "--plan" {
			s.Errorf("%v: %s was called %d times", at, method, n)
		}
	}
	if got := s.settings(); got["sql01 hardware"] != "vmx-19" || got["sql01 cpuHotAdd"] != "false" || got["sql01 power"] != "poweredOn" {
		s.Errorf("%v: hardware %s, hot add %s, power %s", at, got["sql01 hardware"], got["sql01 cpuHotAdd"], got["sql01 power"])
	}
}
