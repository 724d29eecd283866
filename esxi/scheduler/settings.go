package scheduler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// Settings are the host options of the NUMA scheduler, in the units of ESXi (rule book C-18, C-21, C-22).
type Settings struct {
	RebalanceEnable bool // Numa.RebalanceEnable
	PageMigEnable   bool // Numa.PageMigEnable
	SwapLoad        bool // Numa.SwapLoadEnable
	SwapLocality    bool // Numa.SwapLocalityEnable
	AlwaysTryLarge  bool // LPage.LPageAlwaysTryForNPT

	RebalancePeriod       int // ms
	LTermFairnessInterval int // periods; 0 switches long-term fairness off
	LTermMigImbalance     int // Numa.LTermMigImbalThreshold, percent
	MigImbalance          int // Numa.MigImbalanceThreshold, percent
	Mig                   int // Numa.MigThreshold, percent
	MigThrash             int // Numa.MigThrashThreshold, percent
	MigPreventLTerm       int // Numa.MigPreventLTermThresh, percent; 0 switches the check off
	SwapInterval          int // periods
	SwapConsiderPeriod    int // periods
	SwapMigrateOnly       int // periods; 0 switches pure moves off
	CoreCapRatio          int // Numa.CoreCapRatioPct, percent; 0 switches the check off
	CoresTotal            int // Numa.RebalanceCoresTotal: fewest cores of a host with a rebalancer
	CoresNode             int // Numa.RebalanceCoresNode: of a node
	WeightMem             int // Numa.LocalityWeightMem
	WeightAffinity        int // Numa.LocalityWeightActionAffinity
	PageMigRateMax        int // pages a second
	PlacementLoad         int // Numa.InitialPlacementLoadThreshold; 0 when it is not set (C-7)

	MinFreePct   int // Mem.MemMinFreePct; 0 for the scale of C-23
	ShareRateMax int // Mem.ShareRateMax, pages a second and VM
	ShareScan    int // Mem.ShareScanTime, minutes
	Salting      int // Mem.ShareForceSalting

	// HTGain is the gain from hyper-threading in a node's capacity, in parts of a core. It is
	// inferred, see hyperThreadingGain.
	HTGain int64
}

// hyperThreadingGain is the gain from the second thread of busy cores, in parts: 25 % is a common
// figure; by E-2 running without it costs up to 30 % of the whole [I].
const hyperThreadingGain = 2500

// actionAffinityOff is the first release without action affinity (KB 439993, C-11).
var actionAffinityOff = numa.NewRelease(9, 1, 0)

// DefaultSettings returns the defaults of a release. Releases before 6.0 have those of 6.0 unless
// published lists differ (C-18: ESX 4.x shows the same values).
func DefaultSettings(r numa.Release) Settings {
	s := Settings{
		RebalanceEnable: true, PageMigEnable: true, SwapLoad: true, SwapLocality: true, AlwaysTryLarge: true,
		RebalancePeriod: 2000, LTermFairnessInterval: 5, LTermMigImbalance: 10,
		MigImbalance: 10, Mig: 2, MigThrash: 50,
		SwapInterval: 3, SwapConsiderPeriod: 15, SwapMigrateOnly: 2,
		CoreCapRatio: 90, CoresTotal: 4, CoresNode: 2, WeightMem: 1, WeightAffinity: 130, PageMigRateMax: 16000,
		ShareRateMax: 1024, ShareScan: 60,
	}
	switch {
	case r >= numa.ESXi90:
		s.PageMigRateMax = 32000
	case r >= numa.ESXi65:
		s.PageMigRateMax = 8000
	}
	if r < numa.ESXi50 || r >= actionAffinityOff {
		s.WeightAffinity = 0 // C-11: 5.x to 9.0
	}
	if salted(r) {
		s.Salting = 2
	}
	return s
}

// salted reports whether sharing between VMs is off by default: from 5.0 U3, 5.1 U3 and 5.5 U2 on
// (C-22, KB 2080735; 5.0 U3d and 5.5 U2d exactly).
func salted(r numa.Release) bool {
	switch {
	case r >= numa.ESXi60:
		return true
	case r >= numa.ESXi55:
		return r >= numa.ESXi55+2
	case r >= numa.ESXi51:
		return r >= numa.ESXi51+3
	}
	return r >= numa.ESXi50+3
}

// SettingsOf returns the settings of a host: the defaults of its release with its options applied.
// problems lists options whose value is no number or out of range; they count as unset.
func SettingsOf(h *numa.Host) (s Settings, problems []string) {
	s = DefaultSettings(h.Release.Value)
	for _, o := range h.Options.Value {
		if err := s.set(o.Key, o.Value); err != nil {
			problems = append(problems, err.Error()+": taken as unset")
		}
	}
	if hyperThreads(h) {
		s.HTGain = hyperThreadingGain
	}
	switch numa.MitigationOf(h) {
	case numa.SCAv1:
		s.HTGain = 0
	case numa.SCAv2:
		s.HTGain /= 2 // the second thread serves the same VM only [I]
	}
	return s, problems
}

// hyperThreads reports whether hyper-threading is active: as the host reports, else whether its
// first node has more threads than cores.
func hyperThreads(h *numa.Host) bool {
	active := false
	for _, n := range h.Nodes.Value[:min(1, len(h.Nodes.Value))] {
		active = n.Threads > n.Cores
	}
	return h.HyperThreading.Or(active)
}

// An option is one simulated host option.
type option struct {
	key         string
	does, book  string // effect, and the statement of the rule book about it
	least, most int
	number      func(*Settings) *int
	truth       func(*Settings) *bool
}

// options are the simulated host options, with their ranges (C-18).
var options = []option{
	{"Numa.RebalanceEnable", "1: VMs have home nodes, and the balancer runs", "A-9", 0, 1, nil, func(s *Settings) *bool { return &s.RebalanceEnable }},
	{"Numa.PageMigEnable", "1: memory follows its client to a new home node", "C-16", 0, 1, nil, func(s *Settings) *bool { return &s.PageMigEnable }},
	{"Numa.SwapLoadEnable", "1: two clients may change places for load", "C-9", 0, 1, nil, func(s *Settings) *bool { return &s.SwapLoad }},
	{"Numa.SwapLocalityEnable", "1: two clients may change places for locality", "C-9", 0, 1, nil, func(s *Settings) *bool { return &s.SwapLocality }},
	{"LPage.LPageAlwaysTryForNPT", "1: memory is backed by large pages as far as possible", "C-21", 0, 1, nil, func(s *Settings) *bool { return &s.AlwaysTryLarge }},
	{"Numa.RebalancePeriod", "milliseconds between two rounds of the balancer", "C-8", 1, 60000, func(s *Settings) *int { return &s.RebalancePeriod }, nil},
	{"Numa.LTermFairnessInterval", "rounds between two looks at long-term fairness; 0: none", "C-10", 0, 1000, func(s *Settings) *int { return &s.LTermFairnessInterval }, nil},
	{"Numa.LTermMigImbalThreshold", "how uneven two nodes have to be for a move for long-term fairness, in percent", "C-10", 0, 100, func(s *Settings) *int { return &s.LTermMigImbalance }, nil},
	{"Numa.MigImbalanceThreshold", "how uneven two nodes have to be for a move for load, in percent", "C-9", 1, 200, func(s *Settings) *int { return &s.MigImbalance }, nil},
	{"Numa.MigThreshold", "how much better a move has to make it, in percent", "C-9", 0, 100, func(s *Settings) *int { return &s.Mig }, nil},
	{"Numa.MigThrashThreshold", "the most of the imbalance that may be left after a move, in percent", "C-9", 0, 100, func(s *Settings) *int { return &s.MigThrash }, nil},
	{"Numa.MigPreventLTermThresh", "how much a client may be owed and still be moved, in percent of its demand; 0: any", "C-9", 0, 100, func(s *Settings) *int { return &s.MigPreventLTerm }, nil},
	{"Numa.SwapInterval", "rounds between two looks for swaps", "C-9", 1, 10000, func(s *Settings) *int { return &s.SwapInterval }, nil},
	{"Numa.SwapConsiderPeriod", "rounds before a client is looked at for a swap again", "C-9", 0, 10000, func(s *Settings) *int { return &s.SwapConsiderPeriod }, nil},
	{"Numa.SwapMigrateOnly", "rounds between two looks for moves for locality; 0: none", "C-9", 0, 100, func(s *Settings) *int { return &s.SwapMigrateOnly }, nil},
	{"Numa.CoreCapRatioPct", "percent of a node in use from which on no client is moved there; 0: any", "C-9", 0, 100, func(s *Settings) *int { return &s.CoreCapRatio }, nil},
	{"Numa.RebalanceCoresTotal", "fewest cores of a host whose VMs have home nodes, and whose balancer runs", "A-9", 1, 32, func(s *Settings) *int { return &s.CoresTotal }, nil},
	{"Numa.RebalanceCoresNode", "fewest cores of a node of such a host", "A-9", 1, 8, func(s *Settings) *int { return &s.CoresNode }, nil},
	{"Numa.LocalityWeightMem", "weight of the locality of memory against load", "C-9", 0, 100, func(s *Settings) *int { return &s.WeightMem }, nil},
	{"Numa.LocalityWeightActionAffinity", "weight of VMs that communicate being on one node; 0: none", "C-11", 0, 200, func(s *Settings) *int { return &s.WeightAffinity }, nil},
	{"Numa.PageMigRateMax", "pages a second that follow a client to its new home node", "C-16", 0, 8_000_000, func(s *Settings) *int { return &s.PageMigRateMax }, nil},
	{"Numa.InitialPlacementLoadThreshold", "above 0: initial placement counts VMs that were powered on lately too (8.0 on)", "C-7", 0, 100, func(s *Settings) *int { return &s.PlacementLoad }, nil},
	{"Mem.MemMinFreePct", "percent of the memory that the kernel keeps free; 0: the scale of C-23", "C-23", 0, 100, func(s *Settings) *int { return &s.MinFreePct }, nil},
	{"Mem.ShareRateMax", "pages a second and VM that are looked at for sharing", "C-22", 0, 1_000_000, func(s *Settings) *int { return &s.ShareRateMax }, nil},
	{"Mem.ShareScanTime", "minutes in which all memory of a VM is looked at for sharing", "C-22", 1, 1_000_000, func(s *Settings) *int { return &s.ShareScan }, nil},
	{"Mem.ShareForceSalting", "2: pages of different VMs are not shared", "C-22", 0, 2, func(s *Settings) *int { return &s.Salting }, nil},
}

// An Option is a host option that changes a simulation.
type Option struct {
	Key         string
	Does        string // effect, with its unit
	Book        string // the statement of the rule book about it
	Least, Most int
}

// HostOptions lists the host options that change a simulation.
func HostOptions() []Option {
	out := make([]Option, len(options))
	for i := range options {
		o := &options[i]
		out[i] = Option{o.key, o.does, o.book, o.least, o.most}
	}
	return out
}

// Default returns the value of the option in a release.
func (o *Option) Default(r numa.Release) int {
	s := DefaultSettings(r)
	for i := range options {
		switch one := &options[i]; {
		case one.key != o.Key:
		case one.number != nil:
			return *one.number(&s)
		case *one.truth(&s):
			return 1
		}
	}
	return 0
}

// Simulated reports whether the host option with this key changes a simulation.
func Simulated(key string) bool {
	for i := range options {
		if strings.EqualFold(options[i].key, key) {
			return true
		}
	}
	return false
}

// shapes are the options that act through the topology model, on VMs placed after the change.
var shapes = []string{"Numa.PreferHT", "Numa.FollowCoresPerSocket", "Cpu.AllowWideVsmp"}

// acts reports whether changing a host option while the story runs has an effect.
func acts(key string) bool {
	return Simulated(key) || slices.ContainsFunc(shapes, func(s string) bool { return strings.EqualFold(s, key) })
}

// set parses and sets one option; options that are not simulated have no effect.
func (s *Settings) set(key, value string) error {
	for i := range options {
		o := &options[i]
		if !strings.EqualFold(o.key, key) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < o.least || n > o.most {
			return fmt.Errorf("%s: found %q, want a number from %d to %d", o.key, value, o.least, o.most)
		}
		if o.truth != nil {
			*o.truth(s) = n == 1
		} else {
			*o.number(s) = n
		}
	}
	return nil
}
