package rules_test

import (
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestUnequalByAHair checks that like hosts whose nodes differ by what their kernels
// keep are named together, not one by one.
func TestUnequalByAHair(t *testing.T) {
	f := given.Fleet(t, "hair", []byte(`release 7.0
cluster mixed
host esx01 nodes=2 cores=20 nodeMemory=196500MB,196608MB
host esx02 nodes=2 cores=20 nodeMemory=196510MB,196608MB
host esx03 nodes=4 cores=14 nodeMemory=261900MB,262144MB,262144MB,262144MB
host esx04 nodes=4 cores=14 nodeMemory=261950MB,262144MB,262144MB,262144MB
host esx05 nodes=4 cores=14 nodeMemory=261960MB,262144MB,262144MB,262144MB
vm hot host=esx03 vcpus=16 memory=64GB hotAdd=on
`))
	r := rules.Run(f, rules.Options{})
	for _, f := range r.Findings {
		if f.Rule == "N001" {
			if !strings.HasPrefix(f.Message, "CPU hot add hides NUMA on esx03–05: ") || strings.Join(f.On, " ") != "esx03 esx04 esx05" {
				t.Errorf("%s\non %v; want esx03–05", f.Message, f.On)
			}
			return
		}
	}
	t.Error("N001 does not fire")
}
