package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"example.org/homenode/internal/stat"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/hidden"
	"example.org/homenode/measure/guest/pages"
	"example.org/homenode/measure/guest/pingpong"
	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// Parameters of a round of watching.
const (
	watchBlocks  = 32 // permanent blocks of 2 MiB, and as many fresh ones in each round, for each node
	watchPairs   = 32
	gapCPUs      = 4 // processors on which lost time is measured
	watchGaps    = 50 * time.Millisecond
	watchLooking = 2 * time.Second
	mostCPU      = .01 // share of one processor: more expensive rounds are less frequent
	LeastEvery   = 5 * time.Second
)

// A Watcher measures rounds.
type Watcher struct {
	plan    *Plan
	run     *run
	rng     *rand.Rand
	same    []*scene
	watches []*hidden.Watch // by scene
	pairs   []*duo
	stuns   *stuns
	stop    context.CancelFunc
	round   int
	huge    bool
	used    float64 // processor time of this process at the last round, in seconds
}

// NewWatcher allocates the pages that are the same in every round. The caller closes it.
func NewWatcher(ctx context.Context, p *Plan) (*Watcher, error) {
	if m := &p.Machine.Identity; m.Emulated.Known() && m.Emulated.Value {
		return nil, errors.New("the processor is emulated by software, whose times mean nothing")
	}
	w := &Watcher{plan: p, run: &run{plan: p, out: &measured.Result{}}, rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)),
		same: p.scenes(), huge: p.Options.Paging != PagingNone}
	_, w.run.swapped = memoryPressure()
	if len(w.same) == 0 {
		return nil, errors.New("no logical processor can be measured")
	}
	if err := w.take(ctx, w.same); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	for _, s := range w.same {
		for _, m := range s.memory {
			if !m.ReadOnly {
				_ = m.Lock() // if locking fails, it may be swapped out: swapping is reported
			}
		}
		s.cached()
		w.watches = append(w.watches, hidden.NewWatch(s.cpus))
	}
	w.pairs = duos(len(p.CPUs), len(p.CPUs)*len(p.CPUs))
	w.pairs = w.pairs[:min(len(w.pairs), watchPairs)]
	background, stop := context.WithCancel(ctx)
	w.stop, w.stuns = stop, watchStuns(background, p.CPUs)
	if u, err := systemUsage(); err == nil {
		w.used = u.own
	}
	return w, nil
}

// take touches blocks of each scene, in huge pages if available.
func (w *Watcher) take(ctx context.Context, scenes []*scene) error {
	blocks := max(1, min(watchBlocks, int(w.plan.Memory.Bytes/blockBytes)/2/len(scenes)))
	for _, s := range scenes {
		err := s.take(ctx, blocks, w.huge, w.run.step, w.rng)
		if err != nil && w.huge && w.plan.Options.Paging != PagingHuge && ctx.Err() == nil {
			w.huge = false
			if err = s.close(); err != nil {
				return err
			}
			s.pages = nil
			err = s.take(ctx, blocks, false, w.run.step, w.rng)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close frees the memory.
func (w *Watcher) Close() (err error) {
	if w.stop != nil {
		w.stop()
	}
	for _, s := range w.same {
		err = errors.Join(err, s.close())
	}
	return err
}

// Round measures one round. Its error ends the watch; parts that could not be measured are listed in Missing.
func (w *Watcher) Round(ctx context.Context) (*measured.WatchRound, error) {
	w.round++
	out := &measured.WatchRound{Format: measured.WatchFormat, Version: measured.Version, Name: w.plan.Options.Name, Round: w.round,
		At: time.Now().UTC().Truncate(time.Second), CounterHz: cpu.Calibrate(), Stun: w.stuns.longest().Seconds()}
	out.CoreHz = w.run.clock(w.plan.CPUs[0])
	miss := func(part string, err error) {
		out.Missing = append(out.Missing, machine.Missing{Part: part, Reason: reasonOf(err), Remedy: remedyOf(err)})
	}
	if err := w.look(ctx, out); err != nil {
		miss("pages", err)
	}
	if err := w.swap(ctx, out); err != nil {
		miss("pairs of logical processors", err)
	}
	cpus := w.plan.spare(w.plan.CPUs)
	var err error
	if out.Lost, err = watchLost(ctx, cpus[:min(len(cpus), gapCPUs)], watchGaps); err != nil {
		miss("lost time", err)
	}
	if u, err := systemUsage(); err == nil {
		out.CPUSeconds, w.used = u.own-w.used, u.own
	}
	return out, ctx.Err()
}

// look probes the permanent pages and fresh ones.
func (w *Watcher) look(ctx context.Context, out *measured.WatchRound) (err error) {
	fresh := w.plan.scenes()
	defer func() {
		for _, s := range fresh {
			err = errors.Join(err, s.close())
		}
	}()
	scenes := w.same
	if taken := w.take(ctx, fresh); taken == nil {
		scenes = slices.Concat(w.same, fresh)
	} else if ctx.Err() != nil {
		return ctx.Err()
	} else {
		out.Missing = append(out.Missing, machine.Missing{Part: "fresh pages", Reason: reasonOf(taken), Remedy: remedyOf(taken)})
	}
	probes, err := lookAt(ctx, scenes, hidden.LeastRounds, watchLooking, w.rng)
	if err != nil {
		return err
	}
	for i, s := range scenes {
		short := shortOf(s, probes[i])
		if i >= len(w.same) {
			out.Fresh = append(out.Fresh, short)
			continue
		}
		out.Same = append(out.Same, short)
		round := &hidden.Round{At: out.At, Model: w.plan.Machine.Identity.CPU, CounterHz: out.CounterHz, CoreHz: out.CoreHz, NS: probes[i].Latencies()}
		if i == 0 {
			round.Gap = time.Duration(out.Stun * float64(time.Second))
		}
		for _, c := range w.watches[i].Add(round) {
			c.Node = short.Node
			out.Changes = append(out.Changes, c)
		}
	}
	return nil
}

// usual returns the latency of each page from each vCPU: the median of all rounds.
func usual(p *hidden.Probes) [][]float64 {
	out := make([][]float64, len(p.CPUs))
	values := make([]float64, len(p.NS))
	for v := range out {
		out[v] = make([]float64, len(p.Pages))
		for i := range out[v] {
			for r := range p.NS {
				values[r] = p.NS[r][v][i]
			}
			out[v][i] = stat.MedianOf(values)
		}
	}
	return out
}

func shortOf(s *scene, p *hidden.Probes) measured.WatchHidden {
	h := hidden.Judge(p, nil)
	short := measured.WatchHidden{Answer: h.Answer, Why: h.Why, Delta: h.Delta, Groups: h.Groups, Shares: h.Shares, Median: stat.MedianOf(slices.Concat(usual(p)...))}
	if s.node != pages.Anywhere {
		short.Node = &s.node
	}
	return short
}

// swap measures the pairs.
func (w *Watcher) swap(ctx context.Context, out *measured.WatchRound) error {
	var slow error
	var b breather
	for _, pair := range w.pairs {
		if err := b.breathe(ctx); err != nil {
			return err
		}
		from, to := w.plan.CPUs[pair.a], w.plan.CPUs[pair.b]
		ns, err := pingpong.Swap(ctx, from, to, pingpong.Quick, pairMost, nil)
		if err != nil {
			slow = fmt.Errorf("logical processors %d and %d: %w", from, to, err)
		}
		if len(ns) > 0 {
			sorted := slices.Sorted(slices.Values(ns))
			out.Pairs = append(out.Pairs, measured.Pair{A: from, B: to, Latency: measured.PairStats{N: len(ns), Median: stat.Median(belowThreeQuarters(ns)),
				Min: sorted[0], P25: stat.Quantile(sorted, .25), P75: stat.Quantile(sorted, .75)}})
		}
	}
	slices.SortFunc(out.Pairs, func(a, b measured.Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return slow
}

// Apart returns the minimum interval between rounds like this one, so that they need at most 1 % of one processor.
func Apart(r *measured.WatchRound) time.Duration {
	return time.Duration(r.CPUSeconds / mostCPU * float64(time.Second))
}

// Watch measures a round at the interval every until d is over or ctx ends, and calls emit for each. A round that needs more than 1 %
// of one processor's time is followed by a longer pause.
func Watch(ctx context.Context, p *Plan, every, d time.Duration, emit func(*measured.WatchRound) error) (err error) {
	if every < LeastEvery {
		return fmt.Errorf("every %v: rounds are %v apart or more", every, LeastEvery)
	}
	w, err := NewWatcher(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	end := time.Now().Add(d)
	for {
		began := time.Now()
		r, err := w.Round(ctx)
		if err != nil {
			return nil // end requested
		}
		if err := emit(r); err != nil {
			return err
		}
		pause := max(every, Apart(r))
		if began.Add(pause).After(end) || sleep(ctx, time.Until(began.Add(pause))) != nil {
			return nil
		}
	}
}
