package scenario

import (
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// observers are the values of by=.
var observers = map[string]numa.Observer{
	"vmware.log": numa.ByVMwareLog, "sched-stats": numa.BySchedStats, "esxtop": numa.ByEsxtop,
	"lscpu": numa.ByLscpu, "numactl": numa.ByNumactl, "coreinfo": numa.ByCoreinfo,
	"measure": numa.ByMeasure,
}

// seen adds an observation of a VM from an earlier line:
//
//	seen sql01 by=lscpu nodes=16+16 sockets=2x16
//	seen sql01 by=vmware.log release=6.5 start=first nodes=32 clients=2x16 memory=384GB hotAdd=on
//	seen sql01 by=measure nodes=32 together=2x16
//	seen sql01 by=esxtop time=2026-03-01T08:00:00Z homes=1 local=38GB remote=54GB free=2GB+100GB
//
// nodes, clients and sockets give the number of vCPUs in each, together the numbers of vCPUs that run on
// the same host node, free the free memory of each host node. Keywords of a vm line state the settings at that time.
func (p *parser) seen(ws []word.Word) error {
	if p.vms[ws[1].Key] == 0 {
		return p.errorf(ws[1].Col, "found seen %s, want a VM of an earlier line", word.Short(ws[1].Key))
	}
	o := numa.Observation{At: p.at()}
	scratch := numa.VM{}
	for _, w := range ws[2:] {
		if !w.HasValue || w.Value == "" {
			return p.located(w.NoValue())
		}
		if err := p.seenWord(&o, &scratch, w); err != nil {
			return err
		}
	}
	if o.By == "" {
		return p.errorf(ws[0].Col, "found no by=, want what saw it: vmware.log, sched-stats, esxtop, lscpu, numactl, coreinfo or measure")
	}
	o.Config = scratch.Config
	if len(o.Config.Settings.Value) > 0 {
		o.Config.Settings.Origin = numa.Origin{Kind: numa.Read, Where: "settings of the line"}
	}
	for i := range p.fleet.VMs {
		if v := &p.fleet.VMs[i]; v.Name == ws[1].Key {
			v.Observed = append(v.Observed, o)
		}
	}
	return nil
}

func (p *parser) seenWord(o *numa.Observation, v *numa.VM, w word.Word) (err error) {
	switch w.Key {
	case "by":
		by, ok := observers[strings.ToLower(w.Value)]
		if !ok {
			return p.errorf(w.Col, "found by=%q, want vmware.log, sched-stats, esxtop, lscpu, numactl, coreinfo or measure", word.Short(w.Value))
		}
		o.By = by
	case "start":
		start, ok := map[string]numa.Start{"first": numa.FirstStart, "power-on": numa.PowerOnStart, "checkpoint": numa.CheckpointStart}[w.Value]
		if !ok {
			return p.errorf(w.Col, "found start=%q, want first, power-on or checkpoint", word.Short(w.Value))
		}
		o.Start = start
	case "host":
		o.Host = w.Value
	case "release":
		r, err := word.Release(w.Col, w.Value)
		if err != nil {
			return err
		}
		o.Release = numa.ReadAt(r, w.Key)
	case "time":
		if o.Time = w.Value; !hasInstant(o) {
			return p.errorf(w.Col, "found time=%q, want RFC 3339, such as 2026-03-01T08:00:00Z", word.Short(w.Value))
		}
	case "nodes":
		o.VPDs, o.VPDCount, err = p.groups(w)
	case "clients":
		o.PPDs, o.PPDCount, err = p.groups(w)
	case "together":
		o.Together, _, err = p.groups(w)
	case "sockets":
		o.Sockets, o.SocketCount, err = p.groups(w)
	case "memory":
		o.Slices, err = amounts(w)
	case "free":
		o.Free, err = amounts(w)
	case "homes":
		set, err := w.NodeSet(w.Value, numa.MaxNodes)
		if err != nil {
			return err
		}
		o.Homes = numa.ReadAt(slices.AppendSeq([]int{}, set.All()), w.Key)
	case "local":
		o.Local, err = amount(w)
	case "remote":
		o.Remote, err = amount(w)
	default:
		return p.vmWord(v, &unset{}, w)
	}
	return err
}

// amounts reads amounts of memory with + between them.
func amounts(w word.Word) (numa.Fact[[]numa.Bytes], error) {
	var list []numa.Bytes
	for part := range strings.SplitSeq(w.Value, "+") {
		b, err := w.Bytes(part, numa.MaxVMMemory)
		if err != nil {
			return numa.Fact[[]numa.Bytes]{}, err
		}
		list = append(list, b)
	}
	return numa.ReadAt(list, w.Key), nil
}

// amount reads an amount of memory, which may be 0.
func amount(w word.Word) (numa.Fact[numa.Bytes], error) {
	if w.Value == "0" {
		return numa.ReadAt(numa.Bytes(0), w.Key), nil
	}
	b, err := w.Bytes(w.Value, numa.MaxVMMemory)
	if err != nil {
		return numa.Fact[numa.Bytes]{}, err
	}
	return numa.ReadAt(b, w.Key), nil
}

func hasInstant(o *numa.Observation) bool {
	_, ok := o.Instant()
	return ok
}

// groups parses the number of vCPUs in each group, "16+14" or "2x16".
func (p *parser) groups(w word.Word) (of numa.Fact[[]int], count numa.Fact[int], err error) {
	var list []int
	n := 0
	for part := range strings.SplitSeq(w.Value, "+") {
		times, size, ok := strings.Cut(part, "x")
		if !ok {
			times, size = "1", part
		}
		k, err1 := strconv.Atoi(times)
		s, err2 := strconv.Atoi(size)
		if err1 != nil || err2 != nil || k < 1 || s < 1 || k > numa.MaxVCPUs || len(list)+k*s > numa.MaxVCPUs {
			return of, count, p.errorf(w.Col, "found %s=%q, want the vCPUs of each, such as 16+14 or 2x16", word.Short(w.Key), word.Short(w.Value))
		}
		for range k {
			for range s {
				list = append(list, n)
			}
			n++
		}
	}
	return numa.ReadAt(list, w.Key), numa.ReadAt(n, w.Key), nil
}
