package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules/rule"
	"homenode/source/vsphere"
)

// A reading is a SOURCE that is checked and only has to be read.
type reading struct {
	names []string // from short to exact; the last one is of no other source
	read  func(vsphere.Options) (*numa.Fleet, error)
}

// mostAtOnce bounds the vCenters that are read at once: each one's page of VMs is
// in memory and takes a core while it is decoded.
const mostAtOnce = 8

// read reads the fleet that the SOURCE arguments name. Of several, those that
// cannot be read are named on stderr and in the notes of the fleet, and the rest
// is read; incomplete then returns an error.
func (f *sourceFlags) read(cmd *cobra.Command, sources ...string) (*numa.Fleet, error) {
	sources, err := listedSources(sources)
	if err != nil {
		return nil, err
	}
	readings := make([]reading, len(sources))
	exact := make(map[string]bool)
	for i, source := range sources {
		if readings[i], err = f.prepare(cmd, source); err != nil {
			return nil, err
		}
		name := readings[i].names[len(readings[i].names)-1]
		if exact[name] {
			return nil, fmt.Errorf("the source %s is named twice", name)
		}
		exact[name] = true
	}
	fleet, err := f.readAll(cmd, readings)
	if err != nil {
		return nil, err
	}
	if err := f.divide(fleet); err != nil {
		return nil, err
	}
	if err := f.assume(fleet); err != nil {
		return nil, err
	}
	if err := f.join(fleet); err != nil {
		return nil, err
	}
	return fleet, nil
}

// incomplete returns an error when read had to leave a source out: "no findings"
// about half of a fleet is no good news.
func (f *sourceFlags) incomplete() error {
	if f.failed == 0 {
		return nil
	}
	return fmt.Errorf("not everything was read: %s failed", rule.Plural(f.failed, "source"))
}

// readAll reads in parallel and puts the fleets together in the order of the
// sources, whichever is read first.
func (f *sourceFlags) readAll(cmd *cobra.Command, readings []reading) (*numa.Fleet, error) {
	names := shortNames(readings)
	show := newProgress(cmd.ErrOrStderr(), len(readings))
	fleets, errs := make([]*numa.Fleet, len(readings)), make([]error, len(readings))
	slots := make(chan struct{}, mostAtOnce)
	var group sync.WaitGroup
	for i, r := range readings {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			o := f.options()
			o.Progress = show.of(names[i])
			if errs[i] = cmd.Context().Err(); errs[i] == nil {
				fleets[i], errs[i] = r.read(o)
			}
			show.done()
		})
	}
	group.Wait()
	if err := cmd.Context().Err(); err != nil && errors.Join(errs...) != nil {
		return nil, err
	}
	if len(readings) == 1 {
		return fleets[0], errs[0]
	}
	return f.merge(cmd, names, fleets, errs)
}

// merge puts together what could be read.
func (f *sourceFlags) merge(cmd *cobra.Command, names []string, fleets []*numa.Fleet, errs []error) (*numa.Fleet, error) {
	var parts []numa.Part
	var missing []numa.Note
	for i, err := range errs {
		if err == nil {
			parts = append(parts, numa.Part{Name: names[i], Fleet: fleets[i]})
			continue
		}
		missing = append(missing, numa.Note{At: names[i], Text: fmt.Sprintf("could not be read, nothing here is about it: %v", err)})
	}
	if len(parts) == 0 {
		return nil, errors.Join(errs...)
	}
	f.failed += len(missing) // diff reads twice
	for _, n := range missing {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "homenode: %s\n", texttab.Clean(n.String())); err != nil {
			return nil, err
		}
	}
	fleet, err := numa.Merge(parts)
	if err != nil {
		return nil, err
	}
	fleet.Notes = append(missing, fleet.Notes...)
	return fleet, nil
}

// listedSources replaces @FILE by the sources in it, one a line.
func listedSources(args []string) ([]string, error) {
	var sources []string
	for _, arg := range args {
		path, ok := strings.CutPrefix(arg, "@")
		if !ok {
			sources = append(sources, arg)
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found := len(sources)
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				sources = append(sources, line)
			}
		}
		if len(sources) == found {
			return nil, fmt.Errorf("%s: found no source, want one a line", path)
		}
	}
	return sources, nil
}

// hostNames returns the names of a vCenter: vc01, vc01.example.com, and with the
// port and the user.
func hostNames(u *url.URL) []string {
	host := strings.ToLower(u.Hostname())
	short, _, _ := strings.Cut(host, ".")
	if net.ParseIP(host) != nil {
		short = host
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	full := net.JoinHostPort(host, port)
	if user := u.User.Username(); user != "" {
		return []string{short, host, full, user + "@" + full}
	}
	return []string{short, host, full}
}

// fileNames returns the names of a file: export, export.xlsx, and with its path.
func fileNames(path string) []string {
	base := filepath.Base(path)
	short := strings.TrimSuffix(base, filepath.Ext(base))
	if short == "" {
		short = base
	}
	return []string{short, base, filepath.Clean(path)}
}

// shortNames returns for each source the shortest of its names that no other
// source goes by: IDs start with it.
func shortNames(readings []reading) []string {
	names, level := make([]string, len(readings)), make([]int, len(readings))
	for {
		count := make(map[string]int)
		for i, r := range readings {
			names[i] = r.names[level[i]]
			count[names[i]]++
		}
		longer := false
		for i, r := range readings {
			if count[names[i]] > 1 && level[i] < len(r.names)-1 {
				level[i]++
				longer = true
			}
		}
		if !longer { // the last names differ: read has seen to it
			return names
		}
	}
}

// A progress shows how far the sources are, on one line of a terminal.
type progress struct {
	mu            sync.Mutex // sources are read in parallel
	w             io.Writer
	ended, wanted int
}

func newProgress(w io.Writer, sources int) *progress {
	if !isTerminal(w) {
		w = nil
	}
	return &progress{w: w, wanted: sources}
}

// of returns what to tell the progress of one source; nil when nobody looks.
func (p *progress) of(name string) func(stage string, done, total int) {
	if p.w == nil {
		return nil
	}
	return func(stage string, done, total int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		line := fmt.Sprintf("read %s %d of %d", stage, done, total)
		if p.wanted > 1 {
			line = fmt.Sprintf("%s: %s (%d of %d sources done)", texttab.Clean(name), line, p.ended, p.wanted)
		}
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		if done >= total {
			fmt.Fprint(p.w, "\r\x1b[K")
		}
	}
}

// done counts a source that was read, or could not be.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
