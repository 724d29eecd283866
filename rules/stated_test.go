package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"homenode/rules"
	"homenode/source/kvm"
	"homenode/source/scenario"
)

// FuzzStated judges whatever a definition states: each finding is of a rule of KVM, no worse than that allows, and has evidence.
func FuzzStated(f *testing.F) {
	paths, err := filepath.Glob("*/testdata/fires.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(data).Files {
			if strings.HasSuffix(file.Name, ".xml") {
				f.Add(file.Data)
			}
		}
	}
	f.Add([]byte("<vcpu>2</vcpu><topology sockets='4096' dies='4096' cores='4096' threads='4096'/>"))
	host := func(t testing.TB) []byte { return capabilities(t, "kvm01", "nodes=2 cores=16 memory=256GB") }
	f.Fuzz(func(t *testing.T, data []byte) {
		fleet, err := kvm.ReadFS("kvm", fstest.MapFS{"kvm01/capabilities.xml": {Data: host(t)}, "kvm01/domains/x.xml": {Data: data}})
		if err != nil {
			return
		}
		r := rules.Run(fleet, rules.Options{})
		for _, x := range r.Findings {
			if one := r.Rule(x.Rule); one == nil || one.Stated == nil || x.Severity > one.Severity || len(x.Evidence) == 0 || x.Message == "" || x.Advice == "" {
				t.Errorf("%+v", x)
			}
		}
	})
}

// TestHypervisors: the rules of one hypervisor are silent about the other.
func TestHypervisors(t *testing.T) {
	for _, x := range rules.Run(kvmFleet(t, "nodepersocket/testdata/fires.txtar"), rules.Options{}).Findings {
		if !strings.HasPrefix(x.Rule, "K") {
			t.Errorf("%s judges KVM: %s", x.Rule, x.Message)
		}
	}
	f, err := scenario.Read("x", []byte("release 8.0\nhost esx01 nodes=2 cores=16 memory=256GB\nvm a host=esx01 vcpus=24 coresPerSocket=1 memory=64GB hotAdd=on\n"))
	if err != nil {
		t.Fatal(err)
	}
	found := rules.Run(f, rules.Options{}).Findings
	for _, x := range found {
		if strings.HasPrefix(x.Rule, "K") {
			t.Errorf("%s judges ESXi: %s", x.Rule, x.Message)
		}
	}
	if len(found) == 0 {
		t.Error("nothing was found of ESXi: the test looks at nothing")
	}
}
