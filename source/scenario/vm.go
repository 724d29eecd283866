package scenario

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
)

// vm returns the VM that a line describes, without its name, and what the line
// leaves to its host.
func (p *parser) vm(ws []word) (*numa.VM, unset, error) {
	v := &numa.VM{Cluster: p.cluster, At: p.at()}
	u := unset{line: p.line, hardware: true, coresPerSocket: true}
	v.Template = numa.DerivedFrom(false, byDefault)
	v.Power = numa.DerivedFrom(numa.PoweredOn, byDefault)
	v.CPUHotAdd = numa.DerivedFrom(false, byDefault)
	v.MemoryHotAdd = numa.DerivedFrom(false, byDefault)
	v.VNUMAHotAdd = numa.DerivedFrom(false, byDefault)
	v.CPUAffinity = numa.DerivedFrom[[]int](nil, byDefault)
	v.MemoryAffinity = numa.DerivedFrom[[]int](nil, byDefault)
	v.LatencySensitivity = numa.DerivedFrom("normal", byDefault)
	v.CPUReservation = numa.DerivedFrom(0, byDefault)
	v.CPULimit = numa.DerivedFrom(-1, byDefault)
	v.MemoryReservation = numa.DerivedFrom(numa.Bytes(0), byDefault)
	v.MemoryReservationLocked = numa.DerivedFrom(false, byDefault)
	v.Settings = numa.ReadAt(numa.Settings(nil), "set: of the line")
	for _, w := range ws {
		if err := p.vmWord(v, &u, w); err != nil {
			return nil, u, err
		}
	}
	if u.stored > 0 && !v.VCPUs.Known() {
		return nil, u, p.errorf(1, "found stored= without vcpus=")
	}
	if n := len(v.Settings.Value); !v.Settings.Known() && n+u.stored > 0 {
		return nil, u, p.errorf(1, "found settings=? beside stored= or set:")
	}
	return v, u, nil
}

func (p *parser) vmWord(v *numa.VM, u *unset, w word) (err error) {
	if key, ok := strings.CutPrefix(w.key, "set:"); ok && w.hasValue {
		if !numa.KeepSetting(key) {
			return p.errorf(w.col, "found setting %q, want one of numa.*, cpuid.*, sched.* …", key)
		}
		v.Settings.Value = append(v.Settings.Value, numa.Setting{Key: key, Value: w.value})
		return nil
	}
	truth := func() (bool, error) { return p.truth(w) }
	vcpus := func() (int, error) { return p.number(w, 1, numa.MaxVCPUs) }
	switch w.key {
	case "host":
		v.Host, u.hostCol = w.value, w.col
	case "cluster":
		v.Cluster, u.clusterCol = p.clusterNamed(w.value), w.col
	case "vcpus":
		v.VCPUs, err = fact(p, w, vcpus)
	case "coresPerSocket":
		u.coresPerSocket = false
		if w.value == "auto" {
			v.CoresPerSocket, v.AutoCoresPerSocket = numa.ReadAt(1, w.key), numa.ReadAt(true, w.key)
			return nil
		}
		v.CoresPerSocket, err = fact(p, w, vcpus)
		v.AutoCoresPerSocket, _ = fact(p, w, func() (bool, error) { return false, nil })
	case "memory":
		v.Memory, err = fact(p, w, func() (numa.Bytes, error) { return p.bytes(w, w.value, numa.MaxVMMemory) })
	case "hotAdd":
		v.CPUHotAdd, err = fact(p, w, truth)
	case "memoryHotAdd":
		v.MemoryHotAdd, err = fact(p, w, truth)
	case "vnumaHotAdd":
		v.VNUMAHotAdd, err = fact(p, w, truth)
	case "hw":
		u.hardware = false
		v.Hardware, err = fact(p, w, func() (int, error) { return p.number(w, 3, 99) })
	case "guest":
		v.GuestOS = words(w)
	case "power":
		v.Power, err = fact(p, w, func() (numa.PowerState, error) {
			state, err := p.oneOf(w, "on", "off", "suspended")
			return numa.PowerState(state), err
		})
	case "template":
		v.Template, err = fact(p, w, truth)
	case "latency":
		v.LatencySensitivity, err = fact(p, w, func() (string, error) { return p.oneOf(w, "low", "normal", "medium", "high") })
	case "cpuAffinity":
		v.CPUAffinity, err = fact(p, w, func() ([]int, error) { return p.list(w) })
	case "memoryAffinity":
		v.MemoryAffinity, err = fact(p, w, func() ([]int, error) { return p.list(w) })
	case "cpuReservation":
		v.CPUReservation, err = fact(p, w, func() (int, error) { return p.number(w, 0, math.MaxInt32) })
	case "memoryReservation":
		v.MemoryReservation, err = fact(p, w, func() (numa.Bytes, error) { return p.bytes(w, w.value, numa.MaxVMMemory) })
	case "reserveAll":
		v.MemoryReservationLocked, err = fact(p, w, truth)
	case "folder":
		v.Folder = w.value
	case "tags":
		v.Tags = strings.Split(w.value, ",")
	case "stored":
		u.stored, err = p.number(w, 1, numa.MaxVCPUs)
	case "settings":
		if w.value != unknown {
			return p.errorf(w.col, "found settings=%q, want settings=? or set:KEY=VALUE", w.value)
		}
		v.Settings.Origin = numa.Origin{}
	default:
		return p.errorf(w.col, "found %q, which no vm line knows", w.key)
	}
	return err
}

const byDefault = "default of vSphere: the line does not state it"

// defaults sets what depends on the release of the VM's host: the hardware
// version, automatic cores per socket (B-18) and the form of a stored cookie (B-9).
func (p *parser) defaults(v *numa.VM, u *unset, release numa.Release) {
	if u.hardware {
		if hw := release.Hardware(); hw > 0 {
			v.Hardware = numa.DerivedFrom(hw, byDefault)
		}
	}
	if u.coresPerSocket {
		v.CoresPerSocket = numa.DerivedFrom(1, byDefault)
		v.AutoCoresPerSocket = numa.DerivedFrom(release >= numa.ESXi80 && v.Hardware.Value >= 20, byDefault)
	}
	if u.stored > 0 {
		n, cps := v.VCPUs.Value, max(1, v.CoresPerSocket.Value)
		cookie := n*10000 + 1
		if v.Hardware.Value >= 16 {
			cookie = n*10000 + cps*10 + 2
		}
		// The settings of a line are those of all its VMs, the cookie is not.
		v.Settings.Value = slices.Concat(v.Settings.Value, numa.Settings{
			{Key: "numa.autosize.vcpu.maxPerVirtualNode", Value: strconv.Itoa(u.stored)},
			{Key: "numa.autosize.cookie", Value: strconv.Itoa(cookie)},
		})
	}
	slices.SortFunc(v.Settings.Value, func(a, b numa.Setting) int { return cmp.Compare(a.Key, b.Key) })
}
