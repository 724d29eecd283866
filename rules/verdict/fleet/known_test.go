package fleet_test

import (
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/rules/verdict/matrix"
	"example.org/homenode/source/scenario/given"
)

func judge(t *testing.T, in string) *rules.Result {
	t.Helper()
	return rules.Run(given.Fleet(t, "test", []byte(in)), rules.Options{})
}

// TestNotKnown checks that the headline says what is not known of how many VMs, and is not sure of the others then.
func TestNotKnown(t *testing.T) {
	const host = "release 7.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB\nhost i nodes=2 cores=16 memory=512GB\nvm bad host=h vcpus=24 memory=64GB hotAdd=on hw=19\n"
	for _, tt := range []struct{ vms, want string }{
		{"vm v host=h vcpus=8 memory=64GB hw=19\n", "The other 1 needs nothing urgent."},
		{"vm v host=h vcpus=8 memory=64GB hw=19 hotAdd=?\n", "The other 1 needs nothing urgent, as far as is known. Not known: CPU hot add of 1 VM."},
		{"vm v host=h vcpus=8 memory=? hw=19 coresPerSocket=?\n", "Not known: the memory of 1 VM, cores per socket of 1 VM."},
		{"vm v cluster=c vcpus=8 memory=64GB hw=19\n", "Not known: the host of 1 VM."},
		{"vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 guest=windows2019srv_64Guest\n", "Not known: the guest software (SQL Server Standard uses the lesser of 4 sockets and 24 cores, 32 in 2025) of 1 VM."},
		{"vm v host=h vcpus=8 memory=64GB hw=19 coresPerSocket=8 cpuLimit=4000\n", "Not known: the frequency of the cores (the VM has a CPU limit or reservation) of 1 VM."},
		{"vm v host=h vcpus=8 memory=64GB hw=19 coresPerSocket=8 latency=high reserveAll=on cpuReservation=9000\n", "Not known: the frequency of the cores (the VM has a CPU limit or reservation) of 1 VM."},
		{"vm v host=h vcpus=8 memory=64GB hw=19 coresPerSocket=8 cpuReservation=9000 power=on\n", "The other 1 needs nothing urgent."},
		{"vm hana01 host=h vcpus=12 memory=300GB hw=19\n", "Not known: the guest software (perhaps SAP HANA by its name) of 1 VM."},
		{"vm hana01 host=h vcpus=16 memory=200GB hw=19\n", "The other 1 needs nothing urgent."},
		{"vm hana01 host=h vcpus=12 memory=64GB hw=19 product=PostgreSQL\n", "The other 1 needs nothing urgent."},
		{"vm v host=h vcpus=32 memory=64GB hw=19 coresPerSocket=16 guest=windows2019srv_64Guest product=\"SQL-Srv 22\"\n", "Not known: the guest software (SQL Server Standard uses the lesser of 4 sockets and 24 cores, 32 in 2025) of 1 VM."},
	} {
		r := judge(t, host+tt.vms)
		if strings.Contains(tt.want, "the host") {
			r.Clusters[0].VMs[1].Host, r.Clusters[0].VMs[1].Home = nil, nil
		}
		text := strings.Join(fleet.Verdict(r), " ")
		if !strings.HasSuffix(text, tt.want) {
			t.Errorf("%sgot %q, want %q at its end", tt.vms, text, tt.want)
		}
	}
}

// TestTwice: VMs that are in two sources are said to count twice.
func TestTwice(t *testing.T) {
	for uuids, want := range map[[2]string]string{
		{"5021A0B1", "5021a0b1"}: "The other 2 need nothing urgent. 1 VM counts twice, by name and UUID: leave one of their sources out.",
		{"5021a0b1", "5021a0b2"}: "The other 2 need nothing urgent.",
		{"", ""}:                 "The other 2 need nothing urgent.",
	} {
		const in = "release 7.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB\nvm bad vcpus=24 memory=64GB hotAdd=on hw=19\nvm v vcpus=8 memory=64GB hw=19\nvm w vcpus=8 memory=64GB hw=19\n"
		f := given.Fleet(t, "test", []byte(in))
		f.VMs[1].UUID, f.VMs[2].UUID, f.VMs[2].Name = uuids[0], uuids[1], f.VMs[1].Name
		if got := fleet.Verdict(rules.Run(f, rules.Options{}))[1]; got != want {
			t.Errorf("%v: %q, want %q", uuids, got, want)
		}
	}
}

// TestAllClear: the headline that no performance is lost is as sure as the facts.
func TestAllClear(t *testing.T) {
	const host = "release 7.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB mhz=2600\n"
	for vm, want := range map[string]string{
		"vm v vcpus=8 memory=64GB hw=19\n":                                                                             "No performance is lost to NUMA that settings could avoid (1 VM checked).",
		"vm v vcpus=40 coresPerSocket=20 memory=64GB hw=19 guest=sles15_64Guest\n":                                     "No performance is lost to NUMA that settings could avoid (1 VM checked).",
		"vm v vcpus=6 coresPerSocket=4 memory=64GB hw=19 power=on hotAdd=on\n":                                         "1 VM does not power on: v (it runs, and would not power on again).",
		"vm v vcpus=24 memory=64GB hw=19 hotAdd=?\n":                                                                   "No performance is lost to NUMA that settings could avoid (1 VM checked), as far as is known.",
		"vm a vcpus=8 memory=200GB hw=19 cpuReservation=40000\nvm b vcpus=8 memory=200GB hw=19 cpuReservation=50000\n": "1 VM does not power on: b.",
		"vm v vcpus=24 coresPerSocket=12 memory=64GB hw=19 ft=primary\n":                                               "No performance is lost to NUMA that settings could avoid (1 VM checked).",
	} {
		if got := fleet.Verdict(judge(t, host+vm))[0]; got != want {
			t.Errorf("%sgot %q, want %q", vm, got, want)
		}
	}
}

// TestUnread checks that the headline says that files could not be read, and that an inventory without VMs is called empty.
func TestUnread(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm bad host=h vcpus=24 memory=64GB hotAdd=on hw=19\nvm v host=h vcpus=8 memory=64GB hw=19\n"))
	f.Unread = []string{"a.csv"}
	text := strings.Join(fleet.Verdict(rules.Run(f, rules.Options{})), " ")
	if !strings.Contains(text, "as far as is known") || !strings.HasSuffix(text, "1 source could not be read completely, so VMs may be missing: see the notes.") {
		t.Error(text)
	}
	f.VMs = nil
	if text := fleet.Verdict(rules.Run(f, rules.Options{}))[0]; text != "Nothing was assessed: no VM was found. These sources could not be read, are incomplete, or have an unknown format: a.csv." {
		t.Error(text)
	}
	if text := strings.Join(fleet.Verdict(judge(t, "release 7.0U3\n")), " "); text != "The inventory is empty: it lists no VM." {
		t.Error(text)
	}
}

// TestElsewhere: where a vMotion makes VMs worse the headline says so, in the number of the matrix of their cluster.
func TestElsewhere(t *testing.T) {
	r := judge(t, "release 7.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB\nhost i nodes=1 packages=2 cores=32 memory=512GB\nvm v host=h vcpus=8 memory=64GB hw=19\nvm w host=h vcpus=8 memory=64GB hw=19\nvm x host=i vcpus=8 memory=64GB hw=19\n")
	text, said := strings.Join(fleet.Verdict(r), " "), strings.Join(matrix.Verdict([]*matrix.Matrix{matrix.Of(r.Clusters[0], matrix.Options{})}), " ")
	if !strings.Contains(text, "2 VMs would be worse on other hosts of their clusters.") || !strings.Contains(said, "2 get a worse one.") {
		t.Errorf("%s\n%s", text, said)
	}
}

// TestAssumedCores checks that a layout names what is assumed for cores per socket that no source states, and that the explanation says so.
func TestAssumedCores(t *testing.T) {
	for _, tt := range []struct{ words, unknown, assumed string }{
		{"coresPerSocket=2 hotAdd=off", "", ""},
		{"coresPerSocket=? hotAdd=off", "Not known: cores per socket.", "cores per socket are unknown: 1 is taken (B-12)"},
		{"coresPerSocket=? hotAdd=?", "Not known: CPU hot add, cores per socket.", "CPU hot add is unknown: off is taken (B-15)"},
	} {
		r := judge(t, "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm v host=h vcpus=24 memory=64GB hw=19 "+tt.words+"\n")
		v := r.Clusters[0].VMs[0]
		x, err := fleet.Explain(r, v, v.Host, vnuma.Case{})
		if err != nil {
			t.Fatal(err)
		}
		texts := strings.Join(x.Layout.Assumes.Texts(), "; ")
		if x.Unknown() != tt.unknown || !strings.Contains(texts, tt.assumed) || tt.assumed == "" && strings.Contains(texts, "cores per socket") {
			t.Errorf("%s: %q; assumed %s", tt.words, x.Unknown(), texts)
		}
	}
}

// TestNodesUnknown: of a VM whose host is known without its nodes, that is said, and neither that it has no host nor that it is fine.
func TestNodesUnknown(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\nvm v host=h vcpus=8 memory=64GB hw=19\n"))
	f.Hosts[0].Nodes = numa.Host{}.Nodes
	r := rules.Run(f, rules.Options{})
	text := strings.Join(fleet.Verdict(r), " ")
	for _, n := range r.Unjudged {
		text += " " + n.Text
	}
	for said, want := range map[string]bool{"No VM could be judged. 1 VM could not be judged: see the notes.": true, "its host h is known, and the NUMA nodes of that are not": true,
		"no host that it can run on": false, "None of": false, "needs nothing": false} {
		if strings.Contains(text, said) != want {
			t.Errorf("%q: %v, want %v, in %s", said, !want, want, text)
		}
	}
}

// TestTemplates checks that clones are warned of what they inherit, that it costs no VM anything yet, and that a template as it should be is silent.
func TestTemplates(t *testing.T) {
	const host = "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\n"
	for _, tt := range []struct{ vm, rule string }{
		{"vcpus=24 memory=64GB hotAdd=on", "N001"},
		{"vcpus=24 memory=400GB numa.vcpu.preferHT=TRUE", "N012"},
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
		if !strings.Contains(found, tt.rule) || tt.rule == "" && found != "" || r.VMs != 0 || r.Templates != 1 || fleet.Verdict(r)[0] != "There is no VM, only 1 template, assessed for their future clones." {
			t.Errorf("%s: found %q, want %q; %d VMs, %d templates; %s", tt.vm, found, tt.rule, r.VMs, r.Templates, fleet.Verdict(r))
		}
	}
}
