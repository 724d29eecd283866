package target

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/change/move/pack"
	"example.org/homenode/internal/words"
	"example.org/homenode/source/definition"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/guest"
	"example.org/homenode/source/libvirt"
	"example.org/homenode/source/open"
)

// described contains the descriptions of one host in files.
type described struct {
	name         string
	caps         []*libvirt.Host
	views        []*guest.View
	arch, archAt string // the first one found, and its place; "" for none
}

// is sets the architecture from a file; "" for none.
func (d *described) is(arch, at string) {
	if d.arch == "" && arch != "" {
		d.arch, d.archAt = arch, at
	}
}

// reading collects the hosts of files.
type reading struct {
	by              map[string]*described
	hosts           []pack.Host
	domains         int
	others          []error // about hosts of other architectures
	notes, unstated []string
}

// Read returns the hosts of a file, or of the files of a folder or an archive, by name. Files without a host are skipped in folders.
// The name of a host is from its prompt or from the description, otherwise from its file, or from the folder if the file is named
// after a tool. Notes list doubts.
func Read(path string) (hosts []pack.Host, notes []string, err error) {
	r := reading{by: map[string]*described{}}
	for _, part := range open.Anything(path, nil) {
		if part.Err != nil {
			return nil, nil, part.Err
		}
		for _, d := range part.Docs {
			r.document(d)
		}
		if part.Fleet != nil {
			for i := range part.Fleet.Hosts {
				h, err := OfHost(&part.Fleet.Hosts[i])
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", part.Fleet.Hosts[i].At, err)
				}
				r.hosts = append(r.hosts, h)
			}
		}
	}
	if err := r.finish(); err != nil {
		return nil, nil, err
	}
	if len(r.hosts) == 0 && r.others != nil {
		return nil, r.notes, r.others[0]
	}
	if len(r.hosts) == 0 {
		return nil, nil, fmt.Errorf("%s: found no host: want virsh capabilities, lscpu with numactl -H, or a scenario", path)
	}
	if r.domains > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s: %s defined there, but the plan counts used CPUs and memory as free: state them with --host-reserve", path, words.Verb(r.domains, "domain is", "domains are")))
	}
	return r.hosts, r.notes, nil
}

// of returns the description of the host with the stated name, otherwise that of the file.
func (r *reading) of(file, stated string) *described {
	name := cmp.Or(stated, fileName(file))
	if r.by[name] == nil {
		r.by[name] = &described{name: name}
	}
	return r.by[name]
}

// document adds one document.
func (r *reading) document(d fact.Document) {
	f := d.File()
	for _, w := range f.Warnings {
		r.notes = append(r.notes, fmt.Sprintf("%s: %s", f.At(w.Line, w.Col), w.Text))
	}
	switch d := d.(type) {
	case *libvirt.Host:
		if !libvirt.Runs(d.Arch, "x86_64") {
			r.others = append(r.others, otherArch(f.At(d.Line, 0), d.Arch))
			return
		}
		one := r.of(f.Name, "")
		one.caps = append(one.caps, d)
		one.is(d.Arch, f.At(d.Line, 0))
	case *definition.VM:
		r.domains++
	case *guest.View:
		one := r.of(f.Name, d.Guest)
		one.views = append(one.views, d)
		one.is(d.Arch, f.At(d.Line, 0))
	}
}

// finish builds the hosts from the descriptions, and sorts hosts and notes.
func (r *reading) finish() error {
	for _, d := range r.by {
		if !libvirt.Runs(d.arch, "x86_64") {
			r.others = append(r.others, otherArch(d.archAt, d.arch))
			continue
		}
		if d.arch == "" {
			r.unstated = append(r.unstated, fmt.Sprintf("%s: the architecture is unknown: x86_64 is assumed (lscpu and virsh capabilities state it)", d.name))
		}
		list, err := d.hosts()
		if err != nil {
			return err
		}
		r.hosts = append(r.hosts, list...)
	}
	slices.SortFunc(r.others, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	slices.Sort(r.unstated)
	r.notes = slices.Concat(r.notes, r.unstated, words.Texts(r.others, error.Error))
	slices.SortStableFunc(r.hosts, func(a, b pack.Host) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// ErrOther means that VMs of vSphere, which are x86_64, do not run on a host. Read returns it, with its note, if there are no other
// hosts.
var ErrOther = errors.New("it is left out")

func otherArch(at, arch string) error {
	return fmt.Errorf("%s: a host of %s, which does not run VMs of x86_64: %w", at, arch, ErrOther)
}

// hosts returns the hosts that are described under one name: several, numbered, if one file has several. Capabilities have priority
// over lscpu and numactl.
func (d *described) hosts() (out []pack.Host, err error) {
	switch {
	case d.caps != nil:
		for i, c := range d.caps {
			if c.File().Name != d.caps[0].File().Name {
				return nil, fmt.Errorf("%s: host %s is described in %s too", c.File().At(c.Line, 0), d.name, d.caps[0].File().Name)
			}
			h, err := OfCapabilities(numbered(d.name, i, len(d.caps)), c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.File().At(c.Line, 0), err)
			}
			out = append(out, h)
		}
	default:
		h, err := OfViews(d.name, d.views)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.views[0].File().At(d.views[0].Line, 0), err)
		}
		out = append(out, h)
	}
	if len(out) == 1 && out[0].Distance == nil {
		out[0].Distance = d.distance(&out[0])
	}
	return out, nil
}

// distance returns the node distances of a host from other files; nil for none.
func (d *described) distance(h *pack.Host) [][]int {
	for _, v := range d.views {
		if v.Distance != nil && slices.EqualFunc(v.Nodes, h.Nodes, func(a guest.Node, b pack.Node) bool { return a.ID == b.ID }) {
			return v.Distance
		}
	}
	return nil
}

func numbered(name string, i, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, i+1)
}

// The file name endings and names of tools that are not part of the name of a host.
var (
	endings = []string{".gz", ".zst", ".xml", ".txt", ".json", ".log", ".out"}
	tools   = []string{"lscpu", "numactl", "capabilities", "virsh", "topology", "numa"}
)

// fileName returns the name of the host in the name of a file: kvm01 for kvm01.xml, kvm01-lscpu.txt and kvm01/capabilities.xml.
func fileName(file string) string {
	if whole, err := filepath.Abs(file); err == nil {
		file = filepath.ToSlash(whole)
	}
	name := path.Base(file)
	for i := 0; i < len(endings); i++ {
		if n := len(name) - len(endings[i]); n >= 0 && strings.EqualFold(name[n:], endings[i]) {
			name, i = name[:n], -1
		}
	}
	const separators = "._-"
	for again := true; again; {
		again = false
		for _, tool := range tools {
			n := len(name) - len(tool)
			switch {
			case strings.EqualFold(name, tool):
				return cmp.Or(strings.Trim(path.Base(path.Dir(file)), "/"), "host")
			case n > 0 && strings.EqualFold(name[:len(tool)], tool) && strings.IndexByte(separators, name[len(tool)]) >= 0:
				name, again = name[len(tool)+1:], true
			case n > 0 && strings.EqualFold(name[n:], tool) && strings.IndexByte(separators, name[n-1]) >= 0:
				name, again = name[:n-1], true
			}
		}
	}
	return cmp.Or(name, "host")
}
