package benchstory

import (
	"fmt"
	"time"

	"example.org/homenode/numa"
)

// A Shared is a fleet that CloudSim Plus can represent too: hosts with equal numbers of cores, VMs
// with recorded CPU demand, more cores than vCPUs.
type Shared struct {
	Hosts   int
	VMs     int // VM v runs on host v % Hosts
	Cores   int // of a host: a multiple of four
	VCPUs   int // of a VM
	Seconds int // simulated, from midnight
	Hold    int // seconds for which a demand applies: a multiple of 20
}

// Story returns the fleet as a story.
func (f *Shared) Story() *numa.Story {
	s := &numa.Story{
		Name: "shared", Fleet: &numa.Fleet{Source: "shared"}, Start: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC),
		Length: time.Duration(f.Seconds) * time.Second, Every: numa.Draw, Unstated: numa.AssumedFor(numa.Load{}, "every VM has a load of its own"),
	}
	memory := numa.Bytes(f.Cores) * perVCPU
	for i := range f.Hosts {
		h := host(Typical, i)
		h.HyperThreading, h.Memory = numa.ReadAt(false, ""), numa.ReadAt(memory, "")
		for n := range h.Nodes.Value {
			node := &h.Nodes.Value[n]
			node.Cores, node.Threads, node.Memory = f.Cores/nodes, f.Cores/nodes, numa.ReadAt(memory/nodes, "")
		}
		s.Fleet.Hosts = append(s.Fleet.Hosts, h)
	}
	for i := range f.VMs {
		v := vm(i, s.Fleet.Hosts[i%f.Hosts].ID)
		v.Name, v.VCPUs, v.Memory = fmt.Sprintf("vm-%d", i), numa.ReadAt(f.VCPUs, ""), numa.ReadAt(numa.Bytes(f.VCPUs)*perVCPU, "")
		s.Fleet.VMs = append(s.Fleet.VMs, v)
		load := numa.Load{Memory: v.Memory.Value / 2, Active: 0.3}
		for t := 0; t < f.Seconds; t += f.Hold {
			at := numa.DemandPoint{At: time.Duration(t) * time.Second, Share: float64(demand(uint64(i), int64(t), int64(f.Hold))) / 1e6}
			load.CPU.Points = append(load.CPU.Points, at)
		}
		s.Loads = append(s.Loads, numa.VMLoad{VM: v.ID, Load: load})
	}
	return s
}

// demand matches cloudsim/Demand.java, which describes it: millionths of the capacity of a VM's
// vCPUs, at a second that is a multiple of hold.
func demand(vm uint64, second, hold int64) int64 {
	const whole = 86400
	low, high, peak := 50000+draw(vm, 0)%100000, 250000+draw(vm, 1)%500000, 43200+draw(vm, 2)%14400
	far := second%whole - peak
	far = max(far, -far)
	far = min(far, whole-far)
	q := (whole/2 - far) * 1000 / (whole / 2)
	curve := low + (high-low)*(q*q*(3000-2*q)/1000000)/1000
	noise := draw(vm, uint64(3+second/hold))%100001 - 50000
	return min(max(curve+noise, 0), 1000000) / 100 * 100
}

func draw(vm, salt uint64) int64 { return int64(mix(vm, salt) >> 33) }
