package web

import (
	"maps"
	"strings"
	"testing"
	"time"

	"homenode/numa"
	"homenode/output/answer"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/policy"
	"homenode/serve/board"
	"homenode/serve/collect"
)

// TestLowLocality counts VMs whose locality is known, by the threshold of M001 that the configuration sets.
func TestLowLocality(t *testing.T) {
	seen := numa.Tick{Host: "esx01", Time: time.Now(), VMs: []numa.VMTick{{Name: "db", Has: numa.HasMemory, Local: 7 * numa.GiB, Remote: 3 * numa.GiB}, {Name: "unknown"}}}
	unknown := numa.Tick{Host: "esx01", Time: time.Now(), VMs: seen.VMs[1:]}
	for _, tt := range []struct {
		tick *numa.Tick
		set  map[string]float64
		want string
		tone answer.Tone
	}{
		{&seen, nil, "Less than 80 % of the memory of 1 of 1 VM whose locality is known is local now.", answer.Bad},
		{&unknown, nil, "Nothing is known of the locality of 1 VM.", answer.Plain},
		{&numa.Tick{Host: "esx01", Time: time.Now()}, nil, "No VM is seen.", answer.Plain},
		{&seen, map[string]float64{"M001.locality": 0.6}, "All of 1 VM whose locality is known have at least 60 % of their memory local now.", answer.Plain},
	} {
		b := board.New(rules.Options{Policy: &policy.Policy{Thresholds: tt.set}}, time.Hour)
		b.Tick("vc", "host-1", tt.tick)
		s := Server{Board: b, Status: func() []collect.Status {
			return []collect.Status{{Name: "vc", Hosts: []collect.HostStatus{{Name: "esx01", Last: tt.tick.Time}}}}
		}}
		a := s.StatusAnswer()
		if got := strings.Join(a.Verdict, " "); got != tt.want || len(tt.tick.VMs) > 0 && a.Tables[1].Rows[0][3].Tone != tt.tone {
			t.Errorf("%v: %s, want %s; rows %v", tt.set, got, tt.want, a.Tables[1].Rows)
		}
	}
}

// TestAlerts tells findings of one rule about two nodes of a host apart.
func TestAlerts(t *testing.T) {
	b := board.New(rules.Options{}, time.Hour)
	var all []board.Alarm
	for _, topic := range []string{"node 0", "node 1"} {
		all = append(all, board.Alarm{VCenter: "vc", Live: true, Begin: time.Now(), Finding: finding.Finding{Rule: "H007", Host: "esx01", Topic: topic}})
	}
	b.Adopt(all, time.Now())
	if a := Alerts(b); len(a) != 2 || maps.Equal(a[0].Labels, a[1].Labels) {
		t.Errorf("found %+v", a)
	}
}
