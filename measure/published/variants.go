package published

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
)

// A variant is one complete reading of a case: what the case leaves open has one
// of the values it may have.
type variant struct {
	vm      numa.VM
	guest   vnuma.Guest
	machine vnuma.Machine
	c       vnuma.Case
	layout  vnuma.Layout
}

// where marks facts of a case in traces.
const where = "published case"

// mostVariants bounds the work for one case. The most open one that is shipped has
// 16,128: up to 64 vCPUs, any host, since 6.5.
const mostVariants = 50_000

// variants returns the readings of the case. The error says why there are none:
// what the case does not state and nothing can stand for, or what is stated in
// words that are not understood.
func (c *Case) variants(ch vnuma.Choices) ([]variant, error) {
	if strings.HasPrefix(strings.ToLower(c.Kind), "recommend") {
		return nil, fmt.Errorf("a recommendation, not an observation")
	}
	releases := c.releases()
	if len(releases) == 0 {
		return nil, fmt.Errorf("release %q is not described", c.Release)
	}
	var err error
	host, vm := facts{"host", c.Host, &err}, facts{"vm", c.VM, &err}
	event, from := c.event(&err)
	settings := c.settings(vm)
	var out []variant
	for _, s := range host.shapes() {
		for _, n := range vm.vcpuCounts(s) {
			for _, r := range releases {
				for _, one := range c.vms(vm, n, r, settings) {
					for _, f := range from {
						if err != nil {
							return nil, err
						}
						v := variant{vm: one, c: vnuma.Case{Choices: ch, Event: event, Ran: true}}
						if err := v.predict(s, f, r, host.words("cpu_model")); err != nil {
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
	switch {
	case err != nil:
		return nil, err
	case out == nil:
		return nil, fmt.Errorf("the vCPU count is not stated")
	}
	return out, nil
}

// predict fills in the layout of the variant.
func (v *variant) predict(s shape, from *shape, r numa.Release, cpu string) (err error) {
	host := s.host(r, cpu)
	var problems []string
	if v.guest, problems, err = vnuma.NewGuest(&v.vm); err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("vm: %s", strings.TrimSuffix(problems[0], ": taken as unset"))
	}
	if v.machine, err = vnuma.NewMachine(&host); err != nil {
		return err
	}
	if from != nil {
		there := from.host(r, cpu)
		m, err := vnuma.NewMachine(&there)
		if err != nil {
			return err
		}
		v.c.From = &m
	}
	if v.c.Event == vnuma.VMotionIn && from == nil && v.guest.Stored == 0 {
		return fmt.Errorf("the host before the vMotion is not stated")
	}
	v.layout = vnuma.Predict(&v.guest, &v.machine, &v.c)
	return nil
}

// fromKeys name the host before a vMotion, where it does not stand as source_host.
var fromKeys = []string{"vmotion_from", "source_host", "migrated_from", "moved_from", "from_host", "from"}

// own are keys of a case's extra settings that are read here, not by the model.
func own(key string) bool {
	return key == "numa_nodes_ui" || key == "event" || key == layoutKey || slices.Contains(fromKeys, key)
}

// event returns what happens to the VM and the hosts that it may come from; a nil
// host stands for none.
func (c *Case) event(err *error) (vnuma.Event, []*shape) {
	fail := func(format string, args ...any) {
		if *err == nil {
			*err = fmt.Errorf(format, args...)
		}
	}
	var stated any // of the host before
	if c.From != nil {
		stated = c.From
	}
	words := c.Event
	for _, m := range []map[string]any{c.VM, c.extra(), c.Host} {
		if s, ok := m["event"].(string); ok {
			words += " " + s
		}
		for _, key := range fromKeys {
			if m[key] != nil && stated == nil {
				stated = m[key]
			}
		}
	}
	event, ok := eventIn(words)
	if !ok {
		fail("event %q is not understood", strings.TrimSpace(words))
	}
	if host, ok := inWords(words); ok && stated == nil && event == vnuma.VMotionIn {
		stated = host // "vMotion from 2x20"
	}
	if stated == nil {
		return event, []*shape{nil}
	}
	if strings.TrimSpace(words) == "" {
		event = vnuma.VMotionIn // a host before is a host moved from
	}
	host, ok := stated.(map[string]any)
	if s, isText := host["shape"].(string); isText {
		host, ok = inWords(s)
	} else if s, isText := stated.(string); isText {
		host, ok = inWords(s)
	}
	if !ok {
		fail("the host before the vMotion: found %s, want sockets and cores", show(stated))
	}
	var from []*shape
	for _, s := range (facts{"host before", host, err}).shapes() {
		from = append(from, &s)
	}
	return event, from
}

// eventIn returns the event that the words of a case mean.
func eventIn(words string) (vnuma.Event, bool) {
	w := strings.ToLower(strings.TrimSpace(words))
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(w, p) })
	}
	switch e, ok := vnuma.ParseEvent(w); {
	case ok:
		return e, true
	case w == "":
		return vnuma.PowerCycle, true
	case has("motion", "migrat"):
		return vnuma.VMotionIn, true
	case has("reboot", "restart"):
		return vnuma.Reboot, true
	case has("resume"):
		return vnuma.Resume, true
	case has("power"):
		return vnuma.PowerCycle, true
	}
	return 0, false
}

// vcpuCounts returns the vCPU counts that the case may mean on the host.
func (f facts) vcpuCounts(s shape) []int {
	if n := f.whole(numa.MaxVCPUs, "vcpus", "num_cpus", "vcpu"); n > 0 {
		return []int{n}
	}
	most := f.whole(numa.MaxVCPUs, "vcpus_max")
	if n := f.whole(numa.MaxVCPUs, "vcpus_max_exclusive"); most == 0 && n > 0 {
		most = n - 1
	}
	if most > 0 {
		out := make([]int, most)
		for i := range out {
			out[i] = i + 1
		}
		return out
	}
	if wider, _ := f.truth("wider_than_node"); wider && s.nodes > 1 {
		return []int{s.cores + 1, 2 * s.cores}
	}
	return nil
}

func (c *Case) extra() map[string]any {
	extra, _ := c.VM["extra"].(map[string]any)
	return extra
}

// settings returns the advanced settings of the VM: those of extra, and those that
// stand among its facts.
func (c *Case) settings(vm facts) map[string]string {
	out := map[string]string{}
	add := func(key string, v any) {
		switch v.(type) {
		case nil, map[string]any, []any:
			vm.fail(key, "the value of a setting")
		default:
			out[key] = show(v)
		}
	}
	extra := c.extra()
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		v := extra[key]
		switch {
		case own(key):
		case !numa.KeepSetting(key):
			if *vm.err == nil {
				*vm.err = fmt.Errorf("setting %q is no setting of ESXi", key)
			}
		case v != nil: // null is a removed key
			add(key, v)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.VM)) {
		if numa.KeepSetting(key) && c.VM[key] != nil {
			add(key, c.VM[key])
		}
	}
	if on, stated := vm.truth("prefer_ht", "preferHT"); stated {
		out["numa.vcpu.preferHT"] = strconv.FormatBool(on)
	}
	return out
}

// nodesKeys are the "NUMA Nodes" field of 8.0, which counts nodes.
var nodesKeys = []string{"numa_nodes_ui", "numa_nodes"}

// vms returns the VMs with n vCPUs that the case may describe on release r.
func (c *Case) vms(f facts, n int, r numa.Release, stated map[string]string) []numa.VM {
	hotAdd, _ := f.truth("cpu_hot_add", "cpu_hotadd", "hot_add")
	vm := numa.VM{
		ID: "vm", Name: "vm",
		Config: numa.Config{VCPUs: numa.ReadAt(n, where),
			CPUHotAdd:          numa.ReadAt(hotAdd, where),
			AutoCoresPerSocket: numa.ReadAt(false, where)},
	}
	const most = float64(numa.MaxVMMemory)
	if b := max(f.amount("mem_gb", float64(numa.GiB), most), f.amount("mem_mb", float64(numa.MiB), most)); b > 0 {
		vm.Memory = numa.ReadAt(numa.Bytes(b), where)
	}
	var settings numa.Settings
	for k, v := range stated {
		settings = append(settings, numa.Setting{Key: k, Value: v})
	}
	add := func(key, value string) {
		if _, ok := settings.Lookup(key); !ok {
			settings = append(settings, numa.Setting{Key: key, Value: value})
		}
	}
	nodes := f.whole(n, nodesKeys...)
	if nodes == 0 {
		nodes = facts{"vm", c.extra(), f.err}.whole(n, "numa_nodes_ui")
	}
	if nodes > 0 && n%nodes != 0 && *f.err == nil {
		*f.err = fmt.Errorf("%d NUMA nodes do not divide %d vCPUs", nodes, n)
	}
	if nodes > 0 { // 8.0: "NUMA Nodes" counts nodes, the setting cores (B-10)
		add("numa.vcpu.coresPerNode", strconv.Itoa(n/nodes))
	}
	if _, ok := settings.Lookup("numa.autosize.vcpu.maxPerVirtualNode"); ok {
		add("numa.autosize.cookie", cookieOf(n)) // a published stored size is quoted because it counts
	}
	slices.SortFunc(settings, func(a, b numa.Setting) int { return strings.Compare(a.Key, b.Key) })
	vm.Settings = numa.ReadAt(settings, where)
	return c.sockets(f, vm, n, r)
}

// layoutKey has “4 by 6” of a VM up to 6.0, where a virtual node is a virtual socket: sockets
// and the cores of each.
const layoutKey = "vpd_layout"

var layoutForm = regexp.MustCompile(`^(\d+) x (\d+)$`)

var hardwareForm = regexp.MustCompile(`\d+`)

// hardware returns the virtual hardware versions that the VM may have on release r.
func (c *Case) hardware(f facts, r numa.Release) []int {
	if c.Hardware != "" {
		hw, err := strconv.Atoi(hardwareForm.FindString(c.Hardware))
		if (err != nil || hw < 3 || hw > 99) && *f.err == nil {
			*f.err = fmt.Errorf("hardware version %q is not understood", c.Hardware)
		}
		return []int{hw}
	}
	switch {
	case r >= numa.ESXi70: // an older VM may have kept its version
		return []int{13, 19}
	case r < numa.ESXi50:
		return []int{7}
	}
	return []int{10}
}

// sockets returns vm with each cores per socket and hardware version it may have.
func (c *Case) sockets(f facts, vm numa.VM, n int, r numa.Release) []numa.VM {
	var out []numa.VM
	add := func(cps, hw int, auto bool) {
		v := vm
		v.Hardware = numa.ReadAt(hw, where)
		v.CoresPerSocket = numa.ReadAt(cps, where)
		v.AutoCoresPerSocket = numa.ReadAt(auto, where)
		out = append(out, v)
	}
	cps, auto := f.coresPerSocket()
	if stated, ok := c.extra()[layoutKey].(string); ok && cps == 0 {
		m := layoutForm.FindStringSubmatch(stated)
		if m == nil || r >= numa.ESXi65 {
			if *f.err == nil {
				*f.err = fmt.Errorf("%s: found %q, want sockets x cores of ESXi up to 6.0", layoutKey, stated)
			}
			return []numa.VM{vm}
		}
		cps, _ = strconv.Atoi(m[2])
	}
	for _, hw := range c.hardware(f, r) {
		hardware20 := 20 // what automatic cores per socket need (B-18)
		if c.Hardware != "" {
			hardware20 = hw
		}
		switch {
		case auto:
			add(1, hardware20, true)
		case cps > 0:
			add(cps, hw, false)
			if r >= numa.ESXi80 && hardware20 != hw {
				add(cps, hardware20, false)
			}
		default:
			add(1, hw, false)
			// Since 7.0 some wizards pick 2 (B-12), since 8.0 automatic (B-18).
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

var autoForm = regexp.MustCompile(`(?i)^\s*(auto(matic(ally)?)?|default|assigned( automatically)?( at power[ -]?on)?|at power[ -]?on)\s*$`)

// coresPerSocket returns the stated cores per socket; 0 when they are not stated.
func (f facts) coresPerSocket() (cps int, auto bool) {
	const key = "cores_per_socket"
	if on, stated := f.truth("auto_cores_per_socket", "cores_per_socket_auto"); stated && on {
		return 0, true
	}
	if autoForm.MatchString(f.words(key)) {
		return 0, true
	}
	return f.whole(numa.MaxVCPUs, key), false
}
