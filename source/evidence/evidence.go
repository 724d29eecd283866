// Package evidence detects and parses files of evidence, and joins them to a fleet: observations of its VMs, and facts missing in the inventory.
//
//	FILE or VM=FILE ──► Read ──► Piece ──► Join ──► fleet
//	                     └─ Walk, Documents: by formats, one for each kind of file
package evidence

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/internal/alike"
	"example.org/homenode/numa"
	"example.org/homenode/source/archive"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/guest"
	"example.org/homenode/source/hostcmd"
	"example.org/homenode/source/measured"
	"example.org/homenode/source/vmx"
	"example.org/homenode/source/vmxlog"
)

// A Piece is one argument of the user: a file, or the contents of a folder or archive.
type Piece struct {
	Name string // as given
	VM   string // its VM, when the user names it
	Docs []fact.Document
	Errs []error // of files in it that could not be read completely
}

// A Summary counts the results of Join.
type Summary struct {
	Joined   int // documents with information about the fleet
	Unjoined int // documents whose VM or host is not in the fleet; each has a note
}

// Join adds the pieces to the fleet. Documents without a unique VM or host in it become a note. The observations of a VM end up oldest first.
func Join(f *numa.Fleet, pieces []Piece) Summary {
	j := joiner{fleet: f, touched: map[*numa.VM]bool{}, screens: map[int64][]named{}, told: map[*hostcmd.Output]bool{}, ticks: map[string]*LastTick{}}
	j.hosts(pieces)
	j.findTicks(pieces)
	for i := range pieces {
		for _, d := range pieces[i].Docs {
			if j.join(&pieces[i], d) {
				j.Joined++
			} else {
				j.Unjoined++
			}
		}
		for _, err := range pieces[i].Errs {
			j.note(pieces[i].Name, "%v", err)
		}
	}
	for v := range j.touched {
		slices.SortStableFunc(v.Observed, older)
	}
	j.fill()
	return j.Summary
}

// older compares the times of observations: one without a time was saved for this analysis and counts as the newest.
func older(a, b numa.Observation) int {
	at, okA := a.Instant()
	bt, okB := b.Instant()
	switch {
	case okA && okB:
		return at.Compare(bt)
	case okA:
		return -1
	case okB:
		return 1
	}
	return strings.Compare(a.At, b.At) // independent of the order of the files
}

type joiner struct {
	Summary
	fleet   *numa.Fleet
	touched map[*numa.VM]bool
	screens map[int64][]named        // the scheduler's groups, with the names on esxtop screens
	told    map[*hostcmd.Output]bool // outputs of hosts in the fleet
	ticks   map[string]*LastTick     // the newest of each host, by its ID
	stated  []settings               // settings of VMs in files
}

// join adds one document; false when it belongs to no object of the fleet, which is noted.
func (j *joiner) join(p *Piece, d fact.Document) bool {
	switch d := d.(type) {
	case *guest.View:
		return j.view(p, d)
	case *measured.Document:
		return j.measured(p, d)
	case *vmx.VMX:
		vm := d.VM()
		return j.vm(p, &vm, d.File().Name, d.File().Format, true)
	case *vmxlog.Log:
		return j.log(p, d)
	case *hostcmd.Output:
		return j.output(p, d)
	case *LastTick:
		return j.tick(d)
	}
	j.note(d.File().Name, "%s says nothing about a VM or host", d.File().Format)
	return false
}

func (j *joiner) note(at, format string, args ...any) {
	j.fleet.Notes = append(j.fleet.Notes, numa.Note{At: at, Text: fmt.Sprintf(format, args...)})
}

// view adds a guest's view.
func (j *joiner) view(p *Piece, v *guest.View) bool {
	o := v.Observation()
	vm := j.guest(p, v.File(), o.At, v.Guest, v.Hypervisor)
	if vm != nil {
		j.see(vm, o)
	}
	return vm != nil
}

// measured adds the results of homenode measure in a guest.
func (j *joiner) measured(p *Piece, d *measured.Document) bool {
	at, id := numa.Place(d.Source, d.Line, 0), &d.Machine.Identity
	f := &fact.File{Name: d.Source, Format: string(numa.ByMeasure)}
	vm := j.guest(p, f, at, d.Name, id.Hypervisor)
	if vm == nil {
		return false
	}
	if id.Virtualised.Known() && !id.Virtualised.Value {
		j.note(at, "%s ran on a machine that is no guest", f.Format)
		return false
	}
	o, notes := d.Observation(at)
	for _, why := range notes {
		j.note(at, "%s in %s: %s", f.Format, vm.Name, why)
	}
	if !o.Seen() {
		return false
	}
	j.see(vm, o)
	return true
}

// guest returns the VM of a guest's document; nil and a note when there is none, or its hypervisor is another. name is the
// guest's name in the document.
func (j *joiner) guest(p *Piece, f *fact.File, at, name string, hypervisor numa.Fact[string]) *numa.VM {
	if p.VM != "" && name != "" && severalGuests(p) && !strings.EqualFold(name, p.VM) {
		j.note(at, "%s of %q: the file shows several guests, and %q is not %s", f.Format, name, name, p.VM)
		return nil
	}
	vm := j.owner(p, f.Name, at, f.Format, name)
	if vm != nil && hypervisor.Known() && strings.EqualFold(hypervisor.Value, "VMware") == (j.fleet.Hypervisor == numa.KVM) {
		of := "vSphere"
		if j.fleet.Hypervisor == numa.KVM {
			of = "KVM"
		}
		j.note(at, "%s names %s as the hypervisor: this is no guest of %s", f.Format, hypervisor.Value, of)
		return nil
	}
	return vm
}

// severalGuests reports whether the documents name more than one guest.
func severalGuests(p *Piece) bool {
	first := ""
	for _, d := range p.Docs {
		name := ""
		switch d := d.(type) {
		case *guest.View:
			name = d.Guest
		case *measured.Document:
			name = d.Name
		}
		if name != "" {
			if first = cmp.Or(first, name); first != name {
				return true
			}
		}
	}
	return false
}

func (j *joiner) see(vm *numa.VM, o numa.Observation) {
	vm.Observed = append(vm.Observed, o)
	j.touched[vm] = true
}

// owner returns the VM of a document of file: the one named by the user, else the one named in the document, else the one in the
// name of the file. nil and a note when there is none, or more than one.
func (j *joiner) owner(p *Piece, file, at, format, stated string) *numa.VM {
	name := cmp.Or(p.VM, stated)
	found := j.named(name)
	var inName *numa.VM
	if p.VM == "" {
		inName = j.inFileName(file)
	}
	switch {
	case len(found) > 1:
		j.note(at, "%s of %q: %d VMs have this name: say which with --evidence CLUSTER/NAME=FILE", format, name, len(found))
	case len(found) == 1 && inName != nil && inName != found[0]:
		// A clone may keep the host name of its original.
		j.note(at, "%s of %q by its content and of %q by the name of the file: say whose it is with --evidence NAME=FILE", format, name, inName.Name)
	case len(found) == 1:
		return found[0]
	case inName != nil:
		return inName
	case p.VM != "":
		j.note(at, "%s of %q, as --evidence says: no VM of the fleet has this name%s", format, p.VM, alike.After(p.VM, j.names()))
	case name == "":
		j.note(at, "%s names no VM: say whose it is with --evidence NAME=FILE", format)
	default:
		j.note(at, "%s of %q: no VM of the fleet has this name%s; say whose it is with --evidence NAME=FILE", format, name, alike.After(name, j.names()))
	}
	return nil
}

func (j *joiner) names() []string {
	return words.Texts(j.fleet.VMs, func(one numa.VM) string { return one.Name })
}

// named returns the VMs with this name or, for the name of a guest, with its first label.
func (j *joiner) named(name string) []*numa.VM {
	if name == "" {
		return nil
	}
	if found := j.fleet.FindVMs(name); found != nil {
		return found
	}
	if short, _, ok := strings.Cut(name, "."); ok && short != "" {
		return j.fleet.FindVMs(short)
	}
	return nil
}

// inFileName returns the VM whose name is in the name of the file between separators, as in lscpu_db01.txt and db01.numactl.log,
// or is that of its folder. The longest name counts; nil when there is none or several VMs share the longest.
func (j *joiner) inFileName(file string) *numa.VM {
	file = strings.ToLower(filepath.ToSlash(file))
	base, folder := path.Base(file), path.Base(path.Dir(file))
	var best *numa.VM
	unique := true
	for i := range j.fleet.VMs {
		v := &j.fleet.VMs[i]
		name := strings.ToLower(v.Name)
		if name == "" || name != folder && (vmxlog.IsName(archive.Plain(base)) || !contains(base, name)) {
			continue
		}
		switch {
		case best == nil || len(v.Name) > len(best.Name):
			best, unique = v, true
		case len(v.Name) == len(best.Name):
			unique = false
		}
	}
	if !unique {
		return nil
	}
	return best
}

// contains reports whether word is in s between separators or ends.
func contains(s, word string) bool {
	const separators = "._- /\\()[]"
	for from := 0; from+len(word) <= len(s); {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || strings.IndexByte(separators, s[start-1]) >= 0) && (end == len(s) || strings.IndexByte(separators, s[end]) >= 0) {
			return true
		}
		from = start + 1
	}
	return false
}
