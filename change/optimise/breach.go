package optimise

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/internal/binpack"
	"example.org/homenode/internal/words"
)

// A Breach lists the constraints that a distribution breaks, and by how much; its parts add up
// to Score.Broken.
type Breach struct {
	Hosts  []HostBreach // hosts over their limit of memory, vCPUs or reserved CPU, in the Problem's order
	Apart  int64        // pairs of VMs on the same host that have to be apart
	Spread int64        // hosts beyond the first of groups that have to be together
}

// A HostBreach is a host over its limits.
type HostBreach struct {
	Host   int   // index in the Problem
	Memory int64 // MiB above the limit
	VCPUs  int64 // vCPUs above the limit
	MHz    int64 // reserved CPU above what the host has
}

// Breach returns the constraints that are broken after the steps; without steps those that are
// broken at the beginning.
func (p *Problem) Breach(steps []Step) (out Breach) {
	to := make([]int, len(p.VMs))
	for i := range to {
		to[i] = i
	}
	at := p.bins(p.Hosts, p.VMs, to).Packing()
	for i := range p.VMs {
		at.Put(int32(i), p.VMs[i].Host, 0)
	}
	for i := range steps {
		at.Put(int32(steps[i].VM), steps[i].To, 0)
	}
	for h, vms := range at.On {
		over, pairs := at.Over(h, vms)
		if out.Apart += pairs; over != (binpack.Size{}) {
			out.Hosts = append(out.Hosts, HostBreach{Host: h, Memory: over.Mem, VCPUs: over.CPU, MHz: over.Reserved})
		}
	}
	for _, group := range p.Together {
		on := map[int32]bool{}
		for _, v := range group {
			on[at.In[v]] = true
		}
		out.Spread += int64(max(0, len(on)-1))
	}
	return out
}

// mostBroken is the maximum number of hosts in a sentence about broken constraints.
const mostBroken = 3

// Broken describes the constraints that are broken after the steps; "nothing" for none.
func (p *Problem) Broken(steps []Step) string {
	b := p.Breach(steps)
	var parts []string
	over := func(what string, of func(HostBreach) int64, text func(int64) string) {
		var hosts []string
		sum := int64(0)
		for _, h := range b.Hosts {
			if n := of(h); n > 0 {
				sum += n
				hosts = append(hosts, p.Hosts[h.Host].Name+" "+text(n))
			}
		}
		if n := len(hosts); n > mostBroken {
			hosts = append(hosts[:mostBroken:mostBroken], fmt.Sprintf("%d more", n-mostBroken))
		}
		if sum > 0 {
			parts = append(parts, fmt.Sprintf("%s too much for their hosts (%s)", text(sum)+" "+what, strings.Join(hosts, ", ")))
		}
	}
	over("of memory", func(h HostBreach) int64 { return h.Memory }, megabytes)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	over("vCPUs", func(h HostBreach) int64 { return h.VCPUs }, number)
	over("MHz of reserved CPU", func(h HostBreach) int64 { return h.MHz }, number)
	if b.Apart > 0 {
		parts = append(parts, words.Plural(int(b.Apart), "pair")+" of VMs not apart")
	}
	if b.Spread > 0 {
		parts = append(parts, "groups not together: "+words.Plural(int(b.Spread), "host")+" too many")
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
