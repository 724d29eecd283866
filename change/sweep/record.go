package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"homenode/esxi/scheduler"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/simulate"
)

// A Record is what one run came to, in whole numbers: the same on every machine.
type Record struct {
	Fleet Sums         `json:"fleet"`
	Hosts []HostRecord `json:"hosts,omitempty"`
	// VMs are those of the fleet in its order; none when all records together would be too
	// many. So are hosts.
	VMs      []VMRecord  `json:"vms,omitempty"`
	Findings []RuleCount `json:"findings"` // highest severity first, then by rule
	// Problems are hosts and VMs that could not be simulated, and why; the first few.
	Problems []string `json:"problems,omitempty"`
	Unable   int      `json:"unable,omitempty"` // how many there are
}

// Sums are added up over the steps of a VM, or over all VMs; a step is 2 s.
type Sums struct {
	Steps   int64 `json:"steps"`   // in which VMs ran, added up over VMs
	Local   int64 `json:"local"`   // pages × steps
	Remote  int64 `json:"remote"`  // pages × steps
	Far     int64 `json:"far"`     // pages × steps, not on the node of their own client
	Swapped int64 `json:"swapped"` // pages × steps
	// CPU time in hundredths of a percent of a core × steps.
	Demand int64      `json:"demand"`
	Run    int64      `json:"run"`
	Ready  int64      `json:"ready"`
	CoStop int64      `json:"coStop"`
	Moves  numa.Moves `json:"moves"`

	Ran    int   `json:"ran"`    // VMs that ran at all
	Priced int   `json:"priced"` // VMs whose speed is known: the three that follow are theirs
	Speed  int64 `json:"speed"`  // performance index in millionths, added up over VMs
	// The interval of Speed (docs/cost.md), and how many of the VMs lie outside what
	// anybody measured.
	SpeedLow     int64  `json:"speedLow"`
	SpeedHigh    int64  `json:"speedHigh"`
	Extrapolated int    `json:"extrapolated"`
	FarUse       int64  `json:"farUse"`            // share of accesses to far memory in millionths, added up over VMs
	Worst        int64  `json:"worst"`             // lowest performance index of a VM at a moment, in millionths
	WorstVM      string `json:"worstVm,omitempty"` // its name
}

// A VMRecord is what a VM went through.
type VMRecord struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Sums
}

// A HostRecord is what the ticks of a host showed, added up.
type HostRecord struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Ticks    int64            `json:"ticks"`
	Local    int64            `json:"local"`  // pages × ticks
	Remote   int64            `json:"remote"` // pages × ticks
	Moves    int64            `json:"moves"`
	Worst    numa.MemoryState `json:"worstState"`
	Findings int              `json:"findings"`
}

// A RuleCount is how often a rule fired with one severity.
type RuleCount struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Count    int    `json:"count"`
}

// mostProblems is how many problems a record names.
const mostProblems = 5

// record returns what a run came to; vms says whether it holds each VM.
func record(r *simulate.Result, hosts []HostRecord, vms bool) (*Record, error) {
	f := r.Story.Fleet
	out := &Record{Hosts: hosts, Findings: []RuleCount{}}
	out.Fleet.Worst = millionths(1) + 1
	for i := range r.Outcome.VMs {
		s := sumsOf(&r.Outcome.VMs[i])
		if r.Speeds != nil {
			s.price(&r.Speeds[i])
		}
		if s.WorstVM = ""; s.Priced > 0 {
			s.WorstVM = f.VMs[i].Name
		}
		out.Fleet.add(&s)
		if vms {
			s.WorstVM = ""
			out.VMs = append(out.VMs, VMRecord{ID: f.VMs[i].ID, Name: f.VMs[i].Name, Sums: s})
		}
	}
	if out.Fleet.Priced == 0 {
		out.Fleet.Worst = 0
	}
	out.Unable = len(r.Outcome.Problems)
	for _, p := range r.Outcome.Problems[:min(mostProblems, out.Unable)] {
		out.Problems = append(out.Problems, p.String())
	}
	if out.Fleet.Ran == 0 && out.Unable > 0 {
		return nil, fmt.Errorf("no VM could be simulated: %s", out.Problems[0])
	}
	if r.Watched == nil {
		return out, nil
	}
	out.Findings = append(out.Findings, countsOf(r.Watched)...)
	for i := range r.Watched.Findings {
		one := &r.Watched.Findings[i]
		for j := range out.Hosts {
			if h := &out.Hosts[j]; numa.SameHost(h.Name, one.Host) {
				h.Findings++
			}
		}
	}
	return out, nil
}

func sumsOf(v *scheduler.VMOutcome) Sums {
	s := Sums{
		Steps: v.Steps, Local: v.Local, Remote: v.Remote, Far: v.Far, Swapped: v.Swapped,
		Demand: v.Demand, Run: v.Run, Ready: v.Ready, CoStop: v.CoStop, Moves: v.Moves,
	}
	if v.Steps > 0 {
		s.Ran = 1
	}
	return s
}

func (s *Sums) price(p *simulate.Speed) {
	if !p.Known() {
		return
	}
	s.Priced, s.Speed, s.FarUse, s.Worst = 1, millionths(p.Mean), millionths(p.Far), millionths(p.Worst)
	s.SpeedLow, s.SpeedHigh = millionths(p.Low), millionths(p.High)
	if p.Extrapolated {
		s.Extrapolated = 1
	}
}

// millionths returns a share in whole millionths: what machines may round otherwise is far
// below.
func millionths(share float64) int64 { return int64(math.Round(share * 1e6)) }

func (s *Sums) add(o *Sums) {
	s.Steps += o.Steps
	s.Local += o.Local
	s.Remote += o.Remote
	s.Far += o.Far
	s.Swapped += o.Swapped
	s.Demand += o.Demand
	s.Run += o.Run
	s.Ready += o.Ready
	s.CoStop += o.CoStop
	s.Moves.Add(o.Moves)
	s.Ran += o.Ran
	if o.Priced == 0 {
		return
	}
	s.Priced += o.Priced
	s.Speed += o.Speed
	s.SpeedLow += o.SpeedLow
	s.SpeedHigh += o.SpeedHigh
	s.Extrapolated += o.Extrapolated
	s.FarUse += o.FarUse
	if o.Worst < s.Worst {
		s.Worst, s.WorstVM = o.Worst, o.WorstVM
	}
}

// countsOf counts the findings about the run.
func countsOf(w *rules.Watched) []RuleCount {
	var out []RuleCount
	at := map[RuleCount]int{}
	for i := range w.Findings {
		key := RuleCount{Rule: w.Findings[i].Rule, Severity: w.Findings[i].Severity.String()}
		k, ok := at[key]
		if !ok {
			k, at[key] = len(out), len(out)
			out = append(out, key)
		}
		out[k].Count++
	}
	slices.SortStableFunc(out, func(a, b RuleCount) int {
		x, y := severityOf(a.Severity), severityOf(b.Severity)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

func severityOf(name string) finding.Severity {
	s, _ := finding.ParseSeverity(name) // String wrote it
	return s
}

// AtLeast counts the findings of a severity or more.
func (r *Record) AtLeast(least finding.Severity) (n int) {
	for _, c := range r.Findings {
		if severityOf(c.Severity) >= least {
			n += c.Count
		}
	}
	return n
}

// A hostSum adds up the ticks of the hosts of a run.
type hostSum struct{ hosts []HostRecord }

func newHostSum(f *numa.Fleet) *hostSum {
	h := &hostSum{hosts: make([]HostRecord, len(f.Hosts))}
	for i := range f.Hosts {
		h.hosts[i] = HostRecord{ID: f.Hosts[i].ID, Name: f.Hosts[i].Name}
	}
	return h
}

// add takes a tick.
func (h *hostSum) add(host int, t *numa.Tick) {
	to := &h.hosts[host]
	to.Ticks++
	if t.Has&numa.HasState != 0 {
		to.Worst = max(to.Worst, t.State)
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		to.Local += int64(v.Local / numa.PageSize)
		to.Remote += int64(v.Remote / numa.PageSize)
		to.Moves += v.Moves.All
	}
}
