// Package benchstory generates the stories for benchmarks and tests of the simulation: hosts of
// four nodes of 16 cores with about 50 VMs each, one day long.
package benchstory

import (
	"fmt"
	"time"

	"example.org/homenode/numa"
)

// A Kind is the kind of activity in a story.
type Kind string

// The kinds. All draw the demand of every VM every 20 s, with noise, from its own curve.
const (
	// Typical has 3 vCPUs per core and all memory local. VMs use a tenth of their vCPUs at night
	// and a quarter at the peak: no vCPU waits, and the balancer has little to do.
	Typical Kind = "typical"
	// Busy demands 1.5 times the capacity, all day: the level of every node is computed at every
	// draw, ready time and CPU debts grow, and the balancer considers moves and swaps in every period.
	Busy Kind = "busy"
	// Moving has three quarters of all memory away from its home nodes, equally on the others, so
	// that no home is better, and a rate of two pages a second: every client has memory that
	// migrates in every step of the day.
	Moving Kind = "moving"
)

// Kinds are all kinds.
var Kinds = []Kind{Typical, Busy, Moving}

// The hosts: two sockets with sub-NUMA clusters.
const (
	nodes        = 4
	coresPerNode = 16
	nodeMemory   = 256 * numa.GiB
	perVCPU      = 4 * numa.GiB // memory of a VM
)

// sizes are the vCPU counts of the VMs, repeated; every 50th is wide.
var sizes = [...]int{2, 4, 2, 4, 8, 2, 4, 1, 2, 8}

const wide = 24

// Story returns a story with these numbers of hosts and VMs, which are spread round-robin. No two
// VMs have the same demand.
func Story(kind Kind, hosts, vms int, length time.Duration) *numa.Story {
	s := &numa.Story{
		Name: string(kind), Fleet: &numa.Fleet{Source: string(kind)},
		Start: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), Length: length, Every: 20 * time.Second, Seed: 1,
		Unstated: numa.AssumedFor(numa.Load{}, "every VM has a load of its own"),
	}
	for i := range hosts {
		s.Fleet.Hosts = append(s.Fleet.Hosts, host(kind, i))
	}
	for i := range vms {
		v := vm(i, s.Fleet.Hosts[i%hosts].ID)
		s.Fleet.VMs = append(s.Fleet.VMs, v)
		s.Loads = append(s.Loads, numa.VMLoad{VM: v.ID, Load: load(kind, i, v.Memory.Value)})
		if kind == Moving {
			s.Seen = append(s.Seen, scattered(&v, i/hosts))
		}
	}
	return s
}

func host(kind Kind, i int) numa.Host {
	h := numa.Host{
		ID: fmt.Sprintf("host-%d", i), Name: fmt.Sprintf("esx%04d", i), Release: numa.ReadAt(numa.ESXi80, ""),
		CoreMHz: numa.ReadAt(2600, ""), HyperThreading: numa.ReadAt(true, ""),
	}
	list := make([]numa.Node, nodes)
	for n := range list {
		list[n] = numa.Node{ID: n, Package: n / 2, Cores: coresPerNode, Threads: 2 * coresPerNode, Memory: numa.ReadAt(nodeMemory, "")}
	}
	h.Nodes = numa.ReadAt(list, "")
	h.Memory = numa.ReadAt(nodes*nodeMemory, "")
	if kind == Moving {
		h.Options = numa.ReadAt(numa.Settings{{Key: "Numa.PageMigRateMax", Value: "1"}}, "")
	}
	return h
}

func vm(i int, host string) numa.VM {
	vcpus := sizes[i/7%len(sizes)]
	if i%50 == 17 {
		vcpus = wide
	}
	v := numa.VM{ID: fmt.Sprintf("vm-%d", i), Name: fmt.Sprintf("app-%05d", i), Host: host}
	v.Power = numa.ReadAt(numa.PoweredOn, "")
	v.Hardware = numa.ReadAt(20, "")
	v.VCPUs = numa.ReadAt(vcpus, "")
	v.CoresPerSocket = numa.ReadAt(1, "")
	v.Memory = numa.ReadAt(numa.Bytes(vcpus)*perVCPU, "")
	return v
}

// load returns a day curve unique to the VM: shares differ by hundredths of a percent, peaks by seconds.
func load(kind Kind, i int, memory numa.Bytes) numa.Load {
	vary := func(salt, n int) int { return int(mix(uint64(i), uint64(salt)) % uint64(n)) }
	low := 200 + vary(1, 1000)
	high := low + 500 + vary(2, 2500)
	if kind == Busy {
		low, high = low+4000, high+4000
	}
	return numa.Load{
		CPU: numa.Demand{
			Low: float64(low) / 10000, High: float64(high) / 10000, Noise: 0.05,
			Peak: 8*time.Hour + time.Duration(vary(3, 10*3600))*time.Second,
		},
		Memory: memory - memory/8, Active: 0.3,
	}
}

// scattered returns a VM with a quarter of its memory on each node.
func scattered(v *numa.VM, turn int) numa.SeenVM {
	seen := numa.SeenVM{VM: v.ID, Host: v.Host, Homes: numa.SetOf(turn % nodes)}
	if v.VCPUs.Value > coresPerNode {
		seen.Homes = numa.SetOf(turn%nodes, (turn+1)%nodes)
	}
	for n := range nodes {
		seen.OnNode = append(seen.OnNode, numa.MemoryOnNode{Node: n, Guest: v.Memory.Value * 7 / 8 / nodes})
	}
	return seen
}

// mix is splitmix64 of two numbers: https://prng.di.unimi.it/splitmix64.c.
func mix(a, b uint64) uint64 {
	z := a*0x9E3779B97F4A7C15 + (b+1)*0xD1B54A32D192ED03
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
