package sweep

import (
	"fmt"
	"slices"

	"example.org/homenode/change/whatif"
	"example.org/homenode/numa"
)

// scale multiplies the CPU demand of VMs, now and in every later load. A vCPU cannot demand
// more than a core: the product is limited to that.
func scale(s *numa.Story, vms string, factor float64) error {
	found, err := whatif.VMs(s.Fleet, vms)
	if err != nil {
		return err
	}
	which := make(map[string]bool, len(found))
	for _, i := range found {
		which[s.Fleet.VMs[i].ID] = true
	}
	stated := make(map[string]bool, len(s.Loads))
	for i := range s.Loads {
		l := &s.Loads[i]
		if stated[l.VM] = true; which[l.VM] {
			l.Load.CPU = times(&l.Load.CPU, factor)
		}
	}
	if len(found) == len(s.Fleet.VMs) {
		s.Unstated.Value.CPU = times(&s.Unstated.Value.CPU, factor)
		s.Unstated.Origin.Where += fmt.Sprintf("; CPU × %g", factor)
	} else {
		for _, i := range found {
			if id := s.Fleet.VMs[i].ID; !stated[id] {
				l := s.Unstated.Value
				l.CPU = times(&l.CPU, factor)
				s.Loads = append(s.Loads, numa.VMLoad{VM: id, Load: l})
			}
		}
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.Load != nil && which[e.VM] {
			l := *e.Load
			l.CPU = times(&l.CPU, factor)
			e.Load = &l
			untold(s.Events, e)
		}
	}
	return nil
}

func times(d *numa.Demand, factor float64) numa.Demand {
	cut := func(share float64) float64 { return min(1, share*factor) }
	out := *d
	out.Low, out.High, out.Noise = cut(d.Low), cut(d.High), cut(d.Noise)
	out.Points = slices.Clone(d.Points)
	for i := range out.Points {
		out.Points[i].Share = cut(out.Points[i].Share)
	}
	return out
}
