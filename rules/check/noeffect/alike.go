package noeffect

import (
	"strings"

	"example.org/homenode/internal/alike"
)

// known lists the numa.* settings of a VM (B-10).
var known = []string{
	"numa.vcpu.min", "numa.vcpu.maxPerVirtualNode", "numa.vcpu.maxPerMachineNode", "numa.vcpu.maxPerClient",
	"numa.vcpu.coresPerNode", "numa.vcpu.followcorespersocket", "numa.vcpu.preferHT", "numa.autosize",
	"numa.autosize.once", "numa.autosize.cookie", "numa.autosize.vcpu.maxPerVirtualNode", "numa.consolidate",
	"numa.allowHotadd", "numa.nodeAffinity", "numa.LocalityWeightActionAffinity",
}

// prefix is the prefix of all of them.
const prefix = "numa"

// misspelt returns the known setting that key probably stands for; empty if key is known
// itself, not a numa setting, or not similar to any.
func misspelt(key string) string {
	if len(key) < len(prefix) || !strings.EqualFold(key[:len(prefix)], prefix) {
		return ""
	}
	nearest, exact := alike.Of(key, known)
	if exact {
		return ""
	}
	return nearest
}
