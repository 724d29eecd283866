// Package fix has the command that plans, applies and rolls back changes.
package fix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"example.org/homenode/ask"
	"example.org/homenode/ask/change"
	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/owned"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/fix/script"
	"example.org/homenode/output/format"
	"example.org/homenode/source/open"
	"example.org/homenode/source/planned"
	"example.org/homenode/source/vsphere"
	"example.org/homenode/source/vsphere/write"
)

// A command has the flags of the user.
type command struct {
	asks     flags.Asking
	question *change.Plan
	plan     string // file of an existing plan

	rollback, resume, verify string
	query                    string
	doApply, unlock          bool
	do                       applyFlags

	env *ask.Env
}

// New returns the command.
func New() *cobra.Command {
	c := &command{question: change.FixEntry.Ask().(*change.Plan)}
	cmd := &cobra.Command{Args: cobra.MinimumNArgs(1), RunE: c.run}
	c.asks.Register(cmd, c.question)
	flags.Group(cmd, "Plan", c.registerPlan, c.asks.Config.Register)
	flags.Group(cmd, "Carry it out, take it back, judge it", c.registerModes, c.do.register)
	flags.Group(cmd, "Output", func(cmd *cobra.Command) { c.asks.Output.Register(cmd, slices.Concat(format.Tables, script.Formats)...) })
	flags.Group(cmd, "Source", c.asks.Session.Register)
	return cmd
}

func (c *command) registerPlan(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.plan, "plan", "", "take this plan, made before with -o plan.json, instead of making one")
}

func (c *command) registerModes(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&c.doApply, "apply", false, "carry the plan out on the vCenter, after a question")
	fl.StringVar(&c.resume, "resume", "", "go on with the journal of a run that ended early")
	fl.StringVar(&c.rollback, "rollback", "", "take back what the run of this journal wrote; with --vm only of these VMs")
	fl.StringVar(&c.verify, "verify", "", "report whether the run of this journal is in effect and helped")
	fl.BoolVar(&c.unlock, "unlock", false, "remove the lock of a run that was killed: one run at a time changes a vCenter")
	fl.StringVar(&c.query, "query-url", "", "for --verify, URL of the homenode serve, Prometheus or VictoriaMetrics that has the counters; env reads the URL, which may have a password, from HOMENODE_QUERY_URL")
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	out := &c.asks.Output
	err := errors.Join(out.Check(cmd), c.asks.Take(c.question, args))
	if err == nil && planned.Detect(args[0]) {
		return c.patch(cmd, args[0])
	}
	if err == nil {
		err = c.check(cmd, args[0])
	}
	if err != nil {
		return err
	}
	if c.env, err = c.asks.Env(cmd); err != nil {
		return err
	}
	c.do.Fix = c.env.Policy.Fixing()
	if c.do.choices, err = c.question.Choices(); err != nil {
		return err
	}
	switch {
	case c.resume != "":
		return c.goOn(cmd, args[0])
	case c.rollback != "":
		return c.takeBack(cmd, args[0])
	case c.verify != "":
		return c.judge(cmd, args[0])
	case c.unlock:
		return c.clearLock(cmd, args[0])
	}
	p, err := c.planned(cmd, args[0])
	switch {
	case err != nil:
		return err
	case c.doApply:
		return c.carryOut(cmd, args[0], p)
	}
	return errors.Join(c.show(cmd, p), c.question.Incomplete())
}

// check rejects invalid combinations of flags.
func (c *command) check(cmd *cobra.Command, source string) error {
	asked := words.Count([]bool{c.doApply, c.resume != "", c.rollback != "", c.verify != "", c.unlock}, func(on bool) bool { return on })
	if c.plan != "" {
		if err := c.question.Refuse("it is for making a plan, and --plan takes one as it is", change.PlanNames...); err != nil {
			return err
		}
	}
	scripted := slices.Contains(script.Formats, c.asks.Output.Format)
	switch {
	case c.plan != "" && asked == 1 && !c.doApply:
		return errors.New("--plan is for --apply: a journal has its plan")
	case asked > 1:
		return errors.New("--apply, --resume, --rollback, --verify and --unlock: want one of them")
	case asked == 1 && source == open.Demo:
		return errors.New("the source demo is read anew by each command, so nothing can be changed in it. Run homenode demo in another terminal, export the variables that it prints, and name the source vcenter")
	case asked == 1 && !open.VCenter(source):
		return fmt.Errorf("%s is no vCenter: nothing can be changed in it. Name a URL, or vcenter; or print a script: --format powercli", source)
	case asked == 1 && scripted:
		return fmt.Errorf("--format %s is a form of the plan, not of what is done with it", c.asks.Output.Format)
	case scripted && c.do.power != "" && c.do.power != string(apply.PowerGuest):
		return fmt.Errorf("--power: found %q, want guest for a script", c.do.power)
	}
	return c.do.check(asked == 1 && c.verify == "" || scripted)
}

// show prints the plan. As JSON it is the plan itself, which --plan reads.
func (c *command) show(cmd *cobra.Command, p *fix.Plan) error {
	switch {
	case slices.Contains(script.Formats, c.asks.Output.Format):
		for _, why := range script.Missing(c.asks.Output.Format, p) {
			flags.Warn(cmd.ErrOrStderr(), "not in this script: "+why)
		}
		return c.asks.Output.Write(cmd, func(w io.Writer, _ bool) error { return script.Print(w, c.asks.Output.Format, p, c.do.power != "") })
	case c.asks.Output.Format == "json":
		return c.asks.Output.Write(cmd, func(w io.Writer, _ bool) error { return p.Write(w) })
	}
	return c.asks.Output.Print(cmd, c.question.Show(p, c.plan, flags.Typed(cmd, flags.SessionNames)...))
}

// planned computes the plan, or reads an existing one.
func (c *command) planned(cmd *cobra.Command, source string) (*fix.Plan, error) {
	if c.plan != "" {
		f, err := bounded.Open(c.plan)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // read only
		if c.doApply {
			err = owned.Check(f)
		}
		var p *fix.Plan
		if err == nil {
			p, err = fix.Read(f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.plan, err)
		}
		return p, nil
	}
	p, err := c.question.Make(cmd.Context(), c.env)
	if err != nil {
		return nil, err
	}
	if open.VCenter(source) && len(p.Changes) > 0 {
		if err := c.guard(cmd, source, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// guard adds facts that require a session with the vCenter: snapshots and pending questions.
func (c *command) guard(cmd *cobra.Command, source string, p *fix.Plan) error {
	return c.session(cmd.Context(), cmd, source, func(w write.Writer, _ string) error {
		var ids []string
		for i := range p.Changes {
			if v := p.Changes[i].VM; v != nil {
				ids = append(ids, v.ID)
			}
		}
		states, err := w.States(cmd.Context(), ids)
		if err != nil {
			return err
		}
		return p.Guard(states)
	})
}

// session calls do with a session of the vCenter and its host name, and then closes the session.
func (c *command) session(ctx context.Context, cmd *cobra.Command, source string, do func(w write.Writer, host string) error) error {
	host, dial, err := c.asks.Session.Dialer(cmd).Live(source)
	if err != nil {
		return err
	}
	live, err := dial(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err := live.Close(ctx); err != nil && !errors.Is(err, vsphere.ErrExpired) && !errors.Is(err, numa.ErrExpired) {
			fmt.Fprintf(cmd.ErrOrStderr(), "homenode: the session stays open until it is idle too long: log out: %v\n", err)
		}
	}()
	return do(write.Writer{Live: live}, host)
}
