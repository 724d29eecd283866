package confront_test

import "testing"

// TestTogether compares which vCPUs run on one node of the host with the clients that are predicted.
func TestTogether(t *testing.T) {
	const by = "homenode measure on esx01.example.org, power-cycle: comparable true, agrees "
	const one = "\n  virtual nodes (VPDs): 1 × 32, predicted 1 × 32, true\n"
	for _, tt := range []struct{ name, in, want string }{
		{"hot add hides the clients from the guest", "vm db vcpus=32 memory=64GB hotAdd=on\nseen db by=measure nodes=32 together=2x16",
			by + "true" + one + "  vCPUs by node of the host: 2 × 16, predicted 2 × 16, true\n"},
		{"a client in two groups", "vm db vcpus=32 memory=64GB hotAdd=on\nseen db by=measure nodes=32 together=20+12",
			by + "false" + one + "  vCPUs by node of the host: 20 + 12, predicted 2 × 16, false\n"},
		{"one client, and two groups", "vm db vcpus=16 memory=64GB\nseen db by=measure nodes=16 together=2x8",
			by + "false\n  virtual nodes (VPDs): 1 × 16, predicted 1 × 16, true\n  vCPUs by node of the host: 2 × 8, predicted 1 × 16, false\n"},
		{"clients can share a node", "vm db vcpus=32 memory=64GB hotAdd=on\nseen db by=measure nodes=32 together=32",
			by + "true" + one + "  open: vCPUs by node of the host: 1 group is seen of 2 clients, each of them whole; clients can share a node\n"},
		{"another number of vCPUs", "vm db vcpus=32 memory=64GB hotAdd=on\nseen db by=measure nodes=32 together=2x8",
			by + "true" + one + "  open: vCPUs by node of the host: 16 vCPUs are seen, 32 predicted\n"},
		{"what would make it agree", "vm db vcpus=32 memory=64GB\nseen db by=measure nodes=32 together=2x16",
			by + "false\n  virtual nodes (VPDs): 1 × 32, predicted 2 × 16, false\n  vCPUs by node of the host: 2 × 16, predicted 2 × 16, true\n" +
				"  reason: it is what CPU hot add on would give: changed since the last power-on, only a power cycle makes a change take effect (D-1)\n"},
	} {
		if got := check(t, hosts+tt.in); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
