package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"homenode/capture/archive"
	"homenode/internal/queue"
	"homenode/numa"
	"homenode/rules/rule"
)

// archiveFlags name an archive, and the queue when others are to read it.
type archiveFlags struct {
	dir   string
	queue queueAccess
}

func (a *archiveFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.dir, "archive", "", "folder of thousands of captures: read file by file with all cores, or by the workers of --queue (docs/archive.md)")
	a.queue.register(cmd)
}

// check looks at the flags together.
func (a *archiveFlags) check(parquet string) error {
	switch {
	case a.dir == "" && a.queue != queueAccess{}:
		return errors.New("--queue and its flags: only with --archive DIR")
	case a.queue.url == "" && a.queue != queueAccess{}:
		return errors.New("--token-file, --creds and --queue-ca: only with --queue URL")
	case a.queue.url != "" && parquet != "":
		return errors.New("--parquet: with --queue the workers write it: homenode work --parquet DIR")
	}
	return nil
}

// read reads the archive. What could not be read is in the notes, and counted as broken.
func (a *archiveFlags) read(cmd *cobra.Command, parquet string, o archive.Options) (*archive.Merged, error) {
	list, err := archive.Scan(a.dir)
	if err != nil {
		return nil, fmt.Errorf("--archive: %w", err)
	}
	line := newQueueProgress(cmd, "read", "file", "homenode work --queue URL --root DIR")
	here := archive.Here{Root: a.dir, Parquet: parquet, Version: version()}
	var m *archive.Merged
	if a.queue.url == "" {
		m, err = archive.Run(cmd.Context(), here, list.Jobs, o, line.show)
	} else {
		tell := teller(cmd)
		c, dialErr := a.queue.dial(cmd, func(text string) { line.clear(); tell(text) })
		if dialErr != nil {
			return nil, dialErr
		}
		defer c.Close()
		line.workers = true
		m, err = archive.RunOn(cmd.Context(), c, here, list.Jobs, o, line.show)
	}
	line.clear()
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
		m.Notes = append([]numa.Note{{At: a.dir, Text: rule.Plural(list.Passed, "file") + " of other formats passed over"}}, m.Notes...)
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
		fmt.Fprintf(w, "homenode: %s\n", errorText(errors.New(text)))
	}
}

// archiveProgress shows how far an archive or a sweep is: on one line of a terminal, elsewhere a
// line a minute.
type archiveProgress struct {
	w        io.Writer
	did      string // to how many of what
	noun     string
	start    string // the command of a worker
	terminal bool
	workers  bool // of a queue
	began    time.Time
	shown    time.Time
}

func newQueueProgress(cmd *cobra.Command, did, noun, start string) *archiveProgress {
	w := cmd.ErrOrStderr()
	return &archiveProgress{w: w, did: did, noun: noun, start: start, terminal: isTerminal(w), began: time.Now()}
}

func (p *archiveProgress) show(now queue.Progress) {
	every := time.Minute
	if p.terminal {
		every = time.Second / 4
	}
	if time.Since(p.shown) < every || time.Since(p.began) < time.Second {
		return
	}
	p.shown = time.Now()
	text := fmt.Sprintf("%s %d of %s", p.did, now.Done, rule.Plural(now.Total, p.noun))
	switch {
	case p.workers && now.Taken == 0 && now.Waiting == 0 && now.Done < now.Total:
		text += "; nobody works: start " + p.start
	case p.workers && now.Done < now.Total:
		text += fmt.Sprintf("; workers have taken %d", now.Taken)
	}
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintf(p.w, "homenode: %s\n", text)
}

// clear makes room on a terminal.
func (p *archiveProgress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
