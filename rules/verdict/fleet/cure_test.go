package fleet_test

import "testing"

// TestCure: the explanation of a VM that does not power on advises as the finding about it; on a host that is not its own as the refusal there.
func TestCure(t *testing.T) {
	r := judge(t, `release 7.0U2
cluster c
host a nodes=2 cores=10 threads=20 memory=512GB mhz=2000
host b nodes=2 cores=8 threads=16 memory=512GB mhz=2000
vm wide host=a vcpus=48 memory=64GB coresPerSocket=24 hw=19
vm fast host=a vcpus=8 memory=64GB coresPerSocket=8 hw=19 latency=high
vm old host=a vcpus=8 memory=16GB coresPerSocket=8 hw=4
`)
	for _, tt := range []struct{ vm, on, want string }{
		{"wide", "a", "Use at most 20 vCPUs with 10 cores per socket (with 40: more vCPUs than cores, or a CPU or memory limit that holds the VM back); it powers on with up to 40"},
		{"wide", "b", "Use at most 32 vCPUs with 8 cores per socket"},
		{"old", "a", "Upgrade the virtual hardware to 19, or use at most 4 vCPUs with 1 core per socket"},
		{"fast", "a", "Reserve all guest memory and reserve 16000 MHz CPU, or set latency sensitivity to Normal"},
		{"fast", "b", "Reserve all guest memory, or set latency sensitivity to Normal"},
	} {
		if got := explain(t, r, tt.vm, tt.on).Cure(); got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.vm, tt.on, got, tt.want)
		}
	}
}
