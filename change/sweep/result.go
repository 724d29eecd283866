package sweep

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// A Result is a completed sweep.
type Result struct {
	*Plan
	Source string    `json:"source"` // of the story
	Start  time.Time `json:"start"`  // of the story
	Hours  float64   `json:"hours"`  // its length
	// Best and Worst are indexes of Points, excluding today; -1 if all are equal.
	Best    int           `json:"best"`
	Worst   int           `json:"worst"`
	Points  []PointResult `json:"points"`  // in the order of Plan.Points: today first
	Effects []Effect      `json:"effects"` // by dimension, then value
}

// A PointResult is the result of a point.
type PointResult struct {
	Point
	Labels   []string    `json:"values,omitempty"` // by dimension; "today" for today
	Steps    []Step      `json:"steps,omitempty"`
	Measured Spreads     `json:"measures"` // over the completed runs
	Failed   int         `json:"failed"`   // runs that could not be simulated
	Runs     []RunResult `json:"runs"`     // by seed
}

// A RunResult is a record, or the reason why there is none.
type RunResult struct {
	Seed   uint64  `json:"seed"`
	Record *Record `json:"record,omitempty"`
	Failed string  `json:"failed,omitempty"`
}

// A Spread is a quantity over the runs of a point, which differ in their seed.
type Spread struct {
	Known bool    `json:"-"`
	Mean  float64 `json:"mean"`
	Low   float64 `json:"least"`
	High  float64 `json:"most"`
	// AgainstToday is the difference of the mean from that of today; nil if one is unknown.
	AgainstToday *float64 `json:"againstToday,omitempty"`
}

// Spreads has one entry for each of Measures, in shares, bytes, hours and cores.
type Spreads []Spread

// MarshalJSON writes the known ones with the keys of their measures.
func (s Spreads) MarshalJSON() ([]byte, error) {
	out := map[string]*Spread{}
	for k := range s {
		if s[k].Known {
			out[Measures[k].Key] = &s[k]
		}
	}
	return json.Marshal(out)
}

// An Effect is the effect of one value of a dimension: the mean over all points with it.
type Effect struct {
	Dimension string  `json:"dimension"`
	Value     string  `json:"value"`
	Points    int     `json:"points"` // number of points in the mean
	Of        int     `json:"of"`     // number of points with the value
	Mean      Spreads `json:"measures"`
}

// A Measure is a quantity for comparing points.
type Measure struct {
	Key   string // in JSON and CSV
	Title string // of a column
	Kind  MeasureKind
	of    func(r *Record, p *Plan) (float64, bool)
}

// A MeasureKind is the number format of a measure.
type MeasureKind uint8

// The kinds of measures.
const (
	Number MeasureKind = iota
	Share              // in [0, 1]; as percent outside
	Bytes
	Hours
	Cores // on average
	Index // 1 is the speed with all memory local and no wait
)

// The measures that determine the best point, as indexes of Measures.
const (
	VMHours = iota
	Asked
	Speed
	SpeedLow
	SpeedHigh
	Worst
	Locality
	Remote
	Far
	Ready
	CoStop
	Swapped
	Moves
	Findings
)

// Measures are all measures, in the order of columns.
var Measures = []Measure{
	VMHours: {"vmHours", "VM hours", Hours, func(r *Record, _ *Plan) (float64, bool) { return float64(r.Fleet.Steps) * numa.Step.Hours(), true }},
	Asked:   {"asked", "CPU asked", Cores, func(r *Record, p *Plan) (float64, bool) { return float64(r.Fleet.Demand) / 1e4 / p.stepsLong(), true }},
	Speed:   {"speed", "speed", Index, func(r *Record, _ *Plan) (float64, bool) { return r.Fleet.MeanSpeed() }},
	SpeedLow: {"speedLow", "speed from", Index, func(r *Record, _ *Plan) (float64, bool) {
		return scheduler.Share(r.Fleet.SpeedLow, int64(r.Fleet.Priced)*1e6)
	}},
	SpeedHigh: {"speedHigh", "speed to", Index, func(r *Record, _ *Plan) (float64, bool) {
		return scheduler.Share(r.Fleet.SpeedHigh, int64(r.Fleet.Priced)*1e6)
	}},
	Worst:    {"worst", "worst", Index, func(r *Record, _ *Plan) (float64, bool) { return float64(r.Fleet.Worst) / 1e6, r.Fleet.Priced > 0 }},
	Locality: {"locality", "N%L", Share, func(r *Record, _ *Plan) (float64, bool) { return r.Fleet.Locality() }},
	Remote:   {"remote", "remote", Bytes, func(r *Record, p *Plan) (float64, bool) { return p.mean(r.Fleet.Remote), true }},
	Far:      {"far", "far", Share, func(r *Record, _ *Plan) (float64, bool) { return r.Fleet.FarShare() }},
	Ready:    {"ready", "ready", Share, func(r *Record, _ *Plan) (float64, bool) { return r.Fleet.ReadyShare() }},
	CoStop:   {"coStop", "co-stop", Share, func(r *Record, _ *Plan) (float64, bool) { return r.Fleet.CoStopShare() }},
	Swapped:  {"swapped", "swapped", Bytes, func(r *Record, p *Plan) (float64, bool) { return p.mean(r.Fleet.Swapped), true }},
	Moves:    {"migrations", "migrations", Number, func(r *Record, _ *Plan) (float64, bool) { return float64(r.Fleet.Moves.All), true }},
	Findings: {"findings", "findings", Number, func(r *Record, p *Plan) (float64, bool) { return float64(r.AtLeast(finding.Info)), !p.Options.Silent }},
}

// mean converts pages × steps to the mean number of bytes over the story.
func (p *Plan) mean(pageSteps int64) float64 {
	return float64(pageSteps) * float64(numa.PageSize) / p.stepsLong()
}

func (p *Plan) stepsLong() float64 { return float64(p.Story.Length / numa.Step) }

// measure computes the aggregate results of the runs.
func (r *Result) measure() {
	for i := range r.Points {
		pt := &r.Points[i]
		pt.Measured = make(Spreads, len(Measures))
		for k := range Measures {
			var all []float64
			for _, one := range pt.Runs {
				if one.Record == nil {
					continue
				}
				if v, ok := Measures[k].of(one.Record, r.Plan); ok {
					all = append(all, v)
				}
			}
			pt.Measured[k] = spread(all)
		}
		for _, one := range pt.Runs {
			if one.Record == nil {
				pt.Failed++
			}
		}
		r.compare(pt)
	}
	r.rank()
	r.effects()
}

// compare compares a point with today.
func (r *Result) compare(pt *PointResult) {
	for k, was := range r.Today().Measured {
		if s := &pt.Measured[k]; s.Known && was.Known {
			d := s.Mean - was.Mean
			s.AgainstToday = &d
		}
	}
}

func spread(all []float64) Spread {
	if len(all) == 0 {
		return Spread{}
	}
	s := Spread{Known: true, Low: all[0], High: all[0]}
	for _, v := range all {
		s.Mean += v
		s.Low, s.High = min(s.Low, v), max(s.High, v)
	}
	s.Mean /= float64(len(all))
	return s
}

// Whole reports whether every run of the point succeeded.
func (p *PointResult) Whole() bool { return p.Failed == 0 }

// rank finds the best and the worst point. Criteria, in this order: more hours in which VMs
// run, less swapped memory in whole GB, which no speed counts, faster VMs, more local memory, less ready time. Points with a failed run are excluded.
func (r *Result) rank() {
	r.Best, r.Worst = -1, -1
	for i := 1; i < len(r.Points); i++ {
		if !r.Points[i].Whole() {
			continue
		}
		if r.Best < 0 || better(&r.Points[i], &r.Points[r.Best]) > 0 {
			r.Best = i
		}
		if r.Worst < 0 || better(&r.Points[i], &r.Points[r.Worst]) < 0 {
			r.Worst = i
		}
	}
	if r.Best >= 0 && better(&r.Points[r.Best], &r.Points[r.Worst]) == 0 {
		r.Best, r.Worst = -1, -1
	}
}

// better is positive if a is better than b.
func better(a, b *PointResult) int {
	by := func(k int) int {
		x, y := a.Measured[k], b.Measured[k]
		if x.Known != y.Known { // the speed of VMs that did not run is unknown
			if x.Known {
				return 1
			}
			return -1
		}
		return cmp.Compare(x.Mean, y.Mean)
	}
	swapped := func(p *PointResult) float64 { return math.Round(p.Measured[Swapped].Mean / float64(numa.GiB)) }
	return cmp.Or(by(VMHours), cmp.Compare(swapped(b), swapped(a)), by(Speed), by(Locality), -by(Ready))
}

// BeatsToday reports whether the best point is better than today.
func (r *Result) BeatsToday() bool {
	return r.Best >= 0 && r.Today().Whole() && better(&r.Points[r.Best], r.Today()) > 0
}

// Swaps reports whether memory is swapped in some point: the speed leaves out the VMs with more than 1 % of theirs.
func (r *Result) Swaps() bool {
	return slices.ContainsFunc(r.Points, func(p PointResult) bool { return p.Measured[Swapped].High > 0 })
}

// Faster returns the number of seeds with which a point is faster than today, and the number of
// seeds with which both ran.
func (r *Result) Faster(point int) (faster, of int) {
	for i, one := range r.Points[point].Runs {
		before := r.Today().Runs[i].Record
		if one.Record == nil || before == nil {
			continue
		}
		a, okA := Measures[Speed].of(one.Record, r.Plan)
		b, okB := Measures[Speed].of(before, r.Plan)
		if !okA || !okB {
			continue
		}
		if of++; a > b {
			faster++
		}
	}
	return faster, of
}

// effects computes the effect of each value.
func (r *Result) effects() {
	for d := range r.Plan.Dimensions {
		for v := range r.Plan.Dimensions[d].Values {
			e := Effect{Dimension: r.Dimensions[d].Name, Value: r.Dimensions[d].Values[v].Label, Mean: make(Spreads, len(Measures))}
			all := make([][]float64, len(Measures))
			for i := range r.Points {
				pt := &r.Points[i]
				if pt.Values == nil || pt.Values[d] != v {
					continue
				}
				if e.Of++; !pt.Whole() {
					continue
				}
				e.Points++
				for k := range Measures {
					if m := pt.Measured[k]; m.Known {
						all[k] = append(all[k], m.Mean)
					}
				}
			}
			for k := range Measures {
				e.Mean[k] = spread(all[k])
			}
			r.Effects = append(r.Effects, e)
		}
	}
}

// Today returns the result of the unchanged story.
func (r *Result) Today() *PointResult { return &r.Points[0] }

// Failed counts the points with a run that could not be simulated.
func (r *Result) Failed() int {
	return words.Count(r.Points, func(p PointResult) bool { return !p.Whole() })
}

// Extrapolated reports whether the speed of some VM is outside of the measured range.
func (r *Result) Extrapolated() bool {
	for i := range r.Points {
		for _, one := range r.Points[i].Runs {
			if one.Record != nil && one.Record.Fleet.Extrapolated > 0 {
				return true
			}
		}
	}
	return false
}

// AtLeast counts the points with findings of a severity or more.
func (r *Result) AtLeast(least finding.Severity) (n int) {
	for i := range r.Points {
		for _, one := range r.Points[i].Runs {
			if one.Record != nil && one.Record.AtLeast(least) > 0 {
				n++
				break
			}
		}
	}
	return n
}

// Alike reports whether a measure is equal in all points: to a thousandth, because the noise
// depends on the seed.
func (r *Result) Alike(measure int) bool {
	var all []float64
	for i := range r.Points {
		if m := r.Points[i].Measured[measure]; m.Known {
			all = append(all, m.Mean)
		}
	}
	s := spread(all)
	return s.High-s.Low <= s.High/1000
}
