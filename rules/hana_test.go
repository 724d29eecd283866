package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
)

// TestHANASizeFirst: a layout for a number of vCPUs that SAP HANA does not support is advised only where the product's own limits do not count,
// and one for a supported number without a condition.
func TestHANASizeFirst(t *testing.T) {
	const unless = "nly where it is no production system of SAP HANA"
	for vcpus, supported := range map[int]bool{40: false, 48: false, 64: true, 36: false} {
		for _, more := range []string{"hotAdd=on coresPerSocket=4", "coresPerSocket=1 numa.vcpu.maxPerVirtualNode=10", fmt.Sprintf("hotAdd=on coresPerSocket=%d", vcpus)} {
			text := fmt.Sprintf("release 8.0U3\nhost h nodes=2 cores=32 memory=1024GB\nvm v host=h vcpus=%d memory=512GB hw=20 product=\"SAP HANA\" %s\n", vcpus, more)
			planned := 0
			for _, f := range rules.Run(given.Fleet(t, "in", []byte(text)), rules.Options{}).Findings {
				if !f.Planned() {
					continue
				}
				planned++
				if is := strings.Contains(f.Advice, unless); is == supported {
					t.Errorf("%s%s: %s", text, f.Rule, f.Advice)
				}
			}
			if planned == 0 {
				t.Errorf("%sno finding advises a layout", text)
			}
		}
	}
}
