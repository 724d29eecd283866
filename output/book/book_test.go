package book

import (
	"strings"
	"testing"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/output/answer"
)

// TestLinks follows every link of every list and entry: each leads to an entry.
func TestLinks(t *testing.T) {
	all := []*answer.Answer{Checks(nil), Statements(), Conflicts(), Settings(), Experiments()}
	for _, n := range Names() {
		a := Find(strings.ToUpper(n.ID), nil)
		if a == nil {
			t.Errorf("nothing is found for %s", n.ID)
			continue
		}
		all = append(all, a)
	}
	if len(all) < 200 {
		t.Fatalf("%d answers: the test looks at too little", len(all))
	}
	links := 0
	for _, a := range all {
		if len(a.Verdict) == 0 || a.Verdict[0] == "" || a.Result == nil {
			t.Errorf("%q says nothing", a.Question)
		}
		for _, table := range a.Tables {
			for _, row := range table.Rows {
				if len(row) != len(table.Columns) {
					t.Errorf("%q: %d cells in %d columns", a.Question, len(row), len(table.Columns))
				}
				for _, c := range row {
					if c.To.Kind == "" {
						continue
					}
					if links++; c.To.Kind != "rule" || Find(c.To.ID, nil) == nil {
						t.Errorf("%q: a link to %+v leads nowhere", a.Question, c.To)
					}
				}
			}
		}
	}
	if links < 500 {
		t.Errorf("%d links: the test looks at too little", links)
	}
	if Find("nonsense", nil) != nil {
		t.Error("nonsense is found")
	}
}

func TestNamesSettings(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"numa.vcpu.min is set", true}, {"(numa.vcpu.min)", true}, {"NUMA.VCPU.MIN.", true}, {"numa.vcpu.minimum", false}, {"numa.vcpu.min.x", false}, {"x.numa.vcpu.min", false}, {"numa.vcpu.minimum and numa.vcpu.min", true},
	} {
		if got := names(tt.text, "numa.vcpu.min"); got != tt.want {
			t.Errorf("%q: %v", tt.text, got)
		}
	}
	s, _ := rulebook.Find("B-15")
	if got := firstApart(s.Text); len(got) != 2 || got[0]+" "+got[1] != s.Text {
		t.Errorf("%q", got)
	}
}
