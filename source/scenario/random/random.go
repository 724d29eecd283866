// Package random generates scenarios for tests of invariants of every fleet.
package random

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Fleet generates clusters of equal and different hosts with VMs of every width and the settings that affect
// findings.
func Fleet(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	b.WriteString("release " + pick("6.0", "6.5", "6.7", "7.0", "7.0U3", "8.0U2", "8.0U3") + "\n")
	for c := range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "cluster c%d\n", c)
		hosts := 0
		for range 1 + r.IntN(3) {
			n := 1 + r.IntN(3)
			fmt.Fprintf(&b, "host h%d-[%d-%d] %s cores=%s memory=%s power=%s %s\n", c, hosts, hosts+n-1,
				pick("nodes=1 packages=2", "nodes=2", "nodes=2", "nodes=4", "nodes=4 packages=2", "nodes=2 nodeMemory=64GB,192GB"), pick("8", "12", "18"), pick("256GB", "256GB", "768GB"),
				pick("Balanced", `"Low Power"`, `"High Performance"`), pick("", "", "Numa.PreferHT=1", "Numa.LocalityWeightActionAffinity=0"))
			hosts += n
		}
		for v := range r.IntN(14) {
			vcpus := 1 << r.IntN(6)
			if r.IntN(2) == 0 {
				vcpus = 2 + r.IntN(40)
			}
			cores := 1
			for range 4 {
				if n := 1 + r.IntN(vcpus); vcpus%n == 0 {
					cores = n
				}
			}
			fmt.Fprintf(&b, "vm v%d-%d host=h%d-%d vcpus=%d coresPerSocket=%d memory=%s hotAdd=%s", c, v, c, r.IntN(hosts), vcpus, cores, pick("4GB", "8GB", "64GB", "150GB", "300GB"), pick("on", "off", "off"))
			used := map[string]bool{}
			for range r.IntN(3) {
				word := pick("power=off", fmt.Sprint("stored=", max(1, vcpus/2)), fmt.Sprint("stored=", vcpus), "numa.vcpu.preferHT=TRUE", "numa.vcpu.preferHT=FALSE",
					"numa.consolidate=FALSE", "numa.vcpu.min=4", "numa.vcpu.min=64", "numa.vcpu.maxPerMachineNode=4", "numa.vcpu.maxPerVirtualNode=6", "numa.vcpu.followcorespersocket=1",
					"numa.nodeAffinity=0", "cpuAffinity=0-3", "hw=8", "hw=14", "numa.autosize.once=FALSE", "sched.mem.pshare.enable=FALSE")
				if key := word[:strings.LastIndex(word, "=")]; !used[key] {
					used[key] = true
					b.WriteString(" " + word)
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
