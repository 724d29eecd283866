package libvirt

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/homenode/internal/outside"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// entity matches an entity that XML does not predefine. The decoder keeps it unchanged.
var entity = pattern.Of(`&[\pL_][\pL\pN._-]*;`)

// A domain is the definition of a VM while it is read.
type domain struct {
	*reader
	*definition.VM
	cpus       []int        // host CPUs of vCPUs without a pin of their own
	most       int          // maximum number of vCPUs; 0 if unknown
	now        int          // vCPUs at start; 0 for all
	rounded    numa.Bytes   // memory added by rounding up cells and devices
	rounding   numa.Bytes   // part of rounded that belongs to cells
	devices    numa.Bytes   // of all memory devices, at their full size
	enclaves   numa.Bytes   // of sgx-epc
	cellsAlone numa.Bytes   // memory of the cells without modules
	iothreads  map[int]bool // by number
	clusters   int          // of a die
	largest    numa.Bytes   // maxMemory
	wrong      [][2]int     // places of elements with values that libvirt refuses
	idle       numa.Bytes   // part of <memory> outside of cells: room for hot-plugged modules, and memory backed by files
}

// readDomain reads the definition of a VM; whole is false for a fragment of one.
func readDomain(name string, e *element, whole bool) *definition.VM {
	r := newReader(name, "libvirt domain")
	d := &domain{reader: r, VM: definition.New(r.file, e.line, e.col)}
	d.Name, d.UUID, d.Title = e.child("name").content(), e.child("uuid").content(), e.child("title").content()
	d.Emulated, d.Arch, d.Cut = e.attr("type") == "qemu", e.child("os", "type").attr("arch"), !e.closed
	d.Stated.Partial, d.Stated.Running = !whole, e.attr("id") != ""
	if found := entity.FindString(d.Name); found != "" {
		at := e.child("name")
		r.file.Warn(at.line, at.col, "name: found the entity %s, which stays as it is: no entities are read", text.Short(found))
	}
	if at := e.child("uuid"); d.UUID != "" {
		d.add(at, "UUID", d.UUID, "")
	}
	if os := e.child("metadata", "libosinfo", "os").attr("id"); os != "" {
		d.GuestOS = numa.ReadAt(os, "metadata")
		d.add(e.child("metadata", "libosinfo", "os"), "guest operating system", os, "")
	}
	d.processors(e)
	d.memory(e)
	cells := e.child("cpu", "numa").all("cell")
	d.cells(cells)
	d.backing(e.child("memoryBacking"))
	d.iothreads = d.threads(e)
	d.pins(e.child("cputune"))
	d.bound(e.child("numatune"))
	d.cellsAlone, d.rounding = d.Stated.CellMemory(), d.rounded
	d.modules(e.child("devices").all("memory"), e.child("maxMemory"))
	d.aligned()
	d.unheld(e.child("memoryBacking", "hugepages"))
	tree := strings.HasPrefix(e.child("os", "type").attr("machine"), "virt") && d.Arch != "x86_64" // has nodes and distances in its device tree
	switch f := e.child("features"); {
	case tree:
	case f != nil:
		d.Stated.ACPI = numa.ReadAt(f.child("acpi") != nil, text.Where(f.line, f.col))
		d.add(f, "ACPI", d.Stated.ACPI.Value, "")
	case whole:
		d.Stated.ACPI = numa.DerivedFrom(false, "no <features>")
	}
	d.limits(e)
	if !d.Stated.Running {
		d.refused(e)
	}
	if line := e.child("commandline"); line != nil {
		d.commandLine(line)
	}
	if d.Close(d.most, d.now); d.Stated != nil { // what is refused is not said twice
		r.file.Warnings = slices.DeleteFunc(r.file.Warnings, func(w fact.Warning) bool { return slices.Contains(d.wrong, [2]int{w.Line, w.Col}) })
	}
	if kind := e.attr("type"); !slices.Contains(judgedTypes, kind) {
		d.Stated, d.Why = nil, fmt.Sprintf("its hypervisor is %s: domains of QEMU alone are judged (%s)", text.Short(kind), strings.Join(judgedTypes[1:], ", "))
	}
	r.file.Sort()
	return d.VM
}

// judgedTypes are the types of domains that QEMU runs; "" for parts of one.
var judgedTypes = []string{"", "kvm", "qemu", "hvf"}

// commandLine finds options of QEMU beside the definition that make the shape another one: it is unknown what the guest sees then.
func (d *domain) commandLine(e *element) {
	var found []string
	args := e.all("arg")
	for i, a := range args {
		option := "-" + strings.TrimLeft(a.attr("value"), "-")
		backend := option == "-object" && i+1 < len(args) && strings.Contains(args[i+1].attr("value"), "memory-backend-")
		if (backend || option == "-smp" || option == "-m" || option == "-numa") && a.attr("value") != option[1:] && !slices.Contains(found, option) {
			found = append(found, option)
		}
	}
	if found != nil {
		d.Doubt(e.line, e.col, "qemu:commandline adds %s to the arguments of QEMU, which is not read: the guest may see another shape than the definition states", strings.Join(found, ", "))
		d.Stated.Partial = true
	}
}

// limits finds what QEMU and libvirt do not start: too many vCPUs or too much memory for the machine type, the processor and the virtual
// IOMMU (qemuValidateDomainVCpuTopology in src/qemu/qemu_validate.c).
func (d *domain) limits(e *element) {
	s, cpu, iommu := d.Stated, e.child("cpu"), e.child("devices", "iommu")
	if m := e.child("memory"); !s.Partial && s.CellMemory() == 0 && (m == nil || strings.Trim(m.content(), "0") == "") {
		d.Refuse(e.line, e.col, "it states no memory, neither of the VM nor of cells: libvirt refuses it")
	}
	l := definition.Limits{Machine: e.child("os", "type").attr("machine"), VCPUs: d.most, Clusters: d.clusters, Dies: s.Dies, Memory: max(s.Shape.Memory, d.largest), Bits: outside.ModelBits,
		More: "the mode host-passthrough of cpu, or maxphysaddr,"}
	for _, of := range []struct {
		name string
		at   *[2]int
	}{{"vcpu", &l.CPU}, {"memory", &l.Size}} {
		if at := e.child(of.name); at != nil {
			*of.at = [2]int{at.line, at.col}
		}
	}
	if !s.Partial {
		l.Default = "pc"
	}
	switch bits := cpu.child("maxphysaddr"); {
	case bits.attr("mode") == "emulate":
		l.Bits, _ = d.number(bits, "bits", bits.attr("bits"), 64)
		d.Bits = l.Bits
	case bits.attr("limit") != "": // of the mode passthrough
		l.Bits, _ = d.number(bits, "limit", bits.attr("limit"), 64)
	case bits != nil, s.Partial && cpu == nil, d.Emulated, cpu.attr("mode") == "host-passthrough", cpu.attr("mode") == "maximum":
		l.Bits = 0
	}
	d.Limits(l)
	if gic := e.child("features", "gic"); gic.attr("version") == "2" && d.most > 8 && !s.Running { // GIC_NCPU, hw/arm/virt.c of QEMU
		d.Refuse(gic.line, gic.col, "%d vCPUs, and an interrupt controller (gic) of version 2, which has 8 at most: QEMU refuses it", d.most)
	}
	m, _, known := outside.MachineOf(l.Machine)
	if known && !s.Running && (d.Arch == "" || d.Arch == "x86_64") {
		d.buses(e.child("devices").all("controller"), l.Machine, m.Type == "pc-q35")
	}
	switch q35 := m.Type == "pc-q35"; {
	case s.Running, s.Partial, d.Arch != "" && d.Arch != "x86_64":
	case iommu != nil && known && !q35 && iommu.attr("model") != "virtio":
		d.Refuse(iommu.line, iommu.col, "a virtual IOMMU (%s) on the machine type %s: QEMU has it for q35 alone", text.Short(iommu.attr("model")), l.Machine)
	case q35 && d.most > outside.FewAPICs && iommu.child("driver").attr("eim") != "on":
		d.Refuse(l.CPU[0], l.CPU[1], "%d vCPUs, and no virtual IOMMU with extended interrupt mode (eim='on'): libvirt before 10.10 refuses more than %d without; newer releases add it", d.most, outside.FewAPICs)
	}
}

// buses finds PCI controllers that the machine type has not, and bus numbers given twice. libvirt 9.0.0 was asked, and for the numbers, which it
// does not compare, QEMU 7.2.22: "Bus 250 is already in use".
func (d *domain) buses(list []*element, machine string, q35 bool) {
	has, lacks := "pci", "pcie"
	if q35 {
		has, lacks = lacks, has
	}
	numbers := map[string]bool{}
	for _, c := range list {
		model, number := c.attr("model"), c.child("target").attr("busNr")
		switch {
		case c.attr("type") != "pci":
		case model == lacks+"-root", model == lacks+"-expander-bus", c.attr("index") == "0" && model != "" && model != has+"-root":
			d.Refuse(c.line, c.col, "a PCI controller %s (index %s) on the machine type %s, whose first is %s-root: libvirt refuses it", text.Short(model), text.Short(c.attr("index")), text.Short(machine), has)
		case numbers[number] && number != "":
			d.Refuse(c.line, c.col, "two PCI controllers have the bus number (busNr) %s: QEMU refuses it", text.Short(number))
		}
		numbers[number] = true
	}
}

// add adds a fact of the file.
func (d *domain) add(at *element, name string, value any, unit string) {
	d.file.Add(at.line, at.col, words.Join(" ", "VM", d.Name), name, value, unit)
}

func (d *domain) at(e *element) string { return numa.Place(d.file.Name, e.line, e.col) }

// processors reads the number of vCPUs and their topology. The number comes from vcpu, else from the topology, else from the cells.
func (d *domain) processors(e *element) {
	s := d.Stated
	if v := e.child("vcpu"); v != nil {
		if n := d.count(v, "vcpu", v.content(), numa.MaxVCPUs+1); n.Known() {
			d.most, s.VCPUsAt = n.Value, numa.Place(d.file.Name, v.line, 0)
			d.add(v, "vCPUs", n.Value, "")
		}
		if n := d.count(v, "current", v.attr("current"), numa.MaxVCPUs+1); n.Known() {
			d.now = n.Value
			d.add(v, "vCPUs now", n.Value, "")
		}
		if now, ok := d.quietly().number(v, "current", v.attr("current"), math.MaxInt32); ok && e.child("vcpus") == nil && !s.Running && (now == 0 || d.most > 0 && now > d.most) {
			d.Refuse(v.line, v.col, "%s of %d at start: libvirt refuses it", words.Plural(now, "vCPU"), d.most)
			d.now = 0
		}
		s.Auto = v.attr("placement") == "auto"
		if d.cpus = d.list(v, "cpuset", maxCPU); s.Auto {
			d.cpus = nil // libvirt drops it, and asks numad
		} else if d.cpus != nil {
			d.add(v, "host CPUs", words.Ranges(d.cpus), "")
		}
	}
	t := e.child("cpu", "topology")
	if t != nil {
		d.topology(t)
		if e.child("cpu", "cache").attr("mode") == "disable" { // -cpu l3-cache=off: the last cache is that of a core
			s.Sharing = s.Threads
		}
		d.most = cmp.Or(d.most, s.Most())
	}
	for _, c := range e.child("cpu", "numa").all("cell") {
		if list := d.quietly().list(c, "cpus", numa.MaxVCPUs); d.most == 0 && len(list) > 0 {
			d.now = max(d.now, slices.Max(list)+1)
		}
	}
	if d.most == 0 {
		d.most, d.now = d.now, 0
	}
	if !s.Partial && e.child("vcpu") == nil && d.most == 0 && t == nil {
		d.most = 1 // as in libvirt
	}
	if !s.Partial && e.child("vcpu") == nil && d.most > 1 {
		d.Refuse(e.line, e.col, "it states no vcpu, so that it has 1 vCPU, and %d in its topology or cells: libvirt refuses it", d.most)
	}
	switch {
	case t == nil:
		s.Sockets, s.Dies, s.Cores, s.Threads = d.most, 1, 1, 1
	case s.Most() == 0:
		d.Stray(t.line, t.col, true, "the topology does not state sockets, cores and threads, each at least 1")
	case s.Most() > d.most, s.Most() < d.most && d.now > 0:
		d.Stray(t.line, t.col, true, "a topology of %d vCPUs, and %d vCPUs", s.Most(), d.most)
	}
	d.slots(e.child("vcpus"))
}

// topology reads the sockets, dies, cores and threads.
func (d *domain) topology(t *element) {
	s := d.Stated
	d.clusters = 1
	s.Dies, s.TopologyAt = 1, d.at(t)
	for _, a := range []struct {
		name string
		to   *int
	}{{"sockets", &s.Sockets}, {"dies", &s.Dies}, {"clusters", &d.clusters}, {"cores", &s.Cores}, {"threads", &s.Threads}} {
		if n, ok := d.number(t, a.name, t.attr(a.name), numa.MaxVCPUs+1); ok {
			*a.to = n
			d.add(t, a.name, n, "")
		}
	}
	if d.clusters > 1 {
		s.Sharing = s.Cores * s.Threads
	}
	s.Cores *= d.clusters // nothing that is judged lies between a die and a core
}

// slots reads which vCPUs are there at start; those that the list leaves out are not (qemuDomainDefVcpusPostParse in src/qemu/qemu_domain.c).
func (d *domain) slots(list *element) {
	all := list.all("vcpu")
	if all == nil || d.most > numa.MaxVCPUs {
		return
	}
	on, ordered := map[int]bool{}, 0
	for _, v := range all {
		id, ok := d.number(v, "vcpu", v.attr("id"), 1<<31)
		switch order, _ := d.quietly().number(v, "order", v.attr("order"), 1<<31); {
		case !ok || v.attr("enabled") == "no":
		case id >= d.most:
			d.Refuse(v.line, v.col, "vCPU %d of %d: libvirt refuses it", id, d.most)
		default:
			if on[id] = true; order > 0 {
				ordered++
			}
			if id == 0 && (v.attr("hotpluggable") == "yes" || order > 1) {
				d.Stray(v.line, v.col, true, "vCPU 0 can be unplugged, or is not the first: libvirt refuses it")
			}
		}
	}
	switch {
	case !on[0]:
		d.Stray(list.line, list.col, true, "vCPU 0 is off: libvirt refuses it")
	case ordered > 0 && ordered < len(on):
		d.Stray(list.line, list.col, true, "%s at start, and %d with an order: libvirt refuses it", words.Plural(len(on), "vCPU"), ordered)
	}
	for id := range d.most {
		if !on[id] {
			d.Stated.Slots = append(d.Stated.Slots, id)
		}
	}
	if len(on) > 0 {
		d.now = 0
	}
}

// cells reads the NUMA nodes of the guest, sorted by number; libvirt numbers them if the file does not.
func (d *domain) cells(list []*element) {
	type numbered struct {
		id       int
		e        *element
		distance map[int]int
	}
	var out []numbered
	for i, e := range list {
		id := i
		if s := e.attr("id"); s != "" {
			n, ok := d.number(e, "cell", s, maxNode)
			if !ok {
				continue
			}
			id = n
		}
		if slices.ContainsFunc(out, func(o numbered) bool { return o.id == id }) {
			id = i // as if it were not numbered
		}
		out = append(out, numbered{id, e, d.distances(e)})
	}
	slices.SortFunc(out, func(a, b numbered) int { return cmp.Compare(a.id, b.id) })
	far := map[[2]int]int{}
	for i, c := range out {
		cell := numa.Cell{CPUs: d.list(c.e, "cpus", numa.MaxVCPUs), At: d.at(c.e)}
		memory := d.bytes(c.e, "memory", c.e.attr("memory"), c.e.attr("unit"))
		cell.Memory = d.round(memory.Value, d.align())
		name := fmt.Sprint("cell ", c.id)
		if cell.CPUs != nil {
			d.add(c.e, name+" vCPUs", words.Ranges(cell.CPUs), "")
		}
		if memory.Known() {
			d.add(c.e, name+" memory", int64(memory.Value/numa.KiB), "KiB")
		}
		if c.id != i {
			d.Stray(c.e.line, c.e.col, true, "cell %d comes where %d is due: libvirt wants them from 0, without a gap", c.id, i)
		}
		for to, value := range c.distance {
			j := slices.IndexFunc(out, func(o numbered) bool { return o.id == to })
			if j < 0 {
				d.Stray(c.e.line, c.e.col, true, "cell %d has a distance to cell %d, which there is not", c.id, to)
				continue
			}
			far[[2]int{i, j}] = value
		}
		for _, s := range c.e.child("distances").all("sibling") {
			if value, ok := d.quietly().number(s, "distance", s.attr("value"), 256); ok {
				d.add(s, name+" distance to cell "+s.attr("id"), value, "")
			}
		}
		d.Stated.Cells = append(d.Stated.Cells, cell)
	}
	if len(far) > 0 {
		d.Stated.Distance = distanceOf(len(out), far)
	}
}

// distanceOf returns a table of distances. Missing entries take the value of the opposite direction, or else the libvirt defaults 10
// and 20.
func distanceOf(n int, far map[[2]int]int) (table [][]int) {
	for i := range n {
		row := make([]int, n)
		for j := range row {
			usual := 20
			if i == j {
				usual = 10
			}
			row[j] = cmp.Or(far[[2]int{i, j}], far[[2]int{j, i}], usual)
		}
		table = append(table, row)
	}
	return table
}

// pins reads the CPU affinity of vCPUs and of the other QEMU threads.
func (d *domain) pins(tune *element) {
	s := d.Stated
	for range d.most {
		s.CPUs = append(s.CPUs, d.cpus)
	}
	var beyond []int // vCPUs that there are not
	var at *element
	for _, p := range tune.all("vcpupin") {
		v, ok := d.number(p, "vcpu", p.attr("vcpu"), numa.MaxVCPUs)
		cpus := d.list(p, "cpuset", maxCPU)
		if !ok || cpus == nil {
			continue
		}
		d.add(p, fmt.Sprintf("vCPU %d on host CPUs", v), words.Ranges(cpus), "")
		if v >= d.most {
			beyond = append(beyond, v)
			at = cmp.Or(at, p)
			continue
		}
		s.CPUs[v] = cpus
		s.Pins = append(s.Pins, numa.Pinned{VCPU: v, At: d.at(p)})
	}
	if beyond != nil {
		d.Stray(at.line, at.col, false, "it pins %s, and has %s", words.Numbered("vCPU", beyond), words.Plural(d.most, "vCPU"))
	}
	s.RealTime = slices.ContainsFunc(tune.all("vcpusched"), func(p *element) bool { return p.attr("scheduler") == "fifo" || p.attr("scheduler") == "rr" })
	helper := func(p *element, what, fact string, io bool) {
		if cpus := d.list(p, "cpuset", maxCPU); cpus != nil {
			s.Helpers = append(s.Helpers, numa.Helper{What: what, IO: io, CPUs: cpus, At: d.at(p)})
			d.add(p, fact+" on host CPUs", words.Ranges(cpus), "")
		}
	}
	if p := tune.child("emulatorpin"); p != nil {
		helper(p, "the other threads of QEMU", "emulator", false)
	}
	for _, p := range tune.all("iothreadpin") {
		helper(p, "I/O thread "+p.attr("iothread"), "I/O thread "+p.attr("iothread"), true)
		if n, ok := d.number(p, "iothread", p.attr("iothread"), 1<<31); ok && !s.Partial && !d.iothreads[n] {
			d.Stray(p.line, p.col, true, "it pins I/O thread %d, which there is not: libvirt refuses it", n)
		}
	}
}

// threads returns the numbers of the I/O threads: those listed, and up to their count the lowest free numbers
// (virDomainIOThreadIDArrayInit in src/conf/domain_conf.c).
func (d *domain) threads(e *element) map[int]bool {
	out := map[int]bool{}
	for _, t := range e.child("iothreadids").all("iothread") {
		if n, ok := d.number(t, "iothread", t.attr("id"), 1<<31); ok {
			out[n] = true
		}
	}
	count, _ := d.number(e.child("iothreads"), "iothreads", e.child("iothreads").content(), 1<<12)
	for n := 1; len(out) < count; n++ {
		out[n] = true
	}
	return out
}

// bound reads the memory binding of each cell; the default mode of libvirt is strict.
func (d *domain) bound(tune *element) {
	s := d.Stated
	s.Bound = make([]numa.Bound, max(1, len(s.Cells)))
	read := func(e *element, what string) numa.Bound {
		b := numa.Bound{Mode: cmp.Or(e.attr("mode"), "strict"), Nodes: d.list(e, "nodeset", maxNode), At: d.at(e)}
		if e.attr("placement") == "auto" {
			s.Auto, b.Nodes = true, nil // libvirt drops the nodes, and asks numad
		}
		if b.Nodes != nil {
			d.add(e, what+" from host nodes", words.Ranges(b.Nodes), "")
		}
		d.add(e, what+" mode", b.Mode, "")
		return b
	}
	if m := tune.child("memory"); m != nil {
		all := read(m, "memory")
		if all.Mode == "preferred" && len(all.Nodes) > 1 && !s.Running { // virNumaSetupMemoryPolicy in src/util/virnuma.c
			d.Doubt(m.line, m.col, "memory has the mode preferred and %d nodes: libvirt before 9.3 does not start it", len(all.Nodes))
		}
		for i := range s.Bound {
			s.Bound[i] = all
		}
	}
	for _, m := range tune.all("memnode") {
		if tune.child("memory").attr("placement") == "auto" {
			d.Stray(m.line, m.col, true, "it binds the memory of a cell beside placement='auto', which libvirt refuses")
			break
		}
		cell, ok := d.number(m, "cellid", m.attr("cellid"), maxNode)
		if !ok {
			continue
		}
		one := read(m, fmt.Sprintf("cell %d memory", cell))
		if cell >= len(s.Cells) {
			d.Stray(m.line, m.col, true, "it binds the memory of cell %d, which there is not", cell)
			continue
		}
		s.Bound[cell] = one
		switch whole := cmp.Or(tune.child("memory").attr("mode"), "strict"); { // virDomainNumaDefValidate in src/conf/numa_conf.c
		case one.Mode != "restrictive" && whole == "restrictive":
			d.Stray(m.line, m.col, true, "the memory of cell %d has the mode %s, and that of the VM restrictive: libvirt refuses it", cell, text.Short(one.Mode))
		case one.Mode == "restrictive" && whole != "restrictive":
			d.Doubt(m.line, m.col, "the memory of cell %d has the mode restrictive, and that of the VM %s: newer releases of libvirt refuse it", cell, text.Short(whole))
		}
	}
}
