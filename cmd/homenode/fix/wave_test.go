package fix_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/lab"
)

// waving serves three hosts and a plan that sets an option on each, which VMs that run do not have before they arrive.
func waving(t *testing.T) (*site, *fix.Plan) {
	t.Helper()
	f := fleetOf(t, `release 7.0U3
cluster prod
host esx[01-03] nodes=2 cores=18 threads=36 memory=256GB
vm a[1-4] host=esx01 vcpus=4 memory=16GB
vm b[1-3] host=esx02 vcpus=4 memory=16GB
vm off host=esx02 power=off vcpus=4 memory=16GB
vm large host=esx03 vcpus=20 memory=254GB
`)
	s := serveFleet(t, f)
	p := s.plan(fix.Options{Now: now})
	p.Changes = nil
	for i := range f.Hosts {
		p.Changes = append(p.Changes, fix.Change{Host: &fix.Target{Name: f.Hosts[i].Name, ID: f.Hosts[i].ID, Cluster: "prod"}, Batch: i + 1, Findings: []string{}, Downtime: "none",
			Edits: []numa.Edit{{Kind: numa.EditHostOption, Key: "Numa.PreferHT", From: numa.Is("0"), To: numa.Is("1")}}})
	}
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	for i := range f.Hosts {
		s.option(f.Hosts[i].ID, "Numa.PreferHT", 0)
	}
	return s, p
}

// TestWave sets an option of hosts that acts on VMs that arrive: without vMotion the VMs that wait are named; with it each running VM moves once, and to a
// host that has the option; a VM that no other host holds is named. Another run finds nothing to do.
func TestWave(t *testing.T) {
	s, p := waving(t)
	results, path, err := s.apply(p, quick(apply.PowerNone))
	if err != nil {
		t.Fatal(err)
	}
	outcomes(t, results, apply.Pending)
	if why := results["esx01"].Why; !strings.Contains(why, "a1, a2, a3, a4") {
		t.Error(why)
	}
	before := s.hosts()
	calls := s.watch(nil)
	if results, err = s.resume(path, quick(apply.PowerMove)); err != nil {
		t.Fatal(err)
	}
	s.vc.On(nil)
	if r := results["esx03"]; r.Outcome != apply.Pending || !strings.Contains(r.Why, "large (no other host") {
		t.Errorf("%+v", r)
	}
	outcomes(t, map[string]apply.Result{"esx01": results["esx01"], "esx02": results["esx02"]}, apply.Done)
	for name, host := range s.hosts() {
		n := calls.count("RelocateVM_Task", s.id(name))
		switch stays := name == "off" || name == "large"; {
		case stays && (n > 0 || host != before[name]):
			t.Errorf("%s was moved", name)
		case !stays && (n != 1 || host == before[name]):
			t.Errorf("%s: moved %d times, from %s to %s", name, n, before[name], host)
		}
	}
	after := s.hosts()
	if _, err = s.resume(path, quick(apply.PowerMove)); err != nil {
		t.Error(err)
	}
	if fmt.Sprint(s.hosts()) != fmt.Sprint(after) {
		t.Errorf("another run moved VMs: %v, was %v", s.hosts(), after)
	}
}

// TestWaveKilled kills the program in the wave, before a vMotion arrives and after it: --resume moves those that are left, and none twice. A rollback brings
// the options back, of a run that was resumed and of one that was not. make prove does it at every line of the journal and call.
func TestWaveKilled(t *testing.T) {
	cuts := someCuts([]cut{{method: "RelocateVM_Task", moment: lab.Arrives, nth: 2, drop: true}, {method: "RelocateVM_Task", moment: lab.Answers, nth: 3}, {line: 12}}, 24,
		map[string]int{"UpdateOptions": 3, "RelocateVM_Task": 7})
	for i, at := range cuts {
		s, p := waving(t)
		folder, before, was := t.TempDir(), s.hosts(), s.settings()
		killed, path := s.strike(at, folder, "--plan", save(t, p), "--apply", "--yes", "3", "--power", "vmotion")
		if !killed && i < 3 {
			t.Errorf("%v: it was not killed", at)
		}
		if path == "" || lines(folder) == 0 {
			s.same(at.String(), was)
			continue
		}
		if i%3 != 1 {
			s.waved(at, folder, path, before)
		}
		if c := s.begin(folder, "--rollback", path, "--yes", fmt.Sprint(len(undo(t, path).Changes))); c.code() != 0 {
			t.Errorf("%v: the rollback: exit %d:\n%s", at, c.code(), c.out.String())
		}
		s.same(at.String()+", taken back", was)
		if holder := s.holder(); holder != "" {
			t.Errorf("%v: the lock of %s stays", at, holder)
		}
		s.vc.Close()
	}
	t.Logf("%d rounds: every VM moved once, every option came back", len(cuts))
}

// waved goes on with a wave that was killed.
func (s *site) waved(at cut, folder, path string, before map[string]string) {
	s.Helper()
	moved := s.hosts()
	calls := s.watch(nil)
	if c := s.begin(folder, "--resume", path, "--yes", "3", "--power", "vmotion"); c.code() != 0 {
		s.Errorf("%v: exit %d:\n%s", at, c.code(), c.out.String())
	}
	s.vc.On(nil)
	for name, host := range s.hosts() {
		if name == "off" || name == "large" {
			continue
		}
		if n := calls.count("RelocateVM_Task", s.id(name)); host == before[name] || n > 1 || n == 1 && moved[name] != before[name] {
			s.Errorf("%v: %s is on %s, was on %s, and on %s when it was killed; moved %d times since", at, name, host, before[name], moved[name], n)
		}
	}
}

// hosts returns the host of each VM, by name.
func (s *site) hosts() map[string]string {
	s.Helper()
	f, err := s.w.Fleet(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	out := map[string]string{}
	for i := range f.VMs {
		out[f.VMs[i].Name] = f.VMs[i].Host
	}
	return out
}

// id returns the ID of a VM.
func (s *site) id(name string) string {
	s.Helper()
	f, err := s.w.Fleet(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for i := range f.VMs {
		if f.VMs[i].Name == name {
			return f.VMs[i].ID
		}
	}
	s.Fatalf("no VM %s", name)
	return ""
}
