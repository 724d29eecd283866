package tables

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
)

// A jsonRow is an object used as a row, flattened: path below it to value. Lists are not flattened.
type jsonRow struct {
	at    string // path of the object
	of    string // type of the managed object, if stated
	cells map[string]any
}

// mostKeys is the maximum number of columns of a JSON table, as many as a workbook has. An object with more keys is no row: it may hold rows by name.
const mostKeys = 1 << 14

// flatten adds the values below v, up to one more than mostKeys.
func (r *jsonRow) flatten(path string, v any) {
	o, ok := v.(object)
	if !ok {
		if v != nil {
			r.cells[path] = v
		}
		return
	}
	for _, m := range o {
		if len(r.cells) > mostKeys {
			return
		}
		key := m.key
		if path != "" {
			key = path + "." + key
		}
		if set, ok := m.value.(object); ok && strings.EqualFold(m.key, "advanced_settings") {
			if len(set) > 0 {
				r.cells[key] = set.options()
			}
			continue
		}
		r.flatten(key, m.value)
	}
}

// options returns the members in the form in which the API lists options.
func (o object) options() []any {
	list := make([]any, len(o))
	for i, m := range o {
		list[i] = object{{"key", m.key}, {"value", m.value}}
	}
	return list
}

// reference matches a VM reference, which the REST API adds to the name.
var reference = pattern.Of(`^vm-\d+$`)

// rowOf returns the row for an object; nil if it is not a row. Objects of govc object.collect and of a PropertyCollector list the requested
// properties.
func rowOf(at string, v any) *jsonRow {
	r := &jsonRow{at: at, cells: map[string]any{}}
	set, _ := v.([]any)
	o, _ := v.(object)
	changes, update := o.get("changeSet").([]any)
	properties, content := o.get("propSet").([]any)
	switch {
	case update || content:
		set = append(changes, properties...)
		r.flatten("obj", o.get("obj"))
		ref, _ := o.get("obj").(object)
		r.of, _ = ref.get("type").(string)
	case o != nil:
		r.flatten("", o)
	}
	for _, e := range set {
		change, ok := e.(object)
		name, is := change.get("name").(string)
		if !ok || !is || !content && change.get("op") == nil {
			return nil
		}
		r.flatten(name, change.get("val"))
	}
	if len(r.cells) == 0 || len(r.cells) > mostKeys {
		return nil
	}
	if id, ok := r.cells["vm"].(string); ok && r.cells["name"] != nil && reference.MatchString(id) {
		r.cells["moid"] = id
		delete(r.cells, "vm")
	}
	return r
}

// jsonTables collects the tables of a document: lists of objects, objects of objects, or single objects with the columns of VMs or hosts.
type jsonTables struct {
	tables  []jsonTable
	others  [][]*jsonRow // lists of objects that are no tables
	own     string       // the output format of this program, if the document is one; it is no inventory
	foreign string       // the kind of machine, if objects describe another kind
	list    string       // first text in a list of texts
}

const flavor = "flavors of OpenStack Nova, which are not read: save virsh dumpxml of the instances, and virsh capabilities of their hosts"

const proxmox = "VMs of Proxmox, whose lists are not read: save the configuration files of /etc/pve/qemu-server"

// foreign are objects of other kinds that have the columns of VMs or hosts: those with a key, and without a fact of ESXi. * is any end.
var foreign = []struct {
	key, what string
}{
	{"terraform_version", "a state of Terraform, which states what was asked for and not what the VMs have now"},
	{"ansible_processor_count", "facts of Ansible about a guest or another machine, which is no ESXi host: want those of vmware_host_facts"},
	{"resources.num_vcpus_per_socket", "a VM of Nutanix AHV, which is not of vSphere"},
	{"cpu.topology.sockets", "VMs or hosts of oVirt, which are not read: save virsh dumpxml of the VMs, and virsh capabilities of their hosts"},
	{"os-flv-*", flavor},
	{"os-flavor-access:is_public", flavor},
	{"is public", flavor},
	{"properties.hw:*", flavor},
	{"digest", proxmox}, // pvesh get /nodes/NODE/qemu/VMID/config
	{"maxmem", proxmox},
	{"maxcpu", proxmox},
	{"bootdisk(gb)", proxmox}, // qm list
	{"smbios1", proxmox},      // a configuration
	{"scsihw", proxmox},
	{"vmgenid", proxmox},
}

// ofESXi are the Ansible facts that identify an ESXi host, with their values; "" means any.
var ofESXi = map[string]string{"ansible_distribution": "VMware ESXi", "ansible_os_type": "vmnix-x86", "ansible_system": "VMkernel", "ansible_in_maintenance_mode": ""}

// fact returns the name of an Ansible fact, which may be below ansible_facts.
func fact(key string) string { return strings.TrimPrefix(strings.ToLower(key), "ansible_facts.") }

// foreignOf returns the other kind of machine that a row describes; "" if there is none.
func foreignOf(r *jsonRow) (what string) {
	for key, v := range r.cells {
		key = fact(key)
		if value, tells := ofESXi[key]; tells && (value == "" || cellOf(v) == value) {
			return ""
		}
		for _, f := range foreign {
			if begin, any := strings.CutSuffix(f.key, "*"); key == f.key || any && strings.HasPrefix(key, begin) {
				what = f.what
			}
		}
	}
	return what
}

type jsonTable struct {
	kind   *kind
	header []string
	rows   []*jsonRow
}

// add finds the tables in a value at a path.
func (j *jsonTables) add(at string, v any, depth int) {
	if depth > 8 {
		return
	}
	var rows []*jsonRow
	switch v := v.(type) {
	case []any:
		if r := rowOf(at, v); r != nil && j.accept([]*jsonRow{r}) {
			return
		}
		for i, e := range v {
			if r := rowOf(fmt.Sprintf("%s[%d]", at, i), e); r != nil {
				rows = append(rows, r)
			}
		}
		if j.accept(rows) {
			return
		}
		if s, ok := slices.Concat(v, []any{""})[0].(string); ok {
			j.list = s
		}
		for i, e := range v {
			j.add(fmt.Sprintf("%s[%d]", at, i), e, depth+1)
		}
	case object:
		if format, ok := v.get("format").(string); ok && strings.HasPrefix(format, "homenode-") {
			j.own = format
			return
		}
		if r := rowOf(at, v); r != nil && j.accept([]*jsonRow{r}) {
			return
		}
		for i, m := range v { // rows by name
			if r := rowOf(fmt.Sprintf("%s[%d]", at, i), m.value); r != nil && len(v) > 0 {
				if _, ok := m.value.(object); ok {
					r.cells[memberKey] = m.key
					rows = append(rows, r)
				}
			}
		}
		if len(rows) == len(v) && j.accept(rows) {
			return
		}
		for _, m := range v {
			j.add(strings.TrimPrefix(at+"."+m.key, "."), m.value, depth+1)
		}
	}
}

// accept adds rows that are a table.
func (j *jsonTables) accept(rows []*jsonRow) bool {
	if len(rows) == 0 {
		return false
	}
	rows = slices.DeleteFunc(rows, func(r *jsonRow) bool {
		what := foreignOf(r)
		j.foreign = cmp.Or(what, j.foreign)
		return what != ""
	})
	if len(rows) == 0 {
		return true
	}
	of := map[string][]*jsonRow{}
	for _, r := range rows {
		of[r.of] = append(of[r.of], r)
	}
	if len(of) > 1 { // a list of managed objects of all types
		found := false
		for _, name := range slices.Sorted(maps.Keys(of)) {
			found = j.accept(of[name]) || found
		}
		return found
	}
	header := keysOf(rows)
	if len(header) > mostKeys {
		return false
	}
	k := kindOf(header)
	if stated, ok := managed[rows[0].of]; rows[0].of != "" && (!ok || !stated.fits(header)) {
		k = nil
	} else if ok {
		k = stated
	}
	if k == nil {
		j.others = append(j.others, rows)
		return false
	}
	j.tables = append(j.tables, jsonTable{k, header, rows})
	if k == &kinds[len(kinds)-2] {
		j.nested(rows)
	}
	return true
}

// managed are the kinds of tables for managed objects.
var managed = map[string]*kind{"VirtualMachine": &kinds[len(kinds)-2], "HostSystem": &kinds[len(kinds)-1]}

// keysOf returns the keys of all rows, sorted. It leaves out rows behind those that have more than mostKeys together.
func keysOf(rows []*jsonRow) []string {
	seen := map[string]bool{}
	for _, r := range rows {
		if len(seen) > mostKeys {
			break
		}
		for key := range r.cells {
			seen[key] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// document matches the parts of a path that differ between the rows of one list, also in several documents.
var document = pattern.Of(`^document \d+\.?|\[\d+\]$`)

// rejoin adds rows of other documents to the table of the same list if they have too few columns to be a table, such as VMs whose
// configuration could not be read.
func (j *jsonTables) rejoin() {
	for _, rows := range j.others {
		list, keys := document.ReplaceAllString(rows[0].at, ""), keysOf(rows)
		for i := range j.tables {
			t := &j.tables[i]
			lacks := func(key string) bool { return !slices.Contains(t.header, key) }
			at, _ := t.kind.places(keys)
			if document.ReplaceAllString(t.rows[0].at, "") == list && t.rows[0].of == rows[0].of && !slices.ContainsFunc(keys, lacks) && at[t.kind.columns[0].id()].index >= 0 {
				t.rows = append(t.rows, rows...)
				break
			}
		}
	}
}

// inside is the prefix of the keys of hosts in their VMs.
const inside = "VMHost."

// nested adds the hosts that PowerCLI writes inside their VMs, without exact duplicates.
func (j *jsonTables) nested(vms []*jsonRow) {
	seen, columns := map[string]bool{}, map[string]bool{}
	var hosts []*jsonRow
	for _, vm := range vms {
		h := &jsonRow{at: vm.at, cells: map[string]any{}}
		for key, v := range vm.cells {
			if rest, ok := strings.CutPrefix(key, inside); ok {
				h.cells[rest] = v
			}
		}
		name, ok := h.cells["Name"].(string)
		if own := strings.TrimSuffix(inside, "."); ok && vm.cells[own] == nil { // others state only the name of theirs
			vm.cells[own] = name
		}
		as, err := json.Marshal(h.cells) // with sorted keys
		if !ok || err == nil && seen[string(as)] {
			continue
		}
		seen[string(as)] = true
		hosts = append(hosts, h)
		for key := range h.cells {
			columns[key] = true
		}
	}
	header := slices.Sorted(maps.Keys(columns))
	if hostTable.fits(header) {
		j.tables = append(j.tables, jsonTable{&kinds[len(kinds)-1], header, hosts})
	}
}

// jsonRows yields the rows of a JSON table.
type jsonRows struct {
	jsonTable
	n      int
	wanted []int    // columns; nil means all
	cells  []string // of the last row
}

func (j *jsonRows) next() ([]string, int, error) {
	if j.n++; j.n == 1 {
		return j.header, 1, nil
	}
	if j.n-2 >= len(j.rows) {
		return nil, 0, io.EOF
	}
	if j.cells == nil {
		j.cells = make([]string, len(j.header))
	}
	row := j.rows[j.n-2].cells
	if j.wanted == nil {
		for i, h := range j.header {
			j.cells[i] = cellOf(row[h])
		}
	}
	for _, i := range j.wanted { // rows of other keys each are not walked
		if i >= 0 {
			j.cells[i] = cellOf(row[j.header[i]])
		}
	}
	return j.cells, j.n - 1, nil
}

func (j *jsonRows) want(columns []int) {
	if j.cells != nil {
		clear(j.cells)
	}
	j.wanted = columns
}

func (j *jsonRows) decimal() byte { return '.' }

// place returns the path of the row, the prefix of each origin.
func (j *jsonRows) place() string {
	if at := j.rows[j.n-2].at; at != "" {
		return at + "."
	}
	return ""
}

// cellOf returns the text of a value; a list is encoded as JSON.
func cellOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if _, both := twoWays(v.String()); both {
			return v.String() + "0" // its point is that of a fraction
		}
		return v.String()
	case []any:
		b, err := json.Marshal(plain(v))
		if err == nil {
			return string(b)
		}
	}
	return ""
}

// plain converts objects to maps, which can be encoded; keys are in lower case.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case object:
		m := make(map[string]any, len(v))
		for _, e := range v {
			m[strings.ToLower(e.key)] = plain(e.value)
		}
		return m
	}
	return v
}

// empty reports whether a document is an empty list, or an object of empty lists, which govc writes if there are no VMs.
func empty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case object:
		return len(v) > 0 && !slices.ContainsFunc(v, func(m member) bool { return m.value != nil && !empty(m.value) })
	}
	return false
}

// refusal returns the kind of error in a document of a vSphere API; "" for other documents. The REST API has error_type or, in old releases,
// a type of com.vmware.vapi.std.errors; the API in JSON a fault.
func refusal(v any) string {
	o, ok := v.(object)
	if !ok {
		return ""
	}
	kind, _ := o.get("error_type").(string)
	if old, _ := o.get("type").(string); strings.HasPrefix(old, "com.vmware.vapi.std.errors.") {
		kind = old
	}
	if fault, _ := o.get("_typeName").(string); o.get("faultMessage") != nil || o.get("faultCause") != nil {
		kind = cmp.Or(kind, fault)
	}
	return kind
}

// ofJSON returns the tables of a JSON file as sheets.
func (f *file) ofJSON(base, at string, b []byte) ([]*sheet, error) {
	docs, err := parseJSON(base, b)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(docs, func(d any) bool { return !empty(d) }) { // an inventory without VMs
		return []*sheet{{file: f.at, name: base, at: at, kind: &kinds[len(kinds)-2], open: func() (rowReader, error) { return &jsonRows{}, nil }}}, nil
	}
	for _, d := range docs {
		if what := refusal(d); what != "" {
			return nil, fmt.Errorf("%s: found a vCenter error response (%s) instead of an inventory: log in and export again", base, quote(what))
		}
	}
	var j jsonTables
	for i, d := range docs {
		path := ""
		if len(docs) > 1 {
			path = "document " + strconv.Itoa(i+1)
		}
		j.add(path, d, 0)
	}
	j.rejoin()
	var sheets []*sheet
	for _, t := range j.tables {
		sheets = append(sheets, &sheet{file: f.at, name: base, at: at, kind: t.kind, header: t.header, open: func() (rowReader, error) { return &jsonRows{jsonTable: t}, nil }})
	}
	if sheets == nil {
		s := &sheet{file: f.at, name: base, at: at}
		switch {
		case j.own != "":
			s.found = fmt.Sprintf("an answer of this program (%s), which is no inventory: name the SOURCE it was made of", j.own)
		case j.foreign != "":
			s.found = j.foreign
		case j.list != "":
			s.found = fmt.Sprintf("JSON with a list of names such as %s, and nothing about them: govc find and ls list names; save govc vm.info -json and govc host.info -json", quote(j.list))
		}
		for _, o := range j.others { // the first, or the first that names VMs
			if header := keysOf(o[:1]); s.header == nil || namesVM(header) && !namesVM(s.header) {
				s.header = header
			}
		}
		sheets = append(sheets, s)
	}
	return sheets, nil
}
