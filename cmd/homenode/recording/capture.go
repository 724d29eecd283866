// Package recording has the commands about what happens over time: capture, simulate and replay.
package recording

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"homenode/capture"
	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/version"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/format"
	"homenode/output/recording"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/policy"
	"homenode/source/ticks"
)

// captureForms are the forms of capture; the first is the default.
var captureForms = []string{"table", "json", "html", "csv", "xlsx", "sarif", "junit", "markdown", "svg"}

// captureFlags are those of capture.
type captureFlags struct {
	in      flags.Captures
	merge   bool
	fleet   []string
	src     flags.Source // no flags: the environment says how a vCenter is reached
	part    flags.Filter
	details bool
	config  flags.Config
	failOn  string
	out     flags.Output
	table   flags.Table
	explore exploreFlags
}

// NewCapture returns the command.
func NewCapture() *cobra.Command {
	f := &captureFlags{}
	cmd := &cobra.Command{
		Use:   "capture FILE...",
		Short: "Analyses esxtop captures: which VMs lost locality, when and why",
		Long: `capture reports which VMs of recorded hosts lost locality, when and why, and which nodes were overloaded.

FILE is an esxtop batch file of any size (esxtop -b -a -d 5 > esxtop.csv), FetchStats of the vSphere API, outputs
of sched-stats, memstats or the memory screen with date lines, - for standard input, or demo; also packed, or a folder or
archive of such files (docs/captures.md). With --fleet each VM is compared with what its settings predict: SOURCE is
what assess takes. GOVC_USERNAME, GOVC_PASSWORD and the other variables of govc say how a vCenter is reached;
homenode snapshot takes flags for it.
Exit code 0: no finding at or above --fail-on; 1: there are; 2: usage, I/O, or not everything could be read.`,
		Example: `  homenode capture esx07.csv.gz --fleet https://vc01.example.com
  homenode capture night/ --vm 'sql*' --from '2026-11-03 02:00' --format html -o night.html
  homenode capture --merge results/
  homenode capture --explore 'Group Memory(*:sql01)\Numa *' esx07.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: f.run,
	}
	f.register(cmd)
	return cmd
}

func (f *captureFlags) register(cmd *cobra.Command) {
	flags.Group(cmd, "Read", f.in.RegisterPart, f.in.RegisterUndated, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&f.merge, "merge", false, "FILE is a JSON result of a capture of one file, or a folder of them: answer about all these files (docs/captures.md)")
		cmd.Flags().StringArrayVar(&f.fleet, "fleet", nil, "SOURCE of the inventory: what was seen is compared with the prediction")
	})
	flags.Group(cmd, "Show", func(cmd *cobra.Command) { f.part.RegisterOnly(cmd, flags.FilterRecorded...) }, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&f.details, "details", false, "every finding with its advice (table, markdown)")
	})
	flags.Group(cmd, "Judge", f.config.Register, func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&f.failOn, "fail-on", "medium", "least severity that makes the exit code 1: info, low, medium, high")
	})
	flags.Group(cmd, "Output", func(cmd *cobra.Command) {
		f.out.Register(cmd, captureForms...)
		f.table.Register(cmd, recording.CaptureTables())
	}, f.in.RegisterExports, f.explore.Register)
}

func (f *captureFlags) run(cmd *cobra.Command, args []string) error {
	if err := cmp.Or(f.out.Check(cmd), f.explore.Check(cmd, &f.out, args)); err != nil {
		return err
	}
	if f.explore.on() {
		return f.explore.run(cmd, &f.out, args[0], runtime.GOMAXPROCS(0), &f.in)
	}
	least, err := finding.ParseSeverity(f.failOn)
	if err != nil {
		return fmt.Errorf("--fail-on: %w", err)
	}
	if f.merge {
		err = f.in.CheckMerge(cmd, args)
	} else {
		err = f.in.Check(args)
	}
	if err := cmp.Or(err, f.table.Check(cmd, &f.out)); err != nil {
		return err
	}
	shown, err := f.part.Compile()
	if err != nil {
		return err
	}
	options, err := f.config.Options(vnuma.Choices{})
	if err != nil {
		return err
	}
	inventory, err := f.inventory(cmd, args, options)
	if err != nil {
		return err
	}
	start := time.Now()
	recordings, notes, nothing := f.read(cmd, args, rules.CaptureOptions(options.Policy), inventory)
	o := recording.Options{Details: f.details, VM: f.part.One(), Version: version.String(), Words: captureWords(cmd, args)}
	if flags.IsTerminal(cmd.OutOrStdout()) && f.out.File == "" { // elsewhere the same input gives the same bytes
		o.Took = time.Since(start)
	}
	if f.out.Format == "json" {
		if o.Whole, err = f.in.Whole(cmd); err != nil {
			return err
		}
	}
	if nothing != nil && (o.Whole == nil || !errors.As(nothing, new(*flags.Nothing))) {
		return nothing // else --merge can tell of the file
	}
	w := rules.Watch(recordings, inventory, options)
	w.Notes, w.Unread = append(notes, w.Notes...), max(0, f.in.Failed-cutFiles(recordings))
	if nothing == nil && (f.out.Format != "svg" || o.VM == "") { // a drawing can be of a host that --vm names
		if w, err = shown.Watched(w); err != nil {
			return err
		}
	}
	if err := f.print(cmd, args, w, o, least); err != nil {
		return err
	}
	if w.AtLeast(least) > 0 {
		return flags.ErrFindings
	}
	return cmp.Or(nothing, f.in.Incomplete(), f.src.Incomplete())
}

// inventory reads what --fleet names, or what lies beside the captures; nil for none.
func (f *captureFlags) inventory(cmd *cobra.Command, args []string, o rules.Options) (*rules.Result, error) {
	fleet := f.fleet
	files, err := flags.CaptureFiles(cmd)
	if err != nil {
		return nil, err
	}
	if len(fleet) == 0 && files == nil && !f.merge {
		for _, arg := range args {
			fleet = append(fleet, ticks.Inventories(arg)...)
		}
	}
	if len(fleet) == 0 {
		return nil, nil
	}
	read, err := f.src.Read(cmd, fleet...)
	if err != nil {
		return nil, err
	}
	return rules.Run(read, rules.Options{Policy: thresholdsOf(o.Policy), Today: o.Today}), nil
}

// read reads the captures, or the results of captures.
func (f *captureFlags) read(cmd *cobra.Command, args []string, o capture.Options, inventory *rules.Result) ([]*capture.Recording, []numa.Note, error) {
	if f.merge {
		return f.in.Merge(cmd, args, o)
	}
	return f.in.Read(cmd, args, o, inventory)
}

// print prints the answer, or a drawing alone.
func (f *captureFlags) print(cmd *cobra.Command, args []string, w *rules.Watched, o recording.Options, least finding.Severity) error {
	var a *answer.Answer
	if f.out.Format == "svg" {
		var err error
		if a, err = recording.CaptureDrawing(w, o.VM); err != nil {
			return err
		}
	} else {
		a = recording.Capture(w, o)
	}
	return f.out.PrintJudged(cmd, format.Options{Details: f.details || o.VM != "", FailOn: least, SourceFiles: flags.SourceFiles(args), Table: f.table.Name}, a)
}

// cutFiles counts the files that were not read to their end.
func cutFiles(recordings []*capture.Recording) int {
	names := map[string]bool{}
	for _, rec := range recordings {
		for _, f := range rec.Files {
			if f.Cut {
				names[f.Name] = true
			}
		}
	}
	return len(names)
}

// captureWords are the files and the flags that change the answer, as the user typed them,
// for the next commands.
func captureWords(cmd *cobra.Command, args []string) []string {
	return flags.Typed(cmd, args, slices.Concat([]string{"merge"}, flags.Answer, flags.FilterNames))
}

// thresholdsOf returns the configuration without what it accepts and switches off: the
// findings about the inventory are not shown.
func thresholdsOf(p *policy.Policy) *policy.Policy {
	if p == nil {
		return nil
	}
	return &policy.Policy{File: p.File, Thresholds: p.Thresholds}
}
