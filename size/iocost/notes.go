package iocost

import (
	"fmt"
	"slices"
	"strings"

	"homenode/internal/words"
)

// notes returns what is doubtful of the costs that were taken, and of the hosts they are taken for.
func (s *Study) notes() []string {
	var out []string
	note := func(text string) {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	q := &s.Question
	var hardware []string
	for i := range s.Loads {
		l := &s.Loads[i]
		if l.Cost == nil || q.Options.Rules {
			continue
		}
		if h := l.Cost.PerIO.Hardware; h != "" && !slices.Contains(hardware, h) {
			hardware = append(hardware, h)
		}
		switch {
		case l.AtLeast && l.Cost.Own:
			note(fmt.Sprintf("≥: your costs of %s are guest CPU, the hypervisor's part is not in it.", l.Path.Name()))
		case l.AtLeast:
			note("≥: guest CPU, the hypervisor's part is not in it; 2012 Sandy Bridge, one VM on one consumer NVMe, one I/O at a time.")
		}
		if l.Path == VSANESA && !l.Cost.Own {
			note("vSAN ESA was measured with RAID-5 and compression, on 6 hosts that also ran the load generators.")
			hosts := q.Cluster.Hosts
			if s.Need != nil && q.Budget > 0 {
				hosts = int(s.Need.Hosts.Value)
			}
			if q.Cluster.Cores > 0 && hosts != 6 {
				note(fmt.Sprintf("Of reads 5 in 6 cross the network there, with %s another share: the network part differs.", words.Plural(hosts, "host")))
			}
		}
		if core := l.Cost.Core; core > 0 && q.Cluster.Core > 0 && core != q.Cluster.Core && l.IPC == 1 {
			note(fmt.Sprintf("%s was measured on cores of %s, yours have %s: other hardware, cycles taken as equal.", l.Path.Name(), core, q.Cluster.Core))
		}
	}
	if slices.ContainsFunc(s.Loads, func(l Load) bool { return l.Cost != nil && !l.Cost.Own && !q.Options.Rules }) {
		note("Ranges are no accuracy: (digits) is what the printed digits leave, others what two laws leave. Mixes predicted from pure tests were +6.4 and -3.0 % off; for other hardware nothing is known.")
	}
	if q.Options.RDMA {
		note("RDMA: the saving was measured on another cluster, from the use of its logical CPUs.")
	}
	if len(hardware) > 1 {
		note("The costs are from different hardware: " + strings.Join(hardware, "; ") + ".")
	}
	return out
}
