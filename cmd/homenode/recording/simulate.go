package recording

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/internal/version"
	"homenode/output/answer"
	"homenode/output/format"
	"homenode/output/recording"
	"homenode/rules/simulate"
	"homenode/source/story"
)

// simulateForms are the forms of simulate; the first is the default.
var simulateForms = captureForms

// NewSimulate returns the command.
func NewSimulate() *cobra.Command {
	var (
		told  flags.StoryInput
		trace traceFlags
		show  simulateShow
	)
	cmd := &cobra.Command{
		Use:   "simulate SCENARIO|SOURCE",
		Short: "Runs the NUMA scheduler of ESXi in the model: who is placed and moved where, and what it costs",
		Long: `simulate plays a story: a fleet, how its VMs are loaded and what happens when. Every 2 s of it the model of the NUMA scheduler
places VMs and moves clients and memory (docs/simulation.md). It is judged as captures are, and every decision says why.

` + flags.StoryHelp + `

Up to 20,000 VMs are judged: more than 1,000 with ticks every minute, more than 5,000 every 5 minutes, unless the
story or --every says otherwise. Beyond that the report has sums only, unless --every is given.
Exit code 0: no finding at or above --fail-on; 1: there are; 2: usage, I/O, or nothing could be simulated.`,
		Example: `  homenode simulate demo
  homenode simulate fleet.json --hours 8 --load 'sql* cpu=60%' --at '2h fail esx07'
  homenode simulate story.txtar --format svg --vm sql01 -o sql01.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := told.Check(cmd)
			if err := cmp.Or(err, show.Check(cmd, &told.Out), trace.Check()); err != nil {
				return err
			}
			s, o, err := told.Read(cmd, args[0])
			if err != nil {
				return err
			}
			if o.Silent && (show.why || show.vm != "") {
				return fmt.Errorf("--why, --vm: %d VMs are simulated in sum only: give --every, such as 5m, to watch each of them", len(s.Fleet.VMs))
			}
			start := time.Now()
			result, err := trace.run(cmd.Context(), s, o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			shown := recording.Options{Details: show.details, VM: show.vm, Version: version.String(), Words: simulateWords(cmd, args, &told.Changes)}
			if show.moment != "" {
				if shown.Moment, err = story.Moment(s, show.moment); err != nil {
					return fmt.Errorf("--moment: %w", err)
				}
			}
			if flags.IsTerminal(cmd.OutOrStdout()) && told.Out.File == "" { // elsewhere the same input gives the same bytes
				shown.Took = time.Since(start)
			}
			a, err := show.answer(result, told.Out.Format, shown)
			if err != nil {
				return err
			}
			f := format.Options{Details: show.details || show.vm != "", FailOn: least, SourceFiles: flags.SourceFiles(args), Table: show.table.Name}
			if show.why {
				f.Table = "decisions"
			}
			if err := told.Out.PrintJudged(cmd, f, a); err != nil {
				return err
			}
			if result.Outcome.ClientTicks == 0 {
				return fmt.Errorf("%s: no VM ran: see the notes", args[0])
			}
			switch {
			case told.Out.Format == "svg" && result.Watched != nil && result.Watched.AtLeast(least) > 0,
				a.Findings != nil && a.Findings.AtLeast(least) > 0:
				return flags.ErrFindings
			}
			return told.Src.Incomplete()
		},
	}
	flags.Group(cmd, "Show", show.Register, told.Outputs(simulateForms...))
	told.Register(cmd)
	flags.Group(cmd, "Ticks", trace.Register)
	flags.Group(cmd, "Judge", told.Failing)
	return cmd
}

// simulateShow says what of a simulation is shown.
type simulateShow struct {
	vm, host string
	why      bool
	moment   string
	details  bool
	table    flags.Table
}

func (f *simulateShow) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.vm, "vm", "", "this VM alone, as NAME or HOST/NAME; with --why also with * and ?; --format svg takes a host, too, and draws it without a name when there is one")
	fl.StringVar(&f.host, "host", "", "decisions on this host alone; with * and ? on several (--why)")
	fl.BoolVar(&f.why, "why", false, "every decision of the scheduler with its reason and the rules it rests on")
	fl.StringVar(&f.moment, "moment", "", "mark this time in the drawings and say what stood then: 14:30, or 2h after the start")
	fl.BoolVar(&f.details, "details", false, "all of the story, all VMs, every finding with its advice (table, markdown)")
	f.table.Register(cmd, recording.SimulationTables())
}

// check looks at the flags before anything is read.
func (f *simulateShow) Check(cmd *cobra.Command, out *flags.Output) error {
	if err := f.table.Check(cmd, out); err != nil {
		return err
	}
	switch {
	case f.host != "" && !f.why:
		return fmt.Errorf("--host: only with --why")
	case f.why && slices.Contains([]string{"svg", "sarif", "junit"}, out.Format):
		return fmt.Errorf("--why: not with --format %s: decisions are no findings", out.Format)
	case f.why && cmd.Flags().Changed("table"):
		return fmt.Errorf("--why: it is the table decisions: not with --table")
	}
	return nil
}

// answer returns what of the simulation was asked for.
func (f *simulateShow) answer(r *simulate.Result, form string, o recording.Options) (*answer.Answer, error) {
	switch {
	case f.why:
		return recording.Decisions(r, f.vm, f.host, o)
	case form == "svg":
		return recording.SimulationDrawing(r, f.vm)
	case f.vm != "":
		return recording.SimulatedVM(r, o)
	}
	return recording.Simulation(r, o), nil
}

// simulateWords are the source and the flags that change the answer, as the user typed
// them, for the next commands.
func simulateWords(cmd *cobra.Command, args []string, changes *flags.WhatIf) []string {
	words := flags.Typed(cmd, args, append([]string{"hours", "every", "seed", "load", "at", "part", "choose"}, flags.Answer...))
	for _, a := range changes.Asked {
		words = append(words, "--"+a.Flag, a.Text)
	}
	return words
}
