package guest

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"example.org/homenode/source/machine"
	"example.org/homenode/source/measured"
)

// run is the state of a run.
type run struct {
	plan *Plan
	out  *measured.Result
	load Load

	swapped    float64 // pages, before anything was touched
	seen       []seen  // probed pages, by node of the guest
	pairsBoth  int     // pairs measured in both directions
	pairsApart []string
	byPages    float64 // latency of single pages of the largest working set, and of a chase through it at the same time
	byChase    []float64
	until      time.Time // no task starts later
	again      bool      // a task was repeated
	disturbed  bool      // samples of this task were disturbed
	ended      error     // why the run ended early
}

// Run executes the plan. The result is valid even if ctx ended or a task failed: missing parts are listed in Missing. An error means
// that nothing was measured.
func Run(ctx context.Context, p *Plan) (*measured.Result, error) {
	r := &run{plan: p, out: &measured.Result{Format: measured.Format, Version: measured.Version, Name: p.Options.Name,
		Profile: p.Options.Profile, Started: time.Now().UTC().Truncate(time.Second), Machine: p.Machine}}
	r.out.Missing = append(r.out.Missing, p.Machine.Missing...)
	r.out.Missing = append(r.out.Missing, p.Missing...)
	started := time.Now()
	// The GC would take logical processors from the measurement. It runs between tasks.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if len(p.Tasks) > 0 {
		_, r.swapped = memoryPressure()
		r.look(ctx)
		r.tasks(ctx)
	}
	r.out.Seconds = time.Since(started).Seconds()
	r.judge()
	return r.out, nil
}

// look measures the load of others before the first task.
func (r *run) look(ctx context.Context) {
	d := looksFor / 2
	if r.plan.Options.quick() {
		d = looksFor / 4
	}
	r.load = look(ctx, len(r.plan.CPUs), d)
}

// tasks runs the tasks in sequence. They end with ctx, with an increased load, or if a task needs twice its time.
func (r *run) tasks(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if rise, err := risen(len(r.plan.CPUs)); err == nil {
		go guard(ctx, rise, cancel)
	}
	var done time.Duration
	total := r.plan.Total()
	r.until = time.Now().Add(r.plan.limit())
	for i := range r.plan.Tasks {
		t := &r.plan.Tasks[i]
		switch {
		case ctx.Err() != nil:
			r.ended = context.Cause(ctx)
			r.miss(t.Name, reasonOf(context.Cause(ctx)), "run it again")
			continue
		case i > 0 && time.Now().After(r.until):
			r.miss(t.Name, errNoTime.Error(), "more --time, or a calmer machine")
			continue
		case r.load.Busy() && !r.plan.Options.Force && !t.robust():
			r.miss(t.Name, r.load.String(), "run it when the machine is calm, or with --force")
			continue
		}
		if r.plan.Options.Progress != nil {
			r.plan.Options.Progress(Progress{Task: t.Name, Done: done, Planned: total})
		}
		if len(r.plan.CPUs) > 0 {
			r.clock(r.plan.CPUs[0])
		}
		r.task(ctx, t)
		done += t.For
		debug.FreeOSMemory()
	}
	if r.plan.Options.Progress != nil {
		r.plan.Options.Progress(Progress{Done: total, Planned: total, Finished: true})
	}
}

// robust reports whether load does not affect a task: medians of probes that are too short to be interrupted.
func (t *Task) robust() bool { return t.Part == Hidden || t.Part == Topology }

// grace is the maximum ratio of actual to planned duration.
const grace = 2

func (r *run) task(ctx context.Context, t *Task) {
	limit, cancel := r.within(ctx, t)
	defer cancel()
	before, began := *r.out, time.Now()
	r.disturbed = false
	err := t.run(limit, r, t.For)
	if took := time.Since(began); err == nil && r.disturbed && !r.again && time.Now().Add(took).Before(r.until) {
		// Repeat a disturbed task, if there is time; a run with many tasks repeats at most one. If the second attempt fails, the
		// first result stays.
		r.again = true
		first := *r.out
		*r.out = before
		once, stop := r.within(ctx, t)
		if t.run(once, r, t.For) != nil {
			*r.out = first
		}
		stop()
	}
	if err != nil {
		if limit.Err() != nil {
			err = context.Cause(limit)
		}
		if ctx.Err() != nil {
			r.ended = context.Cause(ctx)
		}
		r.miss(t.Name, reasonOf(err), remedyOf(err))
	}
}

// within limits the duration of a task, and of the run.
func (r *run) within(ctx context.Context, t *Task) (context.Context, context.CancelFunc) {
	d, cause := grace*t.For+time.Second, errTooLong
	if left := time.Until(r.until); left < d {
		d, cause = left, errNoTime
	}
	return context.WithTimeoutCause(ctx, d, cause)
}

var (
	errTooLong = errors.New("it took more than twice the planned time")
	errNoTime  = errors.New("no time was left")
)

// reasonOf returns the reason for a missing result as text.
func reasonOf(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return err.Error()
}

// A remedied error includes a remedy.
type remedied struct {
	error
	remedy string
}

func (e *remedied) Unwrap() error { return e.error }

func remedyOf(err error) string {
	if e := (*remedied)(nil); errors.As(err, &e) {
		return e.remedy
	}
	return ""
}

func (r *run) miss(part, reason, remedy string) {
	r.out.Missing = append(r.out.Missing, machine.Missing{Part: part, Reason: reason, Remedy: remedy})
}
