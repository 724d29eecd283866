package move

import (
	"cmp"
	"fmt"
	"strings"

	"example.org/homenode/internal/outside"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// A kernel describes the hypervisor of a platform: its replacements for lost settings.
type kernel struct {
	balance, spread, migrate, preferHT       string
	addMemory, reserve, limit, reserveMemory string
	pages, device, evc                       string
}

// linux is KVM with QEMU, as libvirt, Proxmox VE, KubeVirt and Nova use it.
var linux = kernel{
	balance:       "Linux NUMA balancing moves pages of VMs that are not bound, and no home nodes",
	spread:        "a cell over several nodes of a host can only be interleaved; --shape fit divides it, and the guest sees the nodes",
	migrate:       "live migration keeps the cells, and needs nodes of these numbers with room and huge pages there",
	preferHT:      "the host must count threads too: pins to both threads of a core, or Nova's thread policy require",
	addMemory:     "DIMM slots are not written, and each DIMM belongs to one node",
	reserve:       "shares of a control group are a weight, no guarantee; dedicated CPUs are more than one",
	limit:         "a quota of time is no frequency: set one for the new host's cores",
	reserveMemory: "only huge pages are reserved before the start",
	pages:         "transparent huge pages, if the host has them on",
	device:        "its address is that of the old host, and without an expander bus the guest is told of no node for it",
	evc:           "not NUMA, but live migration needs a CPU model for the pool of hosts",
}

// ownKernel returns the kernel of a platform that is not managed like KVM. Features that are not given are unknown and are not written.
func ownKernel(reserve, limit, reserveMemory, evc string) kernel {
	return kernel{
		balance:       "no document was found that it moves the memory of a VM between nodes",
		spread:        "one node of the host may not hold it; --shape fit divides it, and the guest sees the nodes",
		migrate:       "the number of nodes is fixed, whatever the host",
		preferHT:      "no setting for it",
		addMemory:     "not written",
		reserve:       reserve,
		limit:         limit,
		reserveMemory: reserveMemory,
		pages:         "no setting for a VM",
		device:        "its address is that of the old host",
		evc:           evc,
	}
}

var (
	hyperV = ownKernel("not written: Set-VMProcessor -Reserve takes percent", "not written: Set-VMProcessor -Maximum takes percent",
		"not written: with dynamic memory off, as the file sets it, all memory is assigned at the start", "not NUMA; not written: Set-VMProcessor -CompatibilityForMigrationEnabled")
	nutanix = ownKernel("no key for a VM", "no key for a VM", "not written: while memory overcommit is off, the memory of a VM is its own", "not NUMA, but live migration needs CPUs of one kind")
)

// lose reports the settings that no platform has, each with the fact of this VM that requires it.
func (m *Move) lose(s *Shape, g *guest, o Options) {
	v, l := m.VM, g.layout
	k := m.Platform.kernel
	set := v.Settings.Origin.Where
	if l.Managed {
		m.add(Lost, balanceItem, "home nodes and memory follow the load", "", k.balance, "")
	}
	if vpd, ok := l.Spanning(); ok && !g.other && len(s.Cells) < l.PPDs.Len() {
		first, last := l.Carriers(vpd)
		m.add(Lost, "a node carried by several clients", fmt.Sprintf("node %d of the guest is carried by %d clients on %s", vpd, last-first+1, g.host), "one node of the host must hold it",
			k.spread, "")
	}
	m.loseSizing()
	for i := range v.On[1:] {
		if o := &v.On[i+1]; !o.Layout.SameGuest(l) {
			m.add(Lost, "sizing for each host", fmt.Sprintf("%s on hosts such as %s", rule.Spoken(&o.Layout), o.Kind.Hosts[0].Name), "the same nodes on every host",
				k.migrate, "")
			break
		}
	}
	if v.Guest.PreferHT {
		m.add(Lost, "preferHT", "numa.vcpu.preferHT = TRUE: threads count as cores of a node", "the shape keeps the nodes that this made",
			k.preferHT, set)
	}
	if v.MemoryHotAdd.Or(false) {
		why := k.addMemory
		switch {
		case m.Platform.Name == "proxmox":
			why = "cannot enable memory hotplugging with custom NUMA topology"
		case m.Platform.Passthrough && len(s.Cells) > 1:
			why = "refused together with guestMappingPassthrough"
		case m.Platform.Passthrough:
			why = "not written: memory.maxGuest"
		}
		m.add(Lost, "memory hot add", "on", "", why, v.MemoryHotAdd.Origin.Where)
	}
	m.loseReservations()
	if !v.Guest.Needs.LargePages && s.Page == 0 {
		m.add(Changed, "large pages", "by default, of the host", k.pages, "", "")
	}
	for _, d := range v.Devices.Value {
		m.add(Lost, "PCI device", strings.TrimSpace(d.Kind+" "+d.PCI), "", k.device, v.Devices.Origin.Where)
	}
	m.loseAffinity()
	m.loseProtection()
	if v.Host != nil && v.Host.EVC.Known() && v.Host.EVC.Value != "" && v.Host.EVC.Value != "none" {
		m.add(Lost, "EVC", v.Host.EVC.Value, "", k.evc, v.Host.At)
	}
	m.manyVCPUs(s.Most())
	m.processor(s)
	switch now, before := exceeded(s, v), exceeded(g.shape(s.Memory), v); {
	case now == "":
	case now == before:
		m.add(Changed, "limit of the software in the guest", now, "the same", "check it before the move", "")
	default:
		m.add(Lost, "limit of the software in the guest", cmp.Or(before, "within it"), now, "asked for: --shape "+o.Shape, "")
	}
}

// FewAPICs is the largest number of vCPUs that QEMU and libvirt start without extended interrupt mode.
const FewAPICs = outside.FewAPICs

// processor reports the shape's requirements on the virtual processor.
func (m *Move) processor(s *Shape) {
	if m.Platform.kernel != &linux {
		return
	}
	if bits := AddressBits(s); bits > 0 {
		then, why := fmt.Sprintf("%d address bits (maxphysaddr)", bits), "the models of processors that QEMU knows address 1 TB"
		switch m.To {
		case "libvirt":
		case "qemu":
			then = "the address bits of the host, by -cpu host"
		case "proxmox":
			then = "not stated, since the processor is not"
		case "nova": // https://docs.openstack.org/nova/latest/configuration/extra-specs.html, hw:maxphysaddr_mode
			then = fmt.Sprintf("hw:maxphysaddr_mode=emulate, hw:maxphysaddr_bits=%d of the flavor", bits)
			why += "; Nova has them from 27.0 (2023.1) on"
		default:
			then = "those of the host: the CPU model host-passthrough, so that live migration wants hosts of one model"
		}
		m.add(Changed, "address bits", s.Memory.String()+" of memory", then, why, "")
		if m.To == "proxmox" {
			m.need("cpu: host, or phys-bits=%d behind the model of cpu", bits)
		}
	}
	if bare := m.To == "libvirt" && m.Exclusive || m.To == "qemu"; bare && (s.Dies > 1 || s.Threads > 1) && (m.At == nil || m.At.Vendor != "Intel") {
		then := "on AMD add the CPU feature topoext"
		if m.topoext(s) {
			then = "with the CPU feature topoext"
		}
		m.add(Changed, "dies and threads on AMD", "shown to the guest", then, "with the CPU of the host an AMD guest sees no threads without it, and one last-level cache for a socket of several dies", "")
	}
}

// AddressBits returns the number of physical address bits that the guest's memory needs, if QEMU's processor models have fewer: they have 40,
// of which guests of the machine type q35 use about 990 GB. It returns 0 if these are enough.
func AddressBits(s *Shape) int {
	const devices = 30 * numa.GiB // for devices with addresses above the memory
	if outside.AddressBits(int64(s.Memory+devices), "q35") <= outside.ModelBits {
		return 0
	}
	bits := outside.ModelBits + 2
	for numa.Bytes(1)<<bits < 2*s.Memory { // room for the address windows of devices above the memory
		bits++
	}
	return bits
}

// Topoext reports whether a guest with the CPU of its host needs the CPU feature topoext: without it QEMU shows guests of AMD no threads and no
// dies (QEMU, target/i386/cpu.c: "TOPOEXT is always allowed but can't be enabled blindly by -cpu host").
func (m *Move) Topoext() bool { return m.topoext(m.Shape) }

func (m *Move) topoext(s *Shape) bool {
	return m.At != nil && m.At.Vendor == "AMD" && (s.Dies > 1 || s.Threads > 1)
}

// manyVCPUs reports the documented platform requirements for a VM with n vCPUs.
func (m *Move) manyVCPUs(n int) {
	const on = "as vSphere has them"
	q35, _, _ := outside.MachineOf("pc-q35-8.0")
	most := fmt.Sprintf("machine type q35 has at most %d (%s)", q35.VCPUs, q35.More())
	switch {
	case m.To == "hyperv" && n > fewVirtualProcessors: // https://learn.microsoft.com/en-us/windows-server/virtualization/hyper-v/supported-windows-guest-operating-systems-for-hyper-v-on-windows
		m.add(Changed, "number of vCPUs", fmt.Sprint(n), "the same, which a VM of generation 1 has not: at most 64",
			"in generation 2 Windows Server 2016 and 2019 as a guest has at most 240, 2022 1024, 2025 2048, and no more than the host's release gives", "")
		if m.need("a VM of generation 2"); n > 240 {
			m.need("a guest that uses more than 240 vCPUs, which Windows Server 2016 and 2019 do not")
		}
	case n <= FewAPICs || m.Platform.kernel != &linux:
		return
	case m.To == "libvirt" || m.To == "qemu":
		m.add(Changed, "interrupts", on, "a virtual IOMMU with extended interrupt mode", fmt.Sprintf("QEMU starts %d vCPUs with it alone: %s", n, most), "")
	case m.To == "proxmox": // https://pve.proxmox.com/pve-docs/qm.conf.5.html, machine
		m.add(Changed, "interrupts", on, "machine: q35,viommu=intel, which did not run here", fmt.Sprintf("the machine that Proxmox takes otherwise, i440fx, does not start %d vCPUs: it has at most 255; %s", n, most), "")
	case m.To == "nova": // https://docs.openstack.org/nova/latest/admin/pci-passthrough.html, Virtual IOMMU support
		m.add(Changed, "interrupts", on, "hw:viommu_model=intel of the flavor, and hw_machine_type=q35, which only the image can have; they did not run here",
			fmt.Sprintf("without both libvirt before 10.10 does not start %d vCPUs; %s", n, most), "")
		m.need("an image of hw_machine_type=q35: openstack image set --property hw_machine_type=q35 IMAGE")
	default: // the fact eim
		m.add(Changed, "interrupts", on, "a virtual IOMMU with extended interrupt mode, which libvirt adds from 10.10 on", "KubeVirt has no field for it", "")
		m.need("libvirt 10.10 or later in KubeVirt (1.4.0 has 10.5), which adds the virtual IOMMU that %d vCPUs need", n)
	}
	if n > q35.VCPUs && m.Platform.kernel == &linux {
		m.add(Changed, "number of vCPUs", fmt.Sprint(n), "the same", most, "")
		m.need("a QEMU whose machine type q35 has %d vCPUs (%s)", n, q35.More())
	}
}

// fewVirtualProcessors is the number of vCPUs that every VM of Hyper-V supports.
const fewVirtualProcessors = 64

// exceeded returns the part of the shape that the software of the guest cannot use; "" for none.
func exceeded(s *Shape, v *rule.VM) string {
	u := v.Guest.Usable
	for i, n := range s.Sizes() {
		if u.PerNode > 0 && n > int(u.PerNode) {
			return fmt.Sprintf("node %d has %d vCPUs, and it uses at most %d of a node", i, n, u.PerNode)
		}
	}
	if u.Sockets > 0 && s.Sockets > int(u.Sockets) {
		return fmt.Sprintf("%d sockets, and it uses at most %d", s.Sockets, u.Sockets)
	}
	return ""
}

func (m *Move) loseSizing() {
	g := &m.VM.Guest
	set := m.VM.Settings.Origin.Where
	switch {
	case g.SizeEachTime:
		m.add(Lost, "sizing at each power-on", "numa.autosize.once = FALSE", "the shape is fixed", "no platform sizes a guest at its start", set)
	case g.AutoCPS:
		m.add(Lost, sizingItem, "cores per socket are assigned at power-on", "the shape is fixed", "no platform sizes a guest at its start", m.VM.AutoCoresPerSocket.Origin.Where)
	}
}

func (m *Move) loseReservations() {
	v, k := m.VM, m.Platform.kernel
	if mhz := v.CPUReservation.Value; mhz > 0 {
		m.add(Lost, "CPU reservation", fmt.Sprintf("%d MHz", mhz), "", k.reserve, v.CPUReservation.Origin.Where)
	}
	if mhz := v.CPULimit; mhz.Known() && mhz.Value >= 0 {
		m.add(Lost, "CPU limit", fmt.Sprintf("%d MHz", mhz.Value), "", k.limit, mhz.Origin.Where)
	}
	if limit := v.MemoryLimit; limit.Known() && limit.Value >= 0 {
		m.add(Lost, "memory limit", limit.Value.String(), "", "not written: the guest gets all its memory; give it no more than the limit, if the limit is meant", limit.Origin.Where)
	}
	switch {
	case v.AllReserved():
		m.add(Lost, "memory reservation", "all, locked", "", k.reserveMemory, cmp.Or(v.MemoryReservationLocked.Origin.Where, v.FaultTolerance.Origin.Where))
	case v.MemoryReservation.Value > 0:
		m.add(Lost, "memory reservation", v.MemoryReservation.Value.String(), "", k.reserveMemory, v.MemoryReservation.Origin.Where)
	}
}

// loseProtection reports the effect on Fault Tolerance and on keys. vSphere does not export encrypted VMs (vSphere Security, Virtual Machine
// Encryption Interoperability), and the state of a virtual TPM stays in the files of the VM.
func (m *Move) loseProtection() {
	v := m.VM
	if v.FaultTolerant() {
		m.add(Lost, "Fault Tolerance", v.FaultTolerance.Value, "", "no platform runs a VM on two hosts at once; turn it off before the move: the secondary is no VM of its own", v.FaultTolerance.Origin.Where)
	}
	if v.Encrypted.Value {
		m.add(Lost, "VM encryption", "on", "", "its disks cannot be read with the keys of vSphere: decrypt the VM before the move, and encrypt at the target", v.Encrypted.Origin.Where)
	}
	if v.TPM.Value {
		m.add(Lost, "virtual TPM", "present", "a new one, which is empty", "what the guest has sealed in it, such as keys of BitLocker, does not come along: have the recovery keys, or suspend the protection, before the move", v.TPM.Origin.Where)
	}
}

func (m *Move) loseAffinity() {
	v := m.VM
	const why = "its numbers are those of the old hosts"
	if list := v.CPUAffinity.Value; len(list) > 0 {
		m.add(Lost, "CPU affinity", "PCPUs "+words.Ranges(list), "", why, v.CPUAffinity.Origin.Where)
	}
	if list := v.MemoryAffinity.Value; len(list) > 0 {
		m.add(Lost, "memory affinity", "nodes "+words.Ranges(list), "", why, v.MemoryAffinity.Origin.Where)
	}
	if nodes, ok := v.Settings.Value.Lookup("numa.nodeAffinity"); ok && v.Guest.AllowedNodes > 0 {
		m.add(Lost, "node affinity", "numa.nodeAffinity = "+nodes, "", why, v.Settings.Origin.Where)
	}
}
