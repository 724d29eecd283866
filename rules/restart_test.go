package rules_test

import (
	"strings"
	"testing"
)

// TestRestart: advice that powers a VM off tells first why it would not power on again, unless it cures that too; and a VM that powers on has no
// such sentence.
func TestRestart(t *testing.T) {
	const two = "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB mhz=2600\nvm a host=h vcpus=8 memory=300GB hw=19 memoryReservation=300GB%s\nvm b host=h vcpus=8 memory=300GB hw=19 memoryReservation=300GB%s\n"
	for _, tt := range []struct{ name, fleet, vm, rule, why string }{
		{"beside another VM", strings.ReplaceAll(two, "%s", ""), "b", "N005", "300 GB"},
		{"the one that is there", strings.ReplaceAll(two, "%s", ""), "a", "N005", ""},
		{"too new", "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm v host=h vcpus=8 memory=300GB hw=20 power=on\n", "v", "N005", "virtual hardware 20"},
		{"a device without its reservation", "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB pci=3b:00.0@0\nvm v host=h vcpus=24 memory=300GB hw=19 hotAdd=on pci=3b:00.0 memoryReservation=10GB power=on\n", "v", "N001", "only 10 GB of 300 GB"},
		{"its plan cures it", "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm v host=h vcpus=24 memory=100GB hw=19 coresPerSocket=16 hotAdd=on power=on\n", "v", "N001", ""},
		{"off anyway", "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm v host=h vcpus=8 memory=300GB hw=20 power=off\n", "v", "N005", ""},
	} {
		advice := ""
		for _, f := range runText(t, tt.fleet).Findings {
			if f.Rule == tt.rule && f.VM == tt.vm {
				advice = f.Advice
			}
		}
		if advice == "" || strings.HasPrefix(advice, "First cure why ") != (tt.why != "") || !strings.Contains(advice, tt.why) {
			t.Errorf("%s: %q, want %q", tt.name, advice, tt.why)
		}
	}
}
