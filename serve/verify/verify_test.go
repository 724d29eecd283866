package verify_test

import (
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/storage"

	"example.org/homenode/capture/store"
	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/change/whatif"
	"example.org/homenode/measure/effect"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/serve/query"
	"example.org/homenode/serve/reader"
	"example.org/homenode/serve/verify"
	"example.org/homenode/source/scenario"
)

// week is the time on each side of the change.
const week = 7 * 24 * time.Hour

// fleet has 20 VMs of 8 vCPUs on a host, of which the first five are changed.
const fleet = `cluster prod
host esx01 cluster=prod packages=2 cores=64 memory=2048GB release=8.0U3
vm sql[01-20] host=esx01 vcpus=8 memory=64GB hw=21
`

// story is a change of five VMs a week ago, with what was counted in the weeks before and after, in a real store behind a
// real query API.
type story struct {
	lines  []journal.Line
	states map[string]numa.State
	result *rules.Result
	from   time.Time
	reader *reader.Reader
}

// newStory counts so much N%L, in points, more of the changed VMs after the change.
func newStory(t *testing.T, seed uint64, gain float64) *story {
	t.Helper()
	f, err := scenario.Read("fleet", []byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	set, err := whatif.Parse("vm=* numa.vcpu.preferHT=TRUE")
	if err != nil {
		t.Fatal(err)
	}
	five, err := filter.New(filter.Options{VMs: []string{"sql01", "sql02", "sql03", "sql04", "sql05"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := fix.Make(t.Context(), f, fix.Options{Set: []whatif.Change{set}, Filter: five, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Changes) != 5 {
		t.Fatalf("the plan has %d changes: %+v", len(p.Changes), p.Left)
	}
	end := time.Now().Truncate(time.Hour)
	at := end.Add(-week)
	s := &story{states: map[string]numa.State{}, from: at.Add(-week)}
	clock := at
	j, err := journal.Create(t.TempDir(), p, func() time.Time { return clock })
	if err != nil {
		t.Fatal(err)
	}
	add := func(l journal.Line) {
		l.Plan = p.ID
		if err := j.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	add(journal.Line{Step: journal.StepPlan, Whole: p})
	changed := map[string]bool{}
	for i := range p.Changes {
		c := &p.Changes[i]
		changed[c.VM.ID] = true
		add(journal.Line{Step: journal.StepIntent, Target: c.VM.ID, Do: "reconfigure", Edits: c.Edits, Ran: true})
		add(journal.Line{Step: journal.StepDone, Target: c.VM.ID, Do: "reconfigure", Edits: c.Edits})
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if s.lines, err = journal.Read(j.Path); err != nil {
		t.Fatal(err)
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		if changed[v.ID] {
			for _, e := range p.Changes[0].Edits {
				if err := e.Configure(&v.Config, "test"); err != nil {
					t.Fatal(err)
				}
			}
		}
		v.Power = numa.ReadAt(numa.PoweredOn, "test")
		boot := at.Add(-24 * time.Hour)
		if changed[v.ID] {
			boot = at.Add(time.Minute)
		}
		s.states[v.ID] = numa.State{VM: *v, Boot: boot}
	}
	s.result = rules.Run(f, rules.Options{})
	s.count(t, f, changed, at, end, seed, gain)
	return s
}

// count fills the store: levels and days differ as those of the generator of measure/effect, by half.
func (s *story) count(t *testing.T, f *numa.Fleet, changed map[string]bool, at, end time.Time, seed uint64, gain float64) {
	t.Helper()
	db, err := store.Open(t.TempDir(), store.Options{Retain: 1e6 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	rng := rand.New(rand.NewPCG(seed, 1))
	type vm struct {
		local, remote, ready *store.Series
		level                float64
		days                 map[int]float64
		changed              bool
	}
	var vms []vm
	for i := range f.VMs {
		l := []string{"vcenter", "vc", "cluster", "prod", "host", "esx01", "vm", f.VMs[i].Name, "vm_id", f.VMs[i].ID}
		v := vm{db.Series("homenode_vm_numa_local_bytes", l...), db.Series("homenode_vm_numa_remote_bytes", l...), db.Series("homenode_vm_cpu_ready_seconds_per_second", l...),
			70 + 6*rng.NormFloat64(), map[int]float64{}, changed[f.VMs[i].ID]}
		for d := range 15 {
			v.days[d] = 1.2 * rng.NormFloat64()
		}
		vms = append(vms, v)
	}
	for now := s.from; now.Before(end); now = now.Add(reader.HistoryStep / 2) {
		var samples []store.Sample
		for i := range vms {
			v := &vms[i]
			percent := v.level + v.days[int(now.Sub(s.from)/(24*time.Hour))]
			if v.changed && now.After(at) {
				percent += gain
			}
			percent = min(99, max(1, percent))
			samples = append(samples, store.Sample{Series: v.local, Number: percent * float64(numa.GiB)},
				store.Sample{Series: v.remote, Number: (100 - percent) * float64(numa.GiB)}, store.Sample{Series: v.ready, Number: 0.1 + 0.01*rng.Float64()})
		}
		if _, err := db.Append(t.Context(), now, samples); err != nil {
			t.Fatal(err)
		}
	}
	api := &query.API{Store: func() (storage.Queryable, error) { return db.Queryable(), nil }, Version: "test"}
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	if s.reader, err = reader.New(server.URL, nil); err != nil {
		t.Fatal(err)
	}
}

func (s *story) judge(t *testing.T) *effect.Verdict {
	t.Helper()
	v, err := verify.Run(t.Context(), verify.Input{Lines: s.lines, States: s.states, Now: time.Now(), Fleet: s.result, History: s.reader.History, Zone: time.UTC, VCenter: "vc"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCureAndPlacebo judges a change after a week on each side: one that helped, one that did nothing, one that harmed.
func TestCureAndPlacebo(t *testing.T) {
	for _, tt := range []struct {
		gain float64
		want effect.Answer
	}{{10, effect.Helped}, {0, effect.NotKnown}, {-10, effect.Worse}} {
		v := newStory(t, 7, tt.gain).judge(t)
		if v.Helped != tt.want {
			t.Errorf("a gain of %v points: %s (%s), want %s", tt.gain, v.Helped, v.Why, tt.want)
		}
		for _, c := range v.Checks {
			if c.Written != effect.Yes || c.InEffect != effect.Yes {
				t.Errorf("%+v", c)
			}
		}
		if m := v.Measured; m == nil || m.Main.Tested != 5 || len(m.Main.Controls) != 15 || m.Main.Before < 6 || m.Main.After < 6 {
			t.Errorf("a gain of %v points: measured %+v", tt.gain, m)
		}
	}
}

// TestNotInEffect judges what was not written, was undone, or has had no power cycle.
func TestNotInEffect(t *testing.T) {
	s := newStory(t, 7, 10)
	alter := func(id string, f func(*numa.State)) {
		st := s.states[id]
		f(&st)
		s.states[id] = st
	}
	alter("sql01", func(st *numa.State) { st.Boot = st.Boot.Add(-48 * time.Hour) })
	v := s.judge(t)
	if c := v.Checks[0]; v.Helped != effect.NotKnown || c.InEffect != effect.Unknown || !strings.Contains(c.Why, "no power cycle") {
		t.Errorf("without a power cycle: %s, %+v", v.Helped, c)
	}
	if !strings.Contains(v.Why, "objects: sql01 (no power cycle was seen since") {
		t.Errorf("without a power cycle: %s", v.Why)
	}
	two := effect.Verdict{Checks: []effect.Check{{Name: "a", Observed: true, Cures: []string{"N001"}}, {Name: "b", Cures: []string{"N001"}}}}
	if two.Conclude(); two.Helped != effect.NotKnown || !strings.Contains(two.Why, "no layout was seen for 1 of 2 objects: b; give") {
		t.Errorf("one of two was seen: %s, %s", two.Helped, two.Why)
	}
	alter("sql02", func(st *numa.State) {
		st.VM.Settings.Value = st.VM.Settings.Value.Without("numa.vcpu.preferHT")
	})
	v = s.judge(t)
	if c := v.Checks[1]; v.Helped != effect.Worse || c.Written != effect.No {
		t.Errorf("undone by others: %s, %+v", v.Helped, c)
	}
	delete(s.states, "sql03")
	if c := s.judge(t).Checks[2]; c.Written != effect.Unknown || c.Why == "" {
		t.Errorf("a VM that is gone: %+v", c)
	}
}

// TestNotWritten judges a run that failed with one of its VMs: that is no success, however the others are.
func TestNotWritten(t *testing.T) {
	s := newStory(t, 7, 10)
	kept := s.lines[:0]
	for _, l := range s.lines {
		if l.Target != "sql05" {
			kept = append(kept, l)
		}
	}
	s.lines = append(kept, journal.Line{Step: journal.StepEnd, Target: "sql05", Name: "sql05", State: "failed", Why: "no room"})
	v := s.judge(t)
	if c := v.Checks[4]; v.Helped != effect.Worse || c.Written != effect.No || !strings.Contains(c.Why, "failed, no room") {
		t.Errorf("%s, %+v", v.Helped, c)
	}
}

// TestNothingChanged has no verdict on a run that had to leave all VMs as they are.
func TestNothingChanged(t *testing.T) {
	s := newStory(t, 7, 10)
	s.lines = append(s.lines[:1], journal.Line{Step: journal.StepEnd, Target: s.lines[0].Whole.Changes[0].VM.ID, State: "needsOff", Why: "it has to be off"})
	_, err := verify.Run(t.Context(), verify.Input{Lines: s.lines, Journal: "j", States: s.states, Now: time.Now(), Fleet: s.result, Zone: time.UTC})
	if err == nil || !strings.HasPrefix(err.Error(), "j: the run changed nothing, so there is nothing to verify (") {
		t.Errorf("got %v", err)
	}
}

// TestOtherVCenter reads nothing of VMs that another vCenter has under the same names and IDs.
func TestOtherVCenter(t *testing.T) {
	s := newStory(t, 7, 10)
	v, err := verify.Run(t.Context(), verify.Input{Lines: s.lines, States: s.states, Now: time.Now(), Fleet: s.result, History: s.reader.History, Zone: time.UTC, VCenter: "other"})
	if err != nil || v.Measured != nil || v.NoSamples == "" || v.Helped == effect.Helped {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestAlreadyBack: a rollback that found VMs as they were before wrote nothing, so there is no time from which to measure, and no error.
func TestAlreadyBack(t *testing.T) {
	s := newStory(t, 7, 10)
	back, err := apply.RollbackOf(s.lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.lines = append(s.lines, journal.Line{Step: journal.StepPlan, Plan: back.ID, Undo: true, Whole: back.Plan})
	for i := range back.Changes {
		s.lines = append(s.lines, journal.Line{Step: journal.StepEnd, Plan: back.ID, Target: back.Changes[i].VM.ID, State: "already"})
	}
	if v := s.judge(t); v.Measured != nil || v.NoSamples != "no VM was changed" {
		t.Errorf("measured %+v, %q", v.Measured, v.NoSamples)
	}
}
