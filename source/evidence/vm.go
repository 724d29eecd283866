package evidence

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/vmxlog"
)

// log adds the VMs of a vmware.log; false when none of them is in the fleet.
func (j *joiner) log(p *Piece, l *vmxlog.Log) bool {
	joined := false
	vms := l.VMs()
	for i := range vms {
		v := &vms[i]
		if p.VM != "" && len(vms) > 1 && !strings.EqualFold(v.Name, p.VM) {
			j.note(v.At, "%s of %q: the file is of several VMs, and this one is not %s", l.File().Format, v.Name, p.VM)
			continue
		}
		if j.vm(p, v, l.File().Name, l.File().Format, false) {
			joined = true
		}
	}
	if len(vms) == 0 {
		j.note(l.File().Name, "%s says nothing about a VM", l.File().Format)
	}
	return joined
}

// vm adds the data of a log or .vmx about a VM: observations, and the settings that the inventory
// may lack. current is true for present settings.
func (j *joiner) vm(p *Piece, from *numa.VM, file, format string, current bool) bool {
	to := j.byUUID(p, from)
	if to == nil {
		name := from.Name
		if name == path.Base(file) { // it has none
			name = ""
		}
		to = j.ownerOfVM(p, from, file, format, name)
	}
	if to == nil {
		return false
	}
	for _, o := range from.Observed {
		j.see(to, o)
	}
	j.stated = append(j.stated, settings{to, from, current})
	return true
}

// ownerOfVM is owner for a document that names the VM: its name counts before that of the file,
// which may only be the folder it was saved in.
func (j *joiner) ownerOfVM(p *Piece, from *numa.VM, file, format, name string) *numa.VM {
	if name != "" {
		file = ""
	}
	return j.owner(p, file, from.At, format, name)
}

// byUUID returns the only VM with the UUID of from, in any form; of several, such as copies, the
// one that also has its name.
func (j *joiner) byUUID(p *Piece, from *numa.VM) *numa.VM {
	plain := func(s string) string {
		return strings.ToLower(strings.Map(func(r rune) rune {
			if strings.ContainsRune("0123456789abcdefABCDEF", r) {
				return r
			}
			return -1
		}, s))
	}
	want := plain(from.UUID)
	if len(want) != 32 || p.VM != "" {
		return nil
	}
	var found []*numa.VM
	for i := range j.fleet.VMs {
		if v := &j.fleet.VMs[i]; plain(v.UUID) == want {
			found = append(found, v)
		}
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(v *numa.VM) bool { return v.Name != from.Name })
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// A settings is the settings of a VM in one file.
type settings struct {
	of      *numa.VM
	from    *numa.VM
	current bool // of a .vmx: a log has those of its last power-on
}

// last returns the time of the last power-on; the zero time when it is missing.
func (s *settings) last() (t time.Time) {
	for i := range s.from.Observed {
		if at, ok := s.from.Observed[i].Instant(); ok && at.After(t) {
			t = at
		}
	}
	return t
}

// fill sets the settings that the inventory lacks: of the files with a value, the newest counts. Of
// logs without a time the last one counts as the newest.
func (j *joiner) fill() {
	slices.Reverse(j.stated)
	slices.SortStableFunc(j.stated, func(a, b settings) int {
		if a.current != b.current {
			if a.current {
				return -1
			}
			return 1
		}
		return b.last().Compare(a.last())
	})
	for _, s := range j.stated {
		if taken := lacking(&s.of.Config, &s.from.Config, s.from.At); len(taken) > 0 {
			j.note(s.of.At, "VM %s: taken from %s, for the inventory does not state it: %s", s.of.Name, s.from.At, strings.Join(taken, ", "))
		}
	}
}

// lacking fills in the unknown facts of to, and returns their names.
func lacking(to, from *numa.Config, at string) []string {
	var taken []string
	for i := range numa.VMFacts {
		if p := &numa.VMFacts[i]; p.Word != "power" {
			take(&taken, p.Name, p.Fact(to), p.Fact(from), at)
		}
	}
	take(&taken, "PCI devices", &to.Devices, &from.Devices, at)
	take(&taken, "advanced settings", &to.Settings, &from.Settings, at)
	return taken
}

// take copies a fact from another file, with an absolute place.
func take(taken *[]string, name string, to, from numa.AnyFact, at string) {
	o := from.From()
	if to.Known() || o.Kind != numa.Read {
		return
	}
	if !strings.Contains(o.Where, at) {
		o.Where = fmt.Sprintf("%s, %s", at, o.Where)
	}
	to.Take(from, o)
	*taken = append(*taken, name)
}
