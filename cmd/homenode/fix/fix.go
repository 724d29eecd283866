// Package fix has the command that plans changes, carries them out and takes them back.
package fix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/change/fix"
	"homenode/change/fix/apply"
	"homenode/change/whatif"
	"homenode/cmd/homenode/flags"
	"homenode/internal/version"
	"homenode/numa"
	answers "homenode/output/fix"
	"homenode/output/fix/script"
	"homenode/output/format"
	"homenode/rules"
	"homenode/source/open"
	"homenode/source/vsphere"
	"homenode/source/vsphere/write"
)

// A command is what the user asked for.
type command struct {
	src    flags.Source
	out    flags.Output
	choose flags.Choice
	config flags.Config
	part   flags.Filter

	set, keep, allow []string
	atOnce           int
	plan             string

	rollback, resume, verify string
	query                    string
	doApply                  bool
	do                       applyFlags

	rules rules.Options // what the configuration and --choose say
}

// New returns the command.
func New() *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{Args: cobra.ExactArgs(1), RunE: c.run}
	flags.Group(cmd, "Which VMs and findings", func(cmd *cobra.Command) { c.part.RegisterOnly(cmd, filters...) })
	flags.Group(cmd, "Plan", c.registerPlan, c.choose.Register, c.config.Register)
	flags.Group(cmd, "Carry it out, take it back, judge it", c.registerModes, c.do.register)
	flags.Group(cmd, "Output", func(cmd *cobra.Command) { c.out.Register(cmd, slices.Concat(format.Tables, script.Formats)...) })
	flags.Group(cmd, "Source", func(cmd *cobra.Command) { c.src.RegisterOnly(cmd, flags.SourceSeen...) })
	return cmd
}

// filters are the flags that narrow a plan; a condition of --select says all others.
var filters = []string{"vm", "cluster", "rule", "select"}

func (c *command) registerPlan(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&c.set, "set", nil, "instead of what findings need, give what is shown these settings: 'numa.vcpu.preferHT=TRUE hotAdd=off', for hosts 'host=esx* Numa.PreferHT=1' (the words of --what-if; repeatable)")
	fl.StringArrayVar(&c.keep, "keep", nil, "a rule of DRS: apart=sql01,sql02 (never two on one host), together=app01,db01, or the soft 'prefer=kafka*=esx01*,esx02*' (repeatable)")
	fl.StringSliceVar(&c.allow, "allow", nil, "what else may be changed: better (what cures nothing but makes VMs tidier), host (options of hosts), upgrade (the virtual hardware, which cannot be taken back), resize (vCPUs and memory, with --set), split (what divides a VM further on its own hosts, so that it fits hosts that it may move to)")
	fl.IntVar(&c.atOnce, "max-parallel", 1, "VMs that are changed at the same time")
	fl.StringVar(&c.plan, "plan", "", "take this plan, made before with -o plan.json, instead of making one")
	flags.Complete(cmd, "allow", flags.Among([]string{"better", "host", "resize", "split", "upgrade"}))
}

func (c *command) registerModes(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&c.doApply, "apply", false, "carry the plan out on the vCenter, after a question")
	fl.StringVar(&c.resume, "resume", "", "go on with the journal of a run that ended early")
	fl.StringVar(&c.rollback, "rollback", "", "take back what the run of this journal wrote; with --vm only of these VMs")
	fl.StringVar(&c.verify, "verify", "", "say whether what the run of this journal wrote is written, in effect, and helped")
	fl.StringVar(&c.query, "query-url", "", "with --verify: URL of homenode serve, Prometheus or VictoriaMetrics that kept what was counted; env takes it from HOMENODE_QUERY_URL, where it may have an account")
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	if c.out.File != "" && strings.HasSuffix(c.out.File, ".json") && !cmd.Flags().Changed("format") {
		c.out.Format = "json"
	}
	err := errors.Join(c.out.Check(cmd), c.check(cmd, args[0]))
	if err != nil {
		return err
	}
	choices, err := c.choose.Choices()
	if err != nil {
		return err
	}
	if c.rules, err = c.config.Options(choices); err != nil {
		return err
	}
	c.do.Fix = c.rules.Policy.Fixing()
	switch {
	case c.resume != "":
		return c.goOn(cmd, args[0])
	case c.rollback != "":
		return c.takeBack(cmd, args[0])
	case c.verify != "":
		return c.judge(cmd, args[0])
	}
	p, err := c.planned(cmd, args[0])
	switch {
	case err != nil:
		return err
	case c.doApply:
		return c.carryOut(cmd, args[0], p)
	}
	return c.show(cmd, p, args)
}

// check refuses flags that do not go together.
func (c *command) check(cmd *cobra.Command, source string) error {
	asked := 0
	for _, on := range []bool{c.doApply, c.resume != "", c.rollback != "", c.verify != ""} {
		if on {
			asked++
		}
	}
	if c.plan != "" {
		if err := flags.Refuse(cmd, "it is for making a plan, and --plan takes one as it is", making()...); err != nil {
			return err
		}
	}
	scripted := slices.Contains(script.Formats, c.out.Format)
	switch {
	case c.plan != "" && asked == 1 && !c.doApply:
		return errors.New("--plan is for --apply: a journal has its plan")
	case c.resume != "" && cmd.Flags().Changed("yes"):
		return errors.New("--yes is for --apply and --rollback: --resume goes on with what was confirmed")
	case c.atOnce < 1:
		return errors.New("--max-parallel: want 1 or more")
	case asked > 0 && flags.OfPage(cmd):
		return errors.New("a page changes nothing")
	case asked > 1:
		return errors.New("--apply, --resume, --rollback and --verify: want one of them")
	case asked == 1 && source == open.Demo:
		return errors.New("the source demo is read anew by each command, so nothing can be changed in it. Run homenode demo in another terminal, export the variables that it prints, and name the source vcenter")
	case asked == 1 && !open.VCenter(source):
		return fmt.Errorf("%s is no vCenter: nothing can be changed in it. Name a URL, or vcenter; or print a script: --format powercli", source)
	case asked == 1 && scripted:
		return fmt.Errorf("--format %s is a form of the plan, not of what is done with it", c.out.Format)
	case scripted && c.do.power != "" && c.do.power != string(apply.PowerGuest):
		return fmt.Errorf("--power: found %q, want guest for a script", c.do.power)
	}
	return c.do.check(asked == 1 && c.verify == "" || scripted)
}

// making are the flags that say what a plan is about.
func making() []string {
	return slices.Concat([]string{"set", "keep", "allow", "max-parallel"}, filters)
}

// show prints the plan; JSON is the plan itself, which --plan reads.
func (c *command) show(cmd *cobra.Command, p *fix.Plan, args []string) error {
	switch {
	case slices.Contains(script.Formats, c.out.Format):
		return c.out.Write(cmd, func(w io.Writer, _ bool) error { return script.Print(w, c.out.Format, p, c.do.power != "") })
	case c.out.Format == "json":
		return c.out.Write(cmd, func(w io.Writer, _ bool) error { return p.Write(w) })
	}
	words := flags.Typed(cmd, args, slices.Concat(making(), flags.SourceNames))
	return c.out.Print(cmd, answers.Plan(p, c.plan, open.VCenter(args[0]), words...))
}

// planned makes the plan, or reads the one that was made before.
func (c *command) planned(cmd *cobra.Command, source string) (*fix.Plan, error) {
	if c.plan != "" {
		f, err := os.Open(c.plan)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		p, err := fix.Read(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.plan, err)
		}
		return p, nil
	}
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	fleet, err := c.src.Read(cmd, source)
	if err != nil {
		return nil, err
	}
	p, err := fix.Make(fleet, o)
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

// options reads what the plan is about.
func (c *command) options() (o fix.Options, err error) {
	o = fix.Options{Rules: c.rules, Owned: c.do.Owned, Apart: c.do.Apart, AtOnce: c.atOnce, By: "homenode " + version.String(), Now: time.Now()}
	if o.Filter, err = c.part.Compile(); err != nil {
		return o, err
	}
	allowed := map[string]*bool{"better": &o.Better, "host": &o.Host, "resize": &o.Resize, "split": &o.Split, "upgrade": &o.Upgrade}
	for _, name := range c.allow {
		to := allowed[name]
		if to == nil {
			return o, fmt.Errorf("--allow: found %q, want some of %s", name, strings.Join(slices.Sorted(maps.Keys(allowed)), ", "))
		}
		*to = true
	}
	for i, text := range c.set {
		change, err := whatif.ParseAt("--set", i+1, text)
		if err != nil {
			return o, err
		}
		o.Set = append(o.Set, change)
	}
	for _, text := range c.keep {
		r, err := fix.ParseDRS(text)
		if err != nil {
			return o, fmt.Errorf("--keep: %w", err)
		}
		o.DRS = append(o.DRS, r)
	}
	slices.SortFunc(o.DRS, func(a, b fix.DRSRule) int { return strings.Compare(a.String(), b.String()) })
	return o, nil
}

// guard takes what only a session with the vCenter knows: snapshots and questions.
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

// session opens a session with the vCenter, and closes it however do ends. host is the vCenter's name.
func (c *command) session(ctx context.Context, cmd *cobra.Command, source string, do func(w write.Writer, host string) error) error {
	host, dial, err := c.src.Dialer(cmd).Live(source)
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
