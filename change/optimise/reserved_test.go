package optimise

import "testing"

// TestReservedCPU: no vMotion goes to a host whose VMs have reserved the CPU that the VM reserves (admission control, B-30), although memory has room.
func TestReservedCPU(t *testing.T) {
	const hosts = "release 8.0U3\ncluster c\nhost e[1-2] nodes=2 cores=16 memory=512GB mhz=2600\n"
	const on2 = "vm e[1-4] host=e2 vcpus=8 coresPerSocket=8 memory=40GB hw=19 cpuReservation=20000\n"
	for _, tt := range []struct {
		vms   string
		moves bool
	}{
		{on2 + "vm a[1-3] host=e1 vcpus=8 coresPerSocket=8 memory=200GB hw=19 cpuReservation=20000\n", false},
		{on2 + "vm a[1-3] host=e1 vcpus=8 coresPerSocket=8 memory=200GB hw=19 cpuReservation=3000\n", true},
		{on2 + "vm a[1-2] host=e1 vcpus=8 coresPerSocket=8 memory=200GB hw=19 cpuReservation=20000\nvm b host=e1 vcpus=8 coresPerSocket=8 memory=200GB hw=19\n", true},
		// A host has 83200 MHz.
		{"vm e host=e2 vcpus=24 coresPerSocket=12 memory=40GB hw=19 cpuReservation=62400\nvm a[1-3] host=e1 vcpus=8 coresPerSocket=8 memory=200GB hw=19 cpuReservation=20800\n", true},
		{"vm e host=e2 vcpus=24 coresPerSocket=12 memory=40GB hw=19 cpuReservation=62400\nvm a[1-3] host=e1 vcpus=8 coresPerSocket=8 memory=200GB hw=19 cpuReservation=22000\n", false},
	} {
		p, _, err := FromFleet(t.Context(), fleet(t, hosts+tt.vms), "c", nil, Constraints{KeepShapes: true})
		if err != nil {
			t.Fatal(err)
		}
		out, err := Solve(t.Context(), p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if moves := len(out.Steps) > 0; moves != tt.moves {
			t.Errorf("%smoves: %v, want %v: %+v", tt.vms, moves, tt.moves, out.Steps)
		}
		for _, h := range p.Breach(out.Steps).Hosts {
			if h.MHz > 0 {
				t.Errorf("%s: %+v", tt.vms, h)
			}
		}
	}
}
