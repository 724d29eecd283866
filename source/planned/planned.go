// Package planned reads virtual machines that do not exist yet, each fact with file, line and column:
//
//	terraform show -json ─────────────► vsphere_virtual_machine of plans, with modules, count and for_each
//	YAML ─────────────────────────────► Cluster API, VM Operator, OpenShift's machine API, EKS Anywhere
//	OVF, OVA ─────────────────────────► each virtual system in each of its deployment options
//	templates of Packer in JSON ──────► the builders vsphere-iso and vsphere-clone
//
// A value that is decided later stays unknown and is named. VirtualMachines of KubeVirt are definitions of KVM: package kubevirt has them.
package planned

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/jsontree"
	"example.org/homenode/source/text"
	"example.org/homenode/source/word"
)

// Bounds of a believable file: a plan of 10,000 VMs has 300 MB, and an OVA carries disks behind its descriptor.
const (
	mostPlan     = 512 << 20
	mostManifest = 8 << 20
)

// A format is one kind of file.
type format struct {
	is   func(head []byte) bool // by its first bytes
	most int64                  // bytes
	read func(r *reader, data []byte) error
}

// formats returns all kinds, in the order in which a file is tried.
func formats() []format {
	return []format{
		{isTerraform, mostPlan, (*reader).terraform},
		{isPacker, mostManifest, (*reader).packer},
		{isOVA, mostManifest, nil},
		{isOVF, mostManifest, (*reader).ovf},
		{isManifest, mostManifest, (*reader).manifests},
	}
}

// formatOf returns the format of a file that begins with head; nil for another.
func formatOf(head []byte) *format {
	head = text.Decoded(head)
	all := formats()
	if i := slices.IndexFunc(all, func(f format) bool { return f.is(head) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Detect reports whether the file at path describes planned VMs.
func Detect(path string) bool { return formatOf(headOf(path)) != nil }

// headOf returns the first bytes of a file: of a manifest all, since the object that tells it can come late.
func headOf(path string) []byte {
	most := int64(text.HeadSize)
	if ending := strings.ToLower(filepath.Ext(path)); ending == ".yaml" || ending == ".yml" {
		most = mostManifest
	}
	return bounded.Head(path, most)
}

// Read reads the planned VMs of a file.
func Read(path string) (*numa.Fleet, error) {
	f := formatOf(headOf(path))
	switch {
	case f == nil:
		return nil, fmt.Errorf("%s: found no planned VM", path)
	case f.read == nil:
		return readOVA(path)
	}
	data, err := bounded.File(path, f.most)
	if err != nil {
		return nil, err
	}
	return ReadBytes(path, data)
}

// ReadBytes reads the planned VMs of a file with this name and content.
func ReadBytes(name string, data []byte) (*numa.Fleet, error) {
	f := formatOf(data)
	if f == nil || f.read == nil {
		return nil, fmt.Errorf("%s: found no planned VM", name)
	}
	r := &reader{file: filepath.ToSlash(name), fleet: &numa.Fleet{Source: name}, ids: map[string]int{}}
	if err := f.read(r, bytes.TrimPrefix(data, []byte("\ufeff"))); err != nil {
		return nil, err
	}
	if len(r.fleet.VMs) == 0 {
		return nil, fmt.Errorf("%s: found no VM of vSphere in it%s", name, r.passed())
	}
	return r.fleet, r.fleet.Check()
}

// A reader builds the fleet of a file.
type reader struct {
	file  string
	fleet *numa.Fleet
	ids   map[string]int // how often each occurs
	left  []string       // objects that are no VM
	sites []site         // of the VMs, in their order
}

// passed names what else is in the file.
func (r *reader) passed() string {
	if r.left == nil {
		return ""
	}
	slices.Sort(r.left)
	return ": it has " + strings.Join(slices.Compact(r.left), ", ")
}

// errorf returns the error about a value.
func (r *reader) errorf(line, col int, format string, args ...any) error {
	return &numa.SyntaxError{File: r.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (r *reader) note(at, format string, args ...any) {
	r.fleet.Notes = append(r.fleet.Notes, numa.Note{At: at, Text: fmt.Sprintf(format, args...)})
}

// An attribute is one of an object that describes a VM.
type attribute struct {
	word  string // of numa.VMFacts, or one of own below
	path  string // of keys, below the object
	unit  string // of a number of memory, such as MB; "" for what the value says itself
	unset bool   // 0 is as good as absent
	auto  bool   // 0 is assigned at power-on
}

// Words that state more or less than a fact of numa.VMFacts.
const (
	wordNUMANode = "coresPerNUMANode"
	wordSettings = "settings"
)

// A form is an object that describes a VM.
type form struct {
	name       string
	attributes []attribute
	whole      bool // what it does not state has the default of vSphere; else the template decides
}

// A site is where a VM stands in its file, for edits of the file.
type site struct {
	form   *form
	object *jsontree.Value            // that has the attributes
	values map[string]*jsontree.Value // by the path of the attribute: those that the file has
}

// A vm is one that is read.
type vm struct {
	*reader
	form *form
	numa.VM
	plan numa.Planned
	site site
}

// newVM begins a VM of an object at this place.
func (r *reader) newVM(f *form, name string, line, col int) *vm {
	v := &vm{reader: r, form: f, plan: numa.Planned{Form: f.name, File: r.file}, site: site{form: f, values: map[string]*jsontree.Value{}}}
	v.Name, v.At = name, numa.Place(r.file, line, col)
	const always = "a VM that is created"
	v.Template = numa.DerivedFrom(false, always)
	v.Power = numa.DerivedFrom(numa.PoweredOn, always)
	return v
}

// defaults gives a VM without a template what is not stated.
func (v *vm) defaults() {
	const why = "default of vSphere: nothing states it"
	d := numa.Config{CPUHotAdd: numa.ReadAt(false, ""), MemoryHotAdd: numa.ReadAt(false, ""), VNUMAHotAdd: numa.ReadAt(false, ""),
		CPUAffinity: numa.ReadAt([]int(nil), ""), MemoryAffinity: numa.ReadAt([]int(nil), ""), LatencySensitivity: numa.ReadAt("normal", ""),
		CPUReservation: numa.ReadAt(0, ""), CPULimit: numa.ReadAt(-1, ""), MemoryReservation: numa.ReadAt(numa.Bytes(0), ""), MemoryLimit: numa.ReadAt(numa.Bytes(-1), ""),
		MemoryReservationLocked: numa.ReadAt(false, ""), Settings: numa.ReadAt(numa.Settings(nil), "")}
	if v.VCPUs.Known() {
		d.CoresPerSocket = numa.ReadAt(numa.PlainCores(v.VCPUs.Value), "")
	}
	v.VM.Planned = &v.plan
	v.Clone(&d, why)
}

// open reports whether the text is filled in later: a variable, or an expression of a template.
func open(text string) bool { return strings.Contains(text, "${") || strings.Contains(text, "{{") }

// read reads the attributes below an object.
func (v *vm) read(object *jsontree.Value) error {
	v.site.object = object
	for _, a := range v.form.attributes {
		if err := v.take(a, object.At(strings.Split(a.path, ".")...)); err != nil {
			return err
		}
	}
	return nil
}

// later notes an attribute that is decided later, once.
func (v *vm) later(name, word string) {
	if l := (numa.Later{Attribute: name, Word: word}); !slices.Contains(v.plan.Unknown, l) {
		v.plan.Unknown = append(v.plan.Unknown, l)
	}
}

// take takes the value of an attribute.
func (v *vm) take(a attribute, n *jsontree.Value) error {
	switch {
	case n.Kind == 0 || n.Kind == jsontree.Null || a.unset && n.Text == "0":
		return nil
	case open(n.Text):
		v.later(a.path, a.word)
		return nil
	}
	v.site.values[a.path] = n
	where := fmt.Sprintf("%s, line %d:%d", a.path, n.Line, n.Col)
	switch a.word {
	case wordSettings:
		return v.settings(a, n, where)
	case wordNUMANode:
		v.AutoCoresPerNUMANode = numa.ReadAt(n.Text == "0", where)
		if n.Text == "0" {
			return nil
		}
	}
	value := n.Text
	switch {
	case a.auto && value == "0":
		value = "auto"
	case a.word == "hw":
		value = strings.TrimPrefix(value, "vmx-")
	case a.word == "firmware" && strings.HasPrefix(value, "efi"):
		value = "efi"
	case a.word == "firmware" && value != "bios", (a.word == "cpuLimit" || a.word == "memoryLimit") && value == "0":
		return nil
	case (a.word == "cpuLimit" || a.word == "memoryLimit") && value == "-1":
		value = "none"
	}
	return v.say(a, value, n, where)
}

// say gives the VM the fact that the attribute states.
func (v *vm) say(a attribute, value string, n *jsontree.Value, where string) error {
	to, key := &v.VM, a.word
	if a.word == wordNUMANode {
		to, key = &numa.VM{}, "vcpus" // it is a number of them
	}
	if p := numa.Of(numa.VMFacts, key); p != nil && p.Unit == "bytes" && value != "none" {
		if a.unit == "" {
			size, ok := quantity(value)
			if !ok {
				return v.errorf(n.Line, n.Col, "%s: found %q, want memory such as 64Gi", a.path, text.Short(value))
			}
			value = fmt.Sprintf("%dMB", size/numa.MiB)
		} else {
			value += a.unit
		}
	}
	err := word.VM(to, word.Word{Key: key, Value: value, HasValue: true, Col: n.Col}, where)
	if e, ok := err.(*numa.SyntaxError); ok {
		_, want, _ := strings.Cut(e.Msg, ", want ")
		return v.errorf(n.Line, n.Col, "%s: found %q, want %s", a.path, text.Short(cmp.Or(n.Text, string(n.Kind))), want)
	}
	if a.word == wordNUMANode && err == nil {
		v.CoresPerNUMANode = to.VCPUs
	}
	return err
}

// settings takes advanced settings: an object, or a list of objects with key and value.
func (v *vm) settings(a attribute, n *jsontree.Value, where string) error {
	set := v.Settings.Value
	for i, m := range n.List() {
		key, value := n.Keys[i], m
		if n.Kind == jsontree.List {
			key, value = m.At("key").Text, m.At("value")
			if typed := value.At("_value"); typed.Kind != 0 { // as the API of vSphere writes any value in JSON
				value = typed
			}
		}
		switch {
		case !numa.KeepSetting(key):
		case open(value.Text):
			v.later(a.path+"."+key, "")
		default:
			set = set.With(key, value.Text)
			v.site.values[key] = value
		}
	}
	v.Settings = numa.ReadAt(set, where)
	return nil
}

// done adds the VM to the fleet under an ID of its own, and names what is unknown of it.
func (v *vm) done(id string) {
	if v.form.whole && v.plan.Template == "" {
		v.defaults()
	}
	if v.ids[id]++; v.ids[id] > 1 {
		id = fmt.Sprintf("%s #%d", id, v.ids[id])
	}
	v.ID, v.Name, v.plan.ID = id, cmp.Or(v.Name, id), id
	v.VM.Planned = &v.plan
	if v.plan.Unknown != nil {
		names := words.Texts(v.plan.Unknown, func(l numa.Later) string { return l.Attribute })
		v.note(v.At, "VM %s: decided later, so unknown here: %s", v.Name, strings.Join(names, ", "))
	}
	v.fleet.VMs = append(v.fleet.VMs, v.VM)
	v.sites = append(v.sites, v.site)
}
