package rules_test

import (
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario"
)

// TestNoEffect takes away each setting that N019 calls idle and predicts again: the
// model must agree that nothing changes, on every host and for every event that looks
// at settings.
func TestNoEffect(t *testing.T) {
	f := testdeps.Input(t, "check/noeffect/testdata/fires.txtar", scenario.Read)
	r := rules.Run(f, rules.Options{})
	checked := 0
	for _, x := range r.Findings {
		if x.Rule != "N019" || x.VM == "" {
			continue
		}
		vm := *f.FindVMs(x.VMID)[0]
		key := x.Evidence[0].Name
		var rest numa.Settings
		for _, s := range vm.Settings.Value {
			if s.Key != key {
				rest = append(rest, s)
			}
		}
		if len(rest) != len(vm.Settings.Value)-1 {
			t.Fatalf("%s: %s is not set", x.Subject(), key)
		}
		vm.Settings.Value = rest
		without, _, err := vnuma.NewGuest(&vm)
		if err != nil {
			t.Fatal(err)
		}
		for v := range r.EachVM() {
			if v.ID != x.VMID {
				continue
			}
			for _, on := range v.On {
				for _, event := range []vnuma.Event{vnuma.PowerCycle, vnuma.FirstPowerOn} {
					p := vnuma.Case{Event: event}
					a, b := vnuma.Predict(&v.Guest, &on.Kind.Machine, &p), vnuma.Predict(&without, &on.Kind.Machine, &p)
					if !a.SameGuest(&b) || !a.PPDs.Equal(b.PPDs) || a.Memory != b.Memory {
						t.Errorf("%s: without %s the layout is %v %v, with it %v %v", x.Subject(), key, b.VPDs, b.PPDs, a.VPDs, a.PPDs)
					}
					checked++
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("%d predictions compared: the test looks at nothing", checked)
	}
}
