package vnuma

import (
	"strconv"
	"testing"

	"example.org/homenode/numa"
)

// TestNearestSockets: the cores per socket that a refused VM is advised divide its vCPUs, go with its hardware, and let it power on.
func TestNearestSockets(t *testing.T) {
	m := machineOf(t, numa.ESXi80, 2, 128, 256, 0)
	advised := 0
	for vcpus := int32(1); vcpus <= 200; vcpus++ {
		for _, cps := range []int32{1, 3, 7, 40, 64, 65, 96, 100, 128, 130, 200} {
			for _, hardware := range []int32{8, 11, 19, 20, 21} {
				g := Guest{VCPUs: vcpus, CoresPerSocket: cps, Hardware: hardware}
				for _, way := range Refuse(&g, &m).Ways() {
					for _, e := range way.Edits {
						if e.Kind != numa.EditCoresPerSocket {
							continue
						}
						advised++
						n, err := strconv.Atoi(e.To.Text)
						after := g
						after.CoresPerSocket = int32(n)
						if err != nil || int(vcpus)%n != 0 || Refuse(&after, &m).Any() {
							t.Errorf("%+v: %s: %v", g, way.Do, Refuse(&after, &m))
						}
					}
				}
			}
		}
	}
	if advised < 1000 {
		t.Errorf("%d VMs are advised: the sweep is broken", advised)
	}
	g := Guest{VCPUs: 100, CoresPerSocket: 100, Hardware: 19}
	if got := numa.Either(Refuse(&g, &m).Ways()); got != "Set cores per socket to 50 (2 sockets)" {
		t.Errorf("100 vCPUs of hardware 19: %s", got)
	}
}
