// Package simulation summarises a simulation: whether NUMA caused harm, whether the hosts can run all VMs, and
// the history. The findings about its run are summarised like those of a capture, in package recording.
package simulation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/rules/verdict/recording"
)

// Judged contains the assessed simulation: its run, which is a recording and assessed like a capture, and the
// additional facts: the story, the reasons of all decisions, and the speed of VMs.
type Judged struct {
	*simulate.Result
	Run   *recording.Judged // without recordings if the run was too large for an assessment
	VMs   []*VM             // by index in the fleet
	Order []*VM             // those that ran: the worst first

	loads map[string]bool // IDs of the VMs whose load is stated in the story
}

// A VM is one VM of the story with all its lives.
type VM struct {
	*numa.VM
	Index    int
	Lives    []*recording.VM    // in the order of time
	Findings []*finding.Finding // highest severity first
	Nowhere  bool               // no host was found for it
	Out      *scheduler.VMOutcome
	Speed    *simulate.Speed // nil if it was not computed
	Took     *simulate.Speed // nil if its memory was never swapped or ballooned
}

// inRun are the words that differ from those for a capture.
var inRun = recording.Words{The: "the simulation", Seen: "simulated"}

// Of groups the results of a simulation by VM.
func Of(r *simulate.Result) *Judged {
	w := r.Watched
	if w == nil {
		w = &rules.Watched{}
	}
	run := recording.With(w, inRun)
	s := &Judged{Result: r, Run: run, loads: map[string]bool{}}
	for i := range r.Story.Loads {
		s.loads[r.Story.Loads[i].VM] = true
	}
	end := r.Story.Start.Add(r.Story.Length)
	run.First, run.Last = r.Story.Start, end
	if run.Clock = recording.NewClock(run.First, end.Add(-1)); r.Story.Length < 15*time.Minute {
		run.Clock = recording.NewClock(run.First, end)
	}
	nowhere := s.nowhere()
	for i := range r.Story.Fleet.VMs {
		v := &VM{VM: &r.Story.Fleet.VMs[i], Index: i, Nowhere: nowhere[i], Out: &r.Outcome.VMs[i]}
		if i < len(r.Speeds) && r.Speeds[i].Known() {
			v.Speed = &r.Speeds[i]
		}
		if i < len(r.Speeds) && r.Speeds[i].Taken() > 0 {
			v.Took = &r.Speeds[i]
		}
		s.VMs = append(s.VMs, v)
	}
	for _, life := range run.VMs {
		known := r.Lives[life.VM]
		v := s.VMs[known.VM]
		life.Blind = known.Interleaved
		if life.Label != life.Name { // the IDs of scheduler groups are created by the model
			life.Label = life.Name + " from " + run.Clock.At(life.First)
		}
		v.Lives = append(v.Lives, life)
		v.Findings = append(v.Findings, life.Findings...)
	}
	for _, v := range s.VMs {
		slices.SortStableFunc(v.Lives, func(a, b *recording.VM) int { return a.First.Compare(b.First) })
		slices.SortStableFunc(v.Findings, func(a, b *finding.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
		if v.Out.Steps > 0 {
			s.Order = append(s.Order, v)
		}
	}
	slices.SortStableFunc(s.Order, worstFirst)
	return s
}

// Verdict answers whether NUMA causes harm in the simulation, and whether the hosts can run all VMs; rest
// contains the open questions.
func (s *Judged) Verdict() (verdict, rest string) {
	if s.Watched == nil {
		return s.summary()
	}
	verdict, rest = s.Run.Verdict()
	verdict = strings.Replace(verdict, "NUMA was not the cause", "NUMA does no harm", 1)
	verdict = strings.Replace(verdict, "NUMA had a part in it", "NUMA does harm", 1)
	if trouble := strings.Join(s.trouble(), "; "); trouble != "" {
		if len(s.Run.VMs) == 0 {
			return s.basis() + "the hosts cannot run everything: " + trouble + ".", rest
		}
		if where, none := strings.CutPrefix(verdict, "NUMA does no harm"); none {
			return s.basis() + "the hosts cannot run everything: " + trouble + ".", words.Join(" ", "No NUMA problem was found"+where, rest)
		}
		rest = words.Join(" ", "Beside NUMA: "+trouble+".", rest)
	}
	if v := s.slowest(); v != nil && v.Speed.Mean < FullSpeed {
		rest = words.Join(" ", "Lowest performance index: "+v.Name+", "+Index(v.Speed)+".", rest)
	}
	return s.basis() + verdict, rest
}

// basis begins the verdict: for a fleet without stated loads, the result depends on the assumed load.
func (s *Judged) basis() string {
	if n := len(s.Assumed()); n > 0 && n == len(s.Order) {
		return s.stayed() + "Simulated with an assumed load, every VM using all of its memory: "
	}
	return s.stayed() + "Simulated: "
}

// FullSpeed is the minimum performance index that is displayed as 1.00.
const FullSpeed = 0.995

// worstFirst orders VMs by whether they found a host, then by missing memory, then by their worst finding, then
// by speed, then by remote accesses.
func worstFirst(a, b *VM) int {
	worst := func(v *VM) int {
		if len(v.Findings) == 0 {
			return -1
		}
		return int(v.Findings[0].Severity)
	}
	speed := func(v *VM) float64 {
		if v.Speed == nil {
			return math.Inf(1)
		}
		return v.Speed.Mean
	}
	far := func(v *VM) float64 { share, _ := v.Out.FarShare(); return share }
	homeless := func(v *VM) int {
		if v.Nowhere {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(homeless(b), homeless(a)), cmp.Compare(b.Missing(), a.Missing()), cmp.Compare(worst(b), worst(a)), cmp.Compare(speed(a), speed(b)), cmp.Compare(far(b), far(a)), cmp.Compare(a.Index, b.Index))
}

// slowest returns the VM with the lowest performance index; nil if none was computed.
func (s *Judged) slowest() *VM {
	var worst *VM
	for _, v := range s.Order {
		if v.Speed != nil && v.Missing() == 0 && (worst == nil || v.Speed.Mean < worst.Speed.Mean) {
			worst = v
		}
	}
	return worst
}

// Assumed returns the VMs that ran with an assumed load.
func (s *Judged) Assumed() []*VM {
	var out []*VM
	for _, v := range s.Order {
		if !s.Stated(v) {
			out = append(out, v)
		}
	}
	return out
}

// Stated reports whether the story states the load of the VM, at least in part.
func (s *Judged) Stated(v *VM) bool {
	return s.loads[v.ID] || s.Story.Unstated.Origin.Kind != numa.Assumed
}

// Named returns the VMs of the story that match a pattern, optionally with a host before it.
func (s *Judged) Named(pattern string) []*VM {
	p := glob.Compile([]string{pattern}, "")
	var out []*VM
	for _, v := range s.VMs {
		names := []string{v.ID}
		for _, l := range v.Lives {
			names = append(names, l.Rec.Host+"/"+v.Name, l.Label, l.Rec.Host+"/"+l.Label)
		}
		if p.Named(v.Name, names...) {
			out = append(out, v)
		}
	}
	return out
}

// LifeSpeed returns the points of the performance index in one life of a VM.
func (s *Judged) LifeSpeed(v *capture.VM) []simulate.SpeedPoint {
	life, ok := s.Lives[v]
	if !ok {
		return nil
	}
	points := s.Speeds[life.VM].Points
	from, _ := slices.BinarySearchFunc(points, v.First, func(p simulate.SpeedPoint, at time.Time) int { return p.Time.Compare(at) })
	to, _ := slices.BinarySearchFunc(points, v.Last.Add(1), func(p simulate.SpeedPoint, at time.Time) int { return p.Time.Compare(at) })
	return points[from:to]
}

// summary is the verdict on a run that was too large for an assessment.
func (s *Judged) summary() (verdict, rest string) {
	far, all := int64(0), int64(0)
	var worst *VM
	for _, v := range s.Order {
		far, all = far+v.Out.Remote, all+v.Out.Local+v.Out.Remote
		if worst == nil || v.Out.Remote > worst.Out.Remote {
			worst = v
		}
	}
	share, ok := scheduler.Share(far, all)
	if !ok {
		return "Simulated: nothing can be said about NUMA: no VM ran.", ""
	}
	verdict = fmt.Sprintf("Simulated, in sum only: %s of the memory of %s was remote over %s", words.Rate(share), words.Plural(len(s.Order), "VM"), words.Duration(s.Story.Length))
	if worst.Out.Remote > 0 {
		verdict += ", most of all " + worst.Name
	}
	return verdict + ".", "Nothing was judged: there are too many VMs for it; --at 'run 24h every=5m' judges them, with some 100 KB of memory a VM."
}

// Notes returns the objects that were not assessed, in terms of a simulation instead of recordings.
func (s *Judged) Notes() []numa.Note {
	out := slices.Clone(s.Run.Notes)
	for i := range out {
		out[i].Text = strings.ReplaceAll(out[i].Text, "recorded with", "simulated with")
	}
	return out
}
