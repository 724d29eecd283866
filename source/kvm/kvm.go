// Package kvm reads a fleet of KVM hosts: one folder for each host with capabilities.xml, the definitions of its VMs and optionally
// numastat.txt and pids.txt; several such folders below one; a folder of definitions; or one file.
//
//	capabilities.xml ──────────────────────► libvirt.Host ──► numa.Host
//	domain XML, arguments of QEMU,
//	configurations of Proxmox, KubeVirt ───► definition.VM ─► numa.VM with the layout that it states
//	numastat.txt, pids.txt ──────────────► where the memory of each VM is
//
// Nothing is predicted. Damaged and unused data is listed in the notes of the fleet, with its place.
package kvm

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/kubevirt"
	"example.org/homenode/source/libvirt"
	"example.org/homenode/source/proxmox"
	"example.org/homenode/source/qemu"
	"example.org/homenode/source/text"
)

// Limits for a plausible bundle.
const (
	maxFiles = 100_000
	maxDepth = 8       // depth of nested folders, such as etc/pve/nodes/pve1/qemu-server
	maxText  = 4 << 20 // bytes of numastat.txt and pids.txt
)

// The text files beside the XML, by name.
const (
	numastatName = "numastat.txt"
	pidsName     = "pids.txt"
)

// formats are the forms of definitions. A Proxmox configuration may contain QEMU arguments.
var formats = []struct {
	detect func(head []byte) bool
	read   func(name string, r io.Reader) ([]fact.Document, error)
}{{libvirt.Detect, libvirt.Read}, {proxmox.Detect, proxmox.Read}, {qemu.Detect, qemu.Read}, {kubevirt.Detect, kubevirt.Read}}

// readerOf returns the reader for a file that begins with head; nil if there is none.
func readerOf(head []byte) func(name string, r io.Reader) ([]fact.Document, error) {
	for _, f := range formats {
		if f.detect(head) {
			return f.read
		}
	}
	return nil
}

// Defines reports whether a file with this name and beginning belongs to a bundle.
func Defines(name string, head []byte) bool {
	return meant(name) && readerOf(text.Decoded(head)) != nil
}

// Detect reports whether path is the definition of a KVM VM, the capabilities of a host, or a folder that contains one.
func Detect(path string) bool {
	fsys, only, err := root(path)
	if err != nil {
		return false
	}
	found := false
	err = walk(fsys, only, nil, func(name string) error {
		head := headOf(fsys, name)
		if found = only != "" && readerOf(head) != nil || accepts(name, head) != nil; found {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && found
}

// Read reads the fleet at path.
func Read(path string) (*numa.Fleet, error) {
	fsys, only, err := root(path)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if only != "" {
		path = filepath.Dir(path)
	}
	return read(fsys, only, path, filepath.Base(abs))
}

// ReadFS reads the fleet from the files in fsys; name is its name.
func ReadFS(name string, fsys fs.FS) (*numa.Fleet, error) { return read(fsys, "", name, name) }

// A domain is one VM and the folder of its file.
type domain struct {
	*definition.VM
	dir string
}

// A reader builds the fleet of a bundle.
type reader struct {
	fleet   *numa.Fleet
	fsys    fs.FS
	path    string // path of the bundle, a prefix of the names of files
	hosts   map[string]*numa.Host
	caps    map[string]*libvirt.Host // by folder
	domains []domain
	others  []string // other files beside them, which are not read
	texts   []string // text files beside the XML
}

func newReader(name string) *reader {
	return &reader{fleet: &numa.Fleet{Source: name, Hypervisor: numa.KVM}, hosts: map[string]*numa.Host{}, caps: map[string]*libvirt.Host{}}
}

// ReadBytes reads the VMs of one file.
func ReadBytes(name string, data []byte) (*numa.Fleet, error) {
	r := newReader(name)
	if err := r.take(name, bytes.NewReader(data)); err != nil {
		return nil, err
	}
	r.addHosts(name)
	r.addVMs()
	if len(r.fleet.Hosts)+len(r.fleet.VMs) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrNothing)
	}
	return r.fleet, r.fleet.Check()
}

func read(fsys fs.FS, only, path, name string) (*numa.Fleet, error) {
	r := newReader(name)
	r.fsys, r.path = fsys, path
	var broken error
	err := walk(fsys, only, r.unread, func(file string) error {
		switch {
		case IsText(file):
			r.texts = append(r.texts, file)
		case only == "" && !meant(file) && accepts(file, headOf(fsys, file)) == nil:
			r.others = append(r.others, file)
		default:
			if err := r.definitions(file); err != nil {
				broken = cmp.Or(broken, err)
				r.unread(file, err)
			}
		}
		return nil
	})
	r.addHosts(name)
	r.addVMs()
	if len(r.others) > 0 {
		r.note("", "%s of no form that is read: %s", words.Verb(len(r.others), "file is", "files are"), words.Few(r.others))
	}
	switch nothing := len(r.hosts)+len(r.fleet.VMs) == 0; {
	case err != nil:
	case nothing && broken != nil:
		err = broken
	case nothing && len(r.domains) == 0:
		err = ErrNothing
	}
	if err != nil {
		return nil, numa.Located(filepath.Join(path, only), err)
	}
	r.noteTwins()
	r.addMemory()
	return r.fleet, r.fleet.Check()
}

// ErrNothing is the error for files of KVM of which none describes a host or a VM.
var ErrNothing = errors.New("found no virsh capabilities and no definition of a VM")

// note adds a note.
func (r *reader) note(at, format string, args ...any) {
	r.fleet.Notes = append(r.fleet.Notes, numa.Note{At: at, Text: fmt.Sprintf(format, args...)})
}

// incomplete records a file or folder as unread, once, and returns its place.
func (r *reader) incomplete(file string) (at string) {
	return r.lacks(r.at(file, 0, 0))
}

// lacks records a place as unread, once.
func (r *reader) lacks(at string) string {
	if !slices.Contains(r.fleet.Unread, at) {
		r.fleet.Unread = append(r.fleet.Unread, at)
	}
	return at
}

// unread adds a note about a file or folder that could not be read completely.
func (r *reader) unread(file string, err error) {
	r.fleet.Notes = append(r.fleet.Notes, numa.NoteOf(r.incomplete(file), "", err))
}

// at returns the place in a file.
func (r *reader) at(file string, line, col int) string {
	return numa.Place(filepath.ToSlash(filepath.Join(r.path, file)), line, col)
}

// definitions reads the hosts and VMs of a file. Data before an error is kept.
func (r *reader) definitions(file string) error {
	f, err := r.fsys.Open(file)
	if err != nil {
		return err
	}
	return errors.Join(r.take(file, f), f.Close())
}

// reported are the folders of a sosreport with definitions and capabilities, as files and as answers of virsh (sos 4, plugin virsh).
var reported = []string{"etc/libvirt/qemu", "run/libvirt/qemu", "sos_commands/virsh", "sos_commands/libvirt"}

// folderOf returns the folder of the host that a file belongs to: its own, or the top of a sosreport.
func folderOf(file string) string {
	dir := path.Dir(file)
	for _, sub := range reported {
		if top, ok := strings.CutSuffix("/"+dir, "/"+sub); ok {
			return cmp.Or(strings.TrimPrefix(top, "/"), ".")
		}
	}
	return dir
}

// take reads the content of a file.
func (r *reader) take(file string, f io.Reader) error {
	in := bufio.NewReaderSize(f, text.HeadSize)
	raw, err := in.Peek(text.HeadSize)
	if err != nil && err != io.EOF {
		return err
	}
	head := text.Decoded(raw)
	read := readerOf(head)
	if read == nil {
		return r.nothing(file, head)
	}
	docs, err := read(filepath.ToSlash(filepath.Join(r.path, file)), in)
	for _, d := range docs {
		dir := folderOf(filepath.ToSlash(file))
		vm, _ := d.(*definition.VM)
		for _, w := range d.File().Warnings {
			if vm == nil || vm.Stated == nil {
				r.note(d.File().At(w.Line, w.Col), "%s", w.Text)
				continue
			}
			vm.Stray(w.Line, w.Col, false, "%s", w.Text)
		}
		switch d := d.(type) {
		case *definition.VM:
			r.fleet.Notes = append(r.fleet.Notes, d.Notes...)
			r.domains = append(r.domains, domain{d, dir})
		case *libvirt.Host:
			h, notes := d.Host()
			if first := r.hosts[dir]; first != nil {
				text := "a second host in the folder: the first counts"
				if !reflect.DeepEqual(first.Nodes, h.Nodes) || !reflect.DeepEqual(first.CPUs, h.CPUs) {
					*first = numa.Host{At: first.At}
					text = "a second host in the folder, with other nodes: those that the VMs run on are unknown: put each host and its VMs into a folder of their own"
					r.incomplete(file)
				}
				r.note(r.at(file, d.Line, 0), "%s", text)
				continue
			}
			h.At = r.at(file, d.Line, 0)
			for _, n := range notes {
				r.note(h.At, "%s", n)
			}
			r.hosts[dir], r.caps[dir] = h, d
		}
	}
	return err
}

// nothing returns the error for a file without any known data; nil for a file of another kind.
func (r *reader) nothing(file string, head []byte) error {
	switch trimmed := bytes.TrimSpace(head); {
	case len(trimmed) == 0:
		return errors.New("the file is empty")
	case strings.EqualFold(filepath.Ext(file), ".xml") && (!bytes.Contains(trimmed, []byte("<")) || bytes.IndexByte(trimmed, 0) >= 0):
		return errors.New("found no XML")
	}
	r.others = append(r.others, file)
	return nil
}

// addHosts names the hosts after their folders.
func (r *reader) addHosts(name string) {
	used := map[string]int{}
	for _, dir := range slices.Sorted(maps.Keys(r.hosts)) {
		h := r.hosts[dir]
		h.Name = name
		if dir != "." {
			h.Name = path.Base(dir)
		}
		h.ID = h.Name
		if used[h.Name]++; used[h.Name] > 1 {
			h.ID = dir
		}
		r.fleet.Hosts = append(r.fleet.Hosts, *h)
	}
	for dir := range r.hosts { // the VMs contain pointers into the fleet
		i := slices.IndexFunc(r.fleet.Hosts, func(h numa.Host) bool { return h.At == r.hosts[dir].At })
		r.hosts[dir] = &r.fleet.Hosts[i]
	}
}

// hostIn returns the host of a folder or of one above it, and the folder of the host; nil if there is none.
func (r *reader) hostIn(dir string) (h *numa.Host, of string) {
	for ; ; dir = path.Dir(dir) {
		if h := r.hosts[dir]; h != nil || dir == "." {
			return h, dir
		}
	}
}

// noteTwins adds notes about VMs that are defined on several hosts, as after a live migration: identified by UUID or, without one, by
// name.
func (r *reader) noteTwins() {
	first := map[string]*numa.VM{}
	for i := range r.fleet.VMs {
		v := &r.fleet.VMs[i]
		if v.Host == "" {
			continue
		}
		id := cmp.Or(strings.ToLower(v.UUID), v.Name)
		one := first[id]
		switch {
		case one == nil:
			first[id] = v
			continue
		case one.Host == v.Host: // of one UUID (K013)
		case one.Stated.Running && v.Stated.Running:
			r.note(v.At, "%s runs on another host too (%s): it counts twice", v.Name, one.At)
		case v.Stated.Running:
			r.note(one.At, "%s is defined here, and runs on another host (%s): it counts twice", v.Name, v.At)
			first[id] = v
		case one.Stated.Running:
			r.note(v.At, "%s is defined here, and runs on another host (%s): it counts twice", v.Name, one.At)
		default:
			r.note(v.At, "%s is defined on another host too (%s): it counts twice", v.Name, one.At)
		}
	}
}

// addVMs adds each domain once per host. The definition of the running VM takes precedence over the one for its next start.
func (r *reader) addVMs() {
	seen := map[string]int{} // index of the VM
	var form []string        // of each VM
	for _, d := range r.domains {
		h, dir := r.hostIn(d.dir)
		v, ok := r.vmOf(d.VM)
		if !ok {
			continue
		}
		d.On(h)
		caps := r.caps[dir]
		if h != nil && caps.Bits > 0 && d.Bits > caps.Bits && !v.Stated.Running { // qemuValidateDomainDefCpu in src/qemu/qemu_validate.c
			d.Refuse(d.Line, d.Col, "a processor of %d address bits (maxphysaddr), and its host has %d: libvirt refuses it", d.Bits, caps.Bits)
		}
		if h != nil && !libvirt.Runs(caps.Arch, d.Arch) && !d.Emulated {
			if v.Stated.Platform == "" {
				d.Refuse(d.Line, d.Col, "it is of %s and its host of %s, which does not run it", d.Arch, caps.Arch)
			} else { // Proxmox emulates it, Kubernetes schedules it elsewhere
				r.note(v.At, "%s is of %s and its host of %s, which does not run it", v.Name, d.Arch, caps.Arch)
			}
		}
		v.ID = cmp.Or(v.UUID, d.Key, v.Name)
		if h != nil {
			v.Host, v.ID = h.ID, h.ID+"/"+v.ID
		} else if d.dir != "." {
			v.ID = d.dir + "/" + v.ID
		}
		if i, twice := seen[v.ID]; twice && form[i] != d.File().Format { // one VM in several forms
			v.ID += " (" + d.File().Format + ")"
		}
		i, twice := seen[v.ID]
		if j := slices.IndexFunc(r.fleet.VMs, func(o numa.VM) bool {
			return o.UUID != "" && v.UUID != "" && o.Host == v.Host && o.Stated.Platform == v.Stated.Platform && (o.Name == v.Name) != (o.UUID == v.UUID)
		}); h != nil && j >= 0 && v.Stated.Platform == "" && !v.Stated.Running {
			same := "name"
			if r.fleet.VMs[j].UUID == v.UUID {
				same, twice = "UUID", false
				v.ID += " " + v.Name
			}
			d.Refuse(d.Line, d.Col, "%s (%s) has the same %s: libvirt refuses the second on a host", r.fleet.VMs[j].Name, r.fleet.VMs[j].At, same)
		}
		if twice && v.UUID == "" && d.Key == "" && !v.Stated.Same(r.fleet.VMs[i].Stated) { // names are not unique
			r.note(v.At, "another VM has the name %s too (%s): both are judged", v.Name, r.fleet.VMs[i].At)
			for n := 2; twice; n++ {
				id := fmt.Sprintf("%s (%d)", v.ID, n)
				if _, twice = seen[id]; !twice {
					v.ID = id
				}
			}
		}
		switch {
		case !twice:
			seen[v.ID] = len(r.fleet.VMs)
			form = append(form, d.File().Format)
			r.fleet.VMs = append(r.fleet.VMs, v)
		case v.Stated.Running && !r.fleet.VMs[i].Stated.Running:
			r.note(r.fleet.VMs[i].At, "%s is there twice: how it runs counts (%s)", v.Name, v.At)
			r.fleet.VMs[i] = v
		default:
			r.note(v.At, "%s is there twice: %s counts", v.Name, r.fleet.VMs[i].At)
		}
	}
}

// vmOf returns the VM of a definition; false, with a note, if the VM is not assessed.
func (r *reader) vmOf(d *definition.VM) (numa.VM, bool) {
	v := d.VM
	if v.Name == "" {
		base := path.Base(d.File().Name)
		v.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	why := ""
	switch {
	case d.Cut:
		why = "its definition breaks off: it is not judged"
	case v.Stated == nil:
		why = cmp.Or(d.Why, "found no number of vCPUs, and no cells that imply it")
	default:
		return v, true
	}
	r.lacks(d.File().Name)
	r.note(d.File().At(d.Line, d.Col), "%s: %s", v.Name, why)
	return v, false
}
