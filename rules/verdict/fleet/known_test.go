package fleet_test

import (
	"strings"
	"testing"

	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/verdict/fleet"
	"homenode/source/scenario"
)

func judge(t *testing.T, in string) *rules.Result {
	t.Helper()
	f, err := scenario.Read("test", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	return rules.Run(f, rules.Options{})
}

// TestNotKnown checks that the headline says what is not known of how many VMs, and is not sure of the others then.
func TestNotKnown(t *testing.T) {
	const host = "release 7.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB\nhost i nodes=2 cores=16 memory=512GB\nvm bad host=h vcpus=24 memory=64GB hotAdd=on hw=19\n"
	for _, tt := range []struct{ vms, want string }{
		{"vm v host=h vcpus=8 memory=64GB hw=19\n", "The other 1 needs nothing urgent."},
		{"vm v host=h vcpus=8 memory=64GB hw=19 hotAdd=?\n", "The other 1 needs nothing urgent, as far as is known. Not known: CPU hot add of 1 VM."},
		{"vm v host=h vcpus=8 memory=? hw=19 coresPerSocket=?\n", "Not known: the memory of 1 VM, cores per socket of 1 VM."},
		{"vm v cluster=c vcpus=8 memory=64GB hw=19\n", "Not known: the host of 1 VM."},
	} {
		r := judge(t, host+tt.vms)
		if strings.Contains(tt.want, "the host") {
			r.Clusters[0].VMs[1].Host = nil
		}
		text := strings.Join(fleet.Verdict(r), " ")
		if !strings.HasSuffix(text, tt.want) {
			t.Errorf("%sgot %q, want %q at its end", tt.vms, text, tt.want)
		}
	}
}

// TestTemplates checks that clones are warned of what they inherit, that it costs no VM anything yet, and that a template as it should be is silent.
func TestTemplates(t *testing.T) {
	const host = "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\n"
	for _, tt := range []struct{ vm, rule string }{
		{"vcpus=24 memory=64GB hotAdd=on", "N001"},
		{"vcpus=24 memory=400GB set:numa.vcpu.preferHT=TRUE", "N012"},
		{"vcpus=20 memory=64GB stored=20", "N010"},
		{"vcpus=8 memory=64GB", ""},
	} {
		r := judge(t, host+"vm t host=h hw=19 template=on "+tt.vm+"\n")
		found := ""
		for _, f := range r.Findings {
			if f.VM == "t" {
				found += f.Rule + " "
				if f.Severity > finding.Medium || !strings.HasPrefix(f.Message, "clones of the template will inherit it: ") {
					t.Errorf("%s: %s %s", f.Rule, f.Severity, f.Message)
				}
			}
		}
		if !strings.Contains(found, tt.rule) || tt.rule == "" && found != "" || r.VMs != 0 || r.Templates != 1 {
			t.Errorf("%s: found %q, want %q; %d VMs, %d templates", tt.vm, found, tt.rule, r.VMs, r.Templates)
		}
	}
}
