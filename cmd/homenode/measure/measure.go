// Package measure has the command that measures the machine it runs on.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/version"
	"homenode/measure/guest"
	"homenode/measure/guest/beside"
	"homenode/numa/unit"
	"homenode/output/format"
	answers "homenode/output/guest"
	"homenode/source/machine"
	"homenode/source/measured"
	"homenode/source/text"
)

// A command has the flags of the user.
type command struct {
	out  flags.Output
	o    guest.Options
	dry  bool
	fast bool

	memory, cpus, nodes, paging string
	predicted                   string // file
}

// New returns the command. helps has the help of its subcommands.
func New(helps fs.FS) *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{Args: cobra.OnlyValidArgs, RunE: c.run}
	cmd.AddCommand(flags.Question(fleetEntry, helps, format.Tables...), newPlaybook(helps), newWatch(helps))
	for _, p := range guest.Parts {
		cmd.ValidArgs = append(cmd.ValidArgs, string(p))
	}
	c.register(cmd)
	c.place(cmd)
	c.out.Register(cmd, format.Names...)
	cmd.Flags().BoolVar(&c.dry, "dry-run", false, "print what would be allocated, pinned and run, and for how long")
	return cmd
}

// register adds the flags that say how is measured.
func (c *command) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&c.fast, "quick", false, "measure for 5 seconds at most, instead of a minute")
	fl.DurationVar(&c.o.Time, "time", 0, "measure for this long at most: 20s")
	fl.StringVar(&c.o.Dir, "fsync", "", "also measure writes that reach the disk, in this folder")
	fl.BoolVar(&c.o.Loaded, "loaded", false, "also measure latency while the other vCPUs load memory, up to 2 s for each load")
	fl.BoolVar(&c.o.Force, "force", false, "measure on a busy machine, and say so in the result")
	fl.StringVar(&c.predicted, "predicted", "", "compare with this prediction: the JSON of homenode explain SOURCE VM --format json")
}

// place adds the flags that say what of the guest is measured.
func (c *command) place(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&c.memory, "memory", "", "memory to touch at most: 256MiB (default 512MiB, a quarter of what is available, half of what a control group has left)")
	fl.StringVar(&c.cpus, "cpus", "", "logical processors to measure: 0-3,8 (default all)")
	fl.StringVar(&c.nodes, "nodes", "", "nodes to measure: 0,1 (default all)")
	fl.StringVar(&c.paging, "huge", string(guest.PagingAuto), "huge pages: auto, yes, no")
	fl.StringVar(&c.o.Name, "name", "", "name of this guest in the result, as the inventory calls the VM")
	flags.Complete(cmd, "huge", flags.Among([]string{string(guest.PagingAuto), string(guest.PagingHuge), string(guest.PagingNone)}))
}

// options reads the flags.
func (c *command) options(parts []string) error {
	c.o.Parts = nil
	for _, p := range parts {
		c.o.Parts = append(c.o.Parts, guest.Part(p))
	}
	c.o.Profile = measured.Default
	if c.fast {
		c.o.Profile = measured.Quick
	}
	if c.memory != "" {
		n, err := unit.ParseSize(c.memory)
		if err != nil || n < 1<<20 {
			return fmt.Errorf("--memory: found %q, want a size such as 256MiB, 1 MiB or more", c.memory)
		}
		c.o.Memory = int64(n)
	}
	var err error
	if c.o.CPUs, err = numbers("--cpus", c.cpus); err != nil {
		return err
	}
	if c.o.Nodes, err = numbers("--nodes", c.nodes); err != nil {
		return err
	}
	c.o.Paging = guest.Paging(c.paging)
	if !slices.Contains([]guest.Paging{guest.PagingAuto, guest.PagingHuge, guest.PagingNone}, c.o.Paging) {
		return fmt.Errorf("--huge: found %q, want auto, yes or no", c.paging)
	}
	if c.o.Time < 0 {
		return fmt.Errorf("--time: found %v, want a time such as 20s", c.o.Time)
	}
	return nil
}

// numbers reads a list such as 0-3,8.
func numbers(flag, s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	const most = 1 << 16
	list, ok := text.Numbers(s, most, most)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("%s: found %q, want numbers such as 0-3,8", flag, s)
	}
	return list, nil
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	if strings.HasSuffix(c.out.File, ".json") && !cmd.Flags().Changed("format") {
		c.out.Format = "json"
	}
	if err := errors.Join(c.out.Check(cmd), c.options(args)); err != nil {
		return err
	}
	if c.out.File != "" {
		// Fail before a minute of measuring, not after it.
		if _, err := os.Stat(filepath.Dir(c.out.File)); err != nil {
			return fmt.Errorf("%s: %w", c.out.File, err)
		}
	}
	predicted, err := c.prediction(cmd.Context())
	if err != nil {
		return err
	}
	plan, err := c.plan(cmd.Context())
	if err != nil {
		return err
	}
	if c.dry {
		return c.out.Print(cmd, answers.Planned(plan))
	}
	r, err := c.measure(cmd, plan)
	if err != nil {
		return err
	}
	if predicted != nil {
		r.Compared = beside.Of(r, predicted)
	}
	if err := c.print(cmd, r); err != nil {
		return err
	}
	if !r.Trust.OK || differs(r) {
		return flags.ErrFindings
	}
	return nil
}

// plan reads this machine and says what is measured on it.
func (c *command) plan(ctx context.Context) (*guest.Plan, error) {
	m, err := machine.Read(ctx)
	if err != nil {
		return nil, err
	}
	return guest.MakePlan(m, c.o)
}

// measure carries the plan out, with its progress on a terminal.
func (c *command) measure(cmd *cobra.Command, plan *guest.Plan) (*measured.Result, error) {
	if w := cmd.ErrOrStderr(); flags.IsTerminal(w) {
		plan.Options.Progress = func(p guest.Progress) { showProgress(w, p) }
	}
	r, err := guest.Run(cmd.Context(), plan)
	if err != nil {
		return nil, err
	}
	r.Homenode = version.String()
	return r, nil
}

// showProgress writes over the line before.
func showProgress(w io.Writer, p guest.Progress) {
	if p.Finished {
		fmt.Fprint(w, "\r\033[K")
		return
	}
	fmt.Fprintf(w, "\r\033[K%3.0f %%  %s, %v left", 100*p.Done.Seconds()/max(p.Planned.Seconds(), 1e-9), p.Task, (p.Planned - p.Done).Round(time.Second))
}

// print writes the result: the file itself as JSON, else an answer.
func (c *command) print(cmd *cobra.Command, r *measured.Result) error {
	if c.out.Format == "json" {
		return c.out.Write(cmd, func(w io.Writer, _ bool) error { return measured.Write(w, r) })
	}
	return c.out.Print(cmd, answers.Answer(r))
}
