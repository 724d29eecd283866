package tables

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// maxMHz is the maximum CPU reservation and limit of a VM: 4096 vCPUs of 10 GHz.
const maxMHz = numa.MaxVCPUs * 10_000

// A vmRow is one row of vInfo, before its VM has an ID.
type vmRow struct {
	vm          numa.VM
	id          string // managed object reference
	row         int
	placeholder bool // created by Site Recovery Manager: not a VM of this vCenter
	date        string
	vcenter     string
	datacenter  string
	cluster     string
	host        string
	joined      map[string]bool // sheets with a row about it
	first       *vmRow          // the earlier row that describes the same VM; nil if there is none
	differ      []string        // names of the facts that its rows state differently
}

// readVMs reads the sheets of VMs: those of vInfo or, without one, all tables of VMs, which are joined.
func (x *export) readVMs(n *notes) (vms []vmRow, err error) {
	sheets, joined := x.all("vInfo"), false
	if sheets == nil {
		sheets, joined = x.all("VMs", "vCPU", "vMemory"), true
		slices.SortStableFunc(sheets, func(a, b *sheet) int { return cmp.Compare(a.after(), b.after()) })
	}
	var read []*table
	for _, s := range sheets {
		t, err := x.table(s, n)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		read = append(read, t)
		j := &join{}
		if joined {
			j = newJoin(vms)
		}
		more, err := x.listVMs(t, j, n)
		if err != nil {
			return nil, err
		}
		vms = n.addRows(t, j, vms, more)
	}
	n.noteMissing(read)
	return vms, nil
}

// after orders tables of VMs: those with vCPUs come first, and those that only add facts come last.
func (s *sheet) after() int {
	switch at, _ := s.kind.places(s.header); {
	case s.part:
		return 2
	case at["CPUs"].index < 0:
		return 1
	}
	return 0
}

// addParts makes tables of VMs of the sheets that name VMs and state facts of them, but no sizes: other tables have these.
func (x *export) addParts() {
	for _, s := range x.sheets {
		if s.kind == nil && len(x.all("VMs", "vCPU", "vMemory")) > 0 && x.sheet("vInfo") == nil && namesVM(s.header) && kindNamed("VMs").matches(s.header) > 1 {
			s.kind, s.part = kindNamed("VMs"), true
		}
	}
}

// addRows merges the facts of further rows into those of the same VM of an earlier table, which j finds, and appends new VMs.
func (n *notes) addRows(t *table, j *join, vms, more []vmRow) []vmRow {
	var namesakes, strangers, spelled tally
	short := func(name string) string { return strings.ToLower(strings.SplitN(name, ".", 2)[0]) }
	alike := map[string]string{} // names by those without domain
	for i := range vms {
		alike[short(vms[i].vm.Name)] = vms[i].vm.Name
	}
	for _, m := range more {
		i, ok := j.row(m.vcenter, m.id, m.vm.UUID, m.vm.Name)
		if i == ambiguous {
			of := j.named[m.vm.Name]
			if k := slices.IndexFunc(of, func(i int) bool { return !m.another(&vms[i]) }); k >= 0 {
				if i = of[k]; m.host == "" || vms[i].host == "" {
					namesakes.add(m.vm.Name)
					continue
				}
			}
		}
		if !ok || i == ambiguous || m.another(&vms[i]) {
			if t.part {
				strangers.add(m.vm.Name)
				continue
			}
			if name := alike[short(m.vm.Name)]; j.named[m.vm.Name] == nil && numa.SameHost(name, m.vm.Name) {
				spelled.add(m.vm.Name + " and " + name)
			}
			vms = append(vms, m)
			continue
		}
		v := &vms[i]
		v.id, v.vm.UUID, v.vm.Folder = cmp.Or(v.id, m.id), cmp.Or(v.vm.UUID, m.vm.UUID), cmp.Or(v.vm.Folder, m.vm.Folder)
		v.datacenter, v.cluster, v.host = cmp.Or(v.datacenter, m.datacenter), cmp.Or(v.cluster, m.cluster), cmp.Or(v.host, m.host)
		v.vm.Doubt, v.vm.Reclaimed = cmp.Or(v.vm.Doubt, m.vm.Doubt), cmp.Or(v.vm.Reclaimed, m.vm.Reclaimed)
		n.compare(v, &m.vm.Config)
	}
	n.tallied(t.sheet.place(), namesakes, "row names", "rows name", sharedName)
	n.tallied(t.sheet.place(), spelled, "row has", "rows have", "the name of a VM of another table in another spelling: taken as another VM; one VM may count twice")
	n.tallied(t.sheet.place(), strangers, "row is", "rows are", "about a VM that no table with sizes lists: left out")
	return vms
}

// another reports whether v, from another sheet, is a different VM although its reference, UUID or name matches: neither name nor UUID is equal,
// or the name alone, and it is on another host, in another cluster or of another vCenter.
func (v *vmRow) another(found *vmRow) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	if differ(v.vcenter, found.vcenter) {
		return true
	}
	if v.vm.UUID != "" && strings.EqualFold(v.vm.UUID, found.vm.UUID) {
		return false
	}
	if v.vm.Name == found.vm.Name {
		return (v.id == "" || v.id != found.id) &&
			(differ(v.host, found.host) && !numa.SameHost(v.host, found.host) || differ(v.cluster, found.cluster) || differ(v.datacenter, found.datacenter))
	}
	return v.vm.Name != v.id && found.vm.Name != found.id
}

// listVMs reads a sheet of VMs. j has those of earlier tables, whose vCPUs make cores per socket of sockets.
func (x *export) listVMs(t *table, j *join, n *notes) ([]vmRow, error) {
	s := t.sheet
	if !s.kind.generic() && !t.has("VM") {
		return nil, fmt.Errorf("%s: sheet %s has no column %q in row 1, found %s", x.path, s.kind.name, "VM", x.found())
	}
	var vms []vmRow
	var nameless, others, foreign, physical tally
	err := x.rowsOf(t, func() {
		if t.other(vms) {
			others.add(t.text("VM"))
			return
		}
		v := vmRow{id: bareID(t.text("VM ID")), row: t.row}
		uuid := t.text("VM UUID")
		name := cmp.Or(t.text("VM"), v.id, uuid)
		if name == "" {
			nameless.add("row " + strconv.Itoa(t.row))
			return
		}
		t.subject = "VM " + name
		if t.ofMachine() {
			physical.add(name)
			return
		}
		if t.foreign() {
			foreign.add(name)
			return
		}
		v.placeholder = t.boolFact("SRM Placeholder").Value
		v.vcenter, v.date = t.vcenter(), t.text(dateKey)
		v.locate(t)
		if numa.SameHost(v.host, name) { // the name of its guest
			v.host = ""
		}
		if p := t.text("platform"); v.host == "" && t.place("platform").header == `"Hypervisor"` && !ownPlatform.MatchString(p) {
			v.host = p
		}
		v.vm = numa.VM{Name: name, UUID: uuid}
		if !v.placeholder {
			v.vm.Folder, v.vm.At = t.text("Folder"), x.base
			if i, ok := j.row(v.vcenter, v.id, uuid, name); ok && i != ambiguous {
				v.vm.VCPUs = j.vms[i].vm.VCPUs
			}
			v.vm.Config = readVM(t, &v.vm)
		}
		vms = append(vms, v)
	})
	n.tallied(s.place(), nameless, "row names", "rows name", "no VM: left out")
	n.tallied(s.place(), foreign, "VM is", "VMs are", "of another hypervisor than ESXi: left out")
	n.tallied(s.place(), physical, "row is", "rows are", "a physical machine or a host, and no VM: left out")
	n.tallied(s.place(), others, "row is", "rows are", "a total or a remark, and no VM: left out")
	return newest(t, "VM", vms, func(v *vmRow) dated { return dated{v.vcenter, cmp.Or(v.id, v.vm.UUID), v.vm.Name, v.date} }), err
}

// locate sets the datacenter, the cluster and the host of the VM to those of the current row, where no earlier row states them.
func (v *vmRow) locate(t *table) {
	v.datacenter, v.cluster, v.host = cmp.Or(v.datacenter, t.text("Datacenter")), cmp.Or(v.cluster, t.text("Cluster")), cmp.Or(v.host, bareID(t.text("Host")))
}

// ofMachine reports whether the current row of a table of VMs is about a physical machine or a host. The release of ESXi then stands where VMs have the
// version of their hardware or their host.
func (t *table) ofMachine() bool {
	virtual, kind := t.boolFact("virtual"), t.text("machine")
	system := strings.ToLower(t.text("OS according to the configuration file"))
	return t.kind.generic() && t.text("Host") == "" && strings.HasPrefix(system, "vmware esx") || virtual.Known() && !virtual.Value || t.boolFact("physical").Value || bare.MatchString(t.text("platform")) ||
		bare.MatchString(kind) || ofHost.MatchString(kind) || ofRelease.MatchString(t.text("HW version")) || ofRelease.MatchString(t.text("Host"))
}

var (
	bare       = pattern.Of(`(?i)^(physical|physisch|bare[ -]?metal)`)                                                                                                    // of a platform or kind of machine
	ofHost     = pattern.Of(`(?i)^((vmware |hypervisor )?host( ?system)?|(vmware )?esxi? (host|server)|cluster( ?compute ?resource)?|data ?cent(er|re)|resource ?pool)$`) // of a kind of machine
	ofTemplate = pattern.Of(`(?i)(template|vorlage)$`)                                                                                                                    // of a kind of machine
	ofRelease  = pattern.Of(`(?i)^(vmware )?(esxi?,? )?([4-9]\.0|4\.1|5\.[15]|6\.[57])\.\d([ ,-].*)?$`)
)

// otherPlatforms are the squashed names of hypervisors that are not ESXi.
var otherPlatforms = pattern.Of(`^(cmdbci)?((microsoft)?hyperv|(nutanix)?ahv|nutanix|acropolis|(qemu)?kvm|qemu|(citrix)?xen(server)?|citrixhypervisor|proxmox(ve)?|virtualbox|rhev|ovirt)(virtualmachine)?(instance|template)?$`)

// ownPlatform matches the names and releases of ESXi that are not the name of a host.
var ownPlatform = pattern.Of(`(?i)^(vmware|vsphere|esxi?)( |$)`)

// foreign reports whether the current row states another hypervisor.
func (t *table) foreign() bool {
	return otherPlatforms.MatchString(squash(cmp.Or(t.text("platform"), t.text("machine"))))
}

// other reports whether the current row, below rows of VMs, does not describe a VM: a separator line, the total of the rows, or a remark, which has no
// other columns.
func (t *table) other(before []vmRow) bool {
	c, ok := t.rows.(*csvRows)
	if _, json := t.rows.(*jsonRows); json || t.shifted || ok && c.cut != nil {
		return false
	}
	name, remark := t.text("VM"), t.has("CPUs") || t.has("Memory")
	if name == "" {
		return false
	}
	for id, p := range t.columns {
		if p.index >= 0 && p.index < len(t.cells) {
			remark = remark && (id == "VM" || strings.TrimSpace(t.cells[p.index]) == "")
		}
	}
	blank := func(text string) bool { return strings.Trim(text, "-=: ") == "" }
	line := blank(name) && blank(strings.Join(t.cells, ""))
	return remark || line || len(before) > 0 && t.sumsUp(name, before)
}

// sumsUp reports whether the current row, below rows of VMs, is a summary: its name begins like one or is their number, and its vCPUs are the sum of theirs, or
// they have hosts and it has none; or the whole name is a summary word, perhaps in another column, and no other column has a word.
func (t *table) sumsUp(name string, before []vmRow) bool {
	if total.MatchString(name) || name == strconv.Itoa(len(before)) && t.text("Host") == "" {
		sum, hostless := 0, t.has("Host") && t.text("Host") == ""
		for i := range before {
			sum += before[i].vm.VCPUs.Value
			hostless = hostless && before[i].host != ""
		}
		if hostless || t.count("CPUs", 1<<30).Value == sum {
			return true
		}
	}
	alone := summary.MatchString(name) || strings.Trim(name, "0123456789") == "" && slices.ContainsFunc(t.cells, summary.MatchString)
	for id, p := range t.columns {
		if alone && p.index >= 0 && p.index < len(t.cells) && id != "VM" {
			word := strings.ContainsFunc(unitWords.ReplaceAllString(t.cells[p.index], ""), unicode.IsLetter)
			alone = alone && (!word || id == "Cluster" || id == "Datacenter") // a mean of a cluster names it
		}
	}
	return alone
}

var (
	// total matches the beginning of the name of a row with totals.
	total = pattern.Of(`(?i)^\W*(grand |sub)?(total|sum|summe|gesamtergebnis|insgesamt|gesamt|somme|suma|totaal)(en|e|es)?\b`)
	// summary matches the whole name of a summary row.
	summary = pattern.Of(`(?i)^\W*(grand[ -]?|sub[ -]?|overall )?(totals?|totalen|totales|totaux|totaal|sums?|summen?|gesamt(summe|ergebnis)?|insgesamt|somme|suma|averages?|avg|mean|median|mittelwerte?|durchschnitt|moyenne|promedio|media|gemiddelde|min(imum)?|max(imum)?|counts?|anzahl)\W*((of|all|the) )*(\d* ?(vms?|virtual machines|v?cpus?|v?cores|v?ram|memory|hosts|rows|records)\b)?[\W\d]*$` +
		`|^\W*(sub[ -]?total|sous[ -]?total|zwischensumme)\b.*|^\W*((vms|virtual machines|rows)\W+\d+|\d+\W+(vms?|virtual machines|rows))\W*$`)
	unitWords = pattern.Of(`(?i)\b[kmgt]i?b\b|\b[mg]hz\b`)
)

// bareID removes the type that PowerCLI and pyVmomi put before a reference: VirtualMachine-vm-12, vim.HostSystem:host-3.
func bareID(s string) string {
	return typedRef.ReplaceAllString(s, "$1")
}

var typedRef = pattern.Of(`^'?(?:vim\.)?(?:VirtualMachine|HostSystem|ClusterComputeResource)[:-]([a-z0-9-]+)'?$`)

// take sets facts of c to those that more knows: those that c does not know or, where it is over, all. It reports whether vCPUs and memory were equal.
func take(c, more *numa.Config, over bool) (agrees bool) {
	agrees = !(c.VCPUs.Known() && more.VCPUs.Known() && c.VCPUs.Value != more.VCPUs.Value ||
		c.Memory.Known() && more.Memory.Known() && c.Memory.Value != more.Memory.Value)
	to, from := reflect.ValueOf(c).Elem(), reflect.ValueOf(more).Elem()
	for i := range to.NumField() {
		if f := from.Field(i); !f.IsZero() && (over || to.Field(i).IsZero()) {
			to.Field(i).Set(f)
		}
	}
	return agrees
}

// readVM reads the facts of the VM in the current row from the columns that exist. vm contains the values from earlier sheets, and takes contradictions.
func readVM(t *table, vm *numa.VM) numa.Config {
	known := &vm.Config
	r := numa.Config{
		Template:                t.boolFact("Template"),
		Power:                   readPower(t),
		GuestOS:                 readGuest(t),
		Product:                 t.stringFact("product"), // a custom attribute with its own column
		Hardware:                readHardware(t),
		VCPUs:                   t.count("CPUs", numa.MaxVCPUs),
		Memory:                  t.bytes("Memory", numa.MiB, numa.MaxVMMemory),
		CPUHotAdd:               t.boolFact("CPU hot add"),
		VNUMAHotAdd:             t.boolFact("Numa Hotadd Exposed"),
		MemoryHotAdd:            t.boolFact("memory hot add"),
		CPUReservation:          t.mhz("CPU reservation", 0, maxMHz),
		MemoryReservation:       t.bytes("memory reservation", 0, numa.MaxVMMemory),
		MemoryReservationLocked: t.boolFact("Memory Reservation Locked To Max"),
		LatencySensitivity:      t.stringFact("Latency Sensitivity"),
		Firmware:                t.stringFact("Firmware"),
		FaultTolerance:          readFT(t),
		TPM:                     t.boolFact("TPM"),
	}
	if r.Firmware.Value = strings.TrimPrefix(strings.ToLower(r.Firmware.Value), "u"); r.Firmware.Value != "bios" && r.Firmware.Value != "efi" {
		r.Firmware = numa.Fact[string]{}
	}
	if t.text("encryption key") != "" {
		r.Encrypted = numa.ReadAt(true, t.origin("encryption key"))
	}
	if !r.Template.Known() && ofTemplate.MatchString(t.text("machine")) {
		r.Template = numa.ReadAt(true, t.origin("machine"))
	}
	if !r.GuestOS.Known() {
		r.GuestOS = t.stringFact("OS according to the VMware Tools")
	}
	if r.LatencySensitivity.Value = strings.ToLower(r.LatencySensitivity.Value); r.LatencySensitivity.Value == "-1" {
		r.LatencySensitivity = numa.Fact[string]{}
	}
	if r.CPULimit = t.mhz("CPU limit", 0, maxMHz); minusOne(t.text("CPU limit")) {
		r.CPULimit = numa.ReadAt(-1, t.origin("CPU limit"))
	}
	if r.MemoryLimit = t.bytes("memory limit", 0, numa.MaxVMMemory); minusOne(t.text("memory limit")) {
		r.MemoryLimit = numa.ReadAt(numa.Bytes(-1), t.origin("memory limit"))
	}
	var reclaimed numa.Bytes
	for _, f := range []string{"Swapped", "Ballooned"} {
		if b := t.bytes(f, 0, numa.MaxVMMemory); b.Value > 0 {
			reclaimed += b.Value
			vm.Reclaimed = numa.Fact[numa.Bytes]{Value: reclaimed, Origin: b.Origin}
		}
	}
	vm.Doubt = cmp.Or(readCores(t, &r, known), vm.Doubt)
	doubtUnit(t, &r)
	readAPI(t, &r)
	return r
}

// The memory for each vCPU, below and above which an amount is in another unit than people wrote: VMs have between some 100 MB and 64 GB.
const leastPerVCPU, mostPerVCPU = 32 * numa.MiB, 256 * numa.GiB

// doubtUnit forgets a memory that no VM of so many vCPUs has.
func doubtUnit(t *table, c *numa.Config) {
	if n := numa.Bytes(c.VCPUs.Value); t.kind.generic() && n > 0 && c.Memory.Known() && (c.Memory.Value < n*leastPerVCPU || c.Memory.Value > n*mostPerVCPU) {
		t.bad("Memory", fmt.Sprintf("found %s for %s, so the unit may be another one", c.Memory.Value, words.Plural(c.VCPUs.Value, "vCPU")))
		c.Memory = numa.Fact[numa.Bytes]{}
	}
}

// readCores reads the cores per socket, or derives them from the sockets; doubt says that the cells contradict each other. known contains the values from earlier sheets.
func readCores(t *table, c, known *numa.Config) (doubt string) {
	if c.Power.Value == numa.PoweredOff && t.boolFact("auto cores").Value {
		return "" // sizes assigned at power-on are meaningless while the VM is off
	}
	c.CoresPerSocket = t.count("Cores p/s", numa.MaxVCPUs)
	vcpus := cmp.Or(c.VCPUs.Value, known.VCPUs.Value)
	cps, s, cores := &c.CoresPerSocket, t.count("Sockets", numa.MaxVCPUs), t.count(coresKey, numa.MaxVCPUs).Value
	derived := func(n int, from string) numa.Fact[int] {
		return numa.DerivedFrom(n, strings.TrimSuffix(from+" of "+cmp.Or(t.at, t.sheet.name), " of "))
	}
	switch {
	case vcpus == 0 && s.Known() && cps.Known():
		c.VCPUs = derived(s.Value*cps.Value, "Sockets and Cores p/s")
	case !s.Known() && !cps.Known() && !slices.Contains([]int{0, vcpus}, cores):
		doubt = fmt.Sprintf("CPUs %d, but cores %d", vcpus, cores)
		unknown := "cores per socket are unknown"
		if cores > vcpus || !strings.Contains(squash(t.place("CPUs").header), "vcpu") { // they may be sockets
			c.VCPUs, unknown = numa.Fact[int]{}, "the vCPU count is unknown"
		}
		t.bad(coresKey, "the cells contradict each other: "+doubt+": "+unknown)
	case vcpus == 0 || !s.Known():
	case cps.Known() && s.Value*cps.Value != vcpus:
		doubt = fmt.Sprintf("CPUs %d, but %s × %d", vcpus, words.Plural(s.Value, "socket"), cps.Value)
		t.bad("Cores p/s", "the cells contradict each other: "+doubt+": which is right decides")
		*cps = numa.Fact[int]{}
	case !slices.Contains([]int{0, vcpus, vcpus / s.Value}, cores): // scripts call vCPUs sockets
		doubt = fmt.Sprintf("CPUs %d, but %s and cores %s", vcpus, words.Plural(s.Value, "socket"), t.text(coresKey))
		t.bad(coresKey, "the cells contradict each other: "+doubt+": cores per socket are unknown")
	case !cps.Known() && vcpus%s.Value == 0:
		c.CoresPerSocket = derived(vcpus/s.Value, "CPUs and Sockets")
	}
	return doubt
}

// powerStates are the values in the API and in user interfaces, without blanks, and the numbers that PowerCLI's ConvertTo-Json writes for
// VMware.VimAutomation.ViCore.Types.V1.Inventory.PowerState.
var powerStates = map[string]numa.PowerState{
	"poweredon": numa.PoweredOn, "on": numa.PoweredOn, "running": numa.PoweredOn, "eingeschaltet": numa.PoweredOn, "encendido": numa.PoweredOn, "soustension": numa.PoweredOn,
	"poweredoff": numa.PoweredOff, "off": numa.PoweredOff, "stopped": numa.PoweredOff, "ausgeschaltet": numa.PoweredOff, "apagado": numa.PoweredOff, "horstension": numa.PoweredOff,
	"suspended": numa.Suspended,
	"0":         numa.PoweredOff, "1": numa.PoweredOn, "2": numa.Suspended,
}

func readPower(t *table) numa.Fact[numa.PowerState] {
	s := t.stringFact("Powerstate")
	if !s.Known() {
		return numa.Fact[numa.PowerState]{}
	}
	state, ok := powerStates[squash(s.Value)]
	if !ok {
		t.bad("Powerstate", "found "+quote(s.Value)+", want poweredOn, poweredOff or suspended")
		return numa.Fact[numa.PowerState]{}
	}
	return numa.ReadAt(state, s.Origin.Where)
}

// readGuest reads the guest system. PowerCLI formats VMGuest as the name of the VM and its system: "db01:Red Hat Enterprise Linux 8
// (64-bit)".
func readGuest(t *table) numa.Fact[string] {
	const key = "OS according to the configuration file"
	os := t.stringFact(key)
	if _, system, ok := strings.Cut(os.Value, ":"); ok && strings.EqualFold(t.place(key).header, `"guest"`) {
		if os.Value = strings.TrimSpace(system); os.Value == "" {
			return numa.Fact[string]{}
		}
	}
	return os
}

// readFT reads the state of Fault Tolerance, and the role: 1 is the primary.
func readFT(t *table) numa.Fact[string] {
	state, role := t.stringFact("FT State"), t.text("FT Role")
	switch {
	case !state.Known():
	case squash(state.Value) == "notconfigured":
		state.Value = numa.FTOff
	case role != "" && role != "0" && role != "1" && role != "-1":
		state.Value = numa.FTSecondary
	default:
		state.Value = numa.FTPrimary
	}
	return state
}

// compatibility matches a hardware version as displayed in the vSphere Client: "ESXi 7.0 U2 and later (VM version 19)".
var compatibility = pattern.Of(`(?i)\((?:VM|virtual machine|hardware|HW)[ -]version (\d+)\)$`)

// readHardware parses a virtual hardware version, 21 or vmx-21.
func readHardware(t *table) numa.Fact[int] {
	s := t.stringFact("HW version")
	if !s.Known() || s.Value == "-1" {
		return numa.Fact[int]{}
	}
	if m := compatibility.FindStringSubmatch(s.Value); m != nil {
		s.Value = m[1]
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(strings.ToLower(s.Value), "v"), "mx"), "-")
	digits = strings.TrimPrefix(digits, "_")
	// 22 is the version of ESX 9.0; two digits allow for later ones.
	n, ok := parseInt(digits, t.rows.decimal())
	if !ok || n < 1 || n > 99 {
		t.bad("HW version", "found "+quote(s.Value)+", want a version such as 21 or vmx-21")
		return numa.Fact[int]{}
	}
	return numa.ReadAt(int(n), s.Origin.Where)
}
