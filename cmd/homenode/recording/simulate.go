package recording

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
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
		again replaying
		grid  []string
	)
	cmd := described("simulate", &cobra.Command{
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := told.Check(cmd)
			if err := cmp.Or(err, show.Check(cmd, &told.Out), trace.Check()); err != nil {
				return err
			}
			if again.captures != nil {
				return again.run(cmd, &told, args, show.details)
			}
			if len(args) == 0 {
				return errors.New("want a SCENARIO or a SOURCE, as in: homenode simulate demo")
			}
			s, o, err := told.Read(cmd, args[0])
			if err != nil {
				return err
			}
			if grid != nil {
				return cmp.Or(simulateGrid(cmd, &told, grid, s, o, least), told.Src.Incomplete())
			}
			if o.Silent && (show.why || show.vm != "") {
				return fmt.Errorf("--why, --vm: %d VMs are simulated in sum only: to watch each of them, say how often: --at 'run 24h every=5m'", len(s.Fleet.VMs))
			}
			start := time.Now()
			result, err := trace.run(cmd.Context(), s, o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			shown := recording.Options{Details: show.details, VM: show.vm, Version: version.String(), Words: simulateWords(cmd, args)}
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
	})
	flags.Group(cmd, "Grid", func(cmd *cobra.Command) {
		cmd.Flags().StringArrayVar(&grid, "grid", nil, "simulate each of these values: 'vm=sql* vcpus=8,12', 'nodesPerSocket=1,2', 'lose-host=esx01,esx02', 'cpu=x0.5,x2', 'seed=1..10'; several are combined (repeatable)")
	})
	flags.Group(cmd, "Against a capture", again.Register)
	flags.Group(cmd, "Show", show.Register, told.Outputs(simulateForms...))
	told.Register(cmd)
	flags.Group(cmd, "Ticks", trace.Register)
	flags.Group(cmd, "Judge", told.Failing)
	return cmd
}

// simulateShow says what of a simulation is shown.
type simulateShow struct {
	vm      string
	why     bool
	moment  string
	details bool
	table   flags.Table
}

func (f *simulateShow) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.vm, "vm", "", "this VM alone, as NAME or HOST/NAME; with --why also with * and ?, and HOST/* for all of a host; --format svg takes a host, too, and draws it without a name when there is one")
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
		if host, ok := strings.CutSuffix(f.vm, "/*"); ok {
			return recording.Decisions(r, "", host, o)
		}
		return recording.Decisions(r, f.vm, "", o)
	case form == "svg":
		return recording.SimulationDrawing(r, f.vm)
	case f.vm != "":
		return recording.SimulatedVM(r, o)
	}
	return recording.Simulation(r, o), nil
}

// simulateWords are the source and the flags that change the answer, as the user typed
// them, for the next commands.
func simulateWords(cmd *cobra.Command, args []string) []string {
	return flags.Typed(cmd, args, append([]string{"hours", "load", "at", "part", "choose", "what-if"}, flags.Answer...))
}
