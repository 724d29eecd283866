// Package evidence joins files of evidence to a fleet: what was seen of its VMs,
// and facts that the inventory lacks.
package evidence

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"homenode/numa"
	"homenode/source/fact"
	"homenode/source/guest"
	"homenode/source/hostcmd"
	"homenode/source/vmx"
	"homenode/source/vmxlog"
)

// A Piece is one file of evidence.
type Piece struct {
	Name string // as given
	VM   string // whose it is, when the user says so
	Docs []fact.Document
}

// A Summary counts what Join did.
type Summary struct {
	Joined   int // documents that told something about the fleet
	Unjoined int // documents whose VM or host is not in the fleet; each has a note
}

// Join adds the pieces to the fleet. What belongs to no VM or host of it becomes a
// note. The observations of a VM end up oldest first.
func Join(f *numa.Fleet, pieces []Piece) Summary {
	j := joiner{fleet: f, touched: map[*numa.VM]bool{}, told: map[string]bool{}}
	j.hosts(pieces)
	for i := range pieces {
		for _, d := range pieces[i].Docs {
			if j.join(&pieces[i], d) {
				j.Joined++
			} else {
				j.Unjoined++
			}
		}
	}
	for v := range j.touched {
		slices.SortStableFunc(v.Observed, func(a, b numa.Observation) int { return strings.Compare(when(&a), when(&b)) })
	}
	return j.Summary
}

// when orders observations: what bears no time was saved for this analysis and is
// taken as the newest.
func when(o *numa.Observation) string { return cmp.Or(o.Time, "~") }

type joiner struct {
	Summary
	fleet   *numa.Fleet
	touched map[*numa.VM]bool
	names   map[int64]string // of the scheduler's groups, as the esxtop screen names them
	told    map[string]bool  // hosts that took facts
}

// join adds one document; false when it found nothing to belong to, which is noted.
func (j *joiner) join(p *Piece, d fact.Document) bool {
	switch d := d.(type) {
	case *guest.View:
		return j.view(p, d)
	case *vmx.VMX:
		vm := d.VM()
		return j.vm(p, &vm, d.File().Format)
	case *vmxlog.Log:
		return j.log(p, d)
	case *hostcmd.Output:
		return j.output(p, d)
	}
	j.note(d.File().Name, "%s says nothing about a VM or host", d.File().Format)
	return false
}

func (j *joiner) note(at, format string, args ...any) {
	j.fleet.Notes = append(j.fleet.Notes, numa.Note{At: at, Text: fmt.Sprintf(format, args...)})
}

// view adds what a guest sees.
func (j *joiner) view(p *Piece, v *guest.View) bool {
	o := v.Observation()
	vm := j.owner(p, o.At, v.File().Format, v.Guest)
	if vm == nil {
		return false
	}
	if h := v.Hypervisor; h.Known() && !strings.EqualFold(h.Value, "VMware") {
		j.note(o.At, "%s names %s as the hypervisor: this is no guest of vSphere", v.File().Format, h.Value)
		return false
	}
	j.see(vm, o)
	return true
}

func (j *joiner) see(vm *numa.VM, o numa.Observation) {
	vm.Observed = append(vm.Observed, o)
	j.touched[vm] = true
}

// owner returns the VM that a document is about: the one the user names, else the
// one that the document names, else the one in the name of the file. nil and a note
// when there is none, or more than one.
func (j *joiner) owner(p *Piece, at, format string, stated ...string) *numa.VM {
	names := stated
	if p.VM != "" {
		names = []string{p.VM}
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		found := j.named(name)
		if len(found) == 1 {
			return found[0]
		}
		if len(found) > 1 {
			j.note(at, "%s of %q: %d VMs have this name: say which with --evidence CLUSTER/NAME=FILE", format, name, len(found))
			return nil
		}
	}
	if p.VM == "" {
		if vm := j.inFileName(p.Name); vm != nil {
			return vm
		}
	}
	who := strings.Join(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" }), ", ")
	if who == "" {
		j.note(at, "%s names no VM: say whose it is with --evidence NAME=FILE", format)
	} else {
		j.note(at, "%s of %q: no VM of the fleet has this name; say whose it is with --evidence NAME=FILE", format, who)
	}
	return nil
}

// named returns the VMs with this name or, for the name of a guest, with the first
// label of it.
func (j *joiner) named(name string) []*numa.VM {
	if found := j.fleet.FindVMs(name); found != nil {
		return found
	}
	if short, _, ok := strings.Cut(name, "."); ok {
		return j.fleet.FindVMs(short)
	}
	return nil
}

// inFileName returns the VM whose name stands in the name of the file between
// separators: lscpu_db01.txt, db01.numactl.log. The longest name counts; nil when
// there is none or the longest is that of several VMs.
func (j *joiner) inFileName(path string) *numa.VM {
	base := strings.ToLower(filepath.Base(path))
	var best *numa.VM
	unique := true
	for i := range j.fleet.VMs {
		v := &j.fleet.VMs[i]
		if !contains(base, strings.ToLower(v.Name)) {
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

// contains reports whether word stands in s between separators or ends.
func contains(s, word string) bool {
	const separators = "._- /\\()[]"
	for from := 0; word != "" && from+len(word) <= len(s); {
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
