package gate

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/source/planned"
	"example.org/homenode/source/scenario/given"
)

// planOf returns the output of terraform show -json for n VMs of several sizes.
func planOf(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"format_version":"1.2","terraform_version":"1.9.8","planned_values":{"root_module":{"resources":[`)
	sizes := []int{2, 4, 8, 12, 16, 24, 32, 48}
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"address":"vsphere_virtual_machine.vm[%d]","mode":"managed","type":"vsphere_virtual_machine","values":{"name":"vm%04d","num_cpus":%d,"num_cores_per_socket":%d,"memory":%d,"cpu_hot_add_enabled":%t,"extra_config":{}}}`,
			i, i, sizes[i%len(sizes)], 1+i/8%2, 8192<<(i%5), i%3 == 0)
	}
	b.WriteString(`]}}}`)
	return []byte(b.String())
}

// BenchmarkGate judges 1,000 planned VMs against a fleet of 500 hosts of ten kinds; docs/evidence/performance.md has the whole process.
func BenchmarkGate(b *testing.B) {
	var lines strings.Builder
	for c := range 25 {
		release := []string{"8.0U3", "7.0U3"}[c/5%2]
		fmt.Fprintf(&lines, "cluster c%02d\nhost esx%02d[01-20] nodes=2 cores=%d memory=%dGB release=%s\n", c, c, []int{16, 24, 32, 28, 20}[c%5], 512+256*(c%5), release)
	}
	hosts := given.Fleet(b, "fleet", []byte(lines.String()))
	plan := planOf(1000)
	b.ReportAllocs()
	for b.Loop() {
		f, err := planned.ReadBytes("plan.json", plan)
		if err != nil {
			b.Fatal(err)
		}
		f.Clusters, f.Hosts = hosts.Clusters, hosts.Hosts
		if f, err = Place(f, nil); err != nil {
			b.Fatal(err)
		}
		if vms := Judge(rules.Run(f, rules.Options{})); len(vms) != 1000 {
			b.Fatal(len(vms))
		}
	}
}
