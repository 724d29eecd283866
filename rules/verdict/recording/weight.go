package recording

import (
	"cmp"
	"slices"
	"time"

	"example.org/homenode/capture"
)

// byWeight orders VMs by their worst finding, then, without findings, by whether their locality was low at any tick, then by remote memory over time.
func byWeight(a, b *VM) int {
	weight := func(v *VM) int {
		s, ok := v.Worst()
		if !ok {
			return -1
		}
		return int(s)
	}
	low := func(v *VM) int {
		if share, ok := v.LeastLocality(); ok && len(v.Findings) == 0 && share < v.Rec.Options.Locality {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(low(b), low(a)), compareSums(&b.Remote.Sum, &a.Remote.Sum), cmp.Compare(waited(b), waited(a)), cmp.Compare(a.Rec.Host, b.Rec.Host),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.GID, b.GID), cmp.Compare(a.Nth, b.Nth))
}

// waited returns the maximum share of ready time.
func waited(v *VM) float64 { share, _ := v.Ready.Peak(); return share }

func compareSums(a, b *capture.Sum) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

// Weighted returns the important VMs: those with findings, the worst first; if there are fewer than least, also others, those with the most remote
// memory first.
func (j *Judged) Weighted(least int) []*VM {
	vms := slices.SortedStableFunc(slices.Values(j.VMs), byWeight)
	n := 0
	for n < len(vms) && (len(vms[n].Findings) > 0 || n < least) {
		n++
	}
	return vms[:n]
}

// WeightedHosts returns the hosts, sorted by the worst finding of the host or its VMs.
func (j *Judged) WeightedHosts() []*capture.Recording {
	weight := map[*capture.Recording]int{}
	for i := range j.Findings {
		f := &j.Findings[i]
		if rec := j.RecordingOf(f); rec != nil {
			weight[rec] = max(weight[rec], int(f.Severity)+1)
		}
	}
	return slices.SortedStableFunc(slices.Values(j.Recordings), func(a, b *capture.Recording) int { return cmp.Compare(weight[b], weight[a]) })
}

// handover is the maximum time for which a VM is on both hosts during vMotion.
const handover = 5 * time.Minute

// CountVMs returns the number of VMs with these lives: lives of one name are one VM, or as many as run at the same time, not counting the handover of
// a VM that moves.
func CountVMs(lives []*VM) int {
	type edge struct {
		at  time.Time
		add int
	}
	byName := map[string][]edge{}
	for _, v := range lives {
		end := v.Last.Add(-min(handover, v.Last.Sub(v.First)/2))
		if !end.After(v.First) { // a single tick
			end = v.First.Add(1)
		}
		byName[v.Name] = append(byName[v.Name], edge{v.First, 1}, edge{end, -1})
	}
	n := 0
	for _, edges := range byName {
		slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.add, b.add)) })
		now, most := 0, 0
		for _, e := range edges {
			now += e.add
			most = max(most, now)
		}
		n += most
	}
	return n
}
