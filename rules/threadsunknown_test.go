package rules_test

import (
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario/given"
)

// TestThreadsUnknown: where no source says whether hyper-threading is on, no finding says that it is off.
func TestThreadsUnknown(t *testing.T) {
	for words, want := range map[string]finding.Severity{"ht=off": finding.Low, "?": finding.Info} {
		f := given.Fleet(t, "threads", []byte("release 8.0U3\nhost h nodes=2 cores=16 memory=512GB ht=off\nvm v host=h vcpus=24 memory=64GB numa.vcpu.preferHT=TRUE\n"))
		if words == "?" {
			f.Hosts[0].HyperThreading = numa.Fact[bool]{}
		}
		found := false
		for _, one := range rules.Run(f, rules.Options{}).Findings {
			if one.Rule == "N012" {
				found = true
				if one.Severity != want || (one.Ways == nil) != (words == "?") {
					t.Errorf("%s: %s %s: %v", words, one.Severity, one.Message, one.Ways)
				}
			}
		}
		if !found {
			t.Errorf("%s: no finding", words)
		}
	}
}
