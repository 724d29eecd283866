// Package fix has the command that plans changes, carries them out and takes them back.
package fix

import (
	"context"
	"errors"
	"fmt"
	"io"
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

	set  []string
	o    fix.Options
	plan string

	apart, together, prefer  []string
	rollback, resume, verify string
	query, zone              string
	doApply                  bool
	do                       applyFlags

	script        string
	undo, profile bool
}

// New returns the command.
func New() *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{Args: cobra.ExactArgs(1), RunE: c.run}
	c.src.Register(cmd)
	c.out.Register(cmd, format.Tables...)
	c.choose.Register(cmd)
	c.config.Register(cmd)
	c.part.Register(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&c.set, "set", nil, "instead of what findings need, give what is shown these settings: 'numa.vcpu.preferHT=TRUE hotAdd=off', for hosts 'host=esx* Numa.PreferHT=1' (the words of --what-if; repeatable)")
	fl.StringArrayVar(&c.apart, "keep-apart", nil, "a rule of DRS: never two of these VMs on one host, 'sql01,sql02' (repeatable)")
	fl.StringArrayVar(&c.together, "keep-together", nil, "a rule of DRS: these VMs on one host (repeatable)")
	fl.StringArrayVar(&c.prefer, "prefer", nil, "a soft rule of DRS: these VMs should run on these hosts, 'kafka*=esx01*,esx02*' (repeatable)")
	fl.BoolVar(&c.o.Better, "better", false, "also what cures nothing but makes VMs tidier")
	fl.BoolVar(&c.o.Host, "allow-host", false, "also options of hosts")
	fl.BoolVar(&c.o.Upgrade, "allow-upgrade", false, "also the virtual hardware, which cannot be taken back")
	fl.BoolVar(&c.o.Resize, "allow-resize", false, "also vCPUs and memory, with --set")
	fl.BoolVar(&c.o.Split, "allow-split", false, "also what divides a VM further on its own hosts, so that it fits hosts that it may move to")
	fl.StringSliceVar(&c.o.Owned, "owner-mark", nil, "leave VMs with these tags, or custom attributes as 'owner=terraform', to the tool that owns them; * and ?")
	fl.StringSliceVar(&c.o.Apart, "apart", nil, "never two VMs of one of these patterns in one batch, besides what DRS keeps apart")
	fl.IntVar(&c.o.AtOnce, "max-parallel", 1, "VMs that are changed at the same time")
	fl.StringVar(&c.plan, "plan", "", "take this plan, made before with -o plan.json, instead of making one")
	fl.StringVar(&c.script, "script", "", "print the plan as a script instead: "+strings.Join(script.Tools, ", "))
	fl.BoolVar(&c.undo, "undo", false, "with --script: the script that takes the plan back")
	fl.BoolVar(&c.profile, "profile", false, "print the edits as values for templates instead: Packer, Terraform, a note; by kind of host")
	fl.BoolVar(&c.doApply, "apply", false, "carry the plan out on the vCenter, after a question")
	flags.Complete(cmd, "script", flags.Among(script.Tools))
	fl.StringVar(&c.resume, "resume", "", "go on with the journal of a run that ended early")
	fl.StringVar(&c.rollback, "rollback", "", "take back what the run of this journal wrote; with --vm only of these VMs")
	fl.StringVar(&c.verify, "verify", "", "say whether what the run of this journal wrote is written, in effect, and helped")
	fl.StringVar(&c.query, "query-url", "", "with --verify: URL of homenode serve, Prometheus or VictoriaMetrics that kept what was counted; env takes it from HOMENODE_QUERY_URL, where it may have an account")
	fl.StringVar(&c.zone, "zone", "", "with --verify: zone of the days, such as Europe/Berlin (default the local one)")
	c.do.register(cmd)
	return cmd
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	if c.out.File != "" && strings.HasSuffix(c.out.File, ".json") && !cmd.Flags().Changed("format") {
		c.out.Format = "json"
	}
	if err := c.out.Check(cmd); err != nil {
		return err
	}
	asked := 0
	for _, on := range []bool{c.doApply, c.resume != "", c.rollback != "", c.verify != ""} {
		if on {
			asked++
		}
	}
	for _, name := range making() {
		if c.plan != "" && cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for making a plan: --plan takes one as it is", name)
		}
	}
	switch {
	case c.plan != "" && asked == 1 && !c.doApply:
		return errors.New("--plan is for --apply: a journal has its plan")
	case c.resume != "" && cmd.Flags().Changed("yes"):
		return errors.New("--yes is for --apply and --rollback: --resume goes on with what was confirmed")
	case c.o.AtOnce < 1 || c.do.maxFailures < 1:
		return errors.New("--max-parallel and --max-failures: want 1 or more")
	case asked > 0 && flags.OfPage(cmd):
		return errors.New("a page changes nothing")
	case asked > 1:
		return errors.New("--apply, --resume, --rollback and --verify: want one of them")
	case asked == 1 && args[0] == open.Demo:
		return errors.New("the source demo is read anew by each command, so nothing can be changed in it. Run homenode demo in another terminal, export the variables that it prints, and name the source vcenter")
	case asked == 1 && !open.VCenter(args[0]):
		return fmt.Errorf("%s is no vCenter: nothing can be changed in it. Name a URL, or vcenter; or use --script", args[0])
	}
	switch {
	case c.script != "" && !slices.Contains(script.Tools, c.script):
		return fmt.Errorf("--script: found %q, want one of %s", c.script, strings.Join(script.Tools, ", "))
	case c.undo && c.script == "":
		return errors.New("--undo is for --script; --rollback takes back what --apply did")
	case (c.script != "" || c.profile) && asked > 0 || c.script != "" && c.profile:
		return errors.New("--script, --profile and --apply, --resume, --rollback, --verify: want one of them")
	case (c.script != "" || c.profile) && cmd.Flags().Changed("format"):
		return errors.New("--format is for the plan, not for --script and --profile")
	case c.script != "" && c.do.power != "" && c.do.power != string(apply.PowerGuest):
		return fmt.Errorf("--power: found %q, want guest for a script", c.do.power)
	}
	if err := c.do.check(asked == 1 && c.verify == "" || c.script != ""); err != nil {
		return err
	}
	switch {
	case c.resume != "":
		return c.goOn(cmd, args[0])
	case c.rollback != "":
		return c.takeBack(cmd, args[0])
	case c.verify != "":
		return c.judge(cmd, args[0])
	}
	p, err := c.planned(cmd, args[0])
	if err != nil {
		return err
	}
	if c.doApply {
		return c.carryOut(cmd, args[0], p)
	}
	if c.script != "" || c.profile {
		return c.out.Write(cmd, func(w io.Writer, _ bool) error {
			if c.profile {
				return script.Profile(w, p)
			}
			return script.Write(w, c.script, p, script.Options{Undo: c.undo, Power: c.do.power != ""})
		})
	}
	return c.show(cmd, p, args)
}

// making are the flags that say what a plan is about.
func making() []string {
	return append([]string{"set", "keep-apart", "keep-together", "prefer", "better", "allow-host", "allow-upgrade", "allow-resize", "allow-split", "owner-mark", "apart", "max-parallel"}, flags.FilterNames...)
}

// show prints the plan; JSON is the plan itself, which --plan reads.
func (c *command) show(cmd *cobra.Command, p *fix.Plan, args []string) error {
	if c.out.Format != "json" {
		words := flags.Typed(cmd, args, append(making(), flags.SourceNames...))
		return c.out.Print(cmd, answers.Plan(p, c.plan, open.VCenter(args[0]), words...))
	}
	return c.out.Write(cmd, func(w io.Writer, _ bool) error { return p.Write(w) })
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
	o := c.o
	choices, err := c.choose.Choices()
	if err != nil {
		return nil, err
	}
	if o.Rules, err = c.config.Options(choices); err != nil {
		return nil, err
	}
	if o.Filter, err = c.part.Compile(); err != nil {
		return nil, err
	}
	for i, text := range c.set {
		change, err := whatif.ParseAt("--set", i+1, text)
		if err != nil {
			return nil, err
		}
		o.Set = append(o.Set, change)
	}
	for kind, texts := range map[fix.DRSKind][]string{fix.Apart: c.apart, fix.Together: c.together, fix.Prefer: c.prefer} {
		for _, text := range texts {
			r, err := fix.ParseDRS(kind, text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", map[fix.DRSKind]string{fix.Apart: "--keep-apart", fix.Together: "--keep-together", fix.Prefer: "--prefer"}[kind], err)
			}
			o.DRS = append(o.DRS, r)
		}
	}
	slices.SortFunc(o.DRS, func(a, b fix.DRSRule) int { return strings.Compare(a.String(), b.String()) })
	o.By, o.Now = "homenode "+version.String(), time.Now()
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
