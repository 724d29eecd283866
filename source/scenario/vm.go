package scenario

import (
	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// vm returns the VM described by a line, without its name, and the settings that depend on its
// host.
func (p *parser) vm(ws []word.Word) (*numa.VM, unset, error) {
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
	v.MemoryLimit = numa.DerivedFrom(numa.Bytes(-1), byDefault)
	v.MemoryReservationLocked = numa.DerivedFrom(false, byDefault)
	v.Settings = numa.ReadAt(numa.Settings(nil), "settings of the line")
	for _, w := range ws {
		if err := p.vmWord(v, &u, w); err != nil {
			return nil, u, err
		}
	}
	if v.Devices.Known() && v.MemoryReservation.Origin.Where == byDefault && v.MemoryReservationLocked.Origin.Where == byDefault {
		v.MemoryReservationLocked = numa.AssumedFor(true, "vSphere reserves all memory when a PCI device is added")
	}
	if u.stored > 0 && !v.VCPUs.Known() {
		return nil, u, p.errorf(1, "found stored= without vcpus=")
	}
	if n := len(v.Settings.Value); !v.Settings.Known() && n+u.stored > 0 {
		return nil, u, p.errorf(1, "found settings=? beside stored= or a setting")
	}
	return v, u, nil
}

// vmWord parses the words that only scenarios have, and passes the others to package word.
func (p *parser) vmWord(v *numa.VM, u *unset, w word.Word) (err error) {
	switch w.Key {
	case "host":
		v.Host, u.hostCol = w.Value, w.Col
	case "cluster":
		v.Cluster, u.clusterCol = p.clusterNamed(w.Value), w.Col
	case "stored":
		u.stored, err = w.Number(1, numa.MaxVCPUs)
	case "settings":
		if w.Value != word.Unknown {
			return p.errorf(w.Col, "found settings=%q, want settings=? or a setting such as numa.vcpu.preferHT", word.Short(w.Value))
		}
		v.Settings.Origin = numa.Origin{}
	default:
		u.coresPerSocket = u.coresPerSocket && w.Key != "coresPerSocket"
		u.hardware = u.hardware && w.Key != "hw"
		err = word.VM(v, w, w.Key)
	}
	return err
}

const byDefault = "default of vSphere: the line does not state it"

// defaults sets the values that depend on the release of the host: the hardware version,
// automatic cores per socket (B-18) and the form of a stored cookie (B-9).
func (p *parser) defaults(v *numa.VM, u *unset, release numa.Release) {
	if u.hardware {
		if hw := release.Hardware(); hw > 0 {
			v.Hardware = numa.DerivedFrom(hw, byDefault)
		}
	}
	if u.coresPerSocket {
		v.CoresPerSocket = numa.DerivedFrom(numa.PlainCores(v.VCPUs.Value), byDefault)
		v.AutoCoresPerSocket = numa.DerivedFrom(release >= numa.ESXi80 && v.Hardware.Value >= 20, byDefault)
	}
	if u.stored > 0 { // the VMs of a line share the settings, but not the cookie
		v.Settings.Value = word.WithStored(v.Settings.Value, v, u.stored)
	}
}
