package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"homenode/capture"
	"homenode/internal/queue"
	"homenode/numa"
)

// Merged is what all files of an archive held.
type Merged struct {
	Recordings []*capture.Recording // by host, as capture.Merge gives them
	Notes      []numa.Note          // of files by path, then of hosts
	Failed     []string             // why files could not be read, or not to their end, by path
	Jobs       int
	Read       int // of them, that held ticks
	Broken     int // of them, that could not be read, or not to the end
	Ticks      int
	Outside    int // ticks before Options.From or after Options.To
}

// A merger takes results in the order of jobs. Until the end they wait in a file: all of
// an archive at once need not fit in memory, those of a host do.
type merger struct {
	Merged
	file   *os.File
	size   int64
	byHost map[string][]span
}

// A span is a frame in the file.
type span struct {
	at    int64
	bytes int
}

func newMerger() (*merger, error) {
	f, err := os.CreateTemp("", "homenode-*.results")
	if err != nil {
		return nil, err
	}
	return &merger{file: f, byHost: map[string][]span{}}, nil
}

// close removes the file.
func (m *merger) close() {
	m.file.Close()
	os.Remove(m.file.Name())
}

// add takes the outcome of the job with this name.
func (m *merger) add(name string, out queue.Outcome) error {
	m.Jobs++
	if out.Failed != "" {
		m.Broken++
		m.Failed = append(m.Failed, aboutJob(name, out.Failed))
		return nil
	}
	h, frames, err := splitResult(out.Result)
	if err != nil {
		return err
	}
	if h.Name != name {
		return fmt.Errorf("found the result of %s, want that of %s", h.Name, name)
	}
	for _, text := range h.Notes {
		m.Notes = append(m.Notes, numa.Note{Text: text})
	}
	m.Failed = append(m.Failed, h.Failed...)
	if h.Broken {
		m.Broken++
	}
	if h.Ticks > 0 {
		m.Read++
	}
	m.Ticks += h.Ticks
	m.Outside += h.Outside
	for i, f := range frames {
		if _, err := m.file.WriteAt(f, m.size); err != nil {
			return err
		}
		host := h.Frames[i].Host
		m.byHost[host] = append(m.byHost[host], span{m.size, len(f)})
		m.size += int64(len(f))
	}
	return nil
}

// aboutJob puts the name before a text that does not begin with it.
func aboutJob(name, text string) string {
	if strings.HasPrefix(text, name) {
		return text
	}
	return name + ": " + text
}

// merged merges the recordings of each host. Nothing read at all is an error.
func (m *merger) merged() (*Merged, error) {
	if m.Read == 0 {
		text := "found nothing that is read"
		if m.Jobs > 0 {
			text = fmt.Sprintf("found no ticks in %d files", m.Jobs)
		}
		if m.Outside > 0 {
			text += fmt.Sprintf(", but %d outside the time that was asked for", m.Outside)
		}
		if len(m.Failed) > 0 {
			text += "; " + m.Failed[0]
		} else if len(m.Notes) > 0 {
			text += "; " + m.Notes[0].String()
		}
		return nil, errors.New(text)
	}
	hosts := slices.Sorted(maps.Keys(m.byHost))
	recordings := make([][]*capture.Recording, len(hosts))
	notes := make([][]numa.Note, len(hosts))
	errs := make([]error, len(hosts))
	next := make(chan int)
	var all sync.WaitGroup
	for range min(len(hosts), runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := range next {
				recordings[i], notes[i], errs[i] = m.host(hosts[i])
			}
		})
	}
	for i := range hosts {
		next <- i
	}
	close(next)
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m.Recordings = slices.Concat(recordings...)
	slices.SortStableFunc(m.Recordings, func(a, b *capture.Recording) int { return cmp.Compare(a.Host, b.Host) })
	m.Notes = append(m.Notes, slices.Concat(notes...)...)
	return &m.Merged, nil
}

// host merges the recordings of one host.
func (m *merger) host(name string) ([]*capture.Recording, []numa.Note, error) {
	var parts []*capture.Recording
	for _, s := range m.byHost[name] {
		b := make([]byte, s.bytes)
		if _, err := m.file.ReadAt(b, s.at); err != nil && err != io.EOF {
			return nil, nil, err
		}
		part, err := decodeFrame(b)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, part)
	}
	return capture.Merge(parts)
}
