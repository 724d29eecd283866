package published

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A variant is one complete reading of a case: each unstated fact has one of its possible values.
type variant struct {
	vm      numa.VM
	guest   vnuma.Guest
	machine vnuma.Machine
	at      vnuma.Case
	layout  vnuma.Layout
}

// where marks facts of a case in traces.
const where = "published case"

// mostVariants limits the work for one case. The most open shipped case has 16,128: up to 64 vCPUs, any host, since
// 6.5.
const mostVariants = 50_000

// variants returns the readings of the case. The error names an unstated fact that has no substitute.
func (c *Case) variants(ch vnuma.Choices) (out []variant, err error) {
	from := []numa.Host{{}}
	switch {
	case strings.HasPrefix(c.Kind, "recommend"):
		return nil, fmt.Errorf("a recommendation, not an observation")
	case c.From != nil:
		from = c.From.hosts()
	}
	for _, host := range c.Host.hosts() {
		for _, n := range c.VM.counts(&host) {
			for _, r := range c.Releases {
				for _, vm := range c.vms(n, r) {
					for _, f := range from {
						v := variant{vm: vm, at: vnuma.Case{Choices: ch, Event: c.Event, Ran: true}}
						if err := v.predict(host, f, r); err != nil {
							return nil, err
						}
						if out = append(out, v); len(out) > mostVariants {
							return nil, fmt.Errorf("too much is open: more than %d readings", mostVariants)
						}
					}
				}
			}
		}
	}
	if out == nil {
		return nil, fmt.Errorf("the vCPU count is not stated")
	}
	return out, nil
}

// predict fills in the layout of the variant. A previous host without nodes means none.
func (v *variant) predict(host, from numa.Host, r numa.Release) (err error) {
	var problems []string
	if v.guest, problems, err = vnuma.NewGuest(&v.vm); err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("vm: %s", strings.TrimSuffix(problems[0], ": taken as unset"))
	}
	host.Release, from.Release = numa.ReadAt(r, where), numa.ReadAt(r, where)
	if v.machine, err = vnuma.NewMachine(&host); err != nil {
		return err
	}
	if from.Nodes.Known() {
		m, err := vnuma.NewMachine(&from)
		if err != nil {
			return err
		}
		v.at.From = &m
	}
	if v.at.Event == vnuma.VMotionIn && v.at.From == nil && v.guest.Stored == 0 {
		return fmt.Errorf("the host before the vMotion is not stated")
	}
	v.layout = vnuma.Predict(&v.guest, &v.machine, &v.at)
	return nil
}

// counts returns the vCPU counts that the case may mean on the host.
func (v *VM) counts(host *numa.Host) (out []int) {
	nodes := host.Nodes.Value
	switch {
	case v.VCPUs > 0:
		out = []int{v.VCPUs}
	case v.MostVCPUs > 0:
		for n := range v.MostVCPUs {
			out = append(out, n+1)
		}
	case v.WiderThanNode && len(nodes) > 1:
		out = []int{nodes[0].Cores + 1, 2 * nodes[0].Cores}
	}
	return out
}

// vms returns the VMs with n vCPUs that the case may describe on release r.
func (c *Case) vms(n int, r numa.Release) (out []numa.VM) {
	vm := numa.VM{ID: "vm", Name: "vm", Config: numa.Config{VCPUs: numa.ReadAt(n, where), CPUHotAdd: numa.ReadAt(c.VM.HotAdd, where)}}
	if c.VM.GB > 0 {
		vm.Memory = numa.ReadAt(numa.Bytes(c.VM.GB*float64(numa.GiB)), where)
	}
	var settings numa.Settings
	for _, key := range slices.Sorted(maps.Keys(c.VM.Extra)) {
		settings = append(settings, numa.Setting{Key: key, Value: c.VM.Extra[key]})
	}
	_, sized := settings.Lookup("numa.autosize.vcpu.maxPerVirtualNode")
	if _, ok := settings.Lookup("numa.autosize.cookie"); sized && !ok {
		// A published stored size is quoted because it matters: this is the oldest cookie that records n vCPUs
		// (B-9).
		settings = append(settings, numa.Setting{Key: "numa.autosize.cookie", Value: strconv.Itoa(n*10000 + 1)})
	}
	vm.Settings = numa.ReadAt(settings, where)
	add := func(cps, hw int, auto bool) {
		v := vm
		v.Hardware, v.CoresPerSocket, v.AutoCoresPerSocket = numa.ReadAt(hw, where), numa.ReadAt(cps, where), numa.ReadAt(auto, where)
		out = append(out, v)
	}
	for _, hw := range c.hardware(r) {
		hardware20 := 20 // automatic cores per socket need it (B-18)
		if c.Hardware > 0 {
			hardware20 = hw
		}
		switch cps := c.VM.CoresPerSocket; {
		case c.VM.AutoCoresPerSocket:
			add(1, hardware20, true)
		case cps > 0:
			add(cps, hw, false)
			if r >= numa.ESXi80 && hardware20 != hw {
				add(cps, hardware20, false)
			}
		default:
			add(1, hw, false)
			// Since 7.0 some wizards choose 2 (B-12), since 8.0 automatic (B-18).
			if r >= numa.ESXi65 && n%2 == 0 {
				add(2, hw, false)
			}
			if r >= numa.ESXi80 && hardware20 >= 20 {
				add(1, hardware20, true)
			}
		}
	}
	return out
}

// hardware returns the virtual hardware versions that the VM may have on release r.
func (c *Case) hardware(r numa.Release) []int {
	switch {
	case c.Hardware > 0:
		return []int{c.Hardware}
	case r >= numa.ESXi70: // an older VM may have kept its version
		return []int{13, 19}
	case r < numa.ESXi50:
		return []int{7}
	}
	return []int{10}
}
