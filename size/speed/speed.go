// Package speed computes the effect of the vCPU speed of VMware Cloud Director on VMs: their CPU
// limit and reservation by allocation model, the share of a core for each vCPU, how many such VMs
// the reservations of a host admit, and the capacity of a host under side-channel aware schedulers.
// Wait times also come from the simulated scheduler (package scheduler), beside the closed form:
//
//	limit      = vCPUs × speed                of the VM, not of each vCPU
//	share      = min(1, speed ÷ core)         of a core that each vCPU gets when all want
//	held back  = max(0, demand − share)       of the time: %MLMTD, which %RDY includes
//	admitted   = ⌊cores × core × (1 − kernel) ÷ reservation⌋   by host
package speed

import (
	"context"
	"fmt"
	"math"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/fit"
)

// An Ask is VMs of one shape with a vCPU speed on hosts of one kind.
type Ask struct {
	Model     Model      `json:"model"`
	Speed     unit.Hz    `json:"vcpuSpeed"`
	Guarantee unit.Share `json:"guarantee"`
	VCPUs     int        `json:"vcpus"`
	Memory    numa.Bytes `json:"memory"`
	Core      unit.Hz    `json:"core"` // nominal frequency
	Hosts     int        `json:"hosts"`
	// Kernel is the share of a host's cores that VMs cannot reserve.
	Kernel unit.Share `json:"kernel"`
	VMs    int        `json:"vms"` // running on one host
	Host   numa.Host  `json:"-"`   // with nodes and a release; its CoreMHz is ignored
}

// Check returns an error for an impossible question.
func (a *Ask) Check() error {
	switch {
	case !(a.Speed > 0) || math.IsInf(float64(a.Speed), 0):
		return fmt.Errorf("vCPU speed: found %v, want more than 0", a.Speed)
	case !(a.Core > 0) || a.Core/unit.MHz > numa.MaxCoreMHz:
		return fmt.Errorf("core: found %v, want more than 0, up to %v", a.Core, unit.Hz(numa.MaxCoreMHz)*unit.MHz)
	case !(a.Guarantee >= 0 && a.Guarantee <= 1):
		return fmt.Errorf("guarantee: found %v, want 0 to 100 %%", a.Guarantee)
	case !(a.Kernel >= 0 && a.Kernel < 1):
		return fmt.Errorf("kernel: found %v, want 0 to less than 100 %%", a.Kernel)
	case a.VCPUs < 1 || a.VCPUs > numa.MaxVCPUs:
		return fmt.Errorf("vCPUs: found %d, want 1 to %d", a.VCPUs, numa.MaxVCPUs)
	case a.Memory <= 0:
		return fmt.Errorf("memory: found %d bytes, want more than 0", int64(a.Memory))
	case a.Host.Memory.Known() && a.Memory > a.Host.Memory.Value:
		return fmt.Errorf("memory: %s are more than the %s of a host", a.Memory, a.Host.Memory.Value)
	case a.Hosts < 1 || a.Hosts > MostHosts:
		return fmt.Errorf("hosts: found %d, want 1 to %d", a.Hosts, MostHosts)
	case a.VMs < 1 || a.VMs > MostVMs:
		return fmt.Errorf("VMs: found %d, want 1 to %d on a host", a.VMs, MostVMs)
	case a.cores() == 0:
		return fmt.Errorf("host %s: its NUMA nodes are unknown", a.Host.Name)
	case a.VCPUs > a.threads(): // rule book B-5
		return fmt.Errorf("vCPUs: %d are more than the %d logical CPUs of a host: such a VM does not power on", a.VCPUs, a.threads())
	case !a.Host.Release.Known():
		return fmt.Errorf("host %s: its release is unknown", a.Host.Name)
	}
	return nil
}

// MostVMs is the most VMs on a host (VMware Configuration Maximums).
const MostVMs = 1024

// MostHosts is far above the limit of a vCenter: a greater value is a typing error.
const MostHosts = 10_000

// cores returns the physical cores of a host.
func (a *Ask) cores() (sum int) {
	for _, n := range a.Host.Nodes.Value {
		sum += n.Cores
	}
	return sum
}

// threads returns the logical CPUs of a host.
func (a *Ask) threads() (sum int) {
	for _, n := range a.Host.Nodes.Value {
		sum += n.Threads
	}
	return sum
}

// Terms are the limit and the reservation of one VM.
func (a *Ask) Terms() Terms { return TermsOf(a.Model, a.VCPUs, a.Speed, a.Guarantee) }

// Share returns the largest share of a core that a vCPU gets when all vCPUs of its VM demand one.
func (a *Ask) Share() unit.Share { return ShareOf(a.Terms().Limit, a.VCPUs, a.Core) }

// ShareOf returns the share of a core that a limit allows each vCPU; all of it without a limit.
func ShareOf(limit unit.Hz, vcpus int, core unit.Hz) unit.Share {
	if limit <= 0 {
		return 1
	}
	return min(1, limit.Of(unit.Hz(vcpus)*core))
}

// Held returns the share of the time in which a limit stops a vCPU with this demand, if a core is always free.
func Held(demand, share unit.Share) unit.Share { return max(0, demand-share) }

// An Admission is the number of VMs that the CPU reservations of the hosts allow. It does not state
// how fast they run, or whether the hosts have memory for them.
type Admission struct {
	// Capacity is the CPU that the VMs of a host can reserve.
	Capacity unit.Hz `json:"capacity"`
	// Bounded is false where nothing is reserved: any number is admitted.
	Bounded bool `json:"bounded"`
	PerHost int  `json:"perHost"` // at most MostVMs
	All     int  `json:"all"`     // hosts
	NPlus1  int  `json:"nPlus1"`  // with one host fewer
	VCPUs   int  `json:"vcpus"`   // of a host's VMs
	PerCore struct {
		VCPUs float64 `json:"vcpus"`
		Limit unit.Hz `json:"limit,omitempty"` // sum of the limits per core: above the core's frequency no VM reaches its own
	} `json:"perCore"`
	// InMemory is the number of VMs whose memory a host can back completely; nil when its memory is
	// unknown. More of them power on only where memory is overcommitted.
	InMemory *int `json:"inMemory,omitempty"`
}

// inMemory returns how many VMs of the shape the host can back with memory, including overhead,
// while it stays in the high state (rule book C-23).
func (a *Ask) inMemory() *int {
	if !a.Host.Memory.Known() {
		return nil
	}
	all := a.Host.Memory.Value
	each := a.Memory + fit.PublishedOverhead.Of(a.VCPUs, a.Memory)
	n := int(min(MostVMs, max(0, all-numa.SoftReserve(all, a.Host.Release.Value))/each))
	return &n
}

// Local returns how many VMs package fit places by memory alone with each of their clients local by
// default, with the reserve kept on each node; nil when unknown.
func (a *Ask) Local() *int {
	r, err := fit.Fit(context.Background(), &fit.Ask{
		Types: []fit.Type{{Name: a.Host.Name, Host: a.Host}}, Shapes: []fit.Shape{fit.NewShape(a.VCPUs, a.Memory)},
		Options: fit.Options{Reserve: 1, PerCore: 100, Overhead: fit.PublishedOverhead},
	})
	if err != nil || r.Types[0].Counts[0].Unmanaged {
		return nil
	}
	n := r.Types[0].Counts[0].ByMemory
	if r.Types[0].Counts[0].LocalAs != nil {
		n = 0 // as the VM is by default
	}
	return &n
}

// Admit returns the number of admitted VMs.
func (a *Ask) Admit() Admission {
	out := Admission{Capacity: a.reservable(), InMemory: a.inMemory()}
	t := a.Terms()
	if !(t.Reservation > 0) {
		return out
	}
	// The small share keeps 60 × 1.6 GHz from being more than 96 GHz.
	n := math.Floor(float64(out.Capacity)/float64(t.Reservation)*(1+1e-12) + 1e-12)
	out.Bounded = true
	out.PerHost = int(min(n, MostVMs))
	out.All, out.NPlus1 = out.PerHost*a.Hosts, out.PerHost*(a.Hosts-1)
	out.VCPUs = out.PerHost * a.VCPUs
	out.PerCore.VCPUs = float64(out.VCPUs) / float64(a.cores())
	out.PerCore.Limit = unit.Hz(out.PerHost) * t.Limit / unit.Hz(a.cores())
	return out
}

// Running returns how many of the VMs are powered on on a host: at most those admitted by CPU reservations.
func (a *Ask) Running() int {
	if ad := a.Admit(); ad.Bounded {
		return min(a.VMs, ad.PerHost)
	}
	return min(a.VMs, MostVMs)
}

// reservable returns the CPU that the VMs of a host can reserve.
func (a *Ask) reservable() unit.Hz {
	return unit.Hz(float64(a.cores()) * float64(a.Core) * (1 - float64(a.Kernel)))
}

// SpeedFor returns the highest vCPU speed at which the reservations of so many VMs fit a host: the
// inverse of Admit. It returns false without reservations, when any speed fits.
func (a *Ask) SpeedFor(vms int) (unit.Hz, bool) {
	one := TermsOf(a.Model, a.VCPUs, 1, a.Guarantee).Reservation // for each Hz of speed
	if !(one > 0) || vms < 1 {
		return 0, false
	}
	return a.reservable() / (unit.Hz(vms) * one), true
}
