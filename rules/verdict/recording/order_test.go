package recording_test

import (
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/verdict/recording"
)

// The VM that the headline calls the worst is the first in the table of events: the one with the longest event, of equally long ones that with the greater weight.
func TestWorstIsFirstEvent(t *testing.T) {
	start := time.Date(2026, 11, 3, 4, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		length time.Duration // of the event of b; that of a has 20 minutes
		ready  int64         // of b; a has 10 %
		want   string
	}{
		{"longer", 30 * time.Minute, 500, "b"},
		{"shorter, but waits longer", 10 * time.Minute, 2000, "a"},
		{"as long, and waits longer", 20 * time.Minute, 2000, "b"},
		{"as long, and waits less", 20 * time.Minute, 500, "a"},
	} {
		event := func(vm string, length time.Duration) finding.Finding {
			return finding.Finding{Rule: "M009", Severity: finding.High, Host: "esx1", VM: vm, From: start, To: start.Add(length)}
		}
		life := func(name string, most int64) capture.VM {
			v := capture.VM{Name: name, First: start, Last: start.Add(time.Hour)}
			v.Ready.Most, v.Ready.At = most, start
			return v
		}
		rec := &capture.Recording{Host: "esx1", First: start, Last: start.Add(time.Hour), VMs: []capture.VM{life("a", 1000), life("b", c.ready)}}
		j := recording.Of(&rules.Watched{Recordings: []*capture.Recording{rec}, Judgement: rules.Judgement{Findings: []finding.Finding{event("a", 20*time.Minute), event("b", c.length)}}})
		first := j.Stories(j.Findings, finding.Low)[0].Worst().VM
		if _, hurt := j.Harmed(); first != c.want || len(hurt) != 2 || hurt[0].Name != c.want {
			t.Errorf("%s: first event of %s, worst %v, want %s", c.name, first, hurt, c.want)
		}
	}
}
