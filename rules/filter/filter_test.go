package filter_test

import (
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/source/scenario/given"
)

const fleet = `release 7.0U3
cluster prod
host esx01.example.com nodes=2 cores=18 memory=1024GB
host esx02.example.com nodes=2 cores=18 memory=1024GB release=6.7
vm sql01 host=esx01.example.com vcpus=32 memory=384GB hotAdd=on tags=tier1,sql folder=/prod/db
vm SQL02 host=esx02.example.com vcpus=32 memory=384GB hotAdd=on folder=/prod/db/old
vm web01 host=esx01.example.com vcpus=2 memory=8GB folder=/prod/web
vm web02 host=esx01.example.com vcpus=2 memory=8GB hw=? folder=/prod/web
cluster lab
host esx09 nodes=4 cores=8 memory=256GB
vm test01 host=esx09 vcpus=16 memory=64GB hotAdd=on
vm golden01 host=esx09 vcpus=4 memory=8GB template=yes power=off
`

func judged(t *testing.T) *rules.Result {
	t.Helper()
	return rules.Run(given.Fleet(t, "test", []byte(fleet)), rules.Options{})
}

func TestFleet(t *testing.T) {
	for _, tt := range []struct {
		name     string
		o        filter.Options
		vms      string
		findings string // rule:subject, high and medium only
	}{
		{"names in any case", filter.Options{VMs: []string{"sql*"}}, "sql01 SQL02", "N001:SQL02 N001:sql01"},
		{"cluster and name", filter.Options{VMs: []string{"lab/*"}}, "test01", "N001:test01"},
		{"a name beside a cluster of that name", filter.Options{VMs: []string{"l*", "te*"}}, "test01", "N001:test01"},
		{"a host without its domain", filter.Options{Hosts: []string{"esx02"}}, "SQL02", "N001:SQL02"},
		{"a folder and what is below", filter.Options{Folders: []string{"/prod/db"}}, "sql01 SQL02", "N001:SQL02 N001:sql01"},
		{"a tag", filter.Options{Tags: []string{"tier?"}}, "sql01", "N001:sql01"},
		{"two together", filter.Options{Clusters: []string{"prod"}, Tags: []string{"sql"}}, "sql01", "N001:sql01"},
		{"a check", filter.Options{Rules: []string{"N002"}}, "sql01 SQL02 web01 web02 test01", ""},
		{"a check by name", filter.Options{Rules: []string{"hotaddhides"}}, "sql01 SQL02 web01 web02 test01", "N001:test01 N001:SQL02 N001:sql01"},
		{"a pattern of names", filter.Options{Rules: []string{"h*"}}, "sql01 SQL02 web01 web02 test01", ""},
		{"severity", filter.Options{Severity: "high", Clusters: []string{"lab"}}, "test01", "N001:test01"},
		{"a condition", filter.Options{Select: "vcpus == 2 && memory < 16"}, "web01 web02", ""},
		{"a variable", filter.Options{Select: "let n = vcpus; n == 2"}, "web01 web02", ""},
		{"a release", filter.Options{Select: "release < 7.0"}, "SQL02", "N001:SQL02"},
		{"a release exactly", filter.Options{Select: "release == 6.7"}, "SQL02", "N001:SQL02"},
		{"an update", filter.Options{Select: "release == 7.0 && update >= 3 && vcpus > 2"}, "sql01 test01", "N001:test01 N001:sql01"},
		{"unknown is not unequal", filter.Options{Select: "hw != 3 && vcpus == 2"}, "web01", ""},
		{"tags in a condition", filter.Options{Select: `"sql" in tags`}, "sql01", "N001:sql01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := filter.New(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := f.Fleet(t.Context(), judged(t))
			if err != nil {
				t.Fatal(err)
			}
			var vms, findings []string
			templates := 0
			for i := range r.Fleet.VMs {
				if v := &r.Fleet.VMs[i]; v.Template.Value {
					templates++
				} else {
					vms = append(vms, v.Name)
				}
			}
			if templates != r.Templates {
				t.Errorf("%d templates are shown, %d are counted", templates, r.Templates)
			}
			for _, x := range r.Findings {
				if x.Severity >= 2 && x.Rule == "N001" {
					findings = append(findings, x.Rule+":"+x.VM)
				}
			}
			if got := strings.Join(vms, " "); got != tt.vms || r.VMs != len(vms) {
				t.Errorf("%d VMs %s, want %s", r.VMs, got, tt.vms)
			}
			if got := strings.Join(findings, " "); got != tt.findings {
				t.Errorf("findings %s, want %s", got, tt.findings)
			}
		})
	}
}

// TestNothing checks the errors, and what is said of values that are unknown.
// TestCost: a finding about a host that slows a VM stays when the VM alone is asked about.
// Notes that count VMs and hosts count those shown.
func TestDoubts(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\nhost h1 nodes=2 cores=32 memory=512GB\nhost h2 release=10.0 nodes=2 cores=16 memory=512GB\nvm sql[1-3] host=h1 vcpus=28 memory=64GB guest=windows2019srv_64Guest\nvm web host=h2 vcpus=4 memory=8GB\n"))
	r := rules.Run(f, rules.Options{})
	for vm, want := range map[string]string{"sql*": "3 Windows VMs", "sql1": "1 Windows VM: more", "web": "1 host: release 10.0"} {
		one, err := filter.New(filter.Options{VMs: []string{vm}})
		if err != nil {
			t.Fatal(err)
		}
		part, err := one.Fleet(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, n := range part.Unjudged {
			notes = append(notes, n.Text)
		}
		if len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
			t.Errorf("--vm %s: notes %q, want one that begins %q", vm, notes, want)
		}
	}
}

func TestCost(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 8.0\ncluster c\nhost h nodes=2 cores=18 memory=1024GB Numa.RebalanceEnable=0\nvm v host=h vcpus=4 memory=16GB\nhost i nodes=2 cores=18 memory=1024GB\nvm w host=i vcpus=4 memory=16GB\n"))
	for _, tt := range []struct{ vm, want string }{{"v", "H008:h"}, {"w", ""}} {
		only, err := filter.New(filter.Options{VMs: []string{tt.vm}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := only.Fleet(t.Context(), rules.Run(f, rules.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range r.Findings {
			if x.VMID == "" {
				got += x.Rule + ":" + x.Host
			}
		}
		if got != tt.want {
			t.Errorf("%s: found %q, want %q", tt.vm, got, tt.want)
		}
	}
}

func TestNothing(t *testing.T) {
	for _, tt := range []struct {
		o    filter.Options
		want string
	}{
		{filter.Options{VMs: []string{"sap*"}}, "nothing is shown: no VM is named sap*"},
		{filter.Options{Select: "hw > 1 && name == 'web02'"}, "nothing is shown: no VM or host matches hw > 1 && name == 'web02': 1 VM is left out: the condition needs a value that is unknown"},
		{filter.Options{VMs: []string{"lab*"}}, "nothing is shown: no VM is named lab*"},
		{filter.Options{VMs: []string{"esx01"}}, "nothing is shown: esx01 is a host: --host esx01"},
		{filter.Options{VMs: []string{"prod/sql1"}}, "nothing is shown: no VM is named prod/sql1; alike: sql01, SQL02"},
		{filter.Options{Hosts: []string{"esx1*"}}, "nothing is shown: no host is named esx1*; alike: esx01.example.com, esx02.example.com, esx09"},
		{filter.Options{Clusters: []string{"nope"}}, "nothing is shown: no cluster is named nope; known: lab, prod"},
		{filter.Options{Folders: []string{"/prod/dp"}}, "nothing is shown: no folder is named /prod/dp; known: /prod/db, /prod/db/old, /prod/web"},
		{filter.Options{Tags: []string{"tier2"}}, "nothing is shown: no tag is named tier2; alike: tier1"},
		{filter.Options{VMs: []string{"web01"}, Hosts: []string{"esx09"}}, "nothing is shown: no VM or host matches VM web01; host esx09"},
		{filter.Options{Rules: []string{"X9*"}}, "--rule: no check is named X9*: homenode rules lists them"},
		{filter.Options{Rules: []string{"N001", "hotadhides"}}, "--rule: no check is named hotadhides; alike: hotaddhides: homenode rules lists them"},
		{filter.Options{Severity: "urgent"}, `--severity: found "urgent", want one of info, low, medium, high`},
		{filter.Options{Select: "vcpus = 2"}, ""},
		{filter.Options{Select: "vcpu == 2"}, ""},
		{filter.Options{Select: "vcpus + 1"}, ""},
		{filter.Options{Select: "vcpus == 'two'"}, ""},
	} {
		f, err := filter.New(tt.o)
		if err == nil {
			_, err = f.Fleet(t.Context(), judged(t))
		}
		if err == nil || tt.want != "" && err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", tt.o, err, tt.want)
		}
	}
	f, err := filter.New(filter.Options{VMs: []string{"web01", "web3"}})
	if err != nil {
		t.Fatal(err)
	}
	some, err := f.Fleet(t.Context(), judged(t))
	if err != nil || some.VMs != 1 || len(some.Unjudged) == 0 || some.Unjudged[len(some.Unjudged)-1].Text != "no VM is named web3; alike: web01, web02" {
		t.Errorf("a name beside others that no VM has: %v, notes %v", err, some.Unjudged)
	}
	if f, err := filter.New(filter.Options{}); f != nil || err != nil {
		t.Errorf("no options: %v, %v", f, err)
	}
	r := judged(t)
	if got, err := (*filter.Filter)(nil).Fleet(t.Context(), r); got != r || err != nil {
		t.Error("no filter changes the result")
	}
}

// TestTemplates shows the findings of the templates that a filter matches, as of VMs.
func TestTemplates(t *testing.T) {
	fleet := given.Fleet(t, "fleet", []byte("release 8.0U3\ncluster a\nhost esx1 nodes=2 cores=18 memory=512GB\nvm gold host=esx1 vcpus=24 memory=64GB hw=19 hotAdd=on template=yes\ncluster b\nhost esx2 nodes=2 cores=18 memory=512GB\nvm b1 host=esx2 vcpus=4 memory=8GB hw=19\n"))
	for cluster, want := range map[string]int{"a": 1, "b": 0} {
		f, err := filter.New(filter.Options{Clusters: []string{cluster}, Rules: []string{"N001"}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Fleet(t.Context(), rules.Run(fleet, rules.Options{}))
		if err != nil || len(r.Findings) != want || r.Templates != want {
			t.Errorf("cluster %s: %v, %d findings, %d templates, want %d", cluster, err, len(r.Findings), r.Templates, want)
		}
	}
}
