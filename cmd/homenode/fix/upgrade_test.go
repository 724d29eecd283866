package fix_test

import (
	"strings"
	"testing"

	"homenode/change/fix"
	"homenode/change/fix/apply"
	"homenode/numa"
	"homenode/source/vsphere/lab"
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
// killed before, in and after each task: --resume comes to the same end, and a rollback brings back all but the virtual hardware.
func TestUpgrade(t *testing.T) {
	cuts := []cut{{}, {method: "UpgradeVM_Task", moment: lab.Arrives, nth: 1, drop: true}, {method: "UpgradeVM_Task", moment: lab.Answers, nth: 1},
		{method: "ReconfigVM_Task", moment: lab.Arrives, nth: 1, drop: true}, {method: "ReconfigVM_Task", moment: lab.Answers, nth: 1}}
	for _, at := range cuts {
		s, p, id := upgrading(t)
		before := s.settings()
		folder := t.TempDir()
		args := []string{"--plan", save(t, p), "--apply", "--yes", "1", "--power", "guest"}
		if at.method != "" {
			if killed, _ := s.strike(at, folder, args...); !killed {
				t.Errorf("%v: it was not killed", at)
			}
			args = []string{"--resume", journalIn(folder), "--yes", "1"}
		}
		calls := s.watch(nil)
		if c := s.begin(folder, args...); c.code() != 0 {
			t.Errorf("%v: exit %d:\n%s", at, c.code(), c.out.String())
		}
		s.vc.On(nil)
		for _, method := range []string{"ShutdownGuest", "UpgradeVM_Task", "ReconfigVM_Task", "PowerOnVM_Task"} {
			if n := calls.count(method, id); n > 1 || n == 0 && at.method == "" {
				t.Errorf("%v: %s was called %d times", at, method, n)
			}
		}
		if got := s.settings(); got["sql01 hardware"] != "vmx-19" || got["sql01 cpuHotAdd"] != "false" || got["sql01 power"] != "poweredOn" {
			t.Errorf("%v: hardware %s, hot add %s, power %s", at, got["sql01 hardware"], got["sql01 cpuHotAdd"], got["sql01 power"])
		}
		results, err := s.rollback(journalIn(folder), quick(apply.PowerGuest))
		if err != nil {
			t.Error(err)
		}
		outcomes(t, results, apply.Done)
		if d := differences(before, s.settings(), func(key string) bool { return key == "sql01 hardware" }); d != nil {
			t.Errorf("%v: after the rollback:\n%s", at, strings.Join(d, "\n"))
		}
	}
}
