package rules_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestSizesOfHANA checks that no advice about a VM of SAP HANA changes its vCPUs to a count that SAP HANA is not sized for on its host: whole
// sockets or half a one, of 8 cores at least.
func TestSizesOfHANA(t *testing.T) {
	advised := 0
	for _, cores := range []int{7, 12, 20, 27, 28, 60} {
		var in strings.Builder
		fmt.Fprintf(&in, "release 8.0U3\ncluster c\nhost esx01 nodes=2 cores=%d memory=1TB mhz=2000\n", cores)
		n := 0
		for _, product := range []string{"SAP HANA", "SAP HANA, SQL Server 2022 Standard", "SAP HANA, SQL Server 2025 Standard"} {
			for _, vcpus := range []int{10, cores, cores + cores/2, 2 * cores, 2*cores + 2, 3 * cores} {
				for _, words := range []string{"", " numa.nodeAffinity=0", " ft=primary reserveAll=on", " latency=high reserveAll=on", " numa.vcpu.preferHT=TRUE hw=19"} {
					n++
					fmt.Fprintf(&in, "vm v%d host=esx01 power=off vcpus=%d memory=200GB product=%q%s\n", n, vcpus, product, words)
				}
			}
		}
		f := given.Fleet(t, "sizes", []byte(in.String()))
		r := rules.Run(f, rules.Options{})
		vms := r.ByID()
		for i := range r.Findings {
			found := &r.Findings[i]
			for _, w := range found.Ways {
				for _, e := range w.Edits {
					if e.Kind != numa.EditVCPUs {
						continue
					}
					advised++
					size, err := strconv.Atoi(e.To.Text)
					v := *vms[found.VMID]
					v.Guest.PreferHT = v.Guest.PreferHT && !slices.ContainsFunc(w.Edits, func(e numa.Edit) bool { return e.Key == "numa.vcpu.preferHT" })
					if err != nil || !v.Sized(size) {
						t.Errorf("sockets of %d cores, %d vCPUs, %s: %s", cores, v.Guest.VCPUs, found.Rule, w.Do)
					}
				}
			}
		}
	}
	if advised < 20 {
		t.Fatalf("only %d sizes were advised: the test looks at nothing", advised)
	}
}
