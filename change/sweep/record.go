package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
)

// A Record is the result of one run in integers, so that it is the same on every machine.
type Record struct {
	Fleet Sums         `json:"fleet"`
	Hosts []HostRecord `json:"hosts,omitempty"`
	// VMs are those of the fleet in its order; empty if all records together would be too
	// large. The same applies to Hosts.
	VMs      []VMRecord  `json:"vms,omitempty"`
	Findings []RuleCount `json:"findings"` // highest severity first, then by rule
	// Problems are hosts and VMs that could not be simulated, with the reason; only the first
	// few.
	Problems []string `json:"problems,omitempty"`
	Unable   int      `json:"unable,omitempty"` // number of all problems
}

// Sums are totals over the steps of a VM, or over all VMs; a step is 2 s.
type Sums struct {
	scheduler.VMOutcome

	Ran    int   `json:"ran"`    // VMs that ran at any time
	Priced int   `json:"priced"` // VMs with a known speed: the following fields are about these
	Speed  int64 `json:"speed"`  // performance index in millionths, summed over VMs
	// The interval of Speed (docs/evidence/cost.md), and the number of VMs outside of the
	// measured range.
	SpeedLow     int64  `json:"speedLow"`
	SpeedHigh    int64  `json:"speedHigh"`
	Extrapolated int    `json:"extrapolated"`
	Worst        int64  `json:"worst"`             // lowest performance index of a VM at any time, in millionths
	WorstVM      string `json:"worstVm,omitempty"` // its name
}

// A VMRecord is the result for a VM.
type VMRecord struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Sums
}

// A HostRecord is the total over the ticks of a host.
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

// A RuleCount is the number of findings of a rule with one severity.
type RuleCount struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Count    int    `json:"count"`
}

// mostProblems is the maximum number of problems in a record.
const mostProblems = 5

// record returns the result of a run; vms includes each VM.
func record(r *simulate.Result, hosts []HostRecord, vms bool) (*Record, error) {
	f := r.Story.Fleet
	out := &Record{Hosts: hosts, Findings: []RuleCount{}}
	out.Fleet = Total(r)
	if vms {
		for i := range r.Outcome.VMs {
			one := sumsOf(r, i)
			one.WorstVM = ""
			out.VMs = append(out.VMs, VMRecord{ID: f.VMs[i].ID, Name: f.VMs[i].Name, Sums: one})
		}
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

// Total sums up the results of the VMs of a run.
func Total(r *simulate.Result) Sums {
	var all Sums
	for i := range r.Outcome.VMs {
		one := sumsOf(r, i)
		all.add(&one)
	}
	return all
}

// sumsOf returns the result of one VM of a run.
func sumsOf(r *simulate.Result, vm int) Sums {
	s := Sums{VMOutcome: r.Outcome.VMs[vm]}
	if s.Steps > 0 {
		s.Ran = 1
	}
	if r.Speeds == nil || !r.Speeds[vm].Known() {
		return s
	}
	p := &r.Speeds[vm]
	s.Priced, s.Speed, s.Worst, s.WorstVM = 1, millionths(p.Mean), millionths(p.Worst), r.Story.Fleet.VMs[vm].Name
	s.SpeedLow, s.SpeedHigh = millionths(p.Low), millionths(p.High)
	if p.Extrapolated {
		s.Extrapolated = 1
	}
	return s
}

// MeanSpeed returns the mean performance index of the VMs with a known speed, with equal weight
// for each VM.
func (s *Sums) MeanSpeed() (float64, bool) { return scheduler.Share(s.Speed, int64(s.Priced)*1e6) }

// millionths returns a share in whole millionths. Rounding differences between machines are
// much smaller.
func millionths(share float64) int64 { return int64(math.Round(share * 1e6)) }

func (s *Sums) add(o *Sums) {
	s.VMOutcome.Add(&o.VMOutcome)
	s.Ran += o.Ran
	if o.Priced == 0 {
		return
	}
	if s.Priced == 0 || o.Worst < s.Worst {
		s.Worst, s.WorstVM = o.Worst, o.WorstVM
	}
	s.Priced += o.Priced
	s.Speed += o.Speed
	s.SpeedLow += o.SpeedLow
	s.SpeedHigh += o.SpeedHigh
	s.Extrapolated += o.Extrapolated
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
	s, _ := finding.ParseSeverity(name) // written by String
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

// A hostSum sums up the ticks of the hosts of a run.
type hostSum struct{ hosts []HostRecord }

func newHostSum(f *numa.Fleet) *hostSum {
	h := &hostSum{hosts: make([]HostRecord, len(f.Hosts))}
	for i := range f.Hosts {
		h.hosts[i] = HostRecord{ID: f.Hosts[i].ID, Name: f.Hosts[i].Name}
	}
	return h
}

// add adds a tick.
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
