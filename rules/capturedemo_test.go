package rules_test

import (
	"strings"
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/demo"
)

// TestCaptureDemoFiresEveryRule keeps the demo capture a tour of all rules that judge
// recordings, each about the VM or host that the incident means.
func TestCaptureDemoFiresEveryRule(t *testing.T) {
	fleet, err := demo.Fleet()
	if err != nil {
		t.Fatal(err)
	}
	night, err := demo.Capture()
	if err != nil {
		t.Fatal(err)
	}
	r := capture.NewRecorders(rules.CaptureOptions(nil))
	if err := night.Ticks(func(k *numa.Tick) error { r.Add(k); return nil }); err != nil {
		t.Fatal(err)
	}
	w := rules.Watch(r.Recordings(), rules.Run(fleet, rules.Options{}), rules.Options{})
	fired := map[string]bool{}
	var got []string
	for i := range w.Findings {
		f := &w.Findings[i]
		fired[f.Rule] = true
		got = append(got, f.Rule+" "+f.Severity.String()+" "+f.Host+"/"+f.VM+" "+f.Message)
	}
	for _, one := range rules.All {
		if one.Watch != nil && !fired[one.ID] {
			t.Errorf("rule %s %s fires nowhere in the capture of the demo", one.ID, one.Name)
		}
	}
	golden.Equal(t, []byte(strings.Join(got, "\n")+"\n"), "testdata/capture-demo.txt")
}
