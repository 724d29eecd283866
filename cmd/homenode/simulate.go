package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/form"
	"homenode/output/recording"
	"homenode/rules/finding"
	"homenode/rules/simulate"
)

// simulateForms are the forms of simulate; the first is the default.
var simulateForms = captureForms

func newSimulate() *cobra.Command {
	var (
		told  storyInput
		trace traceFlags
		show  simulateShow
	)
	cmd := &cobra.Command{
		Use:   "simulate SCENARIO|SOURCE",
		Short: "Runs the NUMA scheduler of ESXi in the model: who is placed and moved where, and what it costs",
		Long: `simulate plays a story: a fleet, how its VMs are loaded and what happens when. Every 2 s of it the model of the
NUMA scheduler places VMs, allocates their memory, moves clients and pages (docs/simulation.md); what comes out
is judged by the rules that judge captures, and every decision says why.

` + storyHelp + `

Up to 20,000 VMs are judged: more than 1,000 with ticks every minute, more than 5,000 every 5 minutes, unless the
story or --every says otherwise. Beyond that the report has sums only, unless --every is given.

Exit code 0: no finding at or above --fail-on; 1: there are; 2: usage, I/O, or nothing could be simulated.`,
		Example: `  homenode simulate demo
  homenode simulate demo --why --vm ci01
  homenode simulate fleet.json --hours 8 --load 'sql* cpu=60%' --at '2h fail esx07'
  homenode simulate https://vc01.example.com --what-if 'host=esx* nodesPerSocket=2'
  homenode simulate story.txtar --format svg --vm sql01 -o sql01.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := told.check()
			if err := cmp.Or(err, show.check(cmd, &told.out), trace.check()); err != nil {
				return err
			}
			s, o, err := told.read(cmd, args[0])
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
			shown := recording.Options{Details: show.details, VM: show.vm, Version: version(), Words: simulateWords(cmd, args, &told.changes)}
			if isTerminal(cmd.OutOrStdout()) && told.out.file == "" { // elsewhere the same input gives the same bytes
				shown.Took = time.Since(start)
			}
			a, err := show.answer(result, told.out.format, shown)
			if err != nil {
				return err
			}
			f := form.Options{Details: show.details || show.vm != "", FailOn: least, SourceFiles: sourceFiles(args), Table: show.table.name}
			if show.why {
				f.Table = "decisions"
			}
			if err := told.out.printJudged(cmd, a, f); err != nil {
				return err
			}
			if result.Outcome.ClientTicks == 0 {
				return fmt.Errorf("%s: no VM ran: see the notes", args[0])
			}
			switch {
			case told.out.format == "svg" && result.Watched != nil && result.Watched.AtLeast(least) > 0,
				a.Findings != nil && a.Findings.AtLeast(least) > 0:
				return errFindings
			}
			return told.src.incomplete()
		},
	}
	flagGroup(cmd, "Show", show.register, told.outputs(simulateForms...))
	told.register(cmd)
	flagGroup(cmd, "Ticks", trace.register)
	flagGroup(cmd, "Judge", told.failing)
	return cmd
}

// storyHelp says what simulate, sweep and optimise play.
const storyHelp = `SCENARIO is a story (docs/stories.md), or demo: a day on three hosts of the demo fleet. Without one, a SOURCE
(homenode assess --help lists them) runs for a day with a load that is assumed, and the report says so.
--load and --at add to the story, --what-if, --lose-host and --add-host change the fleet before it begins.`

// A storyInput is what simulate, sweep and optimise share: a story, how it is judged, and
// the form of the answer.
type storyInput struct {
	src     sourceFlags
	story   storyFlags
	out     outputFlags
	choose  choiceFlag
	config  configFlag
	changes whatIfFlags
	failOn  string
	choices vnuma.Choices
}

// outputs returns what registers the form of the answer.
func (f *storyInput) outputs(forms ...string) func(*cobra.Command) {
	return func(cmd *cobra.Command) { f.out.register(cmd, forms...) }
}

func (f *storyInput) register(cmd *cobra.Command) {
	flagGroup(cmd, "Story", f.story.register, f.changes.register)
	flagGroup(cmd, "Judge", f.choose.register, f.config.register)
	flagGroup(cmd, "Source", f.src.register)
	for flag, usage := range changedFirst {
		cmd.Flags().Lookup(flag).Usage = usage
	}
}

// failing registers the severity that decides on the exit code.
func (f *storyInput) failing(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.failOn, "fail-on", "medium", "least severity that makes the exit code 1: info, low, medium, high")
}

// check looks at the flags before anything is read.
func (f *storyInput) check() (least finding.Severity, err error) {
	if least, err = finding.ParseSeverity(cmp.Or(f.failOn, "medium")); err != nil {
		return least, fmt.Errorf("--fail-on: %w", err)
	}
	f.choices, err = f.choose.choices()
	return least, cmp.Or(f.out.check(), err)
}

// read reads the story that the argument names and how it is judged.
func (f *storyInput) read(cmd *cobra.Command, arg string) (*numa.Story, simulate.Options, error) {
	o := simulate.Options{Workers: runtime.GOMAXPROCS(0)}
	var err error
	if o.Rules, err = f.config.options(f.choices); err != nil {
		return nil, o, err
	}
	s, err := f.story.read(cmd, &f.src, arg, &f.changes, f.choices)
	o.Silent, o.Prices = f.story.silent, f.story.prices
	return s, o, err
}

// changedFirst are the flags of what-ifs as simulate takes them.
var changedFirst = map[string]string{
	"what-if":   "change the fleet before the story begins: 'vm=sql* hotAdd=off', 'host=esx* nodesPerSocket=2', 'release=8.0U3 hw=21', or @FILE with such lines (repeatable)",
	"lose-host": "without these hosts, their VMs where it suits them worst (repeatable)",
	"add-host":  "with further hosts: 'like=esx01', also count=2, name=esx30, cluster=test (repeatable)",
}

// simulateShow says what of a simulation is shown.
type simulateShow struct {
	vm, host string
	why      bool
	details  bool
	table    tableFlag
}

func (f *simulateShow) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.vm, "vm", "", "this VM alone, as NAME or HOST/NAME; with --why also with * and ?; --format svg takes a host, too, and draws it without a name when there is one")
	fl.StringVar(&f.host, "host", "", "decisions on this host alone; with * and ? on several (--why)")
	fl.BoolVar(&f.why, "why", false, "every decision of the scheduler with its reason and the rules it rests on")
	fl.BoolVar(&f.details, "details", false, "all of the story, all VMs, every finding with its advice (table, markdown)")
	f.table.register(cmd, recording.SimulationTables())
}

// check looks at the flags before anything is read.
func (f *simulateShow) check(cmd *cobra.Command, out *outputFlags) error {
	if err := f.table.check(cmd, out); err != nil {
		return err
	}
	switch {
	case f.host != "" && !f.why:
		return fmt.Errorf("--host: only with --why")
	case f.why && slices.Contains([]string{"svg", "sarif", "junit"}, out.format):
		return fmt.Errorf("--why: not with --format %s: decisions are no findings", out.format)
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
func simulateWords(cmd *cobra.Command, args []string, changes *whatIfFlags) []string {
	words := typedWords(cmd, args, append([]string{"hours", "every", "seed", "load", "at", "choose"}, answerFlags...))
	for _, a := range changes.asked {
		words = append(words, "--"+a.flag, a.text)
	}
	return words
}
