package own

import (
	"fmt"
	"slices"
	"strconv"

	"homenode/esxi/vnuma"
	"homenode/measure/published"
	"homenode/numa"
)

// Contribute returns observations as cases that published.Read can read, and the reasons for omitting others: facts
// that a case cannot state, or a verdict that would change. Cases contain no names, paths, times or addresses: only a
// shape of host, the settings that decide, and counts.
func (s *Score) Contribute(ch vnuma.Choices) (data []byte, cases int, left []string) {
	leave := map[string]int{}
	seen := map[string]bool{}
	for i := range s.cases {
		one := &s.cases[i]
		c, why := one.contribution()
		if why == "" {
			why = differs(&c, one.agrees(), ch)
		}
		if why != "" {
			leave[why]++
			continue
		}
		if same := string(c.Text()); !seen[same] { // VMs of one kind are one case
			seen[same] = true
			c.ID = fmt.Sprintf("own-%04d", len(seen))
			data = append(data, c.Text()...)
		}
	}
	for why, n := range leave {
		left = append(left, fmt.Sprintf("%d left out: %s", n, why))
	}
	slices.Sort(left)
	return data, len(seen), left
}

// differs returns why the verdict on a case differs from that on the fleet; "" if it does not.
func differs(c *published.Case, agrees bool, ch vnuma.Choices) string {
	switch got := published.Compare(c, ch); {
	case !got.Comparable():
		return "a case cannot be compared: " + fmt.Sprint(got.Open)
	case got.Reproduced() != agrees:
		return "a case would have another verdict: it states less than the fleet"
	}
	return ""
}

// contribution returns the sighting as a case, or why it cannot be one.
func (s *sighting) contribution() (c published.Case, why string) {
	m, g := &s.machine, &s.guest
	host := s.vm.On[0].Kind.Hosts[0]
	for _, on := range s.vm.On {
		for _, h := range on.Kind.Hosts {
			if h.Name == s.host {
				host = h
			}
		}
	}
	_, described, _ := numa.ModelOf(s.release)
	switch {
	case m.AllCores != m.Cores*m.Nodes:
		return c, "the nodes of the host are not alike"
	case m.PreferHT || m.Follow || m.AllowWide:
		return c, "the host has advanced NUMA options"
	case g.Affinity:
		return c, "the VM has an affinity"
	case s.event != vnuma.PowerCycle && s.event != vnuma.FirstPowerOn:
		return c, "it was not powered on there"
	case !described:
		return c, "its release is not described"
	}
	c = published.Case{Source: "contributed, without names", Kind: "observed", Releases: []numa.Release{s.release}, Hardware: int(g.Hardware), Event: s.event,
		Host: published.Host{Nodes: int(m.Nodes), CoresPerNode: int(m.Cores), ThreadsPerCore: int(m.Threads / m.Cores), Sockets: host.Packages.Value, NodeGB: float64(m.NodeMemory) / float64(numa.GiB)},
		VM:   published.VM{VCPUs: int(g.VCPUs), HotAdd: g.HotAdd, GB: float64(g.Memory) / float64(numa.GiB), AutoCoresPerSocket: g.AutoCPS, Extra: s.settings()}, Observed: map[string]any{}}
	if m.EPYC {
		c.Host.CPUModel = "AMD EPYC"
	}
	if !g.AutoCPS {
		c.VM.CoresPerSocket = int(g.CoresPerSocket)
	}
	s.observe(c.Observed)
	if len(c.Observed) == 0 {
		return c, "a case has no field for what was seen"
	}
	return c, ""
}

// settings returns the settings that decide, as the numbers that the prediction uses: other texts of a VM are not
// disclosed.
func (s *sighting) settings() map[string]string {
	g := &s.guest
	extra := map[string]string{}
	for key, n := range map[string]int32{
		"numa.vcpu.min": g.Min, "numa.vcpu.maxPerVirtualNode": g.MaxPerVirtualNode, "numa.vcpu.maxPerMachineNode": g.MaxPerMachineNode, "numa.vcpu.maxPerClient": g.MaxPerClient,
		"numa.vcpu.coresPerNode": g.CoresPerNode, "numa.autosize.vcpu.maxPerVirtualNode": g.Stored, "cpuid.maxVCPUs": g.MaxVCPUs,
	} {
		if _, stated := s.vm.Settings.Value.Lookup(key); n > 0 && stated {
			extra[key] = strconv.Itoa(int(n))
		}
	}
	if g.Stored > 0 {
		if cookie, ok := s.vm.Settings.Value.Lookup("numa.autosize.cookie"); ok {
			if _, err := strconv.Atoi(cookie); err == nil {
				extra["numa.autosize.cookie"] = cookie
			}
		}
	}
	for key, on := range map[string]bool{"numa.autosize": g.Autosize, "numa.vcpu.followcorespersocket": g.Follow, "numa.vcpu.preferHT": g.PreferHT, "numa.allowHotadd": g.VNUMAHotAdd} {
		if on {
			extra[key] = map[bool]string{true: "1", false: "TRUE"}[key == "numa.vcpu.followcorespersocket"]
		}
	}
	if g.SizeEachTime {
		extra["numa.autosize.once"] = "FALSE"
	}
	if g.Spread {
		extra["numa.consolidate"] = "FALSE"
	}
	return extra
}

// observe fills in the fields of a case.
func (s *sighting) observe(into map[string]any) {
	if s.seen == nil {
		into["autosize_max_per_virtual_node"] = float64(s.stored)
		return
	}
	o := s.seen
	groups := func(sizes, count string, of numa.Fact[[]int], n numa.Fact[int]) {
		var list []any
		at := map[int]int{}
		for _, group := range of.Value {
			i, ok := at[group]
			if !ok {
				i = len(list)
				at[group], list = i, append(list, 0.0)
			}
			list[i] = list[i].(float64) + 1
		}
		switch {
		case n.Known():
			into[count] = float64(n.Value)
		case len(list) > 0:
			into[count] = float64(len(list))
		}
		if sizes != "" && len(list) > 0 && (!n.Known() || n.Value == len(list)) {
			into[sizes] = list
		}
	}
	groups("vcpus_per_vpd", "vpd_count", o.VPDs, o.VPDCount)
	groups("vcpus_per_ppd", "ppd_count", o.PPDs, o.PPDCount)
	groups("", "guest_sockets", o.Sockets, o.SocketCount)
	if o.Clients.Known() && into["ppd_count"] == nil {
		if n := len(o.Clients.Value); n > 0 {
			into["ppd_count"] = float64(n)
		}
	}
}
