package vnuma

import (
	"strconv"
	"testing"

	"example.org/homenode/numa"
)

const gib = int64(numa.GiB)

// testRelease returns the release that s names.
func testRelease(t testing.TB, s string) numa.Release {
	t.Helper()
	r, err := numa.ParseRelease(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hostOf returns a host of equal nodes; nodeMemory 0 is unknown.
func hostOf(r numa.Release, nodes, cores, threads int, nodeMemory int64) numa.Host {
	h := numa.Host{
		ID: "esx01", Name: "esx01", At: "test",
		Release: numa.ReadAt(r, "release"), Packages: numa.ReadAt(nodes, "packages"),
		Options: numa.ReadAt(numa.Settings(nil), "options"),
	}
	list := make([]numa.Node, nodes)
	for i := range list {
		list[i] = numa.Node{ID: i, Package: i, Cores: cores, Threads: threads}
		if nodeMemory > 0 {
			list[i].Memory = numa.ReadAt(numa.Bytes(nodeMemory), "memory")
		}
	}
	h.Nodes = numa.ReadAt(list, "nodes")
	return h
}

// machineOf is hostOf as the model sees it.
func machineOf(t testing.TB, r numa.Release, nodes, cores, threads int, nodeMemory int64) Machine {
	t.Helper()
	h := hostOf(r, nodes, cores, threads, nodeMemory)
	m, err := NewMachine(&h)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// vmOf returns the VM that NewGuest makes g of.
func vmOf(g *Guest) numa.VM {
	v := numa.VM{
		ID: "vm1", Name: "vm1", At: "test",
		Config: numa.Config{VCPUs: numa.ReadAt(int(g.VCPUs), "vcpus"),
			CoresPerSocket:     numa.ReadAt(int(g.CoresPerSocket), "coresPerSocket"),
			AutoCoresPerSocket: numa.ReadAt(g.AutoCPS, "autoCoresPerSocket"),
			CPUHotAdd:          numa.ReadAt(g.HotAdd, "hotAdd"),
			VNUMAHotAdd:        numa.ReadAt(g.VNUMAHotAdd, "vnumaHotAdd")},
	}
	if g.Memory > 0 {
		v.Memory = numa.ReadAt(numa.Bytes(g.Memory), "memory")
	}
	if g.Hardware > 0 {
		v.Hardware = numa.ReadAt(int(g.Hardware), "hw")
	}
	if g.Affinity {
		v.CPUAffinity = numa.ReadAt([]int{0, 1}, "cpuAffinity")
	}
	var s numa.Settings
	for _, n := range []struct {
		key   string
		value int32
	}{
		{"numa.vcpu.min", g.Min}, {"numa.vcpu.maxPerVirtualNode", g.MaxPerVirtualNode},
		{"numa.vcpu.maxPerMachineNode", g.MaxPerMachineNode}, {"numa.vcpu.maxPerClient", g.MaxPerClient},
		{"numa.vcpu.coresPerNode", g.CoresPerNode}, {"numa.autosize.vcpu.maxPerVirtualNode", g.Stored},
		{"numa.autosize.cookie", cookieOf(g)},
	} {
		if n.value != 0 {
			s = append(s, numa.Setting{Key: n.key, Value: strconv.Itoa(int(n.value))})
		}
	}
	for _, b := range []struct {
		key string
		set bool
		as  string
	}{
		{"numa.autosize", g.Autosize, "TRUE"}, {"numa.autosize.once", g.SizeEachTime, "FALSE"},
		{"numa.vcpu.followcorespersocket", g.Follow, "1"}, {"numa.vcpu.preferHT", g.PreferHT, "TRUE"}, {"numa.vcpu.preferHT", g.NoPreferHT, "FALSE"},
		{"numa.consolidate", g.Spread, "FALSE"}, {"vmx.reboot.PowerCycle", g.PowerCycleReboot, "TRUE"},
	} {
		if b.set {
			s = append(s, numa.Setting{Key: b.key, Value: b.as})
		}
	}
	v.Settings = numa.ReadAt(s, "settings")
	return v
}

func cookieOf(g *Guest) int32 {
	switch {
	case g.CookieVCPUs == 0:
		return 0
	case g.CookieCPS == 0:
		return g.CookieVCPUs*10000 + 1
	}
	return g.CookieVCPUs*10000 + g.CookieCPS*10 + 2
}
