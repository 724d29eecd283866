package tables

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/numa"
)

// The index for a key that several VMs share.
const ambiguous = -1

// sharedName is why a row is left out.
const sharedName = "a VM that is not the only one with its name, and has no VM ID or UUID of its own: left out"

// A join finds the VM for a row of another sheet: by managed object reference and vCenter, else by UUID, else by name. A key that several
// VMs share finds none.
type join struct {
	vms         []vmRow
	byVCenterID map[[2]string]int // index of the row in vInfo, or ambiguous
	byID        map[string]int
	byUUID      map[string]int
	byName      map[string]int
	named       map[string][]int // the rows of a name
}

// newJoin indexes vms; it marks the rows that repeat a VM, so that the first one gets the facts.
func newJoin(vms []vmRow) *join {
	j := &join{
		vms:         vms,
		byVCenterID: make(map[[2]string]int, len(vms)),
		byID:        make(map[string]int, len(vms)),
		byUUID:      make(map[string]int, len(vms)),
		byName:      make(map[string]int, len(vms)),
		named:       make(map[string][]int, len(vms)),
	}
	before := map[[2]string][]*vmRow{}
	for i := range vms {
		v := &vms[i]
		j.named[v.vm.Name] = append(j.named[v.vm.Name], i)
		uuid := strings.ToLower(v.vm.UUID)
		key := [2]string{v.vcenter, cmp.Or(v.id, uuid, v.vm.Name)}
		if at := slices.IndexFunc(before[key], v.repeats); at >= 0 {
			v.first = before[key][at]
			continue
		}
		before[key] = append(before[key], v)
		if v.id != "" {
			index(j.byVCenterID, key, i)
			index(j.byID, v.id, i)
		}
		index(j.byUUID, uuid, i)
		index(j.byName, v.vm.Name, i)
	}
	return j
}

// repeats reports whether v is the same VM as another row with its reference, UUID or, of two without these, name. References are unique only within a
// vCenter, which a file may not state, and names only within a folder: rows without either agree in all that both state.
func (v *vmRow) repeats(other *vmRow) bool {
	if v.nameOnly() != other.nameOnly() {
		return false
	}
	if v.nameOnly() {
		return v.vm.Name == other.vm.Name && v.whereabouts() == other.whereabouts() && (v.host == other.host || numa.SameHost(v.host, other.host)) && !slices.ContainsFunc(numa.VMFacts, func(p numa.Property[numa.Config]) bool {
			a, b := p.Fact(&v.vm.Config), p.Fact(&other.vm.Config)
			return a.Known() && b.Known() && !reflect.DeepEqual(a.Any(), b.Any())
		})
	}
	if v.vm.UUID != "" && other.vm.UUID != "" {
		return strings.EqualFold(v.vm.UUID, other.vm.UUID)
	}
	return v.vm.Name == other.vm.Name && (v.host == "" || other.host == "" || numa.SameHost(v.host, other.host))
}

// nameOnly reports whether nothing but its name identifies the VM.
func (v *vmRow) nameOnly() bool { return v.id == "" && v.vm.UUID == "" }

// whereabouts are the places of a VM in the inventory, apart from its host.
func (v *vmRow) whereabouts() [4]string {
	return [4]string{v.vcenter, v.datacenter, v.cluster, v.vm.Folder}
}

// index adds i for key, or marks the key as ambiguous.
func index[K comparable](m map[K]int, key K, i int) {
	var none K
	if key == none {
		return
	}
	if _, ok := m[key]; ok {
		i = ambiguous
	}
	m[key] = i
}

// row returns the index of the VM with these keys: ambiguous if several VMs have them; ok is false if none has.
func (j *join) row(vcenter, id, uuid, name string) (i int, ok bool) {
	if id != "" && len(j.byID) > 0 {
		if vcenter != "" {
			if i, ok = j.byVCenterID[[2]string{vcenter, id}]; ok && i != ambiguous {
				return i, true
			}
			// vInfo may lack the vCenter: continue with the reference only.
			if _, lacks := j.byVCenterID[[2]string{"", id}]; !lacks && !ok {
				return j.unreferenced(name)
			}
		}
		if i, ok = j.byID[id]; !ok {
			return j.unreferenced(name)
		}
		if i != ambiguous {
			return i, ok
		}
	}
	if uuid != "" && len(j.byUUID) > 0 {
		i, ok = j.byUUID[strings.ToLower(uuid)]
		if i != ambiguous {
			return i, ok
		}
	}
	i, ok = j.byName[name]
	return i, ok
}

// unreferenced returns the index of the VM with this name whose reference is unknown, as in a truncated row.
func (j *join) unreferenced(name string) (i int, ok bool) {
	i, ok = j.byName[name]
	return i, ok && i != ambiguous && j.vms[i].id == ""
}

// joinSheet adds the facts of vCPU or vMemory to the VMs.
func (x *export) joinSheet(sheet string, vms []vmRow, j *join, n *notes) error {
	var strangers, namesakes, repeated, differing, without tally
	opened := false
	err := x.optional(sheet, n, func(t *table) error {
		opened = true
		return x.rowsOf(t, func() {
			name := t.text("VM")
			who := cmp.Or(name, "row "+strconv.Itoa(t.row))
			i, ok := j.row(t.vcenter(), bareID(t.text("VM ID")), t.text("VM UUID"), name)
			switch {
			case !ok:
				strangers.add(who)
				return
			case i == ambiguous:
				namesakes.add(who)
				return
			case vms[i].placeholder:
				return
			}
			v := &vms[i]
			t.subject = "VM " + v.vm.Name
			v.locate(t)
			v.id, v.vm.UUID = cmp.Or(v.id, bareID(t.text("VM ID"))), cmp.Or(v.vm.UUID, t.text("VM UUID"))
			r := readVM(t, &v.vm)
			if v.joined[sheet] {
				repeated.add(who)
				n.compare(v, &r)
				return
			}
			if v.joined == nil {
				v.joined = map[string]bool{}
			}
			v.joined[sheet] = true
			if !take(&v.vm.Config, &r, true) {
				differing.add(v.vm.Name)
			}
		})
	}, "VM", "VM ID", "VM UUID")
	if err != nil || !opened {
		return err
	}
	for i := range vms {
		if !vms[i].placeholder && vms[i].first == nil && !vms[i].joined[sheet] {
			without.add(vms[i].vm.Name)
		}
	}
	place := "sheet " + sheet
	n.tallied(place, strangers, "row is", "rows are", "about a VM that vInfo does not list: left out")
	n.tallied(place, namesakes, "row names", "rows name", sharedName)
	n.tallied(place, repeated, "row repeats", "rows repeat", "a VM: all its rows are read together")
	n.tallied(place, differing, "VM has", "VMs have", "another size in vInfo: that of this sheet is used")
	n.tallied(place, without, "VM has", "VMs have", "no row: unknown: "+kindNamed(sheet).facts())
	return nil
}

// dateKey is the column with the date of a row. Scripts that run every night append to one table.
const dateKey = "Date"

// A dated is the object of a row, and the date of the row.
type dated struct {
	vcenter, id, name, date string
}

// sameRun: rows whose dates differ by less are of one run of a script, which may read the clock for each row.
const sameRun = time.Hour

// newest removes the rows of an object that are older than its others by the column of dates. It adds notes about them, and about objects that only older
// rows have.
func newest[R any](t *table, noun string, rows []R, of func(*R) dated) []R {
	if !t.has(dateKey) {
		return rows
	}
	var texts []string
	for i := range rows {
		texts = append(texts, of(&rows[i]).date)
	}
	times := timesOf(texts)
	last, end := map[[2]string]time.Time{}, time.Time{}
	who := func(i int) [2]string { d := of(&rows[i]); return [2]string{d.vcenter, cmp.Or(d.id, d.name)} }
	for i, at := range times {
		if at.After(last[who(i)]) {
			last[who(i)] = at
		}
		if at.After(end) {
			end = at
		}
	}
	var older, gone tally
	var kept []R
	for i, at := range times {
		if last[who(i)].Sub(at) >= sameRun {
			older.add(of(&rows[i]).name)
			continue
		}
		if end.Sub(at) >= sameRun {
			gone.add(of(&rows[i]).name)
		}
		kept = append(kept, rows[i])
	}
	if older.count > 0 { // else the dates are of the objects, not of the rows
		t.notes.tallied(t.sheet.place(), older, "row is", "rows are", "older than another of its "+noun+" by column "+t.place(dateKey).header+": left out")
		t.notes.tallied(t.sheet.place(), gone, noun+" is", noun+"s are", "in older rows only, and may no longer exist")
	}
	return kept
}

// days are the forms of dates, and of those with slashes the two orders.
var days = [][]string{{"2006-1-2", "2006/1/2", "20060102", "2.1.2006", "1/2/2006"}, {"2006-1-2", "2006/1/2", "20060102", "2.1.2006", "2/1/2006"}}

// timesOf parses dates in the first order that they all have and by which they run in one direction: rows are appended. Without one, they are equal.
func timesOf(texts []string) []time.Time {
	for _, layouts := range days {
		times := make([]time.Time, len(texts))
		ok := true
		for i, s := range texts {
			var parsed bool
			times[i], parsed = timeOf(s, layouts)
			ok = ok && parsed
		}
		back := slices.Clone(times)
		slices.Reverse(back)
		if ok && (!strings.Contains(strings.Join(texts, ""), "/") || slices.IsSortedFunc(times, time.Time.Compare) || slices.IsSortedFunc(back, time.Time.Compare)) {
			return times
		}
	}
	return make([]time.Time, len(texts))
}

// timeOf parses a date with or without a time of day; a number is a date of Excel.
func timeOf(s string, layouts []string) (time.Time, bool) {
	if n, err := strconv.ParseFloat(s, 64); err == nil && len(s) != len("20060102") {
		return excelTime(n)
	}
	day, clock, _ := strings.Cut(strings.Replace(s, "T", " ", 1), " ")
	for _, layout := range layouts {
		at, err := time.Parse(layout, day)
		if err != nil {
			continue
		}
		for _, form := range []string{"15:04:05", "15:04", "3:04:05 PM", "3:04 PM", "15:04:05Z07:00"} {
			if c, err := time.Parse(form, strings.TrimSpace(clock)); err == nil {
				return at.Add(c.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, c.Location()))), true
			}
		}
		return at, true
	}
	return time.Time{}, false
}
