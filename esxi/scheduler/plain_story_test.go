package scheduler

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"example.org/homenode/numa"
)

// A storyteller makes random small stories. Equal seeds make equal stories. A story has
// a mood that is drawn first, so that everything a scheduler decides happens often.
type storyteller struct {
	*rand.Rand
	story *numa.Story
	small bool // memory is small against the pages that move in a step
	busy  bool // more demand than cores
	tight bool // more memory than nodes
	talky bool // VMs communicate
	same  bool // few sizes: ties
}

// randomStory returns the story of a seed. It can be simulated: it passes Check.
func randomStory(seed uint64) *numa.Story {
	s := &storyteller{Rand: rand.New(rand.NewPCG(seed, 0x51))}
	s.small, s.busy, s.tight = s.chance(70), s.chance(50), s.chance(40)
	s.talky, s.same = s.chance(30), s.chance(40)
	steps, hosts, vms := time.Duration(30+s.IntN(200)), s.between(1, 3), s.between(1, 30)
	switch {
	case s.chance(8): // a long one
		steps, hosts, vms = time.Duration(500+s.IntN(1000)), 1, s.between(1, 5)
	case s.chance(50):
		vms = s.between(1, 10)
	}
	s.story = &numa.Story{
		Name:   fmt.Sprintf("seed %d", seed),
		Fleet:  &numa.Fleet{Source: "random", Clusters: []numa.Cluster{{ID: "c", Name: "c"}}},
		Start:  time.Date(2026, 1, 5, s.IntN(24), s.IntN(60), s.IntN(60), 0, time.UTC),
		Length: steps * numa.Step,
		Every:  pick[time.Duration](s, 1, 1, 2, 5, 10, 33, 100) * numa.Step,
		Seed:   s.Uint64(),
	}
	release := pick(s, releases...)
	for i := range hosts {
		if s.chance(20) {
			release = pick(s, releases...)
		}
		s.addHost(i, release)
	}
	for i := range vms {
		s.addVM(i)
	}
	s.story.Unstated = numa.AssumedFor(s.load(), "random")
	for i := range s.story.Fleet.VMs {
		if s.chance(90) {
			s.story.Loads = append(s.story.Loads, numa.VMLoad{VM: s.story.Fleet.VMs[i].ID, Load: s.load()})
		}
	}
	if s.talky {
		for range s.IntN(12) {
			if t := s.talk(); t.A != t.B {
				s.story.Talks = append(s.story.Talks, t)
			}
		}
	}
	s.addEvents(int(steps))
	s.addSeen()
	return s.story
}

var releases = []numa.Release{
	numa.ESX40, numa.ESX41, numa.ESX41 + 2, numa.ESXi50, numa.ESXi50 + 3, numa.ESXi51, numa.ESXi55 + 2, numa.ESXi60,
	numa.ESXi65, numa.ESXi67U2, numa.ESXi70 + 3, numa.ESXi80, numa.ESXi80 + 3, numa.ESXi90, numa.NewRelease(9, 1, 0),
}

// chance is true in percent of the cases.
func (s *storyteller) chance(percent int) bool { return s.IntN(100) < percent }

// pick returns one of the values.
func pick[T any](s *storyteller, of ...T) T { return of[s.IntN(len(of))] }

// between returns a number from lo to hi.
func (s *storyteller) between(lo, hi int) int { return lo + s.IntN(hi-lo+1) }

func (s *storyteller) addHost(i int, release numa.Release) {
	id := "h" + strconv.Itoa(i)
	h := numa.Host{ID: id, Name: "esx" + strconv.Itoa(i), Cluster: "c",
		Release: numa.ReadAt(release, ""), CoreMHz: numa.ReadAt(s.between(1800, 3500), "")}
	if s.chance(10) {
		h.Cluster = ""
	}
	if s.chance(5) {
		h.CoreMHz = numa.Fact[int]{}
	}
	count := pick(s, 1, 2, 2, 2, 3, 4, 4, 8)
	cores, memory := s.between(2, 12), s.memory(1024, 8192)
	threads := pick(s, 1, 2)
	var nodes []numa.Node
	for n := range count {
		node := numa.Node{ID: n, Package: n / 2, Cores: cores, Threads: cores * threads, Memory: numa.ReadAt(memory, "")}
		if s.chance(10) {
			node.Cores += 1 + s.IntN(2)
			node.Threads = node.Cores * threads
		}
		if s.chance(15) {
			node.Memory.Value = s.memory(512, 8192)
		}
		if n > 0 && s.chance(3) {
			node.Cores, node.Threads = 0, 0
		}
		nodes = append(nodes, node)
		if s.chance(30) {
			s.story.Used = append(s.story.Used, numa.NodeUse{Host: id, Node: n, Memory: numa.Bytes(s.Int64N(int64(node.Memory.Value / 3)))})
		}
	}
	if s.chance(3) {
		nodes[s.IntN(count)].Memory = numa.Fact[numa.Bytes]{}
	}
	h.Nodes = numa.ReadAt(nodes, "")
	if s.chance(30) { // node interleaving, where there is one node
		h.Packages = numa.ReadAt(2, "")
	}
	if s.chance(60) {
		h.HyperThreading = numa.ReadAt(s.chance(70), "")
	}
	if s.chance(30) {
		h.Distance = numa.ReadAt(s.distances(count), "")
	}
	h.Options = numa.ReadAt(s.options(s.IntN(6)), "")
	s.story.Fleet.Hosts = append(s.story.Fleet.Hosts, h)
}

// memory returns an amount between two numbers of MB, ten times that in large stories.
func (s *storyteller) memory(lo, hi int) numa.Bytes {
	b := numa.Bytes(s.between(lo, hi)) * numa.MiB
	if s.same {
		b = numa.Bytes(pick(s, lo, (lo+hi)/2, hi)) * numa.MiB
	}
	if !s.small {
		b *= 10
	}
	if s.chance(30) {
		b += numa.Bytes(s.IntN(256)) * numa.PageSize
	}
	return b
}

func (s *storyteller) distances(n int) [][]int {
	d := make([][]int, n)
	for i := range d {
		d[i] = make([]int, n)
		for j := range d[i] {
			d[i][j] = 10
			if j != i {
				d[i][j] = pick(s, 12, 20, 21, 30)
			}
		}
	}
	return d
}

// optionValues are the options with values that are allowed and odd.
var optionValues = []struct {
	key    string
	values []string
}{
	{"Numa.PageMigEnable", []string{"0", "1"}},
	{"Numa.PageMigRateMax", []string{"0", "1", "100", "4000", "250000"}},
	{"Numa.RebalanceEnable", []string{"0", "1"}},
	{"Numa.RebalancePeriod", []string{"100", "2000", "2001", "5000", "60000"}},
	{"Numa.LTermFairnessInterval", []string{"0", "1", "2", "7"}},
	{"Numa.LTermMigImbalThreshold", []string{"0", "1", "50"}},
	{"Numa.MigImbalanceThreshold", []string{"1", "30", "200"}},
	{"Numa.MigThreshold", []string{"0", "1", "20"}},
	{"Numa.MigThrashThreshold", []string{"0", "25", "100"}},
	{"Numa.MigPreventLTermThresh", []string{"0", "1", "20"}},
	{"Numa.LocalityWeightMem", []string{"0", "1", "3", "100"}},
	{"Numa.LocalityWeightActionAffinity", []string{"0", "10", "130", "200"}},
	{"Numa.CoreCapRatioPct", []string{"0", "30", "60", "100"}},
	{"Numa.SwapConsiderPeriod", []string{"0", "1", "3"}},
	{"Numa.SwapInterval", []string{"1", "2", "5"}},
	{"Numa.SwapMigrateOnly", []string{"0", "1", "4", "50"}},
	{"Numa.SwapLoadEnable", []string{"0", "1"}},
	{"Numa.SwapLocalityEnable", []string{"0", "1"}},
	{"Numa.RebalanceCoresTotal", []string{"1", "8", "32"}},
	{"Numa.RebalanceCoresNode", []string{"1", "3", "8"}},
	{"Numa.InitialPlacementLoadThreshold", []string{"0", "100"}},
	{"Numa.PreferHT", []string{"0", "1"}},
	{"Numa.FollowCoresPerSocket", []string{"0", "1"}},
	{"LPage.LPageAlwaysTryForNPT", []string{"0", "0", "0", "1"}},
	{"Mem.ShareForceSalting", []string{"0", "1", "2"}},
	{"Mem.ShareScanTime", []string{"1", "10"}},
	{"Mem.ShareRateMax", []string{"0", "10", "4096"}},
	{"Mem.MemMinFreePct", []string{"0", "1", "6", "20"}},
	{"VMkernel.Boot.hyperthreadingMitigation", []string{"TRUE", "FALSE"}},
	{"VMkernel.Boot.hyperthreadingMitigationIntraVM", []string{"TRUE", "FALSE"}},
	{"VMkernel.Boot.forceHyperthreadingMitigation", []string{"TRUE", "FALSE"}},
}

func (s *storyteller) options(n int) numa.Settings {
	var out numa.Settings
	for range n {
		o := optionValues[s.IntN(len(optionValues))]
		if _, ok := out.Lookup(o.key); !ok {
			out = append(out, numa.Setting{Key: o.key, Value: pick(s, o.values...)})
		}
	}
	slices.SortFunc(out, func(a, b numa.Setting) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

func (s *storyteller) addVM(i int) {
	v := numa.VM{ID: "v" + strconv.Itoa(i), Name: "vm" + strconv.Itoa(i), Cluster: "c", Host: pick(s, s.story.Fleet.Hosts...).ID, Config: s.config()}
	v.Power = numa.ReadAt(numa.PoweredOn, "")
	if s.chance(20) {
		v.Power.Value = numa.PoweredOff
	}
	s.story.Fleet.VMs = append(s.story.Fleet.VMs, v)
}

// config returns a configuration, with the power state off.
func (s *storyteller) config() numa.Config {
	c := numa.Config{
		VCPUs:  numa.ReadAt(s.between(1, 6), ""),
		Memory: numa.ReadAt(s.memory(128, 2048), ""),
	}
	if s.same {
		c.VCPUs.Value = pick(s, 2, 4)
	}
	if s.chance(25) { // wide
		c.VCPUs.Value = s.between(4, 32)
		c.Memory.Value = s.memory(512, 8192)
	}
	if s.tight {
		c.Memory.Value *= 2
	}
	if s.chance(30) {
		c.CoresPerSocket = numa.ReadAt(s.between(1, c.VCPUs.Value), "")
	}
	c.Hardware = numa.ReadAt(pick(s, 7, 13, 19, 20), "")
	c.CPUHotAdd = numa.ReadAt(s.chance(20), "")
	if s.chance(10) {
		c.CPULimit = numa.ReadAt(pick(s, -1, s.between(200, 20000)), "")
	}
	if s.chance(15) {
		c.CPUReservation = numa.ReadAt(s.between(0, 15000), "")
	}
	if s.chance(15) {
		c.MemoryReservation = numa.ReadAt(c.Memory.Value/numa.Bytes(s.between(1, 4)), "")
	}
	c.MemoryReservationLocked = numa.ReadAt(s.chance(3), "")
	c.LatencySensitivity = numa.ReadAt(pick(s, "normal", "normal", "normal", "high"), "")
	if s.chance(4) {
		c.CPUAffinity = numa.ReadAt([]int{0, 1}, "")
	}
	c.Settings = numa.ReadAt(s.settings(), "")
	return c
}

func (s *storyteller) settings() (out numa.Settings) {
	for _, o := range []struct {
		percent     int
		key, values string
	}{
		{10, "numa.nodeAffinity", pick(s, "0", "1", "0,1", "1,2", "9")},
		{10, "numa.vcpu.preferHT", "TRUE"},
		{10, "numa.vcpu.maxPerMachineNode", strconv.Itoa(s.between(1, 4))},
		{5, "numa.vcpu.maxPerVirtualNode", strconv.Itoa(s.between(1, 8))},
		{5, "numa.vcpu.min", pick(s, "0", "2")},
		{30, "sched.mem.pshare.salt", pick(s, "a", "b", "")},
		{10, "vmx.reboot.PowerCycle", "TRUE"},
		{3, "sched.mem.affinity", "0"},
	} {
		if s.chance(o.percent) {
			out = append(out, numa.Setting{Key: o.key, Value: o.values})
		}
	}
	slices.SortFunc(out, func(a, b numa.Setting) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// share returns a share of a whole, in hundredths of a percent, but for a few.
func (s *storyteller) share(lo, hi int) float64 {
	if s.chance(3) {
		return float64(lo)/100 + s.Float64()*float64(hi-lo)/100
	}
	return float64(s.between(lo*100, hi*100)) / 10000
}

func (s *storyteller) load() numa.Load {
	low := s.share(0, 60)
	if s.busy {
		low = s.share(40, 95)
	}
	if s.same {
		low = pick(s, 0.1, 0.5, 0.9)
	}
	l := numa.Load{
		CPU:    numa.Demand{Low: low, High: low},
		Memory: pick(s, -1, s.memory(64, 2048)),
		Over:   time.Duration(s.IntN(60)) * numa.Step,
		Active: s.share(0, 100),
	}
	if s.chance(30) {
		l.CPU.High = low + float64(s.share(0, 100)*(1-low))
		l.CPU.Peak = time.Duration(s.IntN(86400)) * time.Second
	}
	if s.chance(30) {
		l.CPU.Noise = s.share(0, 50)
	}
	if s.chance(10) {
		at := time.Duration(0)
		for range s.between(1, 5) {
			at += time.Duration(s.between(1, 60)) * time.Second
			l.CPU.Points = append(l.CPU.Points, numa.DemandPoint{At: at, Share: s.share(0, 100)})
		}
	}
	if s.chance(40) {
		l.Zero = s.share(0, 40)
	}
	if s.chance(40) {
		l.Common, l.Image = s.share(0, 60), pick(s, "win", "linux")
	}
	if s.chance(30) {
		l.AsksLarge = s.share(0, 100)
	}
	return l
}
