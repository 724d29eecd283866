package recording

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/measure/replay"
	"homenode/numa"
	"homenode/output/format"
	"homenode/output/measure"
	"homenode/rules/rule"
	"homenode/source/open"
	"homenode/source/story"
	"homenode/source/ticks"
)

// A replaying simulates beside captures: it starts as they were observed at their start, with the load that was observed.
type replaying struct {
	captures []string
	window   flags.Captures // from and to alone

	hosts  []*replay.Recorder
	notes  []fileNote
	failed int // files and hosts
}

// A fileNote is a warning about a file.
type fileNote struct {
	text  string
	hosts []string // that the file is of
}

func (f *replaying) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.captures, "against", nil, "start as this capture was at its start, with the load that was observed, and say how far the model was off (repeatable)")
	fl.StringVar(&f.window.From, "from", "", "of the captures: begin at this time: '2026-11-03 02:00' in UTC, or RFC 3339")
	fl.StringVar(&f.window.To, "to", "", "of the captures: end at this time")
}

// run replays the captures and writes how far the model was off. sources name the inventory: shapes of hosts, settings of VMs.
func (f *replaying) run(cmd *cobra.Command, told *flags.StoryInput, sources []string, details bool) error {
	if err := f.window.ReadTimes(); err != nil {
		return err
	}
	if !slices.Contains(format.Tables, told.Out.Format) {
		return fmt.Errorf("--format: found %q, want one of %s with --against", told.Out.Format, strings.Join(format.Tables, ", "))
	}
	if err := flags.Refuse(cmd, "not with --against: the capture says what happened", "hours", "load", "at", "part", "what-if", "why", "moment", "vm", "grid", "trace", "table", "fail-on"); err != nil {
		return err
	}
	o := replay.Options{Choices: told.Choices, Unstated: story.Of(&numa.Fleet{}, story.Defaults{}).Unstated}
	var err error
	switch {
	case len(sources) > 0:
		o.Fleet, err = told.Src.Read(cmd, sources...)
	case told.Src.AssumeHost != "":
		var h numa.Host
		h, err = open.AssumedHost(told.Src.AssumeHost)
		o.Assume = &h
	default:
		err = errors.New("--against: a capture does not say how many cores a node has: want the SOURCE of its inventory, or --assume-host")
	}
	if err != nil {
		return err
	}
	if err := f.read(cmd, o.Fleet); err != nil {
		return err
	}
	results, err := f.replay(cmd, o)
	if err != nil {
		return err
	}
	if err := told.Out.Print(cmd, measure.Replay(results, details)); err != nil {
		return err
	}
	if f.failed > 0 {
		return fmt.Errorf("not everything was replayed: %d of the files or hosts failed", f.failed)
	}
	return told.Src.Incomplete()
}

// replay replays every host. One that cannot be replayed is named, unless there is no
// other.
func (f *replaying) replay(cmd *cobra.Command, o replay.Options) (results []*replay.Result, err error) {
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
func (f *replaying) read(cmd *cobra.Command, fleet *numa.Fleet) error {
	o := ticks.Options{From: f.window.Window[0], To: f.window.Window[1], Workers: runtime.GOMAXPROCS(0)}
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
	for _, arg := range f.captures {
		if err := f.readOne(cmd, arg, o, v); err != nil {
			return err
		}
	}
	if len(f.hosts) == 0 {
		return fmt.Errorf("found no tick to replay in %s", strings.Join(f.captures, ", "))
	}
	return nil
}

func (f *replaying) readOne(cmd *cobra.Command, arg string, o ticks.Options, v ticks.Visit) error {
	passed, err := open.Ticks(cmd.Context(), arg, cmd.InOrStdin(), o, v)
	if passed > 0 {
		f.notes = append(f.notes, fileNote{text: arg + ": " + rule.Plural(passed, "file") + " of other formats skipped"})
	}
	return err
}

// tick hands a tick to the recorder of its host.
func (f *replaying) tick(t *numa.Tick) error {
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
