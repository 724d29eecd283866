package scheduler

import (
	"strconv"
	"strings"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// plainSettings are the options of a host (rule book C-18, C-21 to C-23, C-11).
type plainSettings struct {
	pageMig                                     bool
	pageMigRate                                 int64 // pages a second
	rebalance                                   bool
	period                                      int64 // steps
	fairnessInterval, fairnessImbalance         int64
	imbalance, better, thrash, preventLongTerm  int64
	weightMemory, weightAffinity, coreCap       int64
	swapConsider, swapInterval, swapMigrateOnly int64
	swapLoad, swapLocality                      bool
	placementLoad                               int64
	largeAlways                                 bool
	salting, shareScanTime, shareRate           int64
	coresTotal, coresNode                       int64
	minFreePercent                              int64
}

// number returns an option of the host; what is no number or negative is as unset.
func (h *plainHost) number(key string, unset int64) int64 {
	text, _ := h.host.Options.Value.Lookup(key)
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return 1
	case "false":
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil || n < 0 {
		return unset
	}
	return n
}

// settings reads the options, with the defaults of the release.
func (h *plainHost) settings() (s plainSettings) {
	r := h.host.Release.Value
	s.pageMig = h.number("Numa.PageMigEnable", 1) != 0
	rate := int64(16000)
	if r >= numa.ESXi65 {
		rate = 8000
	}
	if r >= numa.ESXi90 {
		rate = 32000
	}
	s.pageMigRate = h.number("Numa.PageMigRateMax", rate)
	s.rebalance = h.number("Numa.RebalanceEnable", 1) != 0
	s.period = max(1, (h.number("Numa.RebalancePeriod", 2000)+1999)/2000)
	s.fairnessInterval = h.number("Numa.LTermFairnessInterval", 5)
	s.fairnessImbalance = h.number("Numa.LTermMigImbalThreshold", 10)
	s.imbalance = h.number("Numa.MigImbalanceThreshold", 10)
	s.better = h.number("Numa.MigThreshold", 2)
	s.thrash = h.number("Numa.MigThrashThreshold", 50)
	s.preventLongTerm = h.number("Numa.MigPreventLTermThresh", 0)
	s.weightMemory = h.number("Numa.LocalityWeightMem", 1)
	affinity := int64(130)
	if r < numa.ESXi50 || r >= numa.NewRelease(9, 1, 0) {
		affinity = 0
	}
	s.weightAffinity = h.number("Numa.LocalityWeightActionAffinity", affinity)
	s.coreCap = h.number("Numa.CoreCapRatioPct", 90)
	s.swapConsider = h.number("Numa.SwapConsiderPeriod", 15)
	s.swapInterval = max(1, h.number("Numa.SwapInterval", 3))
	s.swapMigrateOnly = h.number("Numa.SwapMigrateOnly", 2)
	s.coresTotal = h.number("Numa.RebalanceCoresTotal", 4)
	s.coresNode = h.number("Numa.RebalanceCoresNode", 2)
	s.swapLoad = h.number("Numa.SwapLoadEnable", 1) != 0
	s.swapLocality = h.number("Numa.SwapLocalityEnable", 1) != 0
	s.placementLoad = h.number("Numa.InitialPlacementLoadThreshold", 0)
	s.largeAlways = h.number("LPage.LPageAlwaysTryForNPT", 1) != 0
	s.salting = h.number("Mem.ShareForceSalting", saltingOf(r))
	s.shareScanTime = h.number("Mem.ShareScanTime", 60)
	s.shareRate = h.number("Mem.ShareRateMax", 1024)
	s.minFreePercent = h.number("Mem.MemMinFreePct", 0)
	return s
}

// saltingOf returns the default of Mem.ShareForceSalting: 2, but 0 before 5.0 U3,
// 5.1 U3 and 5.5 U2 (C-22).
func saltingOf(r numa.Release) int64 {
	switch r.Base() {
	case numa.ESXi50, numa.ESXi51:
		if r.Update() < 3 {
			return 0
		}
	case numa.ESXi55:
		if r.Update() < 2 {
			return 0
		}
	}
	if r < numa.ESXi50 {
		return 0
	}
	return 2
}

// newPlainHost prepares a host: see "What there is".
func newPlainHost(w *plainWorld, index int) *plainHost {
	h := &plainHost{world: w, index: index, host: w.story.Fleet.Hosts[index], last: -1}
	h.maintenance = h.host.Maintenance.Or(false)
	h.memoryKnown = true
	for i, n := range h.host.Nodes.Value {
		node := &plainNode{Node: n, index: i, mem: unlimited}
		if n.Memory.Known() {
			node.mem = pagesOf(n.Memory.Value)
		} else {
			h.memoryKnown = false
		}
		for _, u := range w.story.Used {
			if u.Host == h.host.ID && u.Node == n.ID {
				node.used = min(node.mem, node.used+pagesOf(u.Memory))
			}
		}
		node.cap = int64(n.Cores) * h.perCore()
		h.nodes = append(h.nodes, node)
	}
	h.simulated = h.configure() == nil
	return h
}

// unlimited is the memory of a node whose memory is unknown, in pages.
const unlimited = 1 << 44

// configure reads the options of the host.
func (h *plainHost) configure() (err error) {
	h.machine, err = vnuma.NewMachine(&h.host)
	h.set = h.settings()
	var memory numa.Bytes
	for _, n := range h.host.Nodes.Value {
		memory += n.Memory.Value
	}
	memory = h.host.Memory.Or(memory)
	h.minFree = pagesOf(numa.MinFree(memory, h.host.Release.Value))
	if h.set.minFreePercent > 0 {
		h.minFree = pagesOf(memory * numa.Bytes(h.set.minFreePercent) / 100)
	}
	return err
}

// hyperThreads reports whether hyper-threading is active.
func (h *plainHost) hyperThreads() bool {
	first := h.host.Nodes.Value[0]
	return h.host.HyperThreading.Or(first.Threads > first.Cores)
}

// perCore returns the capacity of a core, in parts: 25 % more with hyper-threading,
// half of that with SCAv2, none with SCAv1 (E-2, E-3).
func (h *plainHost) perCore() int64 {
	if !h.hyperThreads() {
		return whole
	}
	on := func(name string) (value, set bool) {
		for _, s := range h.host.Options.Value {
			if last := s.Key[strings.LastIndexByte(s.Key, '.')+1:]; strings.EqualFold(last, name) {
				return strings.EqualFold(s.Value, "true") || s.Value == "1", true
			}
		}
		return false, false
	}
	mitigates, _ := on("hyperthreadingMitigation")
	intra, set := on("hyperthreadingMitigationIntraVM")
	forced, _ := on("forceHyperthreadingMitigation")
	switch {
	case mitigates && !strings.Contains(h.host.CPUModel.Value, "AMD"): // KB 330041
		if set && !intra && h.host.Release.Value >= numa.ESXi67U2 {
			return whole + whole/8
		}
		return whole
	case forced:
		return whole + whole/8
	}
	return whole + whole/4
}

// soft returns the memory that every node keeps, in pages.
func (h *plainHost) soft() int64 {
	switch r := h.host.Release.Value; {
	case r < numa.ESXi50:
		return 0
	case r < numa.ESXi60, h.world.choices.FillToMinFree:
		return h.minFree * 2 / int64(max(2, len(h.nodes)))
	}
	return 4 * h.minFree * 2 / int64(max(2, len(h.nodes)))
}

// newPlainVM prepares a VM.
func newPlainVM(w *plainWorld, index int) *plainVM {
	v := &plainVM{world: w, index: index, vm: w.story.Fleet.VMs[index], load: w.story.Unstated.Value}
	v.host = w.hostOf(v.vm.Host)
	for _, l := range w.story.Loads {
		if l.VM == v.vm.ID {
			v.load = l.Load
		}
	}
	v.read()
	return v
}

// read reads the configuration; the size that the last power-on stored is part of it.
func (v *plainVM) read() {
	var err error
	v.guest, _, err = vnuma.NewGuest(&v.vm)
	v.unknown = err != nil
	if v.stored.Written {
		v.guest.Stored = int32(v.stored.Size)
		vcpus, cps, _ := vnuma.ParseCookie(strconv.Itoa(v.stored.Cookie))
		v.guest.CookieVCPUs, v.guest.CookieCPS = int32(vcpus), int32(cps)
	}
}

// runsAtStart reports whether the VM runs where the story begins.
func (v *plainVM) runsAtStart() bool {
	return !v.unknown && v.vm.Power.Or(numa.PoweredOn) == numa.PoweredOn && v.host != nil && v.host.simulated
}

// memory returns M, the memory of the load in pages: at most what is configured, and
// all of that for a negative value.
func (v *plainVM) memory() int64 {
	if v.load.Memory < 0 {
		return v.configured()
	}
	return min(pagesOf(v.load.Memory), v.configured())
}

// over returns the steps in which memory grows.
func (v *plainVM) over() int64 { return max(1, int64(v.load.Over/numa.Step)) }

// secondOfDay returns the time of day of a step.
func (w *plainWorld) secondOfDay(k int64) int64 {
	t := w.story.Start.Add(time.Duration(k) * numa.Step)
	return int64(t.Hour()*3600 + t.Minute()*60 + t.Second())
}
