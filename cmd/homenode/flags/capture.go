package flags

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/capture/archive"
	"homenode/numa"
	"homenode/rules/rule"
)

// Captures say what is read of captures, and where it is exported to.
type Captures struct {
	Host        string // of files that call it localhost or do not name it
	start       string
	From, To    string
	Parquet     string
	openmetrics string

	Window   [2]time.Time // zero when not asked for
	Began    time.Time
	Interval time.Duration
	Failed   int // files that could not be read, or not to the end; set by Read

	result *archive.Result // of the one file that was read; nil for several
}

// RegisterPart adds the flags that say which ticks are read, and of which host.
func (f *Captures) RegisterPart(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Host, "host-name", "", "name of the host, for files that call it localhost or do not name it")
	fl.StringVar(&f.From, "from", "", "leave out what was before this time: '2026-11-03 02:00' in UTC, or RFC 3339")
	fl.StringVar(&f.To, "to", "", "leave out what was after this time")
}

// RegisterUndated adds the flags that time what was saved without a date.
func (f *Captures) RegisterUndated(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.DurationVar(&f.Interval, "interval", 0, "time between outputs of host commands that were saved without a date")
	fl.StringVar(&f.start, "start", "", "time of the first of them")
}

// RegisterExports adds the flags that say where all counters are written to.
func (f *Captures) RegisterExports(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Parquet, "parquet", "", "also write all counters as Parquet files to this folder (docs/reference/parquet.md)")
	fl.StringVar(&f.openmetrics, "openmetrics", "", "also write all counters to this file, for backfill into Prometheus (docs/reference/openmetrics.md)")
}

// Check reads the values of the flags.
func (f *Captures) Check(args []string) error {
	if len(args) == 0 {
		return errors.New("want a FILE to read, or demo")
	}
	if err := f.ReadTimes(); err != nil {
		return err
	}
	if f.Interval < 0 {
		return fmt.Errorf("--interval: found %s, want more than 0", f.Interval)
	}
	return nil
}

// ReadTimes reads --from, --to and --start.
func (f *Captures) ReadTimes() (err error) {
	for _, one := range []struct {
		flag, value string
		to          *time.Time
	}{{"from", f.From, &f.Window[0]}, {"to", f.To, &f.Window[1]}, {"start", f.start, &f.Began}} {
		if one.value == "" {
			continue
		}
		if *one.to, err = parseTime(one.value); err != nil {
			return fmt.Errorf("--%s: %w", one.flag, err)
		}
	}
	if !f.Window[1].IsZero() && f.Window[1].Before(f.Window[0]) {
		return errors.New("--to is before --from")
	}
	return nil
}

// parseTime reads a time of day with its date, in UTC unless it says otherwise.
func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("found %q, want a time like '2026-11-03 02:00' (UTC) or 2026-11-03T02:00:00+01:00", s)
}

// Incomplete returns an error when Read had to leave a file out, or its end: "no
// findings" about half of a capture is no good news.
func (f *Captures) Incomplete() error {
	if f.Failed == 0 {
		return nil
	}
	return fmt.Errorf("not everything was read: %s failed", rule.Plural(f.Failed, "file"))
}

// Nothing is the error for captures that were read, and in which no tick was found.
type Nothing struct{ text string }

func (n *Nothing) Error() string { return n.text }

// NothingFound is the error for captures without a tick; outside counts those before
// --from and after --to, and the notes say why there are no others.
func NothingFound(where string, outside int, notes []numa.Note) error {
	text := "found no tick in " + where
	switch {
	case outside > 0:
		text += fmt.Sprintf(": %s outside --from and --to", rule.Plural(outside, "tick"))
	case len(notes) > 0:
		const most = 3
		var why []string
		for _, n := range notes {
			if !strings.HasSuffix(n.Text, ": holds no ticks") {
				why = append(why, n.String())
			}
		}
		if why == nil {
			why = []string{notes[0].String()}
		}
		text += ": " + strings.Join(why[:min(len(why), most)], "; ")
	}
	return &Nothing{text}
}
