// Package recording has the commands about what happens over time: capture, simulate and replay.
package recording

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"homenode/capture"
	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/internal/version"
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

// NewCapture returns the command.
func NewCapture() *cobra.Command {
	var (
		in      flags.Captures
		src     flags.Source
		out     flags.Output
		config  flags.Config
		explore exploreFlags
		archive archiveFlags
		fleet   []string
		failOn  string
		details bool
		table   flags.Table
		part    flags.Filter
	)
	cmd := &cobra.Command{
		Use:   "capture FILE...",
		Short: "Tells from captures of esxtop what NUMA did: which VMs lost locality, when and why",
		Long: `capture says which VMs of recorded hosts lost locality, when and why, and which nodes were overloaded.

FILE is an esxtop batch file of any size (esxtop -b -a -d 5 > esxtop.csv), FetchStats of the vSphere API, outputs
of sched-stats, memstats or the memory screen with date lines, - for standard input, or demo; also packed, or a folder or
archive of such files (docs/captures.md). With --fleet the inventory says what each VM's settings let expect.
Exit code 0: no finding at or above --fail-on; 1: there are; 2: usage, I/O, or not everything could be read.`,
		Example: `  homenode capture esx07.csv.gz --fleet https://vc01.example.com
  homenode capture night/ --vm 'sql*' --from '2026-11-03 02:00' --format html -o night.html`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(out.Check(cmd), explore.Check(cmd, &out, args)); err != nil {
				return err
			}
			if explore.on() {
				return explore.run(cmd, &out, args[0], runtime.GOMAXPROCS(0), &in)
			}
			least, err := finding.ParseSeverity(failOn)
			if err != nil {
				return fmt.Errorf("--fail-on: %w", err)
			}
			if err := cmp.Or(archive.Check(in.Parquet), in.Check(args, archive.dir != ""), table.Check(cmd, &out)); err != nil {
				return err
			}
			shown, err := part.Compile()
			if err != nil {
				return err
			}
			options, err := config.Options(vnuma.Choices{})
			if err != nil {
				return err
			}
			if err := in.SetLocality(&options); err != nil {
				return err
			}
			files, err := flags.CaptureFiles(cmd)
			if err != nil {
				return err
			}
			if len(fleet) == 0 && files == nil {
				for _, arg := range args {
					fleet = append(fleet, ticks.Inventories(arg)...)
				}
			}
			var inventory *rules.Result
			if len(fleet) > 0 {
				f, err := src.Read(cmd, fleet...)
				if err != nil {
					return err
				}
				inventory = rules.Run(f, rules.Options{Policy: thresholdsOf(options.Policy), Today: options.Today})
			}
			start := time.Now()
			recordings, notes, err := readCaptures(&in, cmd, args, &archive, rules.CaptureOptions(options.Policy), inventory)
			if err != nil {
				return err
			}
			read := time.Since(start)
			w := rules.Watch(recordings, inventory, options)
			w.Notes, w.Unread = append(notes, w.Notes...), max(0, in.Failed-cutFiles(recordings))
			one := part.One()
			if out.Format != "svg" || one == "" { // a drawing can be of a host that --vm names
				if w, err = shown.Watched(w); err != nil {
					return err
				}
			}
			o := recording.Options{Details: details, VM: one, Version: version.String(), Words: captureWords(cmd, args)}
			if flags.IsTerminal(cmd.OutOrStdout()) && out.File == "" { // elsewhere the same input gives the same bytes
				o.Took = read
			}
			var a *answer.Answer
			if out.Format == "svg" {
				if a, err = recording.CaptureDrawing(w, one); err != nil {
					return err
				}
			} else {
				a = recording.Capture(w, o)
			}
			err = out.PrintJudged(cmd, format.Options{Details: details || one != "", FailOn: least, SourceFiles: flags.SourceFiles(args), Table: table.Name}, a)
			if err != nil {
				return err
			}
			if w.AtLeast(least) > 0 {
				return flags.ErrFindings
			}
			return cmp.Or(in.Incomplete(), src.Incomplete())
		},
	}
	in.Register(cmd)
	out.Register(cmd, captureForms...)
	src.Register(cmd)
	config.Register(cmd)
	explore.Register(cmd)
	archive.Register(cmd)
	part.Register(cmd)
	table.Register(cmd, recording.CaptureTables())
	fl := cmd.Flags()
	fl.StringArrayVar(&fleet, "fleet", nil, "SOURCE of the inventory, as assess reads it: what was seen is compared with the prediction")
	fl.StringVar(&failOn, "fail-on", "medium", "least severity that makes the exit code 1: info, low, medium, high")
	fl.BoolVar(&details, "details", false, "every finding with its advice (table, markdown)")
	return cmd
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
	return flags.Typed(cmd, args, slices.Concat(flags.Answer, flags.FilterNames))
}

// thresholdsOf returns the configuration without what it accepts and switches off: the
// findings about the inventory are not shown.
func thresholdsOf(p *policy.Policy) *policy.Policy {
	if p == nil {
		return nil
	}
	return &policy.Policy{File: p.File, Thresholds: p.Thresholds}
}
