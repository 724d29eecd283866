package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"homenode/capture"
	"homenode/esxi/scheduler"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/simulate"
)

// A simulation is shown as a capture is: its run is judged as recordings are. simulated
// is what it has besides: the story, why everything was decided, and how fast VMs ran.
type simulated struct {
	*simulate.Result
	vms   []*simulatedVM  // by index in the fleet
	order []*simulatedVM  // those that ran: the worst first
	loads map[string]bool // IDs of the VMs of which the story states the load
}

// A simulatedVM is one VM of the story with all its lives.
type simulatedVM struct {
	*numa.VM
	index    int
	lives    []*capturedVM // in the order of time
	findings []*finding.Finding
	nowhere  bool // no host was found for it
	out      *scheduler.VMOutcome
	speed    *simulate.Speed // nil when it was not priced
	taken    *simulate.Speed // nil when no memory of it was ever swapped or ballooned
}

// newSimulated finds what belongs to each VM of a simulation.
func newSimulated(r *simulate.Result) *captured {
	w := r.Watched
	if w == nil {
		w = &rules.Watched{}
	}
	c := newCaptured(w)
	s := &simulated{Result: r, loads: map[string]bool{}}
	for i := range r.Story.Loads {
		s.loads[r.Story.Loads[i].VM] = true
	}
	c.sim = s
	nowhere := s.nowhere()
	end := r.Story.Start.Add(r.Story.Length)
	c.first, c.last = r.Story.Start, end
	if c.clock = newClock(c.first, end.Add(-1)); r.Story.Length < 15*time.Minute {
		c.clock = newClock(c.first, end)
	}
	c.judged = c.judgement()
	for i := range r.Story.Fleet.VMs {
		v := &simulatedVM{VM: &r.Story.Fleet.VMs[i], index: i, nowhere: nowhere[i], out: &r.Outcome.VMs[i]}
		if i < len(r.Speeds) && r.Speeds[i].Known() {
			v.speed = &r.Speeds[i]
		}
		if i < len(r.Speeds) && r.Speeds[i].Taken() > 0 {
			v.taken = &r.Speeds[i]
		}
		s.vms = append(s.vms, v)
	}
	for _, life := range c.vms {
		known := r.Lives[life.VM]
		v := s.vms[known.VM]
		life.blind = known.Interleaved
		if life.label != life.Name { // a scheduler group of the model tells nobody anything
			life.label = life.Name + " from " + c.clock.at(life.First)
		}
		v.lives = append(v.lives, life)
		v.findings = append(v.findings, life.findings...)
	}
	for _, v := range s.vms {
		slices.SortStableFunc(v.lives, func(a, b *capturedVM) int { return a.First.Compare(b.First) })
		slices.SortStableFunc(v.findings, func(a, b *finding.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
		if v.out.Steps > 0 {
			s.order = append(s.order, v)
		}
	}
	slices.SortStableFunc(s.order, worstFirst)
	return c
}

// worstFirst orders VMs by whether they found a host, then by the memory that they miss, then by their worst finding, then by
// speed, then by far accesses.
func worstFirst(a, b *simulatedVM) int {
	worst := func(v *simulatedVM) int {
		if len(v.findings) == 0 {
			return -1
		}
		return int(v.findings[0].Severity)
	}
	speed := func(v *simulatedVM) float64 {
		if v.speed == nil {
			return math.Inf(1)
		}
		return v.speed.Mean
	}
	far := func(v *simulatedVM) float64 { share, _ := v.far(); return share }
	homeless := func(v *simulatedVM) int {
		if v.nowhere {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(homeless(b), homeless(a)), cmp.Compare(b.missing(), a.missing()), cmp.Compare(worst(b), worst(a)), cmp.Compare(speed(a), speed(b)), cmp.Compare(far(b), far(a)), cmp.Compare(a.index, b.index))
}

// share divides two sums of the outcome; false when the second is nothing.
func shareOf(part, whole int64) (float64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// mean returns N%L over all its steps, by memory.
func (v *simulatedVM) mean() (float64, bool) { return shareOf(v.out.Local, v.out.Local+v.out.Remote) }

// far returns the share of its memory, over all its steps, that was not on the node of the
// client it belongs to.
func (v *simulatedVM) far() (float64, bool) { return shareOf(v.out.Far, v.out.Local+v.out.Remote) }

// waited returns the share of the time in which its vCPUs wanted to run that they spent
// ready.
func (v *simulatedVM) waited() (float64, bool) {
	return shareOf(v.out.Ready, v.out.Run+v.out.Ready+v.out.CoStop)
}

// stopped does so for co-stop.
func (v *simulatedVM) stopped() (float64, bool) {
	return shareOf(v.out.CoStop, v.out.Run+v.out.Ready+v.out.CoStop)
}

// least returns the life and the moment of the least N%L; nil when it has none.
func (v *simulatedVM) least() *capturedVM {
	var least *capturedVM
	for _, life := range v.lives {
		if life.leastText() != "" && (least == nil || leastLocality(life.VM) < leastLocality(least.VM)) {
			least = life
		}
	}
	return least
}

// blind reports whether N%L of the VM means nothing.
func (v *simulatedVM) blind() bool {
	return slices.ContainsFunc(v.lives, func(l *capturedVM) bool { return l.blind })
}

// hosts names the hosts that it ran on, in the order of time.
func (v *simulatedVM) hosts() []string {
	var names []string
	for _, l := range v.lives {
		if n := len(names); n == 0 || names[n-1] != l.rec.Host {
			names = append(names, l.rec.Host)
		}
	}
	return names
}

// ran returns how long it ran.
func (v *simulatedVM) ran() time.Duration { return time.Duration(v.out.Steps) * numa.Step }

func (v *simulatedVM) meanText() string {
	share, ok := v.mean()
	if !ok || v.blind() {
		return ""
	}
	return rule.NL(share)
}

func (v *simulatedVM) leastText() string {
	life := v.least()
	if life == nil {
		return ""
	}
	return life.leastText()
}

func rateOf(share float64, ok bool) string {
	if !ok {
		return ""
	}
	return rateText(share)
}

// speedText returns the performance index with its interval: "0.91 (0.89–0.96)*"; a star
// marks that it is extrapolated.
func (v *simulatedVM) speedText() string {
	if v.missing() > 0 {
		return "not priced: " + v.takenText()
	}
	if v.speed == nil {
		return ""
	}
	return indexText(v.speed.Mean, v.speed.Low, v.speed.High, v.speed.Extrapolated)
}

// missing returns the most memory that was swapped or ballooned when that left moments of
// the VM without a price.
func (v *simulatedVM) missing() numa.Bytes {
	if v.taken == nil || v.taken.Unpriced == 0 {
		return 0
	}
	return v.taken.Taken()
}

// takenText says how much memory was swapped and ballooned at the most; "" for none.
func (v *simulatedVM) takenText() string {
	if v.taken == nil {
		return ""
	}
	var parts []string
	if n := v.taken.Swapped; n > 0 {
		parts = append(parts, n.String()+" swapped")
	}
	if n := v.taken.Balloon; n > 0 {
		parts = append(parts, n.String()+" ballooned")
	}
	return strings.Join(parts, ", ")
}

func indexText(value, low, high float64, extrapolated bool) string {
	text := fmt.Sprintf("%.2f (%.2f–%.2f)", value, low, high)
	if extrapolated {
		text += "*"
	}
	return text
}

// slowest returns the VM with the least performance index; nil when none was priced.
func (s *simulated) slowest() *simulatedVM {
	var worst *simulatedVM
	for _, v := range s.order {
		if v.speed != nil && v.missing() == 0 && (worst == nil || v.speed.Mean < worst.speed.Mean) {
			worst = v
		}
	}
	return worst
}

// assumed returns the VMs that ran with a load that is assumed.
func (s *simulated) assumed() []*simulatedVM {
	var out []*simulatedVM
	for _, v := range s.order {
		if !s.stated(v) {
			out = append(out, v)
		}
	}
	return out
}

// stated reports whether the story states the load of the VM, if only a part of it.
func (s *simulated) stated(v *simulatedVM) bool {
	return s.loads[v.ID] || s.Story.Unstated.Origin.Kind != numa.Assumed
}

// assumedText says of how many VMs the load is assumed, and what; "" for none.
func (s *simulated) assumedText() string {
	n := len(s.assumed())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("load of %s is assumed: %s", plural(n, "VM"), s.Story.Unstated.Origin.Where)
}

// modelText says by which releases the hosts schedule, and how many have options set.
func (s *simulated) modelText() string {
	var names []string
	count := map[string]int{}
	set := 0
	for i := range s.Story.Fleet.Hosts {
		h := &s.Story.Fleet.Hosts[i]
		name := "an unknown release"
		if h.Release.Known() {
			name = h.Release.Value.String()
		}
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
		if len(h.Options.Value) > 0 {
			set++
		}
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", name, plural(count[name], "host"))
	}
	text := "scheduler of " + strings.Join(names, ", ")
	if set == 0 {
		return text + ", default options"
	}
	return fmt.Sprintf("%s; options are set on %s", text, plural(set, "host"))
}

// runText says how long the story is, how finely it was watched, and with which noise.
func (s *simulated) runText() string {
	return fmt.Sprintf("%s from %s UTC · ticks every %s · seed %d", rule.Duration(s.Story.Length), s.Story.Start.UTC().Format("2006-01-02 15:04"),
		rule.Duration(s.Story.Every), s.Story.Seed)
}

// at returns when something happened as the report writes times.
func (c *captured) after(d time.Duration) string { return c.clock.at(c.sim.Story.Start.Add(d)) }

// named returns the VMs of the story with this name, which may have its host before it.
func (s *simulated) named(name string) []*simulatedVM {
	var out []*simulatedVM
	for _, v := range s.vms {
		full := func(l *capturedVM) bool {
			return name == l.rec.Host+"/"+v.Name || name == l.label || name == l.rec.Host+"/"+l.label
		}
		if name == v.Name || name == v.ID || slices.ContainsFunc(v.lives, full) {
			out = append(out, v)
		}
	}
	return out
}

// lifeSpeed returns the points of the performance index that lie in one life of a VM.
func (s *simulated) lifeSpeed(v *capture.VM) []simulate.SpeedPoint {
	life, ok := s.Lives[v]
	if !ok {
		return nil
	}
	points := s.Speeds[life.VM].Points
	from, _ := slices.BinarySearchFunc(points, v.First, func(p simulate.SpeedPoint, at time.Time) int { return p.Time.Compare(at) })
	to, _ := slices.BinarySearchFunc(points, v.Last.Add(1), func(p simulate.SpeedPoint, at time.Time) int { return p.Time.Compare(at) })
	return points[from:to]
}

// summary is the verdict on a run that was too large to be judged.
func (s *simulated) summary() (verdict, rest string) {
	far, all := int64(0), int64(0)
	var worst *simulatedVM
	for _, v := range s.order {
		far, all = far+v.out.Remote, all+v.out.Local+v.out.Remote
		if worst == nil || v.out.Remote > worst.out.Remote {
			worst = v
		}
	}
	share, ok := shareOf(far, all)
	if !ok {
		return "Simulated: nothing can be said about NUMA: no VM ran.", ""
	}
	verdict = fmt.Sprintf("Simulated, in sum only: %s of the memory of %s was remote over %s", rateText(share), plural(len(s.order), "VM"), rule.Duration(s.Story.Length))
	if worst.out.Remote > 0 {
		verdict += ", most of all " + worst.Name
	}
	return verdict + ".", "Nothing was judged: there are too many VMs for it; --every 5m judges them, with some 100 KB of memory a VM."
}

// reworded returns notes of the judgement, which speaks of recordings.
func (s *simulated) reworded(notes []numa.Note) []numa.Note {
	out := slices.Clone(notes)
	for i := range out {
		out[i].Text = strings.ReplaceAll(out[i].Text, "recorded with", "simulated with")
	}
	return out
}
