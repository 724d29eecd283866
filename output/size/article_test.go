package size

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/numa/unit"
)

// TestPublishedCapacity checks that no figure of the article is missed without a reason,
// that each of its inconsistencies is shown by a figure that does not come out, and that
// each of its experiments has figures.
func TestPublishedCapacity(t *testing.T) {
	figures, shown := map[string]int{}, map[string]int{}
	checks := published()
	for i := range checks {
		p := &checks[i]
		figures[p.ID]++
		if p.Verdict() == "MISSED" && p.Note == "" {
			t.Errorf("%s %s, %s: printed %s, computed %v", p.ID, p.What, p.Quantity, p.Printed, p.Computed)
		}
		if _, ok := p.Deviation(); !ok {
			t.Errorf("%s %s, %s: no number is printed: %q", p.ID, p.What, p.Quantity, p.Printed)
		}
		if p.Inconsistency != "" && !p.Reproduced() {
			shown[p.Inconsistency]++
		}
	}
	for i, e := range ArticleExperiments {
		if want, _ := rulebook.FindExperiment(fmt.Sprintf("exp B-%d", i+1)); e.ID != want.Name {
			t.Errorf("found %s, want %s", e.ID, want.Name)
		}
		if figures[e.ID] == 0 {
			t.Errorf("%s has no figures", e.ID)
		}
	}
	for i, c := range ArticleContradictions {
		if want := fmt.Sprintf("I-%d", i+5); c.ID != want {
			t.Errorf("found %s, want %s", c.ID, want)
		}
		if shown[c.ID] == 0 {
			t.Errorf("%s is shown by no figure", c.ID)
		}
		delete(shown, c.ID)
	}
	if len(ArticleExperiments) != 15 || len(ArticleContradictions) != 13 {
		t.Errorf("found %d experiments and %d inconsistencies, want 15 and 13", len(ArticleExperiments), len(ArticleContradictions))
	}
	for id := range shown {
		t.Errorf("%s is of no list", id)
	}
	page := string(ArticlePage())
	if n := strings.Count(page, "| MISSED |"); n != 2 {
		t.Errorf("the page has %d figures that are missed, want the two that are known", n)
	}
	// d-latency is of another article.
	if !slices.ContainsFunc(checks, func(c unit.Check) bool { return c.ID == "d-latency" }) || strings.Contains(page, "d-latency") {
		t.Error("figures of another article are not left out")
	}
}
