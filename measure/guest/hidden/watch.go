package hidden

import (
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/homenode/internal/stat"
	"example.org/homenode/internal/words"
	"example.org/homenode/source/measured"
)

// A Round is the measurement of one round of watching.
type Round struct {
	At        time.Time
	Model     string        // of the processor; "" if unknown
	CounterHz float64       // of the counter against the monotonic clock; 0 if unknown
	CoreHz    float64       // 0 if unknown
	Gap       time.Duration // the longest time in which no vCPU ran
	// NS has the latency of each page from each vCPU of the watch, as Latencies returns it for 8 rounds of probes; the pages are always the same. NaN
	// means unknown.
	NS [][]float64
}

// A Watch detects changes from round to round. Its fields are its state: it can be stored as JSON and continued days later.
//
// It learns the usual latencies by vCPU and page in five rounds. Then it counts latencies that have changed by at least four standard deviations and
// 15 ns, after subtracting the common change of the vCPU. Pages that changed for most vCPUs have moved. Pages that changed for a single vCPU, beyond
// their number in the learned rounds, indicate that this vCPU has moved. The counts go into CUSUM charts (Page 1954), which detect small lasting
// changes and large ones at once: S = max(0, S + z − ½) alarms above 8. For normal z that is one false alarm in 19,000 rounds, 13 days of one a
// minute. z is limited to 4, so that one wild round raises no alarm. After a change it learns again.
type Watch struct {
	CPUs  []int         `json:"cpus"`
	Last  *Seen         `json:"last,omitempty"`
	Learn [][][]float64 `json:"learn,omitempty"` // learning rounds, by vCPU and page; 0 is unknown
	Usual [][]float64   `json:"usual,omitempty"` // by vCPU and page; 0 is unknown
	Sigma float64       `json:"sigmaNs,omitempty"`
	Off   []float64     `json:"off,omitempty"` // by vCPU: number of pages that changed for it in a learning round
	Pages float64       `json:"pagesSum"`      // the charts
	Own   []float64     `json:"ownSum"`        // by vCPU
	Rows  []float64     `json:"rowSum"`        // by vCPU: farther from all pages; negative: nearer
}

// Seen has properties of the machine in the last round.
type Seen struct {
	Model     string  `json:"model,omitempty"`
	CounterHz float64 `json:"counterHz,omitempty"`
	CoreHz    float64 `json:"coreHz,omitempty"`
}

// Kinds of changes.
const (
	PagesMoved = "pages moved"
	VCPUsMoved = "vCPUs moved"
	Moved      = "vCPUs or memory moved" // most pages for most vCPUs at once
	Migrated   = "probably live migration"
)

const (
	learnRounds = 5
	chartDrift  = 0.5
	chartLimit  = 8.0
	chartMost   = 4.0
	farOff      = 4.0  // standard deviations
	ofPages     = 0.01 // of all: the standard deviation of a count, 1 page at least
	rowSigma    = 8.0  // ns: variation of a vCPU's level from round to round on a busy machine
	counterStep = 1e-4 // calibrations of one counter differ by a hundredth of it
	coreStep    = 0.1  //
	longGap     = 100 * time.Millisecond
)

// NewWatch starts a watch from these logical processors.
func NewWatch(cpus []int) *Watch {
	return &Watch{CPUs: cpus, Own: make([]float64, len(cpus)), Rows: make([]float64, len(cpus))}
}

// Add processes a round and returns the changes.
func (w *Watch) Add(r *Round) (changes []measured.WatchChange) {
	if why := w.machine(r); why != "" {
		changes = append(changes, measured.WatchChange{What: Migrated, Says: "Probably live migration (vMotion): " + why + "."})
		w.forget()
	}
	w.Last = &Seen{r.Model, r.CounterHz, r.CoreHz}
	if len(r.NS) != len(w.CPUs) {
		return changes
	}
	if w.Usual == nil {
		w.learn(r)
		return changes
	}
	if c := w.compare(r); c != nil {
		changes = append(changes, *c)
		w.forget()
	}
	return changes
}

// machine describes changed properties of the machine that are constant as long as a guest stays on its host.
func (w *Watch) machine(r *Round) string {
	var why []string
	if r.Gap > longGap {
		why = append(why, fmt.Sprintf("no vCPU ran for %d ms, or this process was stopped", r.Gap.Milliseconds()))
	}
	if w.Last != nil {
		if r.Model != "" && w.Last.Model != "" && r.Model != w.Last.Model {
			why = append(why, "the processor is another model")
		}
		if a, b := w.Last.CounterHz, r.CounterHz; a > 0 && b > 0 && math.Abs(b/a-1) > counterStep {
			why = append(why, fmt.Sprintf("the TSC went from %.3f to %.3f MHz", a/1e6, b/1e6))
		}
		if a, b := w.Last.CoreHz, r.CoreHz; len(why) > 0 && a > 0 && b > 0 && math.Abs(b/a-1) > coreStep {
			why = append(why, fmt.Sprintf("the core clock went from %.1f to %.1f GHz", a/1e9, b/1e9))
		}
	}
	return words.Join(", ", why...)
}

func (w *Watch) forget() {
	w.Learn, w.Usual, w.Off, w.Pages = nil, nil, nil, 0
	clear(w.Own)
	clear(w.Rows)
}

func (w *Watch) learn(r *Round) {
	round := make([][]float64, len(r.NS))
	for v, row := range r.NS {
		round[v] = slices.Clone(row)
		for i, x := range round[v] {
			if math.IsNaN(x) {
				round[v][i] = 0
			}
		}
	}
	w.Learn = append(w.Learn, round)
	if len(w.Learn) < learnRounds {
		return
	}
	var off []float64
	w.Usual = make([][]float64, len(w.CPUs))
	values := make([]float64, 0, learnRounds)
	for v := range w.CPUs {
		w.Usual[v] = make([]float64, len(round[v]))
		for i := range w.Usual[v] {
			values = values[:0]
			for _, l := range w.Learn {
				if i < len(l[v]) && l[v][i] > 0 {
					values = append(values, l[v][i])
				}
			}
			if len(values) > learnRounds/2 {
				w.Usual[v][i] = stat.MedianOf(values)
			}
		}
		for _, l := range w.Learn {
			off = append(off, w.off(v, l[v])...)
		}
	}
	learned := w.Learn
	w.Learn = nil
	// Learning rounds are closer to their median than later rounds.
	if w.Sigma = 1.3 * stat.Deviation(off); math.IsNaN(w.Sigma) { // nothing was known
		w.Sigma, w.Usual = 0, nil
		return
	}
	w.Off = make([]float64, len(w.CPUs))
	for v := range w.CPUs {
		for _, l := range learned {
			for _, changed := range w.changed(v, l[v]) {
				if changed {
					w.Off[v] += 1.0 / learnRounds
				}
			}
		}
	}
}

// changed reports which pages have changed for a vCPU.
func (w *Watch) changed(v int, row []float64) []bool {
	limit := max(LeastStep, farOff*w.Sigma)
	out := make([]bool, len(w.Usual[v]))
	for i, x := range w.off(v, row) {
		out[i] = math.Abs(x) >= limit
	}
	return out
}

// off returns the deviation of a vCPU's latencies from the usual ones, NaN if unknown, without the common deviation of all pages.
func (w *Watch) off(v int, row []float64) []float64 {
	out := make([]float64, len(w.Usual[v]))
	for i, usual := range w.Usual[v] {
		out[i] = math.NaN()
		if usual > 0 && i < len(row) && row[i] > 0 {
			out[i] = row[i] - usual
		}
	}
	common := stat.MedianOf(slices.Clone(out))
	for i := range out {
		out[i] -= common
	}
	return out
}

// compare searches for changes in the latencies.
func (w *Watch) compare(r *Round) *measured.WatchChange {
	pages := len(w.Usual[0])
	moved, own, level := w.differ(r)
	sigma := max(1, ofPages*float64(pages))
	chart(&w.Pages, float64(moved)/sigma)
	alone, far, shifted, step := w.apart(own, level, sigma)
	c := &measured.WatchChange{Pages: moved}
	switch {
	case w.Pages > chartLimit && (2*moved > pages || len(alone) > 0 || 2*shifted >= len(w.CPUs)):
		c.What, c.Says = Moved, fmt.Sprintf("%s of %d are nearer or farther than before, for most vCPUs: the vCPUs or most of the memory have been moved.", words.Plural(moved, "page"), pages)
	case w.Pages > chartLimit:
		c.What, c.Says = PagesMoved, fmt.Sprintf("%s of %d are nearer or farther than before, for most vCPUs: memory has been moved between nodes.", words.Plural(moved, "page"), pages)
	case len(alone) > 0:
		c.What, c.CPUs = VCPUsMoved, alone
		c.Says = fmt.Sprintf("vCPUs %s see pages near and far otherwise than before, the other vCPUs do not: they have been moved between nodes.", words.Ranges(alone))
	case len(far) > 0:
		c.What, c.CPUs = VCPUsMoved, far
		c.Says = fmt.Sprintf("vCPUs %s see all pages %.0f ns %s than before, beside the other vCPUs: they have been moved between nodes, or another load slows them.",
			words.Ranges(far), math.Abs(step), map[bool]string{true: "farther", false: "nearer"}[step > 0])
	default:
		return nil
	}
	return c
}

// differ counts the pages that are nearer or farther than usual: for most vCPUs (moved), and for each vCPU alone (own). level is the median deviation
// of each vCPU from usual over all pages, in ns.
func (w *Watch) differ(r *Round) (moved int, own []int, level []float64) {
	pages := len(w.Usual[0])
	changed := make([][]bool, len(w.CPUs))
	level = make([]float64, len(w.CPUs))
	for v, row := range r.NS {
		changed[v] = w.changed(v, row)
		var all []float64
		for i, x := range row {
			if i < pages && w.Usual[v][i] > 0 {
				all = append(all, x-w.Usual[v][i])
			}
		}
		level[v] = stat.MedianOf(all)
	}
	own = make([]int, len(w.CPUs))
	for i := range pages {
		seen := 0
		for v := range changed {
			if changed[v][i] {
				seen++
			}
		}
		if 3*seen >= 2*len(w.CPUs) {
			moved++
			continue
		}
		for v := range changed {
			if changed[v][i] {
				own[v]++
			}
		}
	}
	return moved, own, level
}

// apart returns the vCPUs whose own pages changed (alone), those whose distance from all pages changed relative to the others (far) and by how many
// ns (step), and the number of vCPUs with a changed level (shifted).
func (w *Watch) apart(own []int, level []float64, sigma float64) (alone, far []int, shifted int, step float64) {
	common := stat.MedianOf(slices.Clone(level))
	for v := range w.CPUs {
		// The count and the mean of the learning rounds both vary, as counts do.
		chart(&w.Own[v], (float64(own[v])-w.Off[v])/math.Sqrt(sigma*sigma+w.Off[v]*(1+1.0/learnRounds)))
		if w.Own[v] > chartLimit {
			alone = append(alone, w.CPUs[v])
		}
		if math.Abs(level[v]) >= leastRowStep {
			shifted++
		}
		// One sum for both directions: it restarts when the level changes sides.
		x := level[v] - common
		if math.IsNaN(x) || len(w.CPUs) < 2 {
			continue
		}
		sum := math.Abs(w.Rows[v])
		if w.Rows[v]*x < 0 {
			sum = 0
		}
		chart(&sum, math.Abs(x)/rowSigma)
		w.Rows[v] = math.Copysign(sum, x)
		if sum > chartLimit && math.Abs(x) >= leastRowStep {
			far, step = append(far, w.CPUs[v]), x
		}
	}
	return alone, far, shifted, step
}

// chart adds one count to a CUSUM.
func chart(sum *float64, z float64) { *sum = max(0, *sum+min(z, chartMost)-chartDrift) }
