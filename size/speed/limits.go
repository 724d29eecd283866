package speed

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"homenode/numa"
	"homenode/numa/unit"
)

// A Limited is a VM of a fleet with a CPU limit.
type Limited struct {
	VM          string  `json:"vm"`
	Host        string  `json:"host,omitempty"`
	Folder      string  `json:"folder,omitempty"`
	VCPUs       int     `json:"vcpus,omitempty"` // 0: unknown
	Limit       unit.Hz `json:"limit"`
	Reservation unit.Hz `json:"reservation,omitempty"`
	PerVCPU     unit.Hz `json:"perVCPU,omitempty"` // limit ÷ vCPUs; 0: unknown
	Core        unit.Hz `json:"core,omitempty"`    // of its host; 0: unknown
	// Acts reports that the limit is below the possible use of its vCPUs; Held is the share of the
	// time in which it stops a VM whose vCPUs all demand a whole core.
	Acts bool       `json:"acts"`
	Held unit.Share `json:"held,omitempty"`
	// Odd is the reason why the limit looks left over from another configuration.
	Odd string `json:"odd,omitempty"`
}

// Reserved is the reservations of the VMs on a host.
type Reserved struct {
	Host        string     `json:"host"`
	VMs         int        `json:"vms"` // powered on, with a reservation
	Reservation unit.Hz    `json:"reservation"`
	Capacity    unit.Hz    `json:"capacity"` // cores × core
	Share       unit.Share `json:"share"`
	Limits      unit.Hz    `json:"limits,omitempty"` // sum of the limits of powered-on VMs
}

// Limits is the CPU limits of the VMs of a fleet.
type Limits struct {
	VMs     int        `json:"vms"`     // templates not counted
	Unknown int        `json:"unknown"` // VMs without information on limits
	Acting  int        `json:"acting"`
	NoCore  int        `json:"coreUnknown"` // limited VMs for which it is unknown whether the limit acts
	Odd     int        `json:"odd"`
	List    []Limited  `json:"limited"`
	Hosts   []Reserved `json:"hosts,omitempty"` // those with reservations or limits
}

// LimitsOf returns the VMs with a CPU limit, those that lose most first, and the reservations on the hosts.
func LimitsOf(f *numa.Fleet) *Limits {
	out := &Limits{List: []Limited{}}
	hosts := make(map[string]*numa.Host, len(f.Hosts))
	for i := range f.Hosts {
		hosts[f.Hosts[i].ID] = &f.Hosts[i]
	}
	sums := make(map[string]*Reserved)
	for i := range f.VMs {
		v := &f.VMs[i]
		if v.Template.Value {
			continue
		}
		out.VMs++
		if !v.CPULimit.Known() {
			out.Unknown++
		}
		h := hosts[v.Host]
		if v.CPULimit.Known() && v.CPULimit.Value >= 0 {
			out.List = append(out.List, limitedVM(v, h))
		}
		if h != nil && v.Power.Value == numa.PoweredOn {
			reserve(sums, v, h)
		}
	}
	for _, s := range sums {
		if s.Capacity > 0 {
			s.Share = s.Reservation.Of(s.Capacity)
		}
		out.Hosts = append(out.Hosts, *s)
	}
	slices.SortFunc(out.Hosts, func(a, b Reserved) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Host, b.Host)) })
	doubt(out.List, f)
	for i := range out.List {
		if out.List[i].VCPUs == 0 || out.List[i].Core == 0 {
			out.NoCore++
		}
		if out.List[i].Acts {
			out.Acting++
		}
		if out.List[i].Odd != "" {
			out.Odd++
		}
	}
	slices.SortStableFunc(out.List, func(a, b Limited) int {
		return cmp.Or(cmp.Compare(b.Held, a.Held), cmp.Compare(a.VM, b.VM), cmp.Compare(a.Host, b.Host))
	})
	return out
}

// reserve adds the reservation and limit of a VM to its host.
func reserve(sums map[string]*Reserved, v *numa.VM, h *numa.Host) {
	limited := v.CPULimit.Known() && v.CPULimit.Value >= 0
	if !limited && v.CPUReservation.Value <= 0 {
		return
	}
	s := sums[h.ID]
	if s == nil {
		s = &Reserved{Host: h.Name, Capacity: unit.Hz(h.Cores.Value*h.CoreMHz.Value) * unit.MHz}
		sums[h.ID] = s
	}
	if limited {
		s.Limits += unit.Hz(v.CPULimit.Value) * unit.MHz
	}
	if v.CPUReservation.Value > 0 {
		s.VMs++
		s.Reservation += unit.Hz(v.CPUReservation.Value) * unit.MHz
	}
}

// limitedVM computes the effect of a limit on its VM. The host may be unknown.
func limitedVM(v *numa.VM, h *numa.Host) Limited {
	l := Limited{
		VM: v.Name, Folder: v.Folder, VCPUs: v.VCPUs.Value,
		Limit: unit.Hz(v.CPULimit.Value) * unit.MHz, Reservation: unit.Hz(max(0, v.CPUReservation.Value)) * unit.MHz,
	}
	if l.VCPUs > 0 {
		l.PerVCPU = l.Limit / unit.Hz(l.VCPUs)
	}
	if h != nil {
		l.Host, l.Core = h.Name, unit.Hz(h.CoreMHz.Value)*unit.MHz
	}
	if l.VCPUs > 0 && l.Core > 0 {
		l.Held = Held(1, l.Limit.Of(unit.Hz(l.VCPUs)*l.Core))
		l.Acts = l.Held > 0
	}
	return l
}

// doubt marks limits that look left over.
func doubt(list []Limited, f *numa.Fleet) {
	usual := usualSpeeds(list)
	cores := make(map[unit.Hz]bool)
	for i := range f.Hosts {
		if m := f.Hosts[i].CoreMHz.Value; m > 0 {
			cores[unit.Hz(m)*unit.MHz] = true
		}
	}
	for i := range list {
		l := &list[i]
		if l.VCPUs == 0 {
			continue
		}
		speed, have := usual[l.Folder]
		switch {
		case have && !same(l.PerVCPU, speed):
			of := l.Folder
			if l.Folder == "" {
				of = "those limited"
			}
			l.Odd = fmt.Sprintf("%v a vCPU, most of %s have %v", l.PerVCPU, of, speed)
			if n := float64(l.Limit / speed); n >= 1 && math.Abs(n-math.Round(n)) < 0.01 {
				l.Odd += fmt.Sprintf(": the limit of %.0f vCPUs", math.Round(n))
			}
		case l.Core > 0 && !have && l.Acts && cores[nearest(cores, l.PerVCPU)] && same(nearest(cores, l.PerVCPU), l.PerVCPU):
			l.Odd = fmt.Sprintf("whole cores of %v: of another host type than its own with %v", l.PerVCPU, l.Core)
		}
	}
}

// same reports whether speeds are equal apart from rounding to MHz.
func same(a, b unit.Hz) bool { return math.Abs(float64(a-b)) <= 0.005*float64(b) }

// nearest returns the nearest speed of a host type.
func nearest(cores map[unit.Hz]bool, to unit.Hz) (best unit.Hz) {
	for c := range cores {
		d, least := math.Abs(float64(c-to)), math.Abs(float64(best-to))
		if d < least || d == least && c < best {
			best = c
		}
	}
	return best
}

// usualSpeeds returns, by folder, the vCPU speed of most of its limited VMs: at least two, and more than half.
func usualSpeeds(list []Limited) map[string]unit.Hz {
	by := make(map[string][]unit.Hz)
	for i := range list {
		if list[i].PerVCPU > 0 {
			by[list[i].Folder] = append(by[list[i].Folder], list[i].PerVCPU)
		}
	}
	out := make(map[string]unit.Hz)
	for folder, speeds := range by {
		slices.Sort(speeds)
		for _, s := range speeds {
			n := 0
			for _, other := range speeds {
				if same(other, s) {
					n++
				}
			}
			if n >= 2 && 2*n > len(speeds) {
				out[folder] = s
				break
			}
		}
	}
	return out
}
