package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/measure/replay"
	"homenode/numa"
	"homenode/output/format"
	"homenode/output/measure"
	"homenode/rules/rule"
	"homenode/source/open"
	"homenode/source/story"
	"homenode/source/ticks"
)

// replayFlags say which part of a capture is replayed, and against what inventory.
type replayFlags struct {
	fleet   []string
	host    string
	details bool
	window  flags.Captures // from and to alone

	hosts  []*replay.Recorder
	notes  []fileNote
	failed int // files and hosts
}

// A fileNote is a warning about a file.
type fileNote struct {
	text  string
	hosts []string // that the file is of
}

// NewReplay returns the command.
func NewReplay() *cobra.Command {
	var (
		src    flags.Source
		out    flags.Output
		choose flags.Choice
		again  replayFlags
	)
	cmd := &cobra.Command{
		Use:   "replay CAPTURE...",
		Short: "Runs the model of the NUMA scheduler beside a capture and says how far it was off",
		Long: `replay starts the model of the NUMA scheduler as a capture was observed at its start and gives every VM the load
that was observed. What the model makes of it is compared with what happened, counter by counter, beside the
forecast that nothing changes (docs/replay.md).

CAPTURE is what homenode capture reads: esxtop batch files, also in folders and archives, - for standard input,
or demo. A capture does not say how many cores a node has: --fleet or --assume-host does.

Exit code 0: replayed; 2: usage, I/O, or a file or host could not be replayed.`,
		Example: `  homenode replay esx07.csv.gz --fleet https://vc01.example.com
  homenode replay esx07.csv --assume-host 'nodes=2 cores=18 memory=1024GB release=7.0U3' --host-name esx07
  homenode replay demo --fleet demo --from '2026-11-03 02:00' --to '2026-11-03 03:00'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			choices, err := choose.Choices()
			if err := cmp.Or(err, out.Check(cmd), again.window.ReadTimes()); err != nil {
				return err
			}
			return again.run(cmd, args, &src, &out, choices)
		},
	}
	flags.Group(cmd, "Replay", again.Register, choose.Register)
	flags.Group(cmd, "Show", func(cmd *cobra.Command) { out.Register(cmd, format.Tables...) }, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&again.details, "details", false, "all VMs (table)")
	})
	flags.Group(cmd, "Source", src.Register)
	return cmd
}

func (f *replayFlags) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.fleet, "fleet", nil, "SOURCE of the inventory: shapes of hosts, settings of VMs")
	fl.StringVar(&f.window.From, "from", "", "begin at this time: '2026-11-03 02:00' in UTC, or RFC 3339")
	fl.StringVar(&f.window.To, "to", "", "end at this time")
	fl.StringVar(&f.host, "host-name", "", "name of the host, for files that call it localhost")
}

// run replays captures and writes how far the model was off.
func (f *replayFlags) run(cmd *cobra.Command, files []string, src *flags.Source, out *flags.Output, choices vnuma.Choices) error {
	o := replay.Options{Choices: choices, Unstated: story.Of(&numa.Fleet{}, story.Defaults{}).Unstated}
	var err error
	switch {
	case len(f.fleet) > 0:
		o.Fleet, err = src.Read(cmd, f.fleet...)
	case src.AssumeHost != "":
		var h numa.Host
		h, err = open.AssumedHost(src.AssumeHost)
		o.Assume = &h
	}
	if err != nil {
		return err
	}
	if err := f.Read(cmd, files, o.Fleet, f.host); err != nil {
		return err
	}
	results, err := f.replay(cmd, o)
	if err != nil {
		return err
	}
	if err := out.Print(cmd, measure.Replay(results, f.details)); err != nil {
		return err
	}
	if f.failed > 0 {
		return fmt.Errorf("not everything was replayed: %d of the files or hosts failed", f.failed)
	}
	return src.Incomplete()
}

// replay replays every host. One that cannot be replayed is named, unless there is no
// other.
func (f *replayFlags) replay(cmd *cobra.Command, o replay.Options) (results []*replay.Result, err error) {
	var failed []error
	for _, r := range f.hosts {
		one, err := replay.Run(cmd.Context(), r, o)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil:
			failed = append(failed, err)
		default:
			results = append(results, one)
		}
	}
	if results == nil {
		return nil, errors.Join(failed...)
	}
	for _, err := range failed {
		f.failed++
		fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", flags.ErrorText(err))
	}
	for _, n := range f.notes {
		to := results[0]
		for _, r := range results {
			if slices.ContainsFunc(n.hosts, func(host string) bool { return numa.SameHost(host, r.Host) }) {
				to = r
			}
		}
		to.Notes = append(to.Notes, numa.Note{Text: n.text})
	}
	return results, nil
}

// read reads the captures, host by host. Files of one host are to be given in the order of
// time.
func (f *replayFlags) Read(cmd *cobra.Command, files []string, fleet *numa.Fleet, host string) error {
	o := ticks.Options{Host: host, From: f.window.Window[0], To: f.window.Window[1], Workers: runtime.GOMAXPROCS(0)}
	o.MachineOf = func(name string) *numa.Host {
		if fleet == nil {
			return nil
		}
		if found := fleet.FindHosts(name); len(found) == 1 {
			return found[0]
		}
		return nil
	}
	v := ticks.Visit{Tick: f.tick, Done: func(file *ticks.File, err error) error {
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			f.failed++
			fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", flags.ErrorText(err))
		}
		for _, text := range file.Warnings {
			f.notes = append(f.notes, fileNote{text, file.Hosts})
		}
		return nil
	}}
	for _, arg := range files {
		if err := f.readOne(cmd, arg, o, v); err != nil {
			return err
		}
	}
	if len(f.hosts) == 0 {
		return fmt.Errorf("found no tick to replay in %s", strings.Join(files, ", "))
	}
	return nil
}

func (f *replayFlags) readOne(cmd *cobra.Command, arg string, o ticks.Options, v ticks.Visit) error {
	passed, err := open.Ticks(cmd.Context(), arg, cmd.InOrStdin(), o, v)
	if passed > 0 {
		f.notes = append(f.notes, fileNote{text: arg + ": " + rule.Plural(passed, "file") + " of other formats skipped"})
	}
	return err
}

// tick hands a tick to the recorder of its host.
func (f *replayFlags) tick(t *numa.Tick) error {
	from, to := f.window.Window[0], f.window.Window[1]
	if t.Time.Before(from) || !to.IsZero() && t.Time.After(to) {
		return nil
	}
	i := slices.IndexFunc(f.hosts, func(r *replay.Recorder) bool { return numa.SameHost(r.Host(), t.Host) })
	if i < 0 {
		i = len(f.hosts)
		f.hosts = append(f.hosts, &replay.Recorder{})
		f.hosts[i].Add(t)
		return nil
	}
	one := *t
	one.Host = f.hosts[i].Host()
	f.hosts[i].Add(&one)
	return nil
}
