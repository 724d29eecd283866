package vnuma

import (
	"testing"

	"example.org/homenode/numa"
)

// TestRefuse holds what vSphere refuses, each with the numbers of its source (rule book
// B-26 to B-28), and the largest that it still takes.
func TestRefuse(t *testing.T) {
	const most = numa.MaxCoresPerNode
	for _, tt := range []struct {
		name    string
		release numa.Release
		cores   int // of each of two nodes, with two threads each; negative: of an EPYC
		guest   Guest
		want    string
	}{
		// Hardware features available with virtual machine compatibility settings.
		{"hardware 4", numa.ESXi60, most, Guest{VCPUs: 4, CoresPerSocket: 1, Hardware: 4}, ""},
		{"hardware 4, 5 vCPUs", numa.ESXi60, most, Guest{VCPUs: 5, CoresPerSocket: 1, Hardware: 4}, "5 vCPUs are more than the 4 of virtual hardware 4"},
		{"hardware 4, 2 cores", numa.ESXi60, most, Guest{VCPUs: 4, CoresPerSocket: 2, Hardware: 4}, "2 cores per socket are more than the 1 of virtual hardware 4"},
		{"hardware 7", numa.ESXi60, most, Guest{VCPUs: 8, CoresPerSocket: 8, Hardware: 7, Memory: 255 * gib}, ""},
		{"hardware 7, 256 GB", numa.ESXi60, most, Guest{VCPUs: 8, CoresPerSocket: 8, Hardware: 7, Memory: 256 * gib}, "256 GB of memory are more than the 255 GB of virtual hardware 7"},
		{"hardware 8", numa.ESXi50, most, Guest{VCPUs: 32, CoresPerSocket: 32, Memory: 1011 * gib}, ""},
		{"hardware 8, 40 vCPUs", numa.ESXi50, most, Guest{VCPUs: 40, CoresPerSocket: 20}, "40 vCPUs are more than the 32 of virtual hardware 8"},
		{"hardware 9, 96 vCPUs", numa.ESXi80, most, Guest{VCPUs: 96, CoresPerSocket: 1, Hardware: 9}, "96 vCPUs are more than the 64 of virtual hardware 9"},
		{"hardware 10, 1012 GB", numa.ESXi80, most, Guest{VCPUs: 64, CoresPerSocket: 1, Hardware: 10, Memory: 1012 * gib}, "1012 GB of memory are more than the 1011 GB of virtual hardware 10"},
		{"hardware 11", numa.ESXi60, most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 11, Memory: 4080 * gib}, ""},
		{"hardware 12 states no memory", numa.ESXi65, most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 12, Memory: 6000 * gib}, ""},
		{"hardware 14, 180 vCPUs", numa.ESXi80, most, Guest{VCPUs: 180, CoresPerSocket: 2, Hardware: 14}, "180 vCPUs are more than the 128 of virtual hardware 14"},
		{"hardware 17, 257 vCPUs", numa.ESXi80, most, Guest{VCPUs: 257, CoresPerSocket: 1, Hardware: 17}, "257 vCPUs are more than the 256 of virtual hardware 17"},
		{"hardware 17, 6129 GB", numa.ESXi80, most, Guest{VCPUs: 8, CoresPerSocket: 1, Hardware: 17, Memory: 6129 * gib}, "6129 GB of memory are more than the 6128 GB of virtual hardware 17"},
		{"BIOS, 6129 GB", numa.ESXi80, most, Guest{VCPUs: 8, CoresPerSocket: 1, Hardware: 20, Memory: 6129 * gib, Needs: Needs{BIOS: true}}, "6129 GB of memory, more than 6128 GB, need EFI firmware, and the VM has BIOS"},
		{"BIOS, 6128 GB", numa.ESXi80, most, Guest{VCPUs: 8, CoresPerSocket: 1, Hardware: 20, Memory: 6128 * gib, Needs: Needs{BIOS: true}}, ""},
		{"hardware 18", numa.ESXi80, most, Guest{VCPUs: 768, CoresPerSocket: 64, Hardware: 18, Memory: 24560 * gib}, ""},
		{"hardware 19, 80 cores", numa.ESXi80, most, Guest{VCPUs: 160, CoresPerSocket: 80, Hardware: 19}, "80 cores per socket are more than the 64 of virtual hardware 19"},
		{"hardware 19, 160 sockets", numa.ESXi80, most, Guest{VCPUs: 160, CoresPerSocket: 1, Hardware: 19}, "160 virtual sockets are more than the 128 of virtual hardware 19"},
		{"hardware 20", numa.ESXi80, most, Guest{VCPUs: 768, CoresPerSocket: 256, Hardware: 20}, ""},
		{"hardware 20, 257 cores", numa.ESXi80, most, Guest{VCPUs: 514, CoresPerSocket: 257, Hardware: 20}, "257 cores per socket are more than the 256 of virtual hardware 20"},
		{"hardware 21, automatic sockets", numa.ESXi80 + 2, most, Guest{VCPUs: 768, CoresPerSocket: 1, AutoCPS: true, Hardware: 21}, ""},
		{"hardware 21, 769 vCPUs", numa.ESXi90, most, Guest{VCPUs: 769, CoresPerSocket: 1, AutoCPS: true, Hardware: 21}, "769 vCPUs are more than the 768 of virtual hardware 21"},
		{"hardware 22", numa.ESXi90, most, Guest{VCPUs: 960, CoresPerSocket: 960, Hardware: 22}, ""},
		{"hardware 22, 961 vCPUs", numa.ESXi90, most, Guest{VCPUs: 961, CoresPerSocket: 31, Hardware: 22}, "961 vCPUs are more than the 960 of virtual hardware 22"},
		{"unknown hardware: that of the release", numa.ESXi65, most, Guest{VCPUs: 129, CoresPerSocket: 1}, "129 vCPUs are more than the 128 of virtual hardware 13"},

		// Broadcom KB 315655: which release runs which version.
		{"22 on 8.0 U3", numa.ESXi80 + 3, 32, Guest{VCPUs: 4, CoresPerSocket: 1, Hardware: 22}, "virtual hardware 22 is newer than the 21 of ESXi 8.0 U3"},
		{"21 on 8.0 U1", numa.ESXi80 + 1, 32, Guest{VCPUs: 4, CoresPerSocket: 1, Hardware: 21}, "virtual hardware 21 is newer than the 20 of ESXi 8.0 U1"},
		{"15 on 6.7", numa.ESXi67, 32, Guest{VCPUs: 4, CoresPerSocket: 1, Hardware: 15}, "virtual hardware 15 is newer than the 14 of ESXi 6.7"},
		{"12 on 6.0", numa.ESXi60, 32, Guest{VCPUs: 4, CoresPerSocket: 1, Hardware: 12}, "virtual hardware 12 is newer than the 11 of ESXi 6.0"},
		{"a version newer than the table on a family newer than it", numa.NewRelease(9, 1, 0), 32, Guest{VCPUs: 4, CoresPerSocket: 1, Hardware: 23}, ""},

		// Virtual CPU Limitations; “imperfect divisor of CPUs”.
		{"as many as logical CPUs", numa.ESXi70, 16, Guest{VCPUs: 64, CoresPerSocket: 1, Hardware: 17}, ""},
		{"more than logical CPUs", numa.ESXi70, 16, Guest{VCPUs: 66, CoresPerSocket: 1, Hardware: 17}, "66 vCPUs are more than the 64 logical CPUs of the host"},
		{"10 vCPUs of 4", numa.ESXi70, 16, Guest{VCPUs: 10, CoresPerSocket: 4, Hardware: 17}, "10 vCPUs are no multiple of 4 cores per socket"},
		{"1 vCPU of 4", numa.ESXi70, 16, Guest{VCPUs: 1, CoresPerSocket: 4, Hardware: 17}, ""},

		// VM Operator API: vnumaNodeCount.
		{"nodes of 6, sockets of 4", numa.ESXi80, 16, Guest{VCPUs: 24, CoresPerSocket: 4, CoresPerNode: 6, Hardware: 20}, "4 cores per socket are neither a multiple nor a divisor of the 6 cores per NUMA node set by hand"},
		{"nodes of 6, sockets of 12", numa.ESXi80, 16, Guest{VCPUs: 24, CoresPerSocket: 12, CoresPerNode: 6, Hardware: 20}, ""},
		{"nodes of 6, sockets of 3", numa.ESXi80, 16, Guest{VCPUs: 24, CoresPerSocket: 3, CoresPerNode: 6, Hardware: 20}, ""},
		{"nodes of 7", numa.ESXi80, 16, Guest{VCPUs: 24, CoresPerSocket: 1, CoresPerNode: 7, Hardware: 20}, "24 vCPUs are no multiple of the 7 cores per NUMA node set by hand"},
		{"nodes of 6, automatic sockets", numa.ESXi80, 16, Guest{VCPUs: 24, CoresPerSocket: 1, AutoCPS: true, CoresPerNode: 6, Hardware: 20}, "6 cores per NUMA node are set by hand, and cores per socket are left to be assigned at power on"},
		{"nodes of 7 before 8.0", numa.ESXi70, 16, Guest{VCPUs: 24, CoresPerSocket: 1, CoresPerNode: 7, Hardware: 17}, ""},

		// Virtual machine hardware versions: “Version 3 virtual machines are not supported on ESXi 5.0 hosts”.
		{"hardware 3", numa.ESX41, most, Guest{VCPUs: 2, CoresPerSocket: 1, Hardware: 3}, ""},
		{"hardware 3, 5 vCPUs", numa.ESX41, most, Guest{VCPUs: 5, CoresPerSocket: 1, Hardware: 3}, "5 vCPUs are more than the 4 of virtual hardware 3"},
		{"hardware 3 on 5.0", numa.ESXi50, most, Guest{VCPUs: 2, CoresPerSocket: 1, Hardware: 3}, "virtual hardware 3 is older than what ESXi 5.0 runs"},

		// KB 88161: more than 127 vCPUs must use interrupt remapping; VM Operator: the virtual IOMMU requires EFI.
		{"128 vCPUs, BIOS", numa.ESXi70, most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 17, Needs: Needs{BIOS: true}}, "128 vCPUs, more than 127, need the virtual IOMMU and so EFI firmware, and the VM has BIOS"},
		{"128 vCPUs, EFI, no IOMMU", numa.ESXi80, most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 20, Needs: Needs{NoIOMMU: true}}, "128 vCPUs, more than 127, need the virtual IOMMU, and it is off"},
		{"128 vCPUs, nothing known", numa.ESXi80, most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 20}, ""},
		{"127 vCPUs, BIOS", numa.ESXi80, most, Guest{VCPUs: 127, CoresPerSocket: 1, Hardware: 20, Needs: Needs{BIOS: true, NoIOMMU: true}}, ""},
		{"128 vCPUs before there was a virtual IOMMU", numa.ESXi65, most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 13, Needs: Needs{BIOS: true, NoIOMMU: true}}, ""},
		{"128 vCPUs and a vGPU on 7.0", numa.ESXi70, most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 17, Needs: Needs{VGPU: true, Device: true}}, "128 vCPUs, more than 127, need the virtual IOMMU, which ESXi 7.0 does not allow with a vGPU"},
		{"128 vCPUs, hardware 17 on AMD", numa.ESXi70, -most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 17}, "128 vCPUs, more than 127, need the virtual IOMMU, which takes virtual hardware 18 on AMD, and the VM has 17"},
		{"128 vCPUs, hardware 18 on AMD", numa.ESXi80, -most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 18}, ""},
		{"128 vCPUs and a vGPU on 8.0", numa.ESXi80, most, Guest{VCPUs: 128, CoresPerSocket: 1, Hardware: 20, Needs: Needs{VGPU: true, Device: true}}, ""},

		// SR-IOV passthrough: IOMMU must reach all memory; Backing Guest vRAM with 1GB Pages; full reservations of
		// latency sensitivity High; admission control. The host has cores of 2000 MHz and 512 GB.
		{"device", numa.ESXi70, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 8 * gib, Needs: Needs{Device: true, Reserved: 4 * gib, Unreserved: 4 * gib}}, "the VM has a PCI device of its host, and only 4 GB of 8 GB memory are reserved"},
		{"device, all reserved or unknown", numa.ESXi70, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 8 * gib, Needs: Needs{Device: true}}, ""},
		{"no device", numa.ESXi70, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 8 * gib, Needs: Needs{Unreserved: 8 * gib}}, ""},
		{"1 GB pages", numa.ESXi67, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 8 * gib, Needs: Needs{LargePages: true, Unreserved: 8 * gib}}, "pages of 1 GB are asked for, and no memory is reserved"},
		{"1 GB pages before 6.7", numa.ESXi65, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 8 * gib, Needs: Needs{LargePages: true, Unreserved: 8 * gib}}, ""},
		{"High, no memory", numa.ESXi80, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 8 * gib, Needs: Needs{Exclusive: true, Unreserved: 8 * gib}}, "latency sensitivity is High without the full reservation: no memory is reserved"},
		{"High, no CPU", numa.ESXi80, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Needs: Needs{Exclusive: true, MHzKnown: true}}, "latency sensitivity is High without the full reservation: no CPU is reserved, 8000 MHz are needed"},
		{"High, some CPU", numa.ESXi80, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Needs: Needs{Exclusive: true, MHzKnown: true, MHz: 7900}}, "latency sensitivity is High without the full reservation: only 7900 of 8000 MHz CPU are reserved"},
		{"High, CPU to 1 %", numa.ESXi80, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Needs: Needs{Exclusive: true, MHzKnown: true, MHz: 7920}}, ""},
		{"High, CPU unknown", numa.ESXi80, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Needs: Needs{Exclusive: true}}, ""},
		{"High before 6.7", numa.ESXi65, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 8 * gib, Needs: Needs{Exclusive: true, MHzKnown: true, Unreserved: 8 * gib}}, ""},
		{"High, two threads a core", numa.ESXi80, 16, Guest{VCPUs: 4, CoresPerSocket: 1, VirtualHT: true, Needs: Needs{Exclusive: true, MHzKnown: true, MHz: 4000}}, ""},
		{"High, two threads a core before 8.0", numa.ESXi70, 16, Guest{VCPUs: 4, CoresPerSocket: 1, VirtualHT: true, Needs: Needs{Exclusive: true, MHzKnown: true, MHz: 4000}}, "latency sensitivity is High without the full reservation: only 4000 of 8000 MHz CPU are reserved"},
		{"High, all cores", numa.ESXi80, 16, Guest{VCPUs: 32, CoresPerSocket: 1, Needs: Needs{Exclusive: true}}, ""},
		{"High, more than cores", numa.ESXi80, 16, Guest{VCPUs: 33, CoresPerSocket: 1, Needs: Needs{Exclusive: true}}, "latency sensitivity is High but 33 cores are needed for the vCPUs and the host has 32"},
		{"all CPU", numa.ESXi60, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Needs: Needs{MHzKnown: true, MHz: 64000}}, ""},
		{"more CPU", numa.ESXi60, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Needs: Needs{MHzKnown: true, MHz: 65000}}, "65000 MHz of reserved CPU are more than the 64000 MHz of the host"},
		{"more memory", numa.ESXi60, 16, Guest{VCPUs: 4, CoresPerSocket: 1, Memory: 600 * gib, Needs: Needs{Reserved: 600 * gib}}, "600 GB of reserved memory are more than the 512 GB that the host has to reserve"},
	} {
		amd := tt.cores < 0
		tt.cores = max(tt.cores, -tt.cores)
		m := machineOf(t, tt.release, 2, tt.cores, 2*tt.cores, 0)
		m.EPYC = amd
		m.CoreMHz, m.Reservable = 2000, 512*gib
		l := Predict(&tt.guest, &m, &Case{})
		if l.Refused.String() != tt.want || l.Refused.Any() != (tt.want != "") {
			t.Errorf("%s: refused %q, want %q", tt.name, l.Refused, tt.want)
		}
		if tt.want != "" && (numa.Either(l.Refused.Ways()) == "" || l.VPDs.Len()+l.PPDs.Len()+l.VSockets.Len() > 0) {
			t.Errorf("%s: cure %q, groups %v, %v, %v: want a cure and no layout", tt.name, numa.Either(l.Refused.Ways()), l.VSockets, l.VPDs, l.PPDs)
		}
	}
}

// TestRefusedIsExplained checks that the trace has one step, which names limit and source.
func TestRefusedIsExplained(t *testing.T) {
	v := vmOf(&Guest{VCPUs: 180, CoresPerSocket: 2, Hardware: 14})
	h := hostOf(numa.ESXi80, 2, 128, 256, 0)
	l, trace, _, err := Explain(&v, &h, &Case{})
	if err != nil || !l.Refused.Any() || len(trace) != 1 || !trace[0].Decides || trace[0].Rules != "B-26" ||
		trace[0].Because != "180 vCPUs are more than the 128 of virtual hardware 14" ||
		trace[0].Result != "the VM does not power on: it has no layout (VMware vSphere 6.7, hardware features available with virtual machine compatibility settings (GUID-789C3913))" {
		t.Errorf("%+v, %v: %+v", l.Refused, err, trace)
	}
}

// TestNotStated: what a power-on hangs on and no source states is an assumption, never silence.
func TestNotStated(t *testing.T) {
	device := numa.ReadAt([]numa.Device{{Kind: numa.Passthrough, PCI: "0000:3b:00.0"}}, "x")
	for _, tt := range []struct {
		name string
		vm   func(v *numa.VM)
		want Assumptions
	}{
		{"160 vCPUs", func(v *numa.VM) { v.VCPUs = numa.ReadAt(160, "x") }, AssumedIOMMU},
		{"EFI alone is stated", func(v *numa.VM) { v.VCPUs, v.Firmware = numa.ReadAt(160, "x"), numa.ReadAt("efi", "x") }, AssumedIOMMU},
		{"both are stated", func(v *numa.VM) {
			v.VCPUs, v.Firmware, v.IOMMU = numa.ReadAt(160, "x"), numa.ReadAt("efi", "x"), numa.ReadAt(true, "x")
		}, 0},
		{"127 vCPUs", func(v *numa.VM) { v.VCPUs = numa.ReadAt(127, "x") }, 0},
		{"hardware 13", func(v *numa.VM) { v.VCPUs, v.Hardware = numa.ReadAt(128, "x"), numa.ReadAt(13, "x") }, 0},
		{"a device", func(v *numa.VM) { v.Devices = device }, AssumedReserved},
		{"a device, and what is reserved is assumed", func(v *numa.VM) {
			v.Devices, v.MemoryReservationLocked = device, numa.AssumedFor(true, "y")
		}, AssumedReserved},
		{"a device, and all is reserved", func(v *numa.VM) { v.Devices, v.MemoryReservationLocked = device, numa.ReadAt(true, "x") }, 0},
		{"hardware 3", func(v *numa.VM) { v.Hardware = numa.ReadAt(3, "x") }, AssumedOldHardware},
	} {
		v := vmOf(&Guest{VCPUs: 8, CoresPerSocket: 1, Hardware: 20})
		tt.vm(&v)
		g, _, err := NewGuest(&v)
		if got := g.assumes & (AssumedIOMMU | AssumedReserved | AssumedOldHardware); err != nil || got != tt.want {
			t.Errorf("%s: assumes %v, want %v (%v)", tt.name, got.Names(), tt.want.Names(), err)
		}
	}
}
