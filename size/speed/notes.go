package speed

import (
	"fmt"

	"homenode/internal/words"
	"homenode/numa/unit"
)

// notes returns what is doubtful, and what acts beside the limit.
func (r *Result) notes() []string {
	a := r.Asked
	var out []string
	if r.Terms.Note != "" {
		out = append(out, a.Model.Name()+": "+r.Terms.Note+".")
	}
	if limits := r.Admission.PerCore.Limit; r.Admission.Bounded && limits > a.Core {
		out = append(out, fmt.Sprintf("Limits of the VMs admitted add up to %v a core of %v: when all want theirs, the reservation is left.", limits, a.Core))
	}
	if r.Admission.PerHost == MostVMs {
		out = append(out, fmt.Sprintf("A host runs %d VMs at most, whatever is reserved (configuration maximum).", MostVMs))
	}
	if a.Speed < LeastSpeed.Value && a.Model != ReservationPool {
		out = append(out, fmt.Sprintf("Cloud Director takes %v at least (%s).", LeastSpeed.Value, LeastSpeed.Source))
	}
	for _, c := range r.Changes {
		if n := c.Admission.InMemory; n != nil && c.VMs > *n && a.VMs <= *n {
			out = append(out, fmt.Sprintf("With %s %s run on a host, which has memory for %d.", c.If, words.Plural(c.VMs, "VM"), *n))
		}
	}
	for _, m := range r.SCA {
		if m.Name == "SCAv2" && m.Idle > 0 {
			out = append(out, fmt.Sprintf("Under SCAv2 each VM of this shape leaves %d of the threads of its cores idle: its clients are odd.", m.Idle))
		}
	}
	if r.Terms.InPool {
		each := ShareOf(unit.Hz(a.VCPUs)*a.Speed, a.VCPUs, a.Core)
		out = append(out, fmt.Sprintf("The simulation knows no resource pools. A pool of just these VMs gives each vCPU %v of a core when all want one.", each))
	}
	return out
}
