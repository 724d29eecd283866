package vnuma

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// A Trace is the ordered list of decisions behind a layout.
type Trace []Step

// A Step is one decision: the observation, the conclusion, the rule, and the origin of the facts.
type Step struct {
	Rules   string `json:"rules"`             // ids of the rule book: "B-4, B-5"
	Because string `json:"because"`           // "32 vCPU > 18 cores of a node"
	Result  string `json:"result"`            // "2 clients of 16"
	Decides bool   `json:"decides,omitempty"` // this step decided the guest's topology
	Choice  string `json:"choice,omitempty"`  // the sources disagree, and this was chosen (section F)
	Facts   []Used `json:"facts,omitempty"`   // the deciding facts, with origins
}

// Used is a fact behind a step.
type Used struct {
	Name   string // property or setting
	Value  string
	Origin numa.Origin
	At     string // the object it was read from
}

// ReadFrom returns the object that the fact was read from; none when it comes from a flag.
func (u Used) ReadFrom() string {
	if strings.HasPrefix(u.Origin.Where, "--") {
		return ""
	}
	return u.At
}

// tracer collects the steps of one prediction. Its methods are called behind a nil check, so that
// the hot path builds no text.
type tracer struct {
	vm    *numa.VM
	host  *numa.Host
	g     *Guest
	m     *Machine
	limit int32 // most vCPUs of a client, from the first step
	// limited reports that a setting of the VM makes it less than the capacity of a node.
	limited bool
	steps   Trace
}

// Explain predicts as Predict does and also returns the trace. The error names the missing fact;
// problems lists settings that could not be parsed.
func Explain(vm *numa.VM, host *numa.Host, c *Case) (l Layout, t Trace, problems []string, err error) {
	g, problems, err := NewGuest(vm)
	if err != nil {
		return l, nil, problems, err
	}
	m, err := NewMachine(host)
	if err != nil {
		return l, nil, problems, err
	}
	if c.From != nil { // the guest keeps the nodes that it has
		g = g.AsSeen(vm)
	}
	tr := &tracer{vm: vm, host: host, g: &g, m: &m}
	l = powerOn(&g, &m, c, tr)
	return l, tr.steps, problems, nil
}

func (t *tracer) add(rules, because, result string, facts ...Used) *Step {
	t.steps = append(t.steps, Step{Rules: rules, Because: because, Result: result, Facts: facts})
	return &t.steps[len(t.steps)-1]
}

func fact[T any](name string, f numa.Fact[T], at string) Used {
	u := Used{Name: name, Value: "unknown", Origin: f.Origin, At: at}
	if f.Known() {
		u.Value = fmt.Sprint(f.Value)
	}
	return u
}

func (t *tracer) vcpus() Used { return fact("vCPUs", t.vm.VCPUs, t.vm.At) }

func (t *tracer) cps() Used { return fact("cores per socket", t.vm.CoresPerSocket, t.vm.At) }

func (t *tracer) nodes() Used {
	return Used{"NUMA nodes", t.m.Shape(), t.host.Nodes.Origin, t.host.At}
}

func (t *tracer) release() Used { return fact("ESXi release", t.host.Release, t.host.At) }

// setting returns an advanced setting of the VM as a fact.
func (t *tracer) setting(key string) Used {
	v, ok := t.vm.Settings.Value.Lookup(key)
	if !ok {
		v = "unset"
	}
	return Used{key, v, t.vm.SettingOrigin(key), t.vm.At}
}

func (t *tracer) refused(r Refusal) {
	facts := []Used{t.vcpus()}
	switch r.kind {
	case muchMemory:
		facts = []Used{fact("memory", t.vm.Memory, t.vm.At)}
	case newHardware:
		facts = []Used{t.release()}
	case goneHardware:
		facts = []Used{fact("virtual hardware", t.vm.Hardware, t.vm.At), t.release()}
	case iommuOff:
		facts = append(facts, fact("virtual IOMMU", t.vm.IOMMU, t.vm.At))
	case iommuBIOS:
		facts = append(facts, fact("firmware", t.vm.Firmware, t.vm.At))
	case iommuAMD:
		facts = append(facts, fact("virtual hardware", t.vm.Hardware, t.vm.At), fact("processor", t.host.CPUModel, t.host.At))
	case iommuVGPU:
		facts = append(facts, fact("PCI devices", t.vm.Devices, t.vm.At), t.release())
	case fewLogicalCPUs:
		facts = append(facts, t.nodes())
	case manyCoresPerSocket, manySockets, unevenSockets:
		facts = append(facts, t.cps())
	case unevenNodes, crossedNodes, autoSockets:
		facts = append(facts, t.cps(), t.perNode())
	}
	switch r.kind {
	case deviceMemory, largePages, latencyMemory, muchReserved:
		facts = []Used{fact("memory reservation", t.vm.MemoryReservation, t.vm.At), fact("memory", t.vm.Memory, t.vm.At)}
		if r.kind == muchReserved && t.vm.MemoryReservationLocked.Value {
			facts[0] = fact("all memory is reserved", t.vm.MemoryReservationLocked, t.vm.At)
		}
	case latencyCPU:
		facts = append(facts, fact("CPU reservation in MHz", t.vm.CPUReservation, t.vm.At), fact("core frequency in MHz", t.host.Frequency(), t.host.At))
	case latencyCores:
		facts = append(facts, t.nodes())
	case muchCPU:
		facts = []Used{fact("CPU reservation in MHz", t.vm.CPUReservation, t.vm.At), fact("core frequency in MHz", t.host.Frequency(), t.host.At), t.nodes()}
	}
	if r.ByLatency() {
		level, name := t.vm.Latency()
		facts = append([]Used{fact(name, level, t.vm.At)}, facts...)
	}
	if r.hardware > 0 {
		facts = append(facts, fact("virtual hardware", t.vm.Hardware, t.vm.At))
	}
	result := "the VM does not power on: it has no layout"
	if source := r.Source(); source != "" {
		result += " (" + source + ")"
	}
	t.add(r.Rule(), r.String(), result, facts...).Decides = true
}

// perNode returns the manual setting for the cores of a NUMA node.
func (t *tracer) perNode() Used {
	if _, set := t.vm.Settings.Value.Lookup("numa.vcpu.coresPerNode"); set {
		return t.setting("numa.vcpu.coresPerNode")
	}
	return fact("cores per NUMA node", t.vm.CoresPerNUMANode, t.vm.At)
}

func (t *tracer) capacity(capacity int32, preferHT, limited bool) {
	because := fmt.Sprintf("a node of this host has %s", count(int(t.m.Cores), "core"))
	rules, facts := "A-4", []Used{t.nodes()}
	switch {
	case preferHT && t.g.PreferHT:
		because, rules = fmt.Sprintf("numa.vcpu.preferHT counts the %d threads of a node", t.m.Threads), "B-14"
		facts = append(facts, t.setting("numa.vcpu.preferHT"))
	case preferHT:
		because, rules = fmt.Sprintf("Numa.PreferHT of the host counts the %d threads of a node", t.m.Threads), "B-14"
		facts = append(facts, t.option("Numa.PreferHT"))
	}
	t.limit, t.limited = capacity, limited
	for _, set := range []struct {
		key   string
		value int32
	}{{"numa.vcpu.maxPerMachineNode", t.g.MaxPerMachineNode}, {"numa.vcpu.maxPerClient", t.g.MaxPerClient}} {
		if set.value > 0 && t.m.model >= numa.ESX41 {
			because += fmt.Sprintf(", and %s allows %d", set.key, set.value)
			facts, rules = append(facts, t.setting(set.key)), rules+", B-10"
		}
	}
	s := t.add(rules, because, fmt.Sprintf("a client holds up to %d vCPU", capacity), facts...)
	switch contradicted := t.g.NoPreferHT && t.m.PreferHT; {
	case contradicted:
		s.Because += ", and numa.vcpu.preferHT of the VM is FALSE"
		s.Facts, s.Choice = append(s.Facts, t.setting("numa.vcpu.preferHT")), "F-31"
		if !preferHT {
			s.Facts = append(s.Facts, t.option("Numa.PreferHT"))
		}
	case preferHT:
		s.Choice = "F-6"
	}
}

func (t *tracer) option(key string) Used {
	v, ok := t.host.Options.Value.Lookup(key)
	if !ok {
		v = "unset"
	}
	return Used{key, v, t.host.Options.Origin, t.host.At}
}

func (t *tracer) before50(l *Layout, gen generation) {
	if gen == unmanagedWide {
		if l.Managed {
			t.add("C-14", fmt.Sprintf("%d vCPU and %s fit a node", t.g.VCPUs, numa.Bytes(t.g.Memory)), "1 client with a home node",
				t.vcpus(), t.nodes())
		} else {
			t.add("C-14", "the VM is larger than a node", "not managed by the NUMA scheduler of "+t.m.Release.String(),
				t.vcpus(), fact("memory", t.vm.Memory, t.vm.At), t.nodes())
		}
	} else {
		s := t.add("B-5", compare(t.g.VCPUs, int32(l.Capacity)), clientsOf(l.PPDs), t.vcpus(), t.nodes())
		if n := t.g.VCPUs; !fill(n, evenShare(n, t.limit)).Equal(fill(n, t.limit)) {
			s.Choice = "F-2"
		}
	}
	t.add("B-2", t.m.Release.String()+" shows no vNUMA", "1 virtual node", t.release()).Decides = true
}

func (t *tracer) clients(split Split, clients, even, cps int32, spread bool, ch *Choices) {
	need := ceilDiv(t.g.VCPUs, t.limit)
	s := t.add("B-4, B-5", compare(t.g.VCPUs, t.limit), "", t.vcpus(), t.nodes())
	switch {
	case need <= t.m.Nodes:
	case t.limited:
		s.Because += fmt.Sprintf(", which was set by hand, although the host has %s: clients share them", count(int(t.m.Nodes), "node"))
		s.Rules += ", C-5"
	default:
		s.Because += fmt.Sprintf(", and the host has %s", count(int(t.m.Nodes), "node"))
		s.Choice = "F-4"
		if !ch.UnboundedClients {
			need = t.m.Nodes
		}
	}
	s.Result = count(int(need), "client")
	switch memory := fact("memory", t.vm.Memory, t.vm.At); {
	case spread:
		s := t.add("B-17", "numa.consolidate = FALSE spreads the VM over several nodes",
			count(int(clients), "client"), t.setting("numa.consolidate"), memory, t.nodes())
		if ch.SpreadAll || clients < min(t.m.Nodes, t.g.VCPUs) {
			s.Choice = "F-27"
		}
	case clients > need:
		t.add("B-17", numa.Bytes(t.g.Memory).String()+" exceed a node", count(int(clients), "client"), memory, t.nodes()).Choice = "F-5"
	}
	switch per := int32(split.Max()); {
	case cps <= 1 || clients == 1:
	case cps > t.limit:
		t.add("B-12", fmt.Sprintf("a vSocket of %d exceeds a client", cps), "it is divided: "+clientsOf(split), t.cps())
	case per == even:
		t.add("B-12", fmt.Sprintf("%d per client is a multiple of %d cores per socket", even, cps), "no rounding", t.cps())
	default:
		t.add("B-12", fmt.Sprintf("%d per client is no multiple of %d cores per socket", even, cps), "rounded up: "+clientsOf(split), t.cps())
	}
}

func (t *tracer) within(l *Layout) {
	because := fmt.Sprintf("a virtual node of %d vCPU fits a client", l.VPDs.Max())
	if l.VPDs.Max() > l.Capacity {
		because = fmt.Sprintf("a virtual node of %d vCPU exceeds the %d of a client", l.VPDs.Max(), l.Capacity)
	}
	t.add("B-6", because, clientsOf(l.PPDs), t.nodes())
}

func (t *tracer) joined(before int, limit int32, clients Split) {
	t.add("B-29", fmt.Sprintf("%d clients are more than the %d of Numa.MaxProximityDomains", before, limit), clientsOf(clients), t.option("Numa.MaxProximityDomains"))
}

func (t *tracer) kept(l *Layout, c *Case) {
	for i := range t.steps {
		t.steps[i].Decides = false
	}
	because := "the guest keeps its nodes over " + c.Event.String()
	if c.From != nil {
		because += ", as sized on " + c.From.Shape()
	}
	result := nodesOf(l.VPDs)
	if l.PPDs.Crosses(l.VPDs) {
		result += "; a client here crosses their border"
	}
	t.add("D-1", because, result).Decides = true
}

func (t *tracer) sockets(l *Layout, auto bool) {
	result := fmt.Sprintf("%s of %s", count(l.VSockets.Len(), "virtual socket"), count(l.CoresPerSocket, "core"))
	if auto {
		t.add("B-18", "cores per socket are assigned at power on", result, fact("automatic cores per socket", t.vm.AutoCoresPerSocket, t.vm.At))
		return
	}
	facts := []Used{t.cps()}
	if l.L3s == 0 {
		t.add("B-13", fmt.Sprintf("cores per socket = %d", t.g.CoresPerSocket), result+"; ESXi chooses their L3 caches",
			append(facts, fact("virtual hardware", t.vm.Hardware, t.vm.At))...)
		return
	}
	cache := "its own L3 cache"
	if t.host.LLCSize.Known() {
		cache += " of " + t.host.LLCSize.Value.String()
		facts = append(facts, fact("last-level cache", t.host.LLCSize, t.host.At))
	}
	t.add("B-13", fmt.Sprintf("cores per socket = %d", t.g.CoresPerSocket), result+fmt.Sprintf(", each with %s (%d in all)", cache, l.L3s), facts...)
}

// caches adds the minimum number of the processor's last-level caches that a client needs.
func (t *tracer) caches(l *Layout) {
	cores := t.host.CacheCores()
	if !cores.Known() || cores.Value >= int(t.m.Cores) {
		return
	}
	most, share := cores.Value, count(cores.Value, "core")+" of the processor share a last-level cache"
	if cores.Origin.Kind == numa.Derived { // a model may have disabled cores
		share = "at most " + share
	}
	if t.limit > t.m.Cores { // threads count
		most = int(t.m.Threads) * cores.Value / int(t.m.Cores)
	}
	if client := l.PPDs.Max(); client > most {
		t.add("A-7", share, fmt.Sprintf("a client of %d vCPU spans at least %d caches", client, (client+most-1)/most),
			fact("cores of a last-level cache", cores, t.host.At))
	}
}

func (t *tracer) affinity() {
	t.add("C-12", "CPU or memory affinity is set", "not managed by the NUMA scheduler: no home node",
		fact("CPU affinity", t.vm.CPUAffinity, t.vm.At), fact("memory affinity", t.vm.MemoryAffinity, t.vm.At))
}

func (t *tracer) unscheduled() {
	why := "Numa.RebalanceEnable = 0 switches the NUMA scheduler of the host off"
	if !t.m.Unscheduled {
		why = "the host has fewer cores than its NUMA scheduler asks for"
	}
	t.add("A-9", why, "no home node", t.option("Numa.RebalanceEnable"), t.option("Numa.RebalanceCoresTotal"), t.option("Numa.RebalanceCoresNode"), t.nodes())
}

func (t *tracer) allowed(nodes int) {
	t.add("C-12", "numa.nodeAffinity is set", fmt.Sprintf("clients and memory are kept on %s", count(nodes, "node")), t.setting("numa.nodeAffinity"))
}

func (t *tracer) memory(l *Layout, ch *Choices) {
	mem := fact("memory", t.vm.Memory, t.vm.At)
	switch r := l.Memory; {
	case l.Hidden > 1:
		t.add("A-2", fmt.Sprintf("the host hides its %d packages behind 1 node (H001)", l.Hidden),
			fmt.Sprintf("about %.0f %% of the memory is on another package than the vCPU that uses it; N%%L does not show it", 100*l.FarShare()), mem, t.nodes(), fact("packages", t.host.Packages, t.host.At))
	case r.Placement == Anywhere:
		rule := "C-12"
		switch {
		case t.g.Affinity:
		case !t.m.Schedules():
			rule = "A-9"
		default:
			rule = "C-14"
		}
		t.add(rule, "no home node", "memory is taken from anywhere", mem)
	case r.Placement == Interleaved:
		over := "over their " + count(l.HomeNodes, "home node")
		if l.GuestSeesNUMA() {
			over = "per virtual node, over the home nodes of its clients"
		}
		t.add("C-13", "a virtual node is carried by several clients",
			fmt.Sprintf("memory is interleaved %s; N%%L reads 100 and means nothing (C-17)", over), mem)
	case !r.Known:
		t.add("C-15", "the memory of the VM or of the nodes is unknown", "where it lands is not predicted", mem)
	default:
		rule, text := "C-15, B-22", fmt.Sprintf("%s fit %s", numa.Bytes(t.g.Resident()), count(max(1, l.HomeNodes), "home node"))
		if _, have := t.m.Holds(l.HomeNodes, t.g.AllowedNodes, false); r.Away() > 0 || r.joined {
			rule, text = "B-17, C-15", fmt.Sprintf("%s do not fit the %s of %s", numa.Bytes(t.g.Resident()), have, count(max(1, l.HomeNodes), "node"))
		}
		result := "all memory local on an empty host"
		if r.Away()+r.First == 0 && r.Crossed > 0 && !r.joined {
			text = fmt.Sprintf("%s share %s", count(l.PPDs.Len(), "client"), count(l.HomeNodes, "home node"))
		}
		switch reserve := t.m.Reserve(ch.FillToMinFree); {
		case r.First > 0:
			rule += ", C-16"
			result = fmt.Sprintf("at first %s local and %s remote, for new memory leaves %s of a node free; what the guest uses comes home until %s are free: in the end %s",
				r.Local-r.First, r.Remote+r.First, reserve.New, reserve.Home, r.AwayText())
		case r.Away() > 0:
			result = fmt.Sprintf("%s local, %s once all is touched", r.Local, r.AwayText())
		}
		if r.Missed() > r.Away() {
			rule += ", C-17"
			if r.Away()+r.First == 0 {
				result = fmt.Sprintf("%s local on an empty host", r.Local-r.Crossed)
			}
			result += ", " + l.CrossedText()
		}
		s := t.add(rule, text, result, mem, t.nodes())
		if l.PPDs.Len() == 1 && l.Nodes > 1 && t.g.Resident() > t.m.NodeMemory {
			s.Choice = "F-5"
			if t.g.VCPUs > t.m.Cores && t.m.Allowed(t.g.AllowedNodes) > 1 { // C-12
				t.add("D-2", fmt.Sprintf("%d vCPU exceed the %d cores of its node too", t.g.VCPUs, t.m.Cores),
					"a second home node joins when the memory in use outgrows the first, until the next power cycle", t.vcpus(), mem, t.nodes()).Choice = "F-24"
			}
		}
	}
}

func (t *tracer) stored(l *Layout) {
	t.add("B-8, B-9", "the power-on records its size", fmt.Sprintf("numa.autosize.vcpu.maxPerVirtualNode = %d, numa.autosize.cookie = %d", l.Stored.Size, l.Stored.Cookie))
}

// compare describes whether n vCPUs fit a client.
func compare(n, capacity int32) string {
	if n <= capacity {
		return fmt.Sprintf("%d vCPU ≤ %d of a client", n, capacity)
	}
	return fmt.Sprintf("%d vCPU > %d of a client", n, capacity)
}

func clientsOf(s Split) string {
	if s.Len() == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients, %s vCPU", s.Len(), s)
}

func nodesOf(s Split) string {
	if s.Len() == 1 {
		return "1 virtual node"
	}
	return fmt.Sprintf("%d virtual nodes, %s vCPU", s.Len(), s)
}

// count returns "1 client" or "2 clients".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
