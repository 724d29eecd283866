package tables

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"example.org/homenode/numa/pattern"
)

// longestHeader bounds the bytes of a header that are compared: a key of JSON may have as many as its file.
const longestHeader = 1000

// squash returns a header in the form for comparisons: its letters, digits, dots and signs, in lower case.
func squash(header string) string {
	header = header[:min(len(header), longestHeader)]
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '#' || r == '%' {
			return unicode.ToLower(r)
		}
		return -1
	}, header)
}

// units are the units of amounts: of memory in bytes, of frequencies in Hz. MB means MiB throughout vSphere.
var units = map[string]float64{
	"bytes": 1, "b": 1, "kb": 1 << 10, "kib": 1 << 10, "mb": 1 << 20, "mib": 1 << 20, "gb": 1 << 30, "gib": 1 << 30, "tb": 1 << 40, "tib": 1 << 40,
	"mo": 1 << 20, "go": 1 << 30, "mio": 1 << 20, "gio": 1 << 30, "tio": 1 << 40, // in French
	"hz": 1, "mhz": 1e6, "ghz": 1e9,
}

// splitUnit removes a unit from the end of a squashed header or a cell.
func splitUnit(s string) (rest, unit string) {
	for n := min(5, len(s)-1); n > 0; n-- {
		if units[s[len(s)-n:]] > 0 {
			return s[:len(s)-n], s[len(s)-n:]
		}
	}
	return s, ""
}

// A name is a known header: its column, its priority and its unit.
type name struct {
	id           string // of the column
	column, rank int
	unit         string
}

// amounts are the columns of amounts; true for those of frequencies.
var amounts = map[string]bool{"Memory": false, "# Memory": false, "memory reservation": false, "Speed": true, "CPU reservation": true, "CPU limit": true}

// knownOf keeps what known returns, by kind: each header that may be one of a table asks for it.
var knownOf sync.Map

// known returns the names of a kind by their squashed form. If two columns share a name, the first is kept.
func (k *kind) known() map[string]name {
	if kept, ok := knownOf.Load(k.name); ok {
		return kept.(map[string]name)
	}
	known := map[string]name{}
	for i := range k.columns {
		for rank, s := range k.columns[i].names {
			stem, unit, _ := strings.Cut(s, "=")
			stem = squash(stem)
			if _, amount := amounts[k.columns[i].id()]; amount && unit == "" {
				_, unit = splitUnit(stem)
			}
			if known[stem] == (name{}) {
				known[stem] = name{k.columns[i].id(), i, rank + 1, strings.ToLower(unit)}
			}
		}
	}
	knownOf.Store(k.name, known)
	return known
}

// wrappers are prefixes that programs add to the properties of an object.
var wrappers = []string{"instance.", "ansible_facts.", "extensiondata.", "value."}

// find returns the known name for a header.
func find(known map[string]name, header string) (name, bool) {
	s := strings.TrimSuffix(squash(header), "optional") // of templates for imports
	for _, w := range wrappers {
		s = strings.TrimPrefix(s, squash(w))
	}
	if n, ok := known[s]; ok {
		return n, true
	}
	if last := header[strings.LastIndexByte(header, '|')+1:]; last != header && strings.Contains(last, " ") { // of Aria Operations: Configuration|Hardware|Number of CPUs
		if n, ok := find(known, last); ok {
			return n, ok
		}
	}
	stem, unit := splitUnit(s)
	n, ok := known[strings.TrimSuffix(stem, ".")]
	if !ok {
		n, ok = known[strings.TrimSuffix(stem, "in")] // Memory (in MB)
	}
	if hertz, is := amounts[n.id]; ok && is && unit != "" && hertz == strings.HasSuffix(unit, "hz") {
		n.unit = unit
		return n, true
	}
	return name{}, false
}

// again is the end of the ID of a column that states an amount in another unit too.
const again = " again"

// megabytes are keys that, together, only objects of a program have whose memory is in MB, without a unit: those of package outside.
var megabytes = map[string][]string{"servicenow": {"sys_class_name"}, "netbox": {"status.label", "last_updated", "vcpus"}}

// inMegabytes returns the fact of package outside about the unit of the memory in a table with this header, if its memory has none.
func inMegabytes(header []string, memory place) (fact string) {
	for of, keys := range megabytes {
		if squash(memory.header) == "memory" && !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(header, key) }) {
			fact = of
		}
	}
	return fact
}

// places returns the places of the columns of the kind in a header, by column ID.
func (k *kind) places(header []string) (at map[string]place, repeated map[string]int) {
	known := k.known()
	at, repeated = map[string]place{}, map[string]int{}
	for i := range k.columns {
		at[k.columns[i].id()] = place{index: -1}
	}
	best := make([]name, len(k.columns))
	for i, h := range header {
		n, ok := find(known, h)
		if !ok {
			continue
		}
		c, old := &k.columns[n.column], best[n.column]
		if old.rank == n.rank && squash(h) == squash(header[at[c.id()].index]) {
			repeated[c.id()]++
			if !c.last {
				continue
			}
		}
		if old.rank == n.rank && old.unit != n.unit { // Memory MB and Memory GB
			at[c.id()+again] = place{i, `"` + strings.TrimSpace(h) + `"`, n.unit}
			continue
		}
		if old.rank == 0 || n.rank < old.rank || old.rank == n.rank && c.last {
			best[n.column] = n
			at[c.id()] = place{i, `"` + strings.TrimSpace(h) + `"`, n.unit}
		}
	}
	if i := slices.IndexFunc(header, func(h string) bool { return squash(h) == "server" || squash(h) == "hostname" }); k.name == vmTable.name && i >= 0 && at["VM"].index < 0 && at["Host"].index >= 0 && at["Host"].index != i {
		at["VM"] = place{index: i, header: `"` + strings.TrimSpace(header[i]) + `"`} // the host has a column of its own
	}
	if p := at["Memory"]; k.name == vmTable.name && inMegabytes(header, p) != "" {
		p.unit = "mb"
		at["Memory"] = p
	}
	return at, repeated
}

// aboutNUMA matches squashed headers that may state important NUMA facts.
var aboutNUMA = pattern.Of(`hot(add|plug)|hwversion|hardwareversion|numa|cores|sockets`)

// unknown returns the headers without a column in the kind, possible NUMA headers first. Headers of hosts inside VMs are excluded: they
// are a separate table.
func (k *kind) unknown(header []string) (names []string) {
	for _, h := range header {
		if _, tells := ofESXi[fact(h)]; !k.knows(h) && !tells && strings.TrimSpace(h) != "" && !strings.HasPrefix(h, inside) {
			names = append(names, quote(strings.TrimSpace(h)))
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		first := func(s string) int { return len(aboutNUMA.FindString(squash(s))) }
		return cmp.Compare(min(first(b), 1), min(first(a), 1))
	})
	return names
}

// rvtoolsWords are headers that only RVTools uses, squashed.
var rvtoolsWords = map[string]bool{"rvtoolsversion": true, "visdkserver": true, "visdkuuid": true, "osaccordingtotheconfigurationfile": true, "srmplaceholder": true,
	"inusemib": true, "inusemb": true, "numahotaddexposed": true, "drsentitlement": true}

// kindOf returns the kind of a table with this header; nil if it is neither a table of VMs nor one of hosts, or may be either. Headers that only RVTools
// uses identify its sheets, regardless of their names.
func kindOf(header []string) *kind {
	rvtools := slices.ContainsFunc(header, func(h string) bool { return rvtoolsWords[squash(h)] })
	if rvtools {
		if k := sheetOf(header); k != nil {
			return k
		}
	}
	vms, hosts := kindNamed(vmTable.name), kindNamed(hostTable.name)
	ofVMs, ofHosts := vms.fits(header), !rvtools && hosts.fits(header) // vCluster has a column for cores too
	if !ofVMs && !ofHosts {
		return nil
	}
	switch lead := leadOfVMs(header); {
	case ofVMs && (lead > 0 || lead == 0 && namesVM(header)):
		return vms
	case ofHosts && (lead < 0 || lead == 0 && !ofVMs):
		return hosts
	}
	return nil
}

// leadOfVMs compares the number of headers that only tables of VMs have with that of tables of hosts: positive for VMs, negative for hosts, and zero if
// nothing decides. Of equal numbers, a column of vCPUs decides, or one of cores per socket without sockets: PowerCLI calls the cores of a host NumCpu
// too, but says more about hosts. CPUs beside cores that only hosts have may be packages, unless they are called virtual.
func leadOfVMs(header []string) (lead int) {
	vms, hosts := vmTable.known(), hostTable.known()
	has := map[string]bool{}
	for _, h := range header {
		vm, ofVM := find(vms, h)
		host, ofHost := find(hosts, h)
		switch {
		case ofVM && !ofHost:
			lead++
		case ofHost && (!ofVM || squash(h) == "cpucores"): // rarely of VMs
			lead--
			has["cores of hosts"] = has["cores of hosts"] || host.id == "# Cores"
		}
		has[vm.id], has["vCPUs"] = true, has["vCPUs"] || strings.Contains(squash(h), "vcpu")
	}
	if has["VM"] && has["Host"] { // the row of a host names one object
		lead++
	}
	if lead == 0 && (has["CPUs"] && (has["vCPUs"] || !has["cores of hosts"]) || has["Cores p/s"] && !has["Sockets"]) {
		return 1
	}
	return lead
}

// coresKey is the key of the column that states vCPUs, or beside sockets perhaps cores per socket.
const coresKey = "cores"

// sheetsTold are the columns that distinguish the RVTools sheets; each sheet also needs the column that identifies its object. Most
// columns of vInfo occur in every sheet of VMs. The first match counts.
var sheetsTold = []struct {
	kind, about string
	columns     []string
}{
	{"vInfo", "VM", []string{"Memory", "HW version"}},
	{"vCPU", "VM", []string{"Sockets", "Cores p/s"}},
	{"vMemory", "VM", []string{"Memory", "Memory Reservation Locked To Max"}},
	{"vInfo", "VM", []string{"CPUs"}},
	{"vHost", "Host", []string{"# CPU", "# Cores"}},
	{"vMetaData", "RVTools version", []string{"xlsx creation datetime", "Server"}},
}

// sheetOf returns the kind of an RVTools sheet with this header; nil if the sheet is not read.
func sheetOf(header []string) *kind {
	for _, told := range sheetsTold {
		k := kindNamed(told.kind)
		at, _ := k.places(header)
		if at[told.about].index >= 0 && slices.ContainsFunc(told.columns, func(c string) bool { return at[c].index >= 0 }) {
			return k
		}
	}
	return nil
}

// matches returns the number of columns of a kind in a header.
func (k *kind) matches(header []string) int {
	at, _ := k.places(header)
	n := 0
	for _, p := range at {
		if p.index >= 0 {
			n++
		}
	}
	return n
}

// needs are the required columns: at least one that identifies the object and one with data about it.
var needs = map[string][2][]string{
	"VMs":   {{"VM", "VM ID", "VM UUID"}, {"CPUs", "Memory", "Cores p/s", "CPU hot add", "memory hot add", "settings", coresKey}},
	"hosts": {{"Host"}, {"# CPU", "# Cores", "CPU Model", "nodes", "CPU Threads"}},
}

// fits reports whether a header has the required columns of a kind.
func (k *kind) fits(header []string) bool {
	known, found := k.known(), 0
	for _, h := range header {
		if n, ok := find(known, h); ok && n.id != dateKey {
			found++
		}
	}
	if found < 2 { // who and what: most files that are no tables end here
		return false
	}
	at, _ := k.places(header)
	if !k.identifies(header) || !slices.ContainsFunc(needs[k.name][1], func(key string) bool { return at[key].index >= 0 }) {
		return false
	}
	return k.name != hostTable.name || !ofAnything(at) && !namesVM(header)
}

// knows reports whether a header is that of a column of the kind.
func (k *kind) knows(header string) bool {
	_, ok := find(k.known(), header)
	return ok
}

// identifies reports whether a header has a column that identifies the objects of a kind.
func (k *kind) identifies(header []string) bool {
	at, _ := k.places(header)
	return !k.generic() || slices.ContainsFunc(needs[k.name][0], func(key string) bool { return at[key].index >= 0 })
}

// namesVM reports whether a column contains VM names only: then each row is about a VM, even if it states a host.
func namesVM(header []string) bool {
	at, _ := vmTable.places(header)
	vm := at["VM"]
	return vm.index >= 0 && !hostTable.knows(strings.Trim(vm.header, `"`))
}

// ofAnything reports whether a table of hosts could be an unrelated one, such as a price list: names, models, cores and memory.
func ofAnything(at map[string]place) bool {
	for id, p := range at {
		header := squash(strings.Trim(p.header, `"`))
		switch {
		case p.index < 0, slices.Contains([]string{"Model", "Vendor", "CPU Model", "Speed", "# Memory", "Object ID", "platform", dateKey}, id):
		case id == "Host" && slices.Contains([]string{"name", "nom", "nombre"}, header), id == "# Cores" && header == "cores":
		default:
			return false
		}
	}
	return true
}
