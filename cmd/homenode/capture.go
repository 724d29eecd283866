package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"homenode/capture"
	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/output/report"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/policy"
)

// captureForms are the forms of capture; the first is the default.
var captureForms = []string{"table", "json", "html", "csv", "xlsx", "sarif", "junit", "markdown", "svg"}

func newCapture() *cobra.Command {
	var (
		in      captureFlags
		src     sourceFlags
		out     outputFlags
		config  configFlag
		explore exploreFlags
		archive archiveFlags
		fleet   []string
		failOn  string
		details bool
		table   tableFlag
		vm      string
	)
	cmd := &cobra.Command{
		Use:   "capture FILE...",
		Short: "Tells from captures of esxtop what NUMA did: which VMs lost locality, when and why",
		Long: `capture reads what was recorded of hosts and says which VMs lost locality, when, how much memory was remote,
between which home nodes they moved, which nodes were overloaded, and what it meant for them (ready, co-stop).

FILE is one of
  esxtop.csv     an esxtop or resxtop batch file of any size (esxtop -b -a -d 5 > esxtop.csv)
  fetchstats.txt CounterInfo and FetchStats of the Esxtop service of the vSphere API
  outputs.txt    sched-stats, memstats or the memory screen of esxtop again and again, with date lines
  -              standard input
  demo           an invented night on two hosts of the demo fleet
also packed with gzip or zstd, or a folder or archive of such files. Files of one host are put in the order of
time; a file that is given twice counts once. A file is read once, in memory that does not grow with its length.

An archive of thousands of files from hundreds of hosts is read with --archive DIR, with all cores, or with
--queue by any number of machines (homenode queue, homenode work, docs/archive.md).

With --fleet the inventory says what each VM's settings let expect, and what was seen is compared with that. To
look at a file by hand, list its counters or take some out, use --explore.

Exit code 0: no finding at or above --fail-on; 1: there are; 2: usage, I/O, nothing could be read, or no finding
in what could be read while some file could not.`,
		Example: `  homenode capture demo --fleet demo
  homenode capture esx07.csv.gz --fleet https://vc01.example.com
  homenode capture night/ --from '2026-11-03 02:00' --to '2026-11-03 05:00' --format html -o night.html
  homenode capture esx07.csv --vm sql01
  homenode capture esx07.csv --vm sql01 --format svg -o sql01.svg
  homenode capture esx07.csv --parquet lake/ --openmetrics esx07.om
  homenode capture --archive /captures --queue nats://127.0.0.1:4222
  homenode capture --explore esx07.csv --counter '*Numa*'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(out.check(), explore.check(cmd, &out, args)); err != nil {
				return err
			}
			if explore.on() {
				return explore.run(cmd, &out, args[0], runtime.GOMAXPROCS(0), &in)
			}
			least, err := finding.ParseSeverity(failOn)
			if err != nil {
				return fmt.Errorf("--fail-on: %w", err)
			}
			if err := cmp.Or(archive.check(in.parquet), in.check(args, archive.dir != ""), table.check(cmd, &out)); err != nil {
				return err
			}
			if vm != "" && out.format != "svg" && out.format != "table" && out.format != "json" {
				return fmt.Errorf("--vm: not with --format %s: want table, json or svg", out.format)
			}
			options, err := config.options(vnuma.Choices{})
			if err != nil {
				return err
			}
			if err := in.setLocality(&options); err != nil {
				return err
			}
			var inventory *rules.Result
			if len(fleet) > 0 {
				f, err := src.read(cmd, fleet...)
				if err != nil {
					return err
				}
				inventory = rules.Run(f, rules.Options{Policy: thresholdsOf(options.Policy), Today: options.Today})
			}
			start := time.Now()
			recordings, notes, err := in.readAll(cmd, args, &archive, rules.CaptureOptions(options.Policy), inventory)
			if err != nil {
				return err
			}
			read := time.Since(start)
			w := rules.Watch(recordings, inventory, options)
			w.Notes, w.Unread = append(notes, w.Notes...), max(0, in.failed-cutFiles(recordings))
			err = out.write(cmd, func(to io.Writer, colour bool) error {
				o := report.CaptureOptions{Colour: colour, Details: details, FailOn: least, SourceWords: captureWords(cmd, args)}
				if isTerminal(cmd.OutOrStdout()) && out.file == "" { // elsewhere the same input gives the same bytes
					o.Read = read
				}
				x := report.ExportOptions{Version: version(), FailOn: least, Details: details, SourceFiles: sourceFiles(args)}
				return writeCapture(to, out.format, table.name, vm, w, o, x)
			})
			if err != nil {
				return err
			}
			n := w.AtLeast(least)
			if vm != "" && out.format != "svg" {
				n = report.FindingsOfVM(w, vm, least)
			}
			if n > 0 {
				return errFindings
			}
			return cmp.Or(in.incomplete(), src.incomplete())
		},
	}
	in.register(cmd)
	out.register(cmd, captureForms...)
	src.register(cmd)
	config.register(cmd)
	explore.register(cmd)
	archive.register(cmd)
	table.register(cmd, report.CaptureTableNames())
	fl := cmd.Flags()
	fl.StringArrayVar(&fleet, "fleet", nil, "SOURCE of the inventory, as assess reads it: what was seen is compared with the prediction")
	fl.StringVar(&failOn, "fail-on", "medium", "least severity that makes the exit code 1: info, low, medium, high")
	fl.BoolVar(&details, "details", false, "every finding with its advice (table, markdown)")
	fl.StringVar(&vm, "vm", "", "this VM alone, as NAME or HOST/NAME (table, json, svg); --format svg takes a host, too, and draws it without a name when there is one")
	return cmd
}

// answerFlags are those that change what capture finds.
var answerFlags = []string{
	"archive", "fleet", "nodes-per-socket", "evidence", "assume-host", "password-file", "credentials", "tls-known-hosts", "tls-ca-certs", "insecure",
	"host-name", "from", "to", "locality", "interval", "start", "config", "fail-on",
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
	return typedWords(cmd, args, answerFlags)
}

// typedWords are the arguments and those of the flags that the user gave.
func typedWords(cmd *cobra.Command, args, flags []string) []string {
	words := slices.Clone(args)
	for _, name := range flags {
		f := cmd.Flags().Lookup(name)
		switch {
		case f == nil || !f.Changed:
		case f.Value.Type() == "bool":
			words = append(words, "--"+name+"="+f.Value.String())
		default:
			values := []string{f.Value.String()}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				values = list.GetSlice()
			}
			for _, value := range values {
				words = append(words, "--"+name, value)
			}
		}
	}
	return words
}

// thresholdsOf returns the configuration without what it accepts and switches off: the
// findings about the inventory are not shown.
func thresholdsOf(p *policy.Policy) *policy.Policy {
	if p == nil {
		return nil
	}
	return &policy.Policy{File: p.File, Thresholds: p.Thresholds}
}

// writeCapture writes what was found in one of the forms.
func writeCapture(w io.Writer, form, table, vm string, r *rules.Watched, o report.CaptureOptions, x report.ExportOptions) error {
	switch form {
	case "table":
		if vm != "" {
			return report.CaptureVM(w, r, vm, o)
		}
	case "json":
		if vm != "" {
			return report.CaptureVMJSON(w, r, vm)
		}
		return report.CaptureJSON(w, r)
	case "html":
		return report.CaptureHTML(w, r, report.HTMLOptions{Version: x.Version})
	case "csv", "xlsx":
		return writeTables(w, form, table, report.CaptureTables(r, x.Version))
	case "sarif":
		return report.CaptureSARIF(w, r, x)
	case "junit":
		return report.CaptureJUnit(w, r, x)
	case "markdown":
		return report.CaptureMarkdown(w, r, x)
	case "svg":
		return report.CaptureSVG(w, r, vm)
	}
	return report.Capture(w, r, o)
}

// machineOf returns the host of the inventory with this name; nil when there is none, or
// no inventory.
func machineOf(inventory *rules.Result, name string) *numa.Host {
	if inventory == nil || name == "" {
		return nil
	}
	for i := range inventory.Fleet.Hosts {
		if h := &inventory.Fleet.Hosts[i]; numa.SameHost(h.Name, name) {
			return h
		}
	}
	return nil
}
