package own

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"homenode/esxi/vnuma"
	"homenode/measure/published"
	"homenode/numa"
)

// A contributed is one case in the JSON form of package published. It holds no name, path, time or
// address: a shape of host, the settings that decide, and counts.
type contributed struct {
	ID       string         `json:"id"`
	Source   string         `json:"source_url"`
	Kind     string         `json:"kind"`
	Release  string         `json:"release"`
	Hardware string         `json:"hw_version,omitempty"`
	Event    string         `json:"event"`
	Host     map[string]any `json:"host"`
	VM       map[string]any `json:"vm"`
	Observed map[string]any `json:"observed"`
}

// Contribute returns what was seen as cases that published.Read reads, and why others are
// left out: what a case cannot state, or states so that its verdict would be another.
func (s *Score) Contribute(ch vnuma.Choices) (data []byte, cases int, left []string, err error) {
	list := []contributed{}
	leave := map[string]int{}
	seen := map[string]bool{}
	for i := range s.cases {
		one := &s.cases[i]
		c, why := one.contribution(len(list) + 1)
		if why == "" {
			why, err = differs(&c, one.agrees(), ch)
		}
		if err != nil {
			return nil, 0, nil, err
		}
		if why != "" {
			leave[why]++
			continue
		}
		same := c
		same.ID = ""
		key, err := json.Marshal(same)
		if err != nil {
			return nil, 0, nil, err
		}
		if seen[string(key)] { // VMs of one kind are one case
			continue
		}
		seen[string(key)] = true
		list = append(list, c)
	}
	for why, n := range leave {
		left = append(left, fmt.Sprintf("%d left out: %s", n, why))
	}
	slices.Sort(left)
	data, err = json.MarshalIndent(list, "", "  ")
	return append(data, '\n'), len(list), left, err
}

// differs reads the case back and says why its verdict is not that of the fleet; "" when it is.
func differs(c *contributed, agrees bool, ch vnuma.Choices) (string, error) {
	data, err := json.Marshal([]*contributed{c})
	if err != nil {
		return "", err
	}
	back, err := published.Read(c.ID, data)
	if err != nil {
		return "", err
	}
	switch got := published.Compare(&back[0], ch); {
	case !got.Comparable():
		return "a case cannot be compared: " + fmt.Sprint(got.Open), nil
	case got.Reproduced() != agrees:
		return "a case would have another verdict: it states less than the fleet", nil
	}
	return "", nil
}

// contribution returns the sighting as a case, or why it cannot be one.
func (s *sighting) contribution(number int) (c contributed, why string) {
	m, g := &s.machine, &s.guest
	host := s.vm.On[0].Kind.Hosts[0]
	for _, on := range s.vm.On {
		for _, h := range on.Kind.Hosts {
			if h.Name == s.host {
				host = h
			}
		}
	}
	switch {
	case m.AllCores != m.Cores*m.Nodes:
		return c, "the nodes of the host are not alike"
	case m.PreferHT || m.Follow || m.AllowWide:
		return c, "the host has advanced NUMA options"
	case g.Affinity:
		return c, "the VM has an affinity"
	case s.event != vnuma.PowerCycle && s.event != vnuma.FirstPowerOn:
		return c, "it was not powered on there"
	}
	c = contributed{ID: fmt.Sprintf("own-%04d", number), Source: "contributed, without names", Kind: "observed", Release: s.release.String(), Event: s.event.String(),
		Host: map[string]any{"numa_nodes": m.Nodes, "cores_per_node": m.Cores, "hyperthreading": m.Threads > m.Cores},
		VM:   map[string]any{"vcpus": g.VCPUs, "cpu_hot_add": g.HotAdd}, Observed: map[string]any{}}
	if host.Packages.Known() {
		c.Host["sockets"] = host.Packages.Value
	}
	if m.EPYC {
		c.Host["cpu_model"] = "AMD EPYC"
	}
	if m.NodeMemory > 0 {
		c.Host["mem_per_node_mb"] = m.NodeMemory / int64(numa.MiB)
	}
	if g.Memory > 0 {
		c.VM["mem_mb"] = g.Memory / int64(numa.MiB)
	}
	if g.Hardware > 0 {
		c.Hardware = "vmx-" + strconv.Itoa(int(g.Hardware))
	}
	if g.AutoCPS {
		c.VM["auto_cores_per_socket"] = true
	} else {
		c.VM["cores_per_socket"] = g.CoresPerSocket
	}
	if extra := s.settings(); len(extra) > 0 {
		c.VM["extra"] = extra
	}
	s.observe(c.Observed)
	if len(c.Observed) == 0 {
		return c, "a case has no field for what was seen"
	}
	return c, ""
}

// settings returns those that decide, by the numbers that the prediction read from them: other
// texts of a VM do not leave the house.
func (s *sighting) settings() map[string]any {
	g := &s.guest
	extra := map[string]any{}
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
		into["autosize_max_per_virtual_node"] = s.stored
		return
	}
	o := s.seen
	groups := func(sizes, count string, of numa.Fact[[]int], n numa.Fact[int]) {
		var list []int
		at := map[int]int{}
		for _, group := range of.Value {
			i, ok := at[group]
			if !ok {
				i = len(list)
				at[group], list = i, append(list, 0)
			}
			list[i]++
		}
		switch {
		case n.Known():
			into[count] = n.Value
		case len(list) > 0:
			into[count] = len(list)
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
			into["ppd_count"] = n
		}
	}
}
