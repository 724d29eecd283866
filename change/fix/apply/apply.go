// Package apply carries out a plan, under a lock in the vCenter: one VM after the other, with a line in the journal before and after each step.
//
//	check ─► shut down ─► reconfigure ─► read back ─► power on ─► done
//
// Every step is "make it so": what is so already is not done again. So going on after an end of whatever kind is the
// same run again, with what the journal remembers: which VMs were running.
package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A Target is the vCenter whose VMs are changed; write.Writer is one. Errors carry a numa.Refusal where they are one.
type Target interface {
	Fleet(ctx context.Context) (*numa.Fleet, error)
	States(ctx context.Context, ids []string) (map[string]numa.State, error)
	Reconfigure(ctx context.Context, vm string, edits []numa.Edit, version string, started func(task string) error) error
	Shutdown(ctx context.Context, vm string) error
	ShutdownAsked(ctx context.Context, vm string, since, boot time.Time) (bool, error)
	Move(ctx context.Context, vm, host string, started func(task string) error) error
	PowerOff(ctx context.Context, vm string, started func(task string) error) error
	PowerOn(ctx context.Context, vm, host string, started func(task string) error) error
	HostOptions(ctx context.Context, host string, keys []string) (numa.Settings, error)
	SetHostOptions(ctx context.Context, host string, edits []numa.Edit) error
	DRSRules(ctx context.Context, cluster string, names []string) (numa.Settings, error)
	SetDRSRules(ctx context.Context, cluster string, edits []numa.Edit) error
	Missing(ctx context.Context, objects, privileges []string) (map[string][]string, error)
	Lock(ctx context.Context, mine string, adopt bool) (holder string, err error)
	Held(ctx context.Context, mine string) (bool, error)
	Unlock(ctx context.Context, run string) (removed bool, err error)
	Login(ctx context.Context) error
}

// Power is how VMs that have to be off come to be off.
type Power string

// The ways.
const (
	PowerNone   Power = ""        // not at all: changes that need it are left out
	PowerGuest  Power = "guest"   // the guest is shut down
	PowerHard   Power = "hard"    // powered off where the guest does not shut down in time
	PowerReboot Power = "reboot"  // settings alone: vmx.reboot.powerCycle makes the next reboot of the guest a power cycle
	PowerWait   Power = "wait"    // wait until somebody powers the VM off
	PowerMove   Power = "vmotion" // not at all, but running VMs of changed hosts are moved once, which activates the options of hosts
)

// Powers are the ways that can be asked for.
var Powers = []Power{PowerGuest, PowerHard, PowerReboot, PowerWait, PowerMove}

// An Outcome is how a VM or host came out.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"     // written, and in effect as far as a power cycle brings it
	Pending  Outcome = "pending"  // written; it takes effect with a power cycle
	Already  Outcome = "already"  // it was so before
	NeedsOff Outcome = "needsOff" // it has to be off, and power was not asked for
	Refused  Outcome = "refused"  // it may not be touched now
	Drift    Outcome = "drift"    // somebody changed it since the plan was made, or while it was to be changed: nothing was written
	Ignored  Outcome = "ignored"  // vSphere took an edit and did not keep it: the others were taken back
	Timeout  Outcome = "timeout"  // it did not shut down in time: nothing was changed
	Lost     Outcome = "lost"     // it did not power on with the edits: they were taken back
	Failed   Outcome = "failed"
	NotBegun Outcome = "notBegun" // the run ended before
)

// Good are the outcomes of what is as the plan wants it.
var Good = []Outcome{Done, Pending, Already}

// bad are the outcomes that count as failures.
var bad = []Outcome{Ignored, Timeout, Lost, Failed}

// Options say how a plan is carried out.
type Options struct {
	Power       Power
	Stops       map[string]bool                          // the VMs, by ID, that PowerGuest and PowerHard may power off; another one that runs is left
	Off         time.Duration                            // how long a guest may take to shut down; 0 is 10 minutes
	Tools       time.Duration                            // how long VMware Tools may take after a power-on; 0 is 10 minutes
	Wait        time.Duration                            // how long PowerWait waits for one VM; 0 is 7 days
	Poll        time.Duration                            // between two looks at a VM; 0 is 2 s
	Busy        time.Duration                            // how long another task of a VM may run on; 0 is 2 minutes
	Outage      time.Duration                            // how long the vCenter may be out of reach; 0 is 15 minutes
	Choices     vnuma.Choices                            // with which the plan was made
	MaxFailures int                                      // so many failures end the run; 0 is 1
	Window      func(time.Time) bool                     // whether a VM may be begun now; nil: always
	Probe       func(context.Context, *fix.Target) error // after a power-on; nil for none
	Progress    func(t *fix.Target, text string)
	Stop        <-chan struct{} // closed: no further VM is begun, and those under way end
	Now         func() time.Time
}

// complete sets fields that are 0 to their defaults.
func (o *Options) complete() {
	o.Off, o.Tools = cmp.Or(o.Off, 10*time.Minute), cmp.Or(o.Tools, 10*time.Minute)
	o.Wait, o.Poll = cmp.Or(o.Wait, 7*24*time.Hour), cmp.Or(o.Poll, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Busy, o.Outage = cmp.Or(o.Busy, 2*time.Minute), cmp.Or(o.Outage, 15*time.Minute)
	o.MaxFailures = max(1, o.MaxFailures)
}

// Longest returns how long the VMs under way take at most, unless a task of the vCenter takes longer.
func (o Options) Longest() time.Duration {
	o.complete()
	switch o.Power {
	case PowerGuest, PowerWait:
		return o.Off + o.Tools + o.Busy
	case PowerHard:
		return 2*o.Off + o.Tools + o.Busy
	}
	return o.Busy
}

// Ends reports whether o is one of the outcomes, with which the step of a VM or host ends.
func (o Outcome) Ends() bool {
	return slices.Contains(Good, o) || slices.Contains(bad, o) || o == NeedsOff || o == Refused || o == Drift
}

// A Result is how one change came out.
type Result struct {
	Change  *fix.Change `json:"-"`
	Name    string      `json:"name"`
	ID      string      `json:"moref"`
	Outcome Outcome     `json:"outcome"`
	Why     string      `json:"why,omitempty"`
	// Off says that the VM was running before and is not now: somebody has to power it on.
	Off bool `json:"leftOff,omitempty"`
}

// Bad reports whether it counts as a failure.
func (r *Result) Bad() bool { return slices.Contains(bad, r.Outcome) }

// left reports whether it is not as the plan wants it.
func (r *Result) left() bool { return !slices.Contains(Good, r.Outcome) }

// A run carries out one plan.
type run struct {
	o    Options
	t    Target
	j    *journal.Journal
	p    *fix.Plan
	past map[string]*past
	undo bool // it takes another run back

	fleet *numa.Fleet       // as it is when the run begins
	moved map[string]string // by the ID of what is no longer as the plan says: why
	never map[string]string // by the ID of a VM whose edits vSphere refuses: why

	misstated map[string]string // by the ID of a VM that gets another layout than the plan says: which

	login  sync.Mutex
	logins int

	mu      sync.Mutex
	results []Result
	steps   []*step
	failed  int
	stop    error // why no further VM is begun
}

// Run carries out the last run of a journal whose lines these are. It returns a result for every change, and an error
// when the run could not go on as a whole: privileges missing, journal not writable, ctx ended.
func Run(ctx context.Context, t Target, j *journal.Journal, lines []journal.Line, o Options) ([]Result, error) {
	p, past := Remember(lines)
	r := &run{o: o, t: t, j: j, p: p, past: past, undo: p.Undoes != ""}
	r.o.complete()
	r.results, r.steps = make([]Result, len(p.Changes)), make([]*step, len(p.Changes))
	for i := range p.Changes {
		c := &p.Changes[i]
		r.results[i] = Result{Change: c, Name: c.Target().Name, ID: c.Target().ID, Outcome: NotBegun}
	}
	for _, first := range []func(context.Context) error{r.compare, r.permitted, r.lock} {
		if err := first(ctx); err != nil {
			return r.results, err
		}
	}
	r.batches(ctx)
	r.late(ctx)
	r.wave(ctx)
	err := r.unlock(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return r.results, ctx.Err()
	}
	return r.results, errors.Join(r.stop, err)
}

// compare reads the fleet, and notes the VMs whose predictions no longer hold, and the hosts and clusters of another name. A rollback of VMs needs neither.
func (r *run) compare(ctx context.Context) error {
	if r.undo && !slices.ContainsFunc(r.p.Changes, func(c fix.Change) bool { return c.VM == nil }) {
		return nil
	}
	err := r.again(ctx, func() error {
		f, err := r.t.Fleet(ctx)
		if err == nil {
			r.fleet, r.moved = f, r.p.Moved(f)
		}
		if err == nil && !r.undo {
			r.never, r.misstated = r.p.Impossible(f), r.p.Misstated(f, r.o.Choices)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the hosts that the plan was made for could not be read: %w. Nothing was changed", err)
	}
	return nil
}

// batches carries the changes out, those of a batch at the same time.
func (r *run) batches(ctx context.Context) {
	p := r.p
	for i := 0; i < len(p.Changes); {
		end := i + 1
		for end < len(p.Changes) && p.Changes[end].Batch == p.Changes[i].Batch {
			end++
		}
		if r.halted(ctx) {
			break
		}
		var wg sync.WaitGroup
		for ; i < end; i++ {
			at := i
			wg.Go(func() { r.one(ctx, at) })
		}
		wg.Wait()
	}
}

// late powers on what went off after its time was over: no VM is left off that the run shut down.
func (r *run) late(ctx context.Context) {
	for i, s := range r.steps {
		res := &r.results[i]
		if s == nil || !s.past.stopped || !res.left() || ctx.Err() != nil {
			continue
		}
		if st, err := s.state(ctx); err == nil && isOff(&st) {
			if res.Off = s.powerOn(ctx) != nil; !res.Off {
				res.Why += "; it went off later, and was powered on"
			}
		}
	}
}

// permitted checks every privilege before anything is written.
func (r *run) permitted(ctx context.Context) error {
	var lacking []string
	for _, need := range append(r.p.Needs(r.o.Power == PowerGuest || r.o.Power == PowerHard || r.o.Power == PowerWait), r.moves()...) {
		var missing map[string][]string
		err := r.again(ctx, func() (err error) {
			select {
			case <-r.o.Stop:
				return errors.New("stopped on request, before anything was begun")
			default:
			}
			missing, err = r.t.Missing(ctx, need.Objects, []string{need.Privilege})
			return err
		})
		if err != nil {
			return fmt.Errorf("which privileges the account has could not be read: %w", err)
		}
		if on := missing[need.Privilege]; len(on) > 0 {
			where := strings.Join(on[:min(3, len(on))], ", ")
			if len(on) > 3 {
				where += fmt.Sprintf(" and %d more", len(on)-3)
			}
			lacking = append(lacking, fmt.Sprintf("%s (on %s)", need.Privilege, where))
		}
	}
	if lacking != nil {
		return fmt.Errorf("%w: %s. Nothing was changed", numa.ErrPrivilege, strings.Join(lacking, ", "))
	}
	return nil
}

// halted reports whether no further VM is to be begun.
func (r *run) halted(ctx context.Context) bool {
	for {
		select {
		case <-r.o.Stop:
			r.halt(errors.New("stopped on request: go on with --resume"))
		default:
		}
		r.mu.Lock()
		stopped := r.stop != nil || ctx.Err() != nil
		r.mu.Unlock()
		if stopped || r.o.Window == nil || r.o.Window(r.o.Now()) {
			return stopped
		}
		if r.rest(ctx, r.o.Stop) != nil {
			return true
		}
	}
}

func (r *run) halt(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop == nil {
		r.stop = why
	}
}

// rest waits until the next look.
func (r *run) rest(ctx context.Context, stop <-chan struct{}) error {
	return pause(ctx, stop, r.o.Poll)
}

func pause(ctx context.Context, stop <-chan struct{}, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-stop:
		return nil
	case <-time.After(d):
		return nil
	}
}

// one carries out one change.
func (r *run) one(ctx context.Context, i int) {
	c := &r.p.Changes[i]
	k := r.past[c.Target().ID]
	if k == nil {
		k = &past{}
	}
	if k.ended != nil && !k.ended.left() {
		r.results[i].Outcome, r.results[i].Why = k.ended.Outcome, k.ended.Why
		return
	}
	if !r.held(ctx) {
		return
	}
	step := &step{run: r, c: c, past: *k}
	r.steps[i] = step
	var out Outcome
	var err error
	if c.VM == nil {
		out, err = step.host(ctx)
	} else {
		out, err = step.vm(ctx)
	}
	if out == Failed && errors.Is(err, numa.ErrGone) { // somebody removed it
		out = Drift
	}
	res := &r.results[i]
	res.Outcome, res.Off = out, step.off
	if err != nil {
		res.Why = err.Error()
	}
	var full *diskError
	switch {
	case errors.As(err, &full):
		r.halt(err)
	case errors.Is(err, numa.ErrPrivilege):
		r.halt(fmt.Errorf("%s: %w", res.Name, err))
	}
	if ctx.Err() == nil || out != Failed {
		if err := r.j.Last(journal.Line{Step: journal.StepEnd, Plan: r.p.ID, Target: res.ID, Name: res.Name, State: string(out), Why: res.Why}); err != nil {
			r.halt(&diskError{err})
		}
	}
	text := string(out)
	if res.Why != "" {
		text += ": " + res.Why
	}
	step.say("%s", text)
	if res.Bad() {
		r.mu.Lock()
		r.failed++
		if r.failed >= r.o.MaxFailures && r.stop == nil {
			r.stop = fmt.Errorf("%s: %s; no further VM is begun (fix: failures, in the configuration)", res.Name, text)
		}
		r.mu.Unlock()
	}
}

// A diskError says that the journal cannot be written: nothing more is begun.
type diskError struct{ err error }

func (e *diskError) Error() string { return "the journal cannot be written: " + e.err.Error() }
func (e *diskError) Unwrap() error { return e.err }
