package board

import (
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

// TestSlowClock shows a host whose clock is behind by when its tick came, and one whose ticks are only kept by their time.
func TestSlowClock(t *testing.T) {
	b := New(rules.Options{}, time.Minute)
	old := time.Now().Add(-10 * time.Minute)
	b.Tick("vc", "slow", &numa.Tick{Host: "slow", Time: old})
	b.Past("vc", "past", &numa.Tick{Host: "past", Time: old})
	got := ""
	b.Each(func(h *Host) { got += h.ID })
	if got != "slow" {
		t.Errorf("shown: %q", got)
	}
}

// TestSilent keeps what was found of a host that does not answer for an hour.
func TestSilent(t *testing.T) {
	b := New(rules.Options{}, time.Minute)
	now := time.Now()
	b.Tick("vc", "host-1", &numa.Tick{Host: "esx1", Time: now})
	for _, host := range []string{"host-1", "esx1", "host-2"} {
		b.alarms.open[key{vcenter: "vc", rule: "M001", host: host}] = &Alarm{VCenter: "vc", Live: true, Finding: finding.Finding{Rule: "M001", Host: host}}
	}
	b.alarms.open[key{vcenter: "vc", rule: "N001", host: "host-1"}] = &Alarm{VCenter: "vc", Finding: finding.Finding{Rule: "N001"}}
	for i, want := range []int{2, 0, 2} {
		if _, ended := b.Judge(now.Add(time.Duration(1+30*i) * time.Minute).Add(time.Second)); len(ended) != want {
			t.Errorf("after %d minutes ended %+v, want %d", 1+30*i, ended, want)
		}
	}
}

// TestSeverity tells of a finding again when it gets worse than it was, and remembers that at its end.
func TestSeverity(t *testing.T) {
	b := New(rules.Options{}, time.Minute)
	v := b.vcenter("vc")
	now := time.Now()
	for i, one := range []struct {
		severity finding.Severity
		told     bool
	}{{finding.Low, true}, {finding.Low, false}, {finding.High, true}, {finding.Medium, false}, {finding.High, false}, {finding.Low, false}} {
		v.result = &rules.Result{Fleet: &numa.Fleet{}}
		v.result.Findings = []finding.Finding{{Rule: "N001", VM: "db", Severity: one.severity}}
		begun, ended := b.Judge(now.Add(time.Duration(i) * time.Minute))
		if len(begun) == 1 != one.told || len(ended) > 0 || one.told && (begun[0].Finding.Severity != one.severity || !begun[0].Begin.Equal(now)) {
			t.Errorf("%d: began %+v, ended %+v", i, begun, ended)
		}
	}
	v.result = &rules.Result{Fleet: &numa.Fleet{}}
	if _, ended := b.Judge(now.Add(time.Hour)); len(ended) != 1 || ended[0].Worst != finding.High {
		t.Errorf("ended %+v", ended)
	}
}

// TestAdopt shows the severity that another collector has now, since when it was seen first.
func TestAdopt(t *testing.T) {
	b := New(rules.Options{}, time.Minute)
	now := time.Now()
	for i, severity := range []finding.Severity{finding.Low, finding.High} {
		b.Adopt([]Alarm{{VCenter: "vc", Finding: finding.Finding{Rule: "M001", VM: "db", Severity: severity}}}, now.Add(time.Duration(i)*time.Minute))
		if open, _ := b.Alarms(); len(open) != 1 || open[0].Finding.Severity != severity || !open[0].Begin.Equal(now) {
			t.Errorf("found %+v", open)
		}
	}
}
