package fix

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	answers "example.org/homenode/output/fix"
	"example.org/homenode/rules/policy"
	"example.org/homenode/source/vsphere/write"
)

// applyFlags set how a plan is applied, in addition to the configuration.
type applyFlags struct {
	policy.Fix
	power  string
	yes    int
	window string

	open    func(time.Time) bool
	choices vnuma.Choices
	stops   map[string]bool // the VMs, by ID, that the question said would be powered off
}

// longestWait is the timeout of --power wait.
const longestWait = 7 * 24 * time.Hour

func (f *applyFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.power, "power", "", "how to power VMs off: guest, hard, reboot, wait or vmotion (guest: shut down and power on again; hard: power off where the guest takes too long; reboot: the next reboot of the guest becomes a power cycle; wait: until somebody powers them off, for a week; vmotion: running VMs of changed hosts move once, which activates host options)")
	fl.IntVar(&f.yes, "yes", 0, "number of VMs and hosts that --apply changes, instead of the question")
	fl.StringVar(&f.window, "window", "", "begin VMs only then: 'Sat 22:00-04:00', in the local zone or 'Sat 22:00-04:00 Europe/Berlin'")
	ways := words.Texts(apply.Powers, func(p apply.Power) string { return string(p) })
	flags.Complete(cmd, "power", flags.Among(ways))
}

func (f *applyFlags) check(used bool) error {
	if f.power != "" && !slices.Contains(apply.Powers, apply.Power(f.power)) {
		return fmt.Errorf("--power: found %q, want one of guest, hard, reboot, wait, vmotion", f.power)
	}
	if !used && (f.power != "" || f.yes != 0) {
		return errors.New("--power and --yes are for --apply, --resume, --rollback and --unlock, --power for scripts too")
	}
	if f.window != "" {
		var err error
		if f.open, err = fix.Window(f.window); err != nil {
			return fmt.Errorf("--window: %w", err)
		}
	}
	return nil
}

// stops returns the VMs that the run may power off, by ID, and says how many these are and how many it powers on. Both are as the vCenter has the VMs now:
// no field of a plan or journal says which VMs run.
func (c *command) stops(ctx context.Context, w write.Writer, p *fix.Plan, lines []journal.Line) (off map[string]bool, text string, err error) {
	down, ended := apply.Down(lines), apply.Ended(lines)
	power := c.do.power == string(apply.PowerGuest) || c.do.power == string(apply.PowerHard)
	may := map[string]bool{}
	for i := range p.Changes {
		if v := p.Changes[i].VM; v != nil && !slices.Contains(apply.Good, ended[v.ID].Outcome) {
			may[v.ID] = power && (v.Runs || p.Undoes != "") && p.Changes[i].Needs() != numa.NeedsNothing
		}
	}
	before, err := w.States(ctx, slices.Collect(maps.Keys(may)))
	if err != nil {
		return nil, "", err
	}
	states, err := w.States(ctx, slices.Collect(maps.Keys(may))) // again: tasks are read after VMs, and one that ended in between has powered its VM on
	off, on := map[string]bool{}, 0
	for id, st := range states {
		starts := down[id] && before[id].Task+st.Task != "" // the task of the run that ended powers it on
		switch is := st.VM.Power.Value; {
		case may[id] && (is == numa.PoweredOn || starts):
			off[id] = true
		case is == numa.PoweredOff && down[id]:
			on++
		}
	}
	if len(off) > 0 {
		text = "; " + words.Plural(len(off), "VM") + " will be powered off and on"
	}
	if on > 0 {
		text += "; " + words.Plural(on, "VM") + " that the journal says was shut down will be powered on"
	}
	return off, text, err
}

// confirm shows the plan, unless it was named as a file, and asks the user to type the number of objects that will change. lines are those of the journal.
func (c *command) confirm(cmd *cobra.Command, w write.Writer, p *fix.Plan, lines []journal.Line, verb string) error {
	off, stops, err := c.stops(cmd.Context(), w, p, lines)
	if err != nil {
		return err
	}
	c.do.stops = off
	if c.plan == "" && c.do.yes == 0 && c.asks.Output.Format == "table" { // the user has not seen it yet
		a := answers.Plan(p, "", false)
		a.Next = nil // the question follows
		if err := c.asks.Output.Print(cmd, a); err != nil {
			return err
		}
	}
	n := len(p.Changes)
	return c.do.agree(cmd, n, fmt.Sprintf("%s %s of %s%s. Type the number of objects to go on: ", verb, words.Plural(n, "object"), texttab.Clean(p.Source), stops))
}

// agree asks a question whose answer is the number n, unless --yes gives it.
func (f *applyFlags) agree(cmd *cobra.Command, n int, question string) error {
	if f.yes != 0 {
		if f.yes != n {
			return fmt.Errorf("--yes %d does not fit: it is %d. Nothing was changed", f.yes, n)
		}
		return nil
	}
	if in, ok := cmd.InOrStdin().(*os.File); ok && !flags.IsTerminal(in) {
		return fmt.Errorf("standard input is no terminal: confirm with --yes %d. Nothing was changed", n)
	}
	fmt.Fprint(cmd.ErrOrStderr(), question)
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil {
		return fmt.Errorf("no answer: %w. Nothing was changed", err)
	}
	if got := strings.TrimSpace(line); got != strconv.Itoa(n) {
		return fmt.Errorf("found %q, want %d. Nothing was changed", got, n)
	}
	return nil
}

// carryOut applies the plan.
func (c *command) carryOut(cmd *cobra.Command, source string, p *fix.Plan) error {
	if len(p.Changes) == 0 {
		return c.asks.Output.Print(cmd, answers.Plan(p, c.plan, true, source))
	}
	if err := p.Check(); err != nil {
		return err
	}
	return c.session(cmd.Context(), cmd, source, func(w write.Writer, host string) error {
		if err := sameServer(p, w, host); err != nil {
			return err
		}
		if err := c.confirm(cmd, w, p, nil, "Change"); err != nil {
			return err
		}
		j, err := journal.Create(c.do.Journal, p, time.Now)
		if err != nil {
			return err
		}
		first := journal.Line{Step: journal.StepPlan, Plan: p.ID, Whole: p, Power: c.do.power}
		if err := j.Append(first); err != nil {
			return errors.Join(err, j.Close())
		}
		return c.outcome(cmd, source, w, j, []journal.Line{first}, p)
	})
}

// sameServer rejects a plan for another vCenter instance, whatever its host name, and one that knows objects by their names.
func sameServer(p *fix.Plan, w write.Writer, host string) error {
	if is := w.Instance(); p.VCenter != is {
		return fmt.Errorf("the plan was made of the vCenter instance %q, %s is %q: make it anew. Nothing was changed", p.VCenter, host, is)
	}
	for i := range p.Changes {
		if t := p.Changes[i].Target(); t.Named {
			return fmt.Errorf("the plan knows %q by its name alone, and names are not unique: make it of the vCenter. Nothing was changed", t.Name)
		}
	}
	if u, err := url.Parse(p.Source); err != nil || u.Host != host {
		return fmt.Errorf("the plan was made of %s, not of %s. Nothing was changed", p.Source, host)
	}
	return nil
}

// goOn resumes the run of a journal.
func (c *command) goOn(cmd *cobra.Command, source string) error {
	return c.session(cmd.Context(), cmd, source, func(w write.Writer, host string) error {
		j, lines, err := journal.Open(c.resume, time.Now)
		if err != nil {
			return err
		}
		p, _ := apply.Remember(lines)
		if err := sameServer(p, w, host); err != nil {
			return errors.Join(err, j.Close())
		}
		if last := lastRun(lines); last.Power != "" && c.do.power == "" {
			return errors.Join(fmt.Errorf("the run was begun with --power %s: --resume needs --power too, because a journal does not decide which VMs are powered off. Nothing was changed", last.Power), j.Close())
		}
		if err := c.confirm(cmd, w, p, lines, "Go on to change"); err != nil {
			return errors.Join(err, j.Close())
		}
		return c.outcome(cmd, source, w, j, lines, p)
	})
}

func lastRun(lines []journal.Line) journal.Line {
	for _, l := range slices.Backward(lines) {
		if l.Step == journal.StepPlan {
			return l
		}
	}
	return journal.Line{}
}

// takeBack rolls back the last run of a journal.
func (c *command) takeBack(cmd *cobra.Command, source string) error {
	return c.session(cmd.Context(), cmd, source, func(w write.Writer, host string) error {
		j, lines, err := journal.Open(c.rollback, time.Now)
		if err != nil {
			return err
		}
		past, undo, err := c.undone(lines)
		if err == nil {
			err = sameServer(undo, w, host)
		}
		if err == nil {
			err = c.staying(cmd, w, undo)
		}
		var first journal.Line
		if err == nil && len(undo.Changes) > 0 {
			first = journal.Line{Step: journal.StepPlan, Plan: undo.ID, Whole: undo, Undo: true, Power: c.do.power}
			err = c.confirm(cmd, w, undo, append(lines, first), "Take back")
		}
		if err != nil {
			return errors.Join(err, j.Close())
		}
		if len(undo.Changes) == 0 { // no run begins: the journal stays that of the run before it, which may have been killed
			err := c.release(cmd, w, j)
			run := answers.Run{Plan: undo, Source: source, Journal: j.Path, Before: len(past.Back)}
			if err = errors.Join(err, c.asks.Output.Print(cmd, run.Answer()), j.Close()); err == nil && len(undo.Left) > 0 {
				err = flags.ErrFindings
			}
			return err
		}
		if err := j.Append(first); err != nil {
			return errors.Join(err, j.Close())
		}
		return c.outcome(cmd, source, w, j, append(lines, first), undo)
	})
}

// release removes the lock of the journal's own run, or one without a name.
func (c *command) release(cmd *cobra.Command, w write.Writer, j *journal.Journal) error {
	holder, err := w.Holder(cmd.Context())
	if err == nil && (holder == numa.UnnamedRun || holder == apply.Name(j.Path)) {
		err = apply.Release(cmd.Context(), w, j)
	}
	return err
}

// undone returns the rollback of a journal, limited to the VMs of --vm, and the plan of the writes that earlier rollbacks did not take back.
func (c *command) undone(lines []journal.Line) (*apply.Rollback, *fix.Plan, error) {
	only, some := glob.Compile(c.question.VMs, ""), false
	r, err := apply.RollbackOf(lines, func(t *fix.Target) bool {
		named := only.Named(t.Name, t.ID, t.Cluster+"/"+t.Name)
		some = some || named
		return named
	})
	if err == nil && !some {
		err = fmt.Errorf("the plan of this journal has no VM %q. Nothing was changed", c.question.VMs)
	}
	if err == nil && len(r.Open) > 0 {
		err = errors.New("the rollback of this journal has not ended: --resume goes on with it")
	}
	if err != nil {
		return nil, nil, err
	}
	rest, err := r.Rest()
	return r, rest, err
}

// staying leaves of what a rollback cannot take back the VMs and hosts that have it, since a run that failed may not have written it, and names them.
func (c *command) staying(cmd *cobra.Command, w write.Writer, undo *fix.Plan) error {
	var ids []string
	for _, l := range undo.Left {
		if l.VM != "" {
			ids = append(ids, l.ID)
		}
	}
	states, err := w.States(cmd.Context(), ids)
	if err != nil {
		return err
	}
	options := func(host, key string) (numa.Settings, error) {
		return w.HostOptions(cmd.Context(), host, []string{key})
	}
	if err := undo.LeaveWritten(states, options); err != nil {
		return err
	}
	for _, l := range undo.Left {
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: a rollback does not take everything back: %s\n", texttab.Clean(cmp.Or(l.VM, l.Host)+": "+l.Why))
	}
	return nil
}

// clearLock removes the lock of a killed run that will not be resumed.
func (c *command) clearLock(cmd *cobra.Command, source string) error {
	return c.session(cmd.Context(), cmd, source, func(w write.Writer, host string) error {
		holder, err := w.Holder(cmd.Context())
		if err != nil {
			return err
		}
		if holder == "" {
			fmt.Fprintf(cmd.OutOrStdout(), "No run has %s.\n", texttab.Clean(host))
			return nil
		}
		if path := apply.Under(holder, c.do.Journal, "."); path != "" {
			release, err := journal.Hold(path)
			if err != nil {
				return fmt.Errorf("%s: %w: the run of the lock goes on. Nothing was changed", path, err)
			}
			defer release()
		}
		if err := c.do.agree(cmd, 1, fmt.Sprintf("The lock of %s is removed. If that run still runs, two change the same VMs. Type 1 to go on: ", texttab.Clean(holder))); err != nil {
			return err
		}
		removed, err := w.Unlock(cmd.Context(), holder)
		if err == nil && !removed {
			err = fmt.Errorf("%s no longer has the lock. Nothing was changed", texttab.Clean(holder))
		}
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "The lock of %s was removed.\n", texttab.Clean(holder))
		}
		return err
	})
}

// outcome applies the last run of the journal and prints the result.
func (c *command) outcome(cmd *cobra.Command, source string, w write.Writer, j *journal.Journal, lines []journal.Line, p *fix.Plan) error {
	var mu sync.Mutex
	under := map[string]string{} // the VMs under way: the last step of each
	progress := func(t *fix.Target, text string) {
		mu.Lock()
		defer mu.Unlock()
		under[t.ID] = texttab.Clean(t.Name) + " (" + texttab.Clean(text) + ")"
		if outcome, _, _ := strings.Cut(text, ":"); apply.Outcome(outcome).Ends() {
			delete(under, t.ID)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s  %s: %s\n", time.Now().Format(time.TimeOnly), texttab.Clean(t.Name), texttab.Clean(text))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "homenode: journal %s; Ctrl-C ends after the VMs under way, --resume goes on\n", texttab.Clean(j.Path))
	o := apply.Options{Power: apply.Power(c.do.power), Choices: c.do.choices, Stops: c.do.stops, Off: c.do.Shutdown, Tools: c.do.Start, Wait: longestWait, MaxFailures: c.do.Failures,
		Window: c.do.open, Progress: progress, Stop: cmd.Context().Done()}
	if c.do.Probe != "" {
		o.Probe = c.do.answers
	}
	defer flags.Busy(func() {
		mu.Lock()
		defer mu.Unlock()
		names := words.First(5, slices.Sorted(maps.Values(under)))
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: stopping. No further VM is begun. Those under way end first, within %v unless a task of the vCenter takes longer: %s. Ctrl-C again ends at once and may leave VMs powered off\n",
			o.Longest(), cmp.Or(names, "none waits"))
	}, func() {
		resume := (&answers.Run{Source: source, Journal: j.Path, Power: c.do.power}).Resume()
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: ended at once. The journal has all that was done; to continue, and to power on the VMs that the run powered off: %s\n", resume)
	})()
	results, stopped := apply.Run(context.WithoutCancel(cmd.Context()), w, j, lines, o)
	if errors.Is(stopped, apply.ErrLocked) {
		stopped = errors.Join(stopped, j.Withdraw())
	}
	if err := j.Close(); err != nil {
		stopped = errors.Join(stopped, err)
	}
	if errors.Is(stopped, apply.ErrLocked) {
		if len(lines) == 1 { // it contains only its plan
			stopped = errors.Join(stopped, journal.Discard(j.Path))
		}
		return stopped
	}
	path, err := filepath.Abs(j.Path)
	if err != nil {
		path = j.Path
	}
	run := answers.Run{Plan: p, Results: results, Source: source, Journal: path, Power: c.do.power, Stopped: stopped}
	if run.Reversible, err = reversible(path); err != nil {
		return err
	}
	if err := c.asks.Output.Print(cmd, run.Answer()); err != nil {
		return err
	}
	if errors.Is(stopped, numa.ErrPrivilege) {
		names := words.Texts(p.Needs(slices.Contains([]string{string(apply.PowerGuest), string(apply.PowerHard), string(apply.PowerWait)}, c.do.power)), func(need fix.Need) string { return need.Privilege })
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: a role with all that this plan needs, besides Read-only: govc role.create homenode-fix %s\n", strings.Join(names, " "))
	}
	switch {
	case stopped != nil:
		return fmt.Errorf("the run ended early: %w", stopped)
	case p.Undoes != "" && len(p.Left) > 0:
		return flags.ErrFindings
	case slices.ContainsFunc(results, func(r apply.Result) bool { return r.Bad() || r.Outcome == apply.Drift }),
		len(results) > 0 && !slices.ContainsFunc(results, func(r apply.Result) bool { return slices.Contains(apply.Good, r.Outcome) }):
		return flags.ErrFindings
	}
	return nil
}

// reversible reports whether a rollback of the journal has something to do.
func reversible(path string) (bool, error) {
	lines, err := journal.Read(path)
	if err != nil {
		return false, err
	}
	r, err := apply.RollbackOf(lines, nil)
	return err == nil && len(r.Changes) > 0, err
}

// answers waits until the probe's address accepts a connection.
func (f *applyFlags) answers(ctx context.Context, t *fix.Target) error {
	address := strings.ReplaceAll(f.Probe, "{name}", t.Name)
	ctx, cancel := context.WithTimeout(ctx, f.Start)
	defer cancel()
	for {
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", address, err)
		case <-time.After(2 * time.Second):
		}
	}
}
