package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/output/report"
	"homenode/rules/finding"
	"homenode/rules/simulate"
)

// simulateForms are the forms of simulate; the first is the default.
var simulateForms = captureForms

func newSimulate() *cobra.Command {
	var (
		src     sourceFlags
		story   storyFlags
		trace   traceFlags
		out     outputFlags
		choose  choiceFlag
		config  configFlag
		changes whatIfFlags
		grid    sweepFlags
		failOn  string
		show    simulateShow
		again   replayFlags
		better  optimiseFlags
	)
	cmd := &cobra.Command{
		Use:   "simulate SCENARIO|SOURCE|FILE...",
		Short: "Runs the NUMA scheduler of ESXi in the model: who is placed and moved where, and what it costs",
		Long: `simulate plays a story: a fleet, how its VMs are loaded and what happens when. Every 2 s of it the model of the
NUMA scheduler places VMs, allocates their memory, moves clients and pages (docs/simulation.md); what comes out
is judged by the rules that judge captures, and every decision says why.

SCENARIO is a story (docs/stories.md), or
  demo                       a day on three hosts of the demo fleet
` + strings.Replace(strings.TrimPrefix(sourceHelp, "SOURCE is one of\n"), "  demo                       a simulated vCenter with 24 hosts and 300 VMs\n", "", 1) + `
A SOURCE without a story runs for a day with a load that is assumed, and the report says so. The fleet of the
demo itself: homenode demo --text > fleet.txtar.

--load and --at add to the story, --what-if, --lose-host and --add-host change the fleet before it begins.
Up to 20,000 VMs are judged: more than 1,000 with ticks every minute, more than 5,000 every 5 minutes, unless the
run line of the story says every=, or --every is given. Beyond that the report has sums only, unless --every is given.

--sweep simulates a grid of such changes, on the cores of this machine or by the homenode work processes of --queue,
and shows the points side by side (docs/sweeps.md).

With --replay the FILE arguments are captures, as homenode capture reads them, or demo: the model starts as observed,
with the load that was observed, and the report says how far it was off, beside the forecast that nothing changes.

Exit code 0: no finding at or above --fail-on; 1: there are; 2: usage, I/O, or nothing could be simulated.`,
		Example: `  homenode simulate demo
  homenode simulate demo --vm ci01
  homenode simulate demo --why --vm ci01
  homenode simulate demo --format html -o day.html
  homenode simulate fleet.json --hours 8 --load 'sql* cpu=60%' --at '2h fail esx07'
  homenode simulate https://vc01.example.com --what-if 'host=esx* nodesPerSocket=2'
  homenode simulate demo --sweep 'nodesPerSocket=today,2' --sweep 'cpu=x0.5,x1,x2' --sweep 'seed=1..5'
  homenode simulate story.txtar --trace trace/ --every 20s
  homenode simulate story.txtar --format svg --vm sql01 -o sql01.svg
  homenode simulate --replay esx07.csv.gz --fleet https://vc01.example.com`,
		Args: again.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := finding.ParseSeverity(failOn)
			if err != nil {
				return fmt.Errorf("--fail-on: %w", err)
			}
			choices, err := choose.choices()
			if err := cmp.Or(out.check(), again.check(cmd, &out), err); err != nil {
				return err
			}
			if again.on {
				return again.run(cmd, args, &src, &out, choices, &show)
			}
			if err := cmp.Or(show.check(cmd, &out), trace.check(), grid.check(cmd, out.format), better.check(cmd, &out)); err != nil {
				return err
			}
			options, err := config.options(choices)
			if err != nil {
				return err
			}
			told, err := story.read(cmd, &src, args[0], &changes, choices)
			if err != nil {
				return err
			}
			if grid.asked != nil {
				return cmp.Or(grid.run(cmd, told, story.silent, &config, choices, least, &out), src.incomplete())
			}
			if story.silent && (show.why || show.vm != "") {
				return fmt.Errorf("--why, --vm: %d VMs are simulated in sum only: give --every, such as 5m, to watch each of them", len(told.Fleet.VMs))
			}
			start := time.Now()
			o := simulate.Options{Rules: options, Workers: runtime.GOMAXPROCS(0), Silent: story.silent, Prices: story.prices}
			if better.on {
				return better.run(cmd, &out, told, args[0], o)
			}
			result, err := trace.run(cmd.Context(), told, o, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			took := time.Since(start)
			err = out.write(cmd, func(to io.Writer, colour bool) error {
				o := report.CaptureOptions{Colour: colour, Details: show.details, FailOn: least, SourceWords: simulateWords(cmd, args, &changes)}
				if isTerminal(cmd.OutOrStdout()) && out.file == "" { // elsewhere the same input gives the same bytes
					o.Read = took
				}
				x := report.ExportOptions{Version: version(), FailOn: least, Details: show.details, SourceFiles: sourceFiles(args)}
				return show.write(to, out.format, result, o, x)
			})
			if err != nil {
				return err
			}
			if result.Outcome.ClientTicks == 0 {
				return fmt.Errorf("%s: no VM ran: see the notes", args[0])
			}
			if !show.why && show.found(result, out.format, least) > 0 {
				return errFindings
			}
			return src.incomplete()
		},
	}
	src.register(cmd)
	story.register(cmd)
	trace.register(cmd)
	out.register(cmd, simulateForms...)
	choose.register(cmd)
	config.register(cmd)
	changes.register(cmd)
	for flag, usage := range changedFirst {
		cmd.Flags().Lookup(flag).Usage = usage
	}
	show.register(cmd)
	grid.register(cmd)
	again.register(cmd)
	better.register(cmd)
	cmd.Flags().StringVar(&failOn, "fail-on", "medium", "least severity that makes the exit code 1: info, low, medium, high")
	return cmd
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
	fl.StringVar(&f.vm, "vm", "", "this VM alone, as NAME or HOST/NAME (table, json, svg, --why); --format svg takes a host, too, and draws it without a name when there is one")
	fl.StringVar(&f.host, "host", "", "decisions on this host alone (--why); name of the host, for files that call it localhost (--replay)")
	fl.BoolVar(&f.why, "why", false, "every decision of the scheduler with its reason and the rules it rests on (table, json, csv)")
	fl.BoolVar(&f.details, "details", false, "all of the story, all VMs, every finding with its advice (table, markdown)")
	f.table.register(cmd, report.SimulatedTableNames())
}

// check looks at the flags before anything is read.
func (f *simulateShow) check(cmd *cobra.Command, out *outputFlags) error {
	if err := f.table.check(cmd, out); err != nil {
		return err
	}
	among := func(forms ...string) bool {
		for _, form := range forms {
			if out.format == form {
				return true
			}
		}
		return false
	}
	switch {
	case f.host != "" && !f.why:
		return fmt.Errorf("--host: only with --why")
	case f.why && !among("table", "json", "csv"):
		return fmt.Errorf("--why: not with --format %s: want table, json or csv", out.format)
	case f.why && cmd.Flags().Changed("table"):
		return fmt.Errorf("--why: it is the table decisions: not with --table")
	case f.vm != "" && !f.why && !among("table", "json", "svg"):
		return fmt.Errorf("--vm: not with --format %s: want table, json or svg", out.format)
	}
	return nil
}

// write writes the report in one of the forms.
func (f *simulateShow) write(w io.Writer, form string, r *simulate.Result, o report.CaptureOptions, x report.ExportOptions) error {
	if f.why {
		return report.Why(w, r, form, report.WhyOptions{VM: f.vm, Host: f.host, Colour: o.Colour})
	}
	switch form {
	case "table":
		if f.vm != "" {
			return report.SimulatedVM(w, r, f.vm, o)
		}
	case "json":
		if f.vm != "" {
			return report.SimulatedVMJSON(w, r, f.vm)
		}
		return report.SimulatedJSON(w, r)
	case "html":
		return report.SimulatedHTML(w, r, report.HTMLOptions{Version: x.Version})
	case "csv", "xlsx":
		return writeTables(w, form, f.table.name, report.SimulatedTables(r, x.Version))
	case "sarif":
		return report.SimulatedSARIF(w, r, x)
	case "junit":
		return report.SimulatedJUnit(w, r, x)
	case "markdown":
		return report.SimulatedMarkdown(w, r, x)
	case "svg":
		return report.SimulatedSVG(w, r, f.vm)
	}
	return report.Simulated(w, r, o)
}

// found counts the findings that decide on the exit code.
func (f *simulateShow) found(r *simulate.Result, form string, least finding.Severity) int {
	switch {
	case r.Watched == nil:
		return 0
	case f.vm != "" && form != "svg":
		return report.SimulatedFindingsOfVM(r, f.vm, least)
	}
	return r.Watched.AtLeast(least)
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
