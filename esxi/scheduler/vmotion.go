package scheduler

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A vmotion is the memory of a VM in transfer to another host.
type vmotion struct {
	done         int64 // step before which the VM switches over
	vm, from, to int32
}

// vmotion moves a running VM to another host: at once, or after its memory is copied.
func (w *World) vmotion(k int64, vm, to int, e *numa.Event) {
	from := w.guests[vm].host()
	if from < 0 || from == to || w.stays(k, vm, to) {
		return
	}
	if e.Link == 0 {
		w.carryTo(k, vm, from, to)
		return
	}
	begin := k // copies of a host share its link: they run one after the other
	for _, c := range w.copies {
		if int(c.vm) == vm {
			w.note(w.fleet.VMs[vm].Name, fmt.Sprintf("vMotion at %v: it is on its way already", timeOf(k)))
			return
		}
		if int(c.from) == from {
			begin = c.done
		}
	}
	h := w.hosts[from]
	i, _ := h.search(int32(vm))
	h.settleMemory(&h.vms[i], k)
	c := vmotion{begin + copySteps(max(h.touchedBy(&h.vms[i]), h.growthOf(&h.vms[i]).floor), int64(e.Link/numa.PageSize), int64(e.Dirty/numa.PageSize)), int32(vm), int32(from), int32(to)}
	at, _ := slices.BinarySearchFunc(w.copies, c.done+1, func(x vmotion, done int64) int { return int(x.done - done) })
	w.copies = slices.Insert(w.copies, at, c)
}

// copySteps returns the number of steps to copy pages over a link; link and dirty are in pages a
// second. Each pass copies the pages written during the previous one, until half a second is left.
// A guest that writes faster than half of the link is slowed down to that.
func copySteps(pages, link, dirty int64) int64 {
	link = max(1, link)
	dirty = min(dirty, link/2)
	sent := pages
	for left := pages; left > link/2; {
		left = left * dirty / link
		sent += left
	}
	return max(1, (sent+2*link-1)/(2*link))
}

// arrive switches over the VMs whose memory is copied.
func (w *World) arrive(k int64) {
	for len(w.copies) > 0 && w.copies[0].done <= k {
		c := w.copies[0]
		w.copies = w.copies[1:]
		w.carryTo(k, int(c.vm), int(c.from), int(c.to))
	}
}

// cancel ends the vMotion of a VM that is powered off or has left its host otherwise.
func (w *World) cancel(k int64, vm int) {
	if i := slices.IndexFunc(w.copies, func(c vmotion) bool { return int(c.vm) == vm }); i >= 0 {
		w.note(w.fleet.VMs[vm].Name, fmt.Sprintf("its vMotion to %s ends at %v: it no longer runs where it was copied from", w.fleet.Hosts[w.copies[i].to].Name, timeOf(k)))
		w.copies = slices.Delete(w.copies, i, i+1)
	}
}

// carryTo moves a VM to a host if the host accepts it.
func (w *World) carryTo(k int64, vm, from, to int) {
	if !w.stays(k, vm, to) {
		w.carry(k, vm, from, to)
	}
}

// stays reports whether no vMotion brings a VM to a host, and records the reason (B-26 to B-32, D-5).
func (w *World) stays(k int64, vm, to int) bool {
	v, why := w.config(vm), ""
	g, _, err := vnuma.NewGuest(v)
	switch device := v.Tied(); {
	case device != nil:
		why = fmt.Sprintf("a %s ties the VM to its host", device)
	case err == nil && g.Affinity:
		why = "CPU or memory affinity keeps a VM that runs from vMotion"
	case w.apart(vm, to) != "":
		why = w.apart(vm, to)
	case !w.open(to):
		why = "the host has failed, is in maintenance, or its nodes are not known"
	case err == nil:
		why = w.refusal(&g, vm, to).String()
	}
	if why != "" {
		w.denied = append(w.denied, Denial{timeOf(k), vm, to, why, true})
	}
	return why != ""
}

// apart explains why a VM that runs cannot move to a host; "" where it may, or does not run.
func (w *World) apart(vm, to int) string {
	from := w.guests[vm].host()
	if from < 0 {
		return ""
	}
	return numa.NotRunning(&w.fleet.Hosts[from], &w.fleet.Hosts[to])
}

// carry creates the clients of a VM again and places them on the destination host; its memory is allocated there.
func (w *World) carry(k int64, vm, from, to int) {
	i, _ := w.hosts[from].search(int32(vm))
	was := w.hosts[from].dismiss(k, i)
	w.hosts[to].took(MovedIn, vm, from)
	w.place(k, vm, to, coming{event: vnuma.VMotionIn, growth: &was})
}
