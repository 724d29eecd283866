package tables

import (
	"strconv"
	"strings"
)

// Of several VMs with one key, none is meant.
const ambiguous = -1

// A join finds the VM that a row of another sheet is about: by managed object
// reference and vCenter, else by UUID, else by name. A key that several VMs
// share finds none.
type join struct {
	vms         []vmRow
	byVCenterID map[[2]string]int // index of the row in vInfo, or ambiguous
	byID        map[string]int
	byUUID      map[string]int
	byName      map[string]int
}

// newJoin indexes vms; it marks the rows that repeat a VM, so that the first one
// gets the facts.
func newJoin(vms []vmRow) *join {
	j := &join{
		vms:         vms,
		byVCenterID: make(map[[2]string]int, len(vms)),
		byID:        make(map[string]int, len(vms)),
		byUUID:      make(map[string]int, len(vms)),
		byName:      make(map[string]int, len(vms)),
	}
	for i := range vms {
		v := &vms[i]
		if v.id != "" {
			if _, ok := j.byVCenterID[[2]string{v.vcenter, v.id}]; ok {
				v.repeated = true
				continue
			}
			j.byVCenterID[[2]string{v.vcenter, v.id}] = i
			index(j.byID, v.id, i)
		}
		index(j.byUUID, strings.ToLower(v.vm.UUID), i)
		index(j.byName, v.vm.Name, i)
	}
	return j
}

// index adds i under key, or marks the key as ambiguous.
func index(m map[string]int, key string, i int) {
	if key == "" {
		return
	}
	if _, ok := m[key]; ok {
		i = ambiguous
	}
	m[key] = i
}

// find returns the index of the VM that the current row of t is about,
// ambiguous when several have its key, and false when vInfo has none.
func (j *join) find(t *table, name string) (i int, ok bool) {
	return j.row(t.vcenter(), bareID(t.text("VM ID")), t.text("VM UUID"), name)
}

// row returns the index of the VM with these keys.
func (j *join) row(vcenter, id, uuid, name string) (i int, ok bool) {
	if id != "" && len(j.byID) > 0 {
		if vcenter != "" {
			if i, ok = j.byVCenterID[[2]string{vcenter, id}]; ok {
				return i, true
			}
			// vInfo may lack the vCenter: go on with the reference alone.
			if _, ok = j.byVCenterID[[2]string{"", id}]; !ok {
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

// unreferenced returns the index of the VM of this name whose reference is unknown, as of a row that is cut off.
func (j *join) unreferenced(name string) (i int, ok bool) {
	i, ok = j.byName[name]
	return i, ok && i != ambiguous && j.vms[i].id == ""
}

// joinSheet adds the facts of vCPU or vMemory to the VMs.
func (x *export) joinSheet(sheet string, vms []vmRow, j *join, n *notes) error {
	t, err := x.optional(sheet, n, "VM", "VM ID", "VM UUID")
	if err != nil || t == nil {
		return err
	}
	var strangers, namesakes, repeated, differing, without tally
	err = x.rowsOf(t, func() {
		name := t.text("VM")
		who := name
		if who == "" {
			who = "row " + strconv.Itoa(t.row)
		}
		i, ok := j.find(t, name)
		switch {
		case !ok:
			strangers.add(who)
		case i == ambiguous:
			namesakes.add(who)
		case vms[i].placeholder:
		case vms[i].joined[sheet]:
			repeated.add(who)
		default:
			v := &vms[i]
			if v.joined == nil {
				v.joined = map[string]bool{}
			}
			v.joined[sheet] = true
			t.subject = "VM " + v.vm.Name
			if !readVM(t, &v.vm.Config) {
				differing.add(v.vm.Name)
			}
		}
	})
	if err != nil {
		return err
	}
	for i := range vms {
		if !vms[i].placeholder && !vms[i].repeated && !vms[i].joined[sheet] {
			without.add(vms[i].vm.Name)
		}
	}
	place := "sheet " + sheet
	n.tallied(place, strangers, "row is", "rows are", "about a VM that vInfo does not list: left out")
	n.tallied(place, namesakes, "row names", "rows name", "a VM that is not the only one with its name, and has no VM ID: left out")
	n.tallied(place, repeated, "row repeats", "rows repeat", "a VM: the first row of each is used")
	n.tallied(place, differing, "VM has", "VMs have", "another size in vInfo: that of this sheet is used")
	n.tallied(place, without, "VM has", "VMs have", "no row: unknown: "+t.kind.facts())
	return nil
}
