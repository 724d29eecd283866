package fleet

import (
	"context"
	"strings"
	"testing"

	"example.org/homenode/ask"
	"example.org/homenode/rules"
	"example.org/homenode/rules/policy"
)

// TestRulesTest runs the scenarios beside the rules of an owner: one of them expects the wrong thing, and one rule fails.
func TestRulesTest(t *testing.T) {
	const config = `expect:
  - name: hot-add
    that: vcpus <= 8 || !hotAdd
    message: hot add is off above 8 vCPUs
    holds: |
      host h nodes=2 cores=16 memory=256GB release=8.0U3
      vm small vcpus=8 memory=32GB hotAdd=on
      vm wrong vcpus=9 memory=32GB hotAdd=on
    fails: |
      host h nodes=2 cores=16 memory=256GB release=8.0U3
      vm big vcpus=12 memory=32GB hotAdd=on
      vm unknown vcpus=12 memory=32GB hotAdd=?
  - {name: broken, that: int(name) > 3, message: m, fails: "host h nodes=1 cores=16 memory=256GB release=8.0U3\nvm a vcpus=1 memory=1GB"}
  - {name: untested, that: "true", message: m}
`
	p, err := policy.Parse("c.yaml", []byte(config), rules.All)
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&Rules{Test: true}).Answer(context.Background(), &ask.Env{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	a := r.Answers[0]
	var got []string
	for _, row := range a.Tables[0].Rows {
		got = append(got, row[0].Text+" "+row[1].Text+" "+row[2].Text+" "+row[3].Text)
	}
	want := "hot-add holds small as expected|hot-add holds wrong WRONG|hot-add fails big as expected|hot-add fails unknown as expected|broken fails a WRONG"
	if text := strings.Join(got, "|"); text != want || !r.Found {
		t.Errorf("%s\nwant %s, exit 1: %t", text, want, r.Found)
	}
	if a.Verdict[0] != "5 VMs of scenarios: 2 wrong." || a.Verdict[1] != "Without a scenario: untested." {
		t.Errorf("%q", a.Verdict)
	}
	if _, err := (&Rules{Test: true}).Answer(context.Background(), &ask.Env{}); err == nil || err.Error() != "--test: the configuration expects nothing: want expect: in homenode.yaml (docs/checks.md)" {
		t.Error(err)
	}
	p.Expect[0].Holds = "vm"
	if _, err := (&Rules{Test: true}).Answer(context.Background(), &ask.Env{Policy: p}); err == nil || !strings.HasPrefix(err.Error(), "c.yaml:2:5: holds of hot-add:1:1: found") {
		t.Error(err)
	}
}
