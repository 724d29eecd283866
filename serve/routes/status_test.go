package routes

import (
	"maps"
	"strings"
	"testing"
	"time"

	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
)

// TestStatus says who is seen and who cannot be.
func TestStatus(t *testing.T) {
	seen, failing := collect.HostStatus{ID: "host-1", Name: "esx01", Last: time.Now(), Asked: time.Now(), Closely: time.Now().Add(time.Hour)}, collect.HostStatus{ID: "host-2", Name: "esx02", Failing: "no answer within 15s", Reason: "timeout"}
	for _, tt := range []struct {
		hosts []collect.HostStatus
		want  string
	}{
		{nil, "Waiting for the list of hosts."},
		{[]collect.HostStatus{seen}, "1 of 1 host reporting."},
		{[]collect.HostStatus{failing}, "0 of 1 host reporting: the table of hosts says why the others do not."},
		{[]collect.HostStatus{seen, failing}, "1 of 2 hosts reporting: the table of hosts says why the others do not."},
	} {
		s := Server{Board: board.New(rules.Options{}, time.Hour), Status: func() []collect.Status { return []collect.Status{{Name: "vc", Up: true, Hosts: tt.hosts}} }}
		a := s.StatusAnswer()
		if got := strings.Join(a.Verdict, " "); got != tt.want || len(a.Tables[0].Rows) != len(tt.hosts) {
			t.Errorf("%s, want %s; rows %v", got, tt.want, a.Tables[0].Rows)
		}
		for i, row := range a.Tables[0].Rows {
			if row[2].To.ID != tt.hosts[i].ID || (row[8].Tone == answer.Bad) != (tt.hosts[i].Failing != "") || strings.HasPrefix(row[4].Text, "closely until ") != !tt.hosts[i].Closely.IsZero() {
				t.Errorf("row %+v", row)
			}
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
