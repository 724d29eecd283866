//go:build linux

package main

import (
	"fmt"

	"example.org/homenode/numa"
)

// bigFleet returns VMs whose properties are as large as those of a real vCenter: every property
// is set, and extraConfig has the entries that a power-on adds, of which few matter to NUMA.
func bigFleet(vms, settings int) *numa.Fleet {
	const where = "benchmark"
	f := &numa.Fleet{}
	hosts := max(1, vms/100)
	for i := range hosts {
		cluster := fmt.Sprintf("domain-c%d", i/25)
		if i%25 == 0 {
			f.Clusters = append(f.Clusters, numa.Cluster{ID: cluster, Name: fmt.Sprintf("cluster-%02d", i/25)})
		}
		var nodes []numa.Node
		for n := range 2 {
			nodes = append(nodes, numa.Node{ID: n, Package: n, Cores: 32, Threads: 64, Memory: numa.ReadAt(512*numa.GiB, where)})
		}
		f.Hosts = append(f.Hosts, numa.Host{
			ID: fmt.Sprintf("host-%d", i), Name: fmt.Sprintf("esx%04d.example.com", i), Cluster: cluster,
			Release: numa.ReadAt(numa.ESXi80+3, where), Build: numa.ReadAt(24022510, where), Connection: numa.ReadAt("connected", where),
			Packages: numa.ReadAt(2, where), Cores: numa.ReadAt(64, where), Threads: numa.ReadAt(128, where),
			Memory: numa.ReadAt(1024*numa.GiB, where), Nodes: numa.ReadAt(nodes, where),
		})
	}
	for i := range vms {
		h := &f.Hosts[i%hosts]
		f.VMs = append(f.VMs, numa.VM{
			ID: fmt.Sprintf("vm-%d", i), Name: fmt.Sprintf("app-%05d", i), Cluster: h.Cluster, Host: h.ID,
			Folder: fmt.Sprintf("/DC0/vm/team-%02d", i%40), UUID: fmt.Sprintf("5009a3f2-0000-4000-8000-%012x", i),
			Config: numa.Config{
				Template: numa.ReadAt(false, where), Power: numa.ReadAt(numa.PoweredOn, where), GuestOS: numa.ReadAt("Microsoft Windows Server 2022 (64-bit)", where),
				Hardware: numa.ReadAt(21, where), VCPUs: numa.ReadAt(16, where), CoresPerSocket: numa.ReadAt(8, where),
				AutoCoresPerSocket: numa.ReadAt(false, where), Memory: numa.ReadAt(64*numa.GiB, where),
				CPUHotAdd: numa.ReadAt(false, where), MemoryHotAdd: numa.ReadAt(true, where), VNUMAHotAdd: numa.ReadAt(false, where),
				CoresPerNUMANode: numa.ReadAt(8, where), AutoCoresPerNUMANode: numa.ReadAt(true, where),
				LatencySensitivity: numa.ReadAt("normal", where), CPUReservation: numa.ReadAt(0, where), CPULimit: numa.ReadAt(-1, where),
				MemoryReservation: numa.ReadAt(numa.Bytes(0), where), MemoryLimit: numa.ReadAt(numa.Bytes(-1), where), MemoryReservationLocked: numa.ReadAt(false, where),
				Settings: numa.ReadAt(extraConfig(i, settings), where),
			},
		})
	}
	return f
}

// extraConfig returns n entries, of which the reader keeps the first ones.
func extraConfig(i, n int) numa.Settings {
	s := numa.Settings{
		{Key: "numa.autosize.cookie", Value: "160082"},
		{Key: "numa.autosize.vcpu.maxPerVirtualNode", Value: "8"},
		{Key: "cpuid.coresPerSocket.cookie", Value: "8"},
		{Key: "sched.swap.derivedName", Value: fmt.Sprintf("/vmfs/volumes/64a1b2c3-d4e5f607-0000-001b21aabbcc/app-%05d/app-%05d-1f2e3d4c.vswp", i, i)},
		{Key: "guestinfo.vmtools.description", Value: `open-vm-tools 12.3.5 build 22544099 & "friends" <all>`},
	}
	for len(s) < n {
		k := len(s)
		switch k % 3 {
		case 0:
			s = append(s, numa.Setting{Key: fmt.Sprintf("pciBridge%d.pciSlotNumber", k), Value: fmt.Sprint(17 + k)})
		case 1:
			s = append(s, numa.Setting{Key: fmt.Sprintf("ethernet%d.pciSlotNumber", k), Value: "192"})
		default:
			s = append(s, numa.Setting{Key: fmt.Sprintf("guestinfo.app.key%d", k), Value: fmt.Sprintf("a value of some length, as tools leave %d", k*i)})
		}
	}
	return s[:n]
}
