package tables

import (
	"fmt"
	"strconv"
	"strings"

	"homenode/numa"
)

// maxMHz bounds the CPU reservation and limit of a VM: 4096 vCPUs of 10 GHz.
const maxMHz = numa.MaxVCPUs * 10_000

// A vmRow is one row of vInfo, before its VM has an ID.
type vmRow struct {
	vm          numa.VM
	id          string // managed object reference
	row         int
	placeholder bool // of Site Recovery Manager: not a VM of this vCenter
	vcenter     string
	datacenter  string
	cluster     string
	host        string
	joined      [2]bool // has a row in vCPU, vMemory
	repeated    bool    // an earlier row has the same reference
}

// readVMs reads vInfo, the sheet that lists the VMs.
func (x *export) readVMs(n *notes) ([]vmRow, error) {
	t, err := x.table("vInfo", n)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, fmt.Errorf("%s: no sheet vInfo, found %s: export all sheets from RVTools", x.path, x.found())
	}
	if !t.has("VM") {
		return nil, fmt.Errorf("%s: sheet vInfo has no column %q in row 1, found %s", x.path, "VM", x.found())
	}
	t.noteMissing()
	var vms []vmRow
	var nameless tally
	err = rowsOf(x.path, t, func() {
		v := vmRow{id: t.text("VM ID"), row: t.row}
		name := t.text("VM")
		if name == "" {
			name = v.id
		}
		if name == "" {
			nameless.add("row " + strconv.Itoa(t.row))
			return
		}
		t.subject = "VM " + name
		v.placeholder = t.boolFact("SRM Placeholder").Value
		v.vcenter = t.vcenter()
		v.datacenter = t.text("Datacenter")
		v.cluster = t.text("Cluster")
		v.host = t.text("Host")
		if v.placeholder {
			v.vm = numa.VM{Name: name, UUID: t.text("VM UUID")}
		} else {
			v.vm = readVM(t, name)
			v.vm.At = x.base
		}
		vms = append(vms, v)
	})
	n.tallied("sheet vInfo", nameless, "row names", "rows name", "no VM: left out")
	return vms, err
}

// readVM reads the facts of the VM in the current row of vInfo.
func readVM(t *table, name string) numa.VM {
	v := numa.VM{
		Name:   name,
		UUID:   t.text("VM UUID"),
		Folder: t.text("Folder"),
		Config: numa.Config{Template: t.boolFact("Template"),
			Power:              readPower(t),
			GuestOS:            t.stringFact("OS according to the configuration file"),
			Product:            t.stringFact("product"), // a custom attribute, which has a column of its name
			Hardware:           readHardware(t),
			VCPUs:              t.count("CPUs", numa.MaxVCPUs),
			Memory:             t.bytes("Memory", numa.MiB, numa.MaxVMMemory),
			LatencySensitivity: t.stringFact("Latency Sensitivity"),
			Firmware:           t.stringFact("Firmware")},
	}
	v.Firmware.Value = strings.ToLower(v.Firmware.Value)
	if v.Firmware.Value != "bios" && v.Firmware.Value != "efi" {
		v.Firmware = numa.Fact[string]{}
	}
	if !v.GuestOS.Known() {
		v.GuestOS = t.stringFact("OS according to the VMware Tools")
	}
	v.LatencySensitivity.Value = strings.ToLower(v.LatencySensitivity.Value)
	if v.LatencySensitivity.Value == "-1" {
		v.LatencySensitivity = numa.Fact[string]{}
	}
	return v
}

// powerStates are the words of the API and of its displays, without blanks.
var powerStates = map[string]numa.PowerState{
	"poweredon":  numa.PoweredOn,
	"poweredoff": numa.PoweredOff,
	"suspended":  numa.Suspended,
}

func readPower(t *table) numa.Fact[numa.PowerState] {
	s := t.stringFact("Powerstate")
	if !s.Known() {
		return numa.Fact[numa.PowerState]{}
	}
	state, ok := powerStates[strings.ReplaceAll(strings.ToLower(s.Value), " ", "")]
	if !ok {
		t.bad("Powerstate", "found "+quote(s.Value)+", want poweredOn, poweredOff or suspended")
		return numa.Fact[numa.PowerState]{}
	}
	return numa.ReadAt(state, s.Origin.Where)
}

// readHardware reads a virtual hardware version, 21 or vmx-21.
func readHardware(t *table) numa.Fact[int] {
	s := t.stringFact("HW version")
	if !s.Known() || s.Value == "-1" {
		return numa.Fact[int]{}
	}
	digits := s.Value
	if len(digits) > 4 && strings.EqualFold(digits[:4], "vmx-") {
		digits = digits[4:]
	}
	// 22 is the version of ESX 9.0; two digits leave room.
	n, ok := parseInt(digits, t.rows.decimal())
	if !ok || n < 1 || n > 99 {
		t.bad("HW version", "found "+quote(s.Value)+", want a version such as 21 or vmx-21")
		return numa.Fact[int]{}
	}
	return numa.ReadAt(int(n), s.Origin.Where)
}

// readCPU reads the row of a VM in vCPU. vCPUs are read here, next to the
// sockets and cores that they must agree with; it reports whether vInfo has other.
func readCPU(t *table, v *numa.VM) (agrees bool) {
	agrees = true
	if n := t.count("CPUs", numa.MaxVCPUs); n.Known() {
		agrees = !v.VCPUs.Known() || v.VCPUs.Value == n.Value
		v.VCPUs = n
	}
	v.CoresPerSocket = t.count("Cores p/s", numa.MaxVCPUs)
	if !v.CoresPerSocket.Known() && v.VCPUs.Known() {
		if s := t.count("Sockets", numa.MaxVCPUs); s.Known() && v.VCPUs.Value%s.Value == 0 {
			v.CoresPerSocket = numa.DerivedFrom(v.VCPUs.Value/s.Value, "CPUs and Sockets of vCPU")
		}
	}
	v.CPUHotAdd = t.boolFact("Hot Add")
	v.VNUMAHotAdd = t.boolFact("Numa Hotadd Exposed")
	r := t.intFact("Reservation", 0, maxMHz)
	v.CPUReservation = numa.Fact[int]{Value: int(r.Value), Origin: r.Origin}
	if t.text("Limit") == "-1" {
		v.CPULimit = numa.ReadAt(-1, t.where+t.at["Limit"].header)
	} else {
		l := t.intFact("Limit", 0, maxMHz)
		v.CPULimit = numa.Fact[int]{Value: int(l.Value), Origin: l.Origin}
	}
	return agrees
}

// readMemory reads the row of a VM in vMemory; it reports whether vInfo has
// another size.
func readMemory(t *table, v *numa.VM) (agrees bool) {
	agrees = true
	if b := t.bytes("Size MiB", numa.MiB, numa.MaxVMMemory); b.Known() {
		agrees = !v.Memory.Known() || v.Memory.Value == b.Value
		v.Memory = b
	}
	v.MemoryHotAdd = t.boolFact("Hot Add")
	v.MemoryReservation = t.bytes("Reservation", 0, numa.MaxVMMemory)
	v.MemoryReservationLocked = t.boolFact("Memory Reservation Locked To Max")
	return agrees
}
