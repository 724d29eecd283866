package recording

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"homenode/capture"
	"homenode/capture/archive"
	"homenode/cmd/homenode/flags"
	"homenode/internal/version"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/rule"
)

// archiveFlags name an archive, and the queue when others are to read it.
type archiveFlags struct {
	dir   string
	queue flags.Queue
}

func (a *archiveFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.dir, "archive", "", "folder of thousands of captures: read file by file with all cores, or by the workers of --queue (docs/archive.md)")
	a.queue.Register(cmd)
}

// check looks at the flags together.
func (a *archiveFlags) Check(parquet string) error {
	switch {
	case a.dir == "" && a.queue != flags.Queue{}:
		return errors.New("--queue and its flags: only with --archive DIR")
	case a.queue.URL == "" && a.queue != flags.Queue{}:
		return errors.New("--token-file, --creds and --queue-ca: only with --queue URL")
	case a.queue.URL != "" && parquet != "":
		return errors.New("--parquet: with --queue the workers write it: homenode work --parquet DIR")
	}
	return nil
}

// read reads the archive. What could not be read is in the notes, and counted as broken.
func (a *archiveFlags) Read(cmd *cobra.Command, parquet string, o archive.Options) (*archive.Merged, error) {
	if files, err := flags.CaptureFiles(cmd); files != nil || err != nil {
		return nil, errors.Join(errors.New("--archive: not on a page"), err)
	}
	list, err := archive.Scan(a.dir)
	if err != nil {
		return nil, fmt.Errorf("--archive: %w", err)
	}
	line := flags.NewQueueProgress(cmd, "read", "file", "homenode work --queue URL --root DIR")
	here := archive.Here{Root: a.dir, Parquet: parquet, Version: version.String()}
	var m *archive.Merged
	if a.queue.URL == "" {
		m, err = archive.Run(cmd.Context(), here, list.Jobs, o, line.Show)
	} else {
		tell := flags.Teller(cmd)
		c, dialErr := a.queue.Dial(cmd, func(text string) { line.Clear(); tell(text) })
		if dialErr != nil {
			return nil, dialErr
		}
		defer c.Close()
		line.Workers = true
		m, err = archive.RunOn(cmd.Context(), c, here, list.Jobs, o, line.Show)
	}
	line.Clear()
	if err != nil {
		return nil, fmt.Errorf("--archive %s: %w", a.dir, err)
	}
	m.Broken += len(list.Failed)
	m.Jobs += len(list.Failed)
	var failed []string
	for _, n := range list.Failed {
		failed = append(failed, n.String())
	}
	m.Failed = append(failed, m.Failed...)
	sayFailed(cmd.ErrOrStderr(), m.Failed)
	if list.Passed > 0 {
		m.Notes = append([]numa.Note{{At: a.dir, Text: rule.Plural(list.Passed, "file") + " of other formats skipped"}}, m.Notes...)
	}
	return m, nil
}

// mostSaid is how many files that could not be read an archive names one by one.
const mostSaid = 50

// sayFailed prints why files could not be read, as capture does of files that it is given.
func sayFailed(w io.Writer, failed []string) {
	for i, text := range failed {
		if i == mostSaid && len(failed) > mostSaid+1 {
			fmt.Fprintf(w, "homenode: %d more could not be read: --format json names them all\n", len(failed)-i)
			return
		}
		fmt.Fprintf(w, "homenode: %s\n", flags.ErrorText(errors.New(text)))
	}
}

// readCaptures reads the captures that the arguments name, or the archive.
func readCaptures(f *flags.Captures, cmd *cobra.Command, args []string, a *archiveFlags, o capture.Options, inventory *rules.Result) ([]*capture.Recording, []numa.Note, error) {
	if a.dir == "" {
		return f.Read(cmd, args, o, inventory)
	}
	m, err := a.Read(cmd, f.Parquet, archive.Options{Capture: o, Host: f.Host, Start: f.Began, Interval: f.Interval, From: f.Window[0], To: f.Window[1]})
	if err != nil {
		return nil, nil, err
	}
	f.Failed, f.Files = m.Broken, m.Jobs
	notes := append(flags.FailedNotes(m.Failed, m.Recordings), m.Notes...)
	if len(m.Recordings) == 0 {
		return nil, nil, flags.NothingFound("--archive "+a.dir, m.Outside, notes)
	}
	return m.Recordings, notes, nil
}
