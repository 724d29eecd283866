package archive

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"example.org/homenode/capture"
	"example.org/homenode/internal/inorder"
	"example.org/homenode/numa"
)

// Merged is the content of all files of an archive.
type Merged struct {
	Recordings []*capture.Recording // by host, as capture.Merge returns them
	Notes      []numa.Note          // about hosts
	Files      []string             // notes about files without ticks, sorted
	Failed     []string             // errors of files that could not be read completely, sorted
	Outside    int                  // ticks before Options.From or after Options.To
}

// A Merger merges Results, added in any order. The Results of an archive need not fit in memory
// together; those of one host do. After the first mostHeld recordings, the rest wait in a file.
// The zero value is ready for use.
type Merger struct {
	merged  Merged
	options *capture.Options // of every recording
	first   string           // source of options, for messages
	named   map[string]Named // by Named.As
	byHost  map[string][]waiting
	held    int      // recordings in memory
	file    *os.File // nil while all are in memory
	size    int64    // size of file
}

// mostHeld is the number of recordings that wait in memory. One of a host with 300 VMs has 20
// MB unpacked.
const mostHeld = 32

// waiting is a recording before the merge: in memory, or packed in the file.
type waiting struct {
	rec   *capture.Recording // nil: in the file
	at    int64
	bytes int
}

// Close removes the file.
func (m *Merger) Close() {
	if m.file != nil {
		m.file.Close()
		os.Remove(m.file.Name())
	}
}

// Limits sets the options that every recording must have, and names their source for messages.
// Without it the first recording sets them.
func (m *Merger) Limits(o capture.Options, whose string) { m.options, m.first = &o, whose }

// Add adds a Result.
func (m *Merger) Add(r *Result) error {
	m.merged.Outside += r.Outside
	m.merged.Files = append(m.merged.Files, r.Notes...)
	m.merged.Failed = append(m.merged.Failed, r.Failed...)
	for _, n := range r.Named {
		if err := m.name(n); err != nil {
			return err
		}
	}
	for _, rec := range r.Recordings {
		if m.options == nil {
			m.options, m.first = &rec.Options, nameOf(rec)
		}
		if rec.Options != *m.options {
			return fmt.Errorf("found two sets of limits, want one: %s and %s have other thresholds", m.first, nameOf(rec))
		}
		if err := m.keep(rec); err != nil {
			return err
		}
	}
	return nil
}

// name rejects files of two hosts with one --host-name.
func (m *Merger) name(n Named) error {
	if m.named == nil {
		m.named = map[string]Named{}
	}
	if other, ok := m.named[n.As]; ok && !numa.SameHost(other.Host, n.Host) {
		return fmt.Errorf("--host-name %s: found files of %s and %s (%s), which are two hosts: want files of one", n.As, other.Host, n.Host, n.File)
	}
	m.named[n.As] = n
	return nil
}

// nameOf returns the name of a recording in messages: its first file.
func nameOf(rec *capture.Recording) string {
	if len(rec.Files) > 0 {
		return rec.Files[0].Name
	}
	return rec.Host
}

// keep stores a recording until the merge.
func (m *Merger) keep(rec *capture.Recording) (err error) {
	if m.byHost == nil {
		m.byHost = map[string][]waiting{}
	}
	if m.held < mostHeld {
		m.held++
		m.byHost[rec.Host] = append(m.byHost[rec.Host], waiting{rec: rec})
		return nil
	}
	if m.file == nil {
		if m.file, err = os.CreateTemp("", "homenode-*.results"); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := capture.Encode(&b, rec); err != nil {
		return err
	}
	packed := pack(b.Bytes())
	if _, err := m.file.WriteAt(packed, m.size); err != nil {
		return err
	}
	m.byHost[rec.Host] = append(m.byHost[rec.Host], waiting{at: m.size, bytes: len(packed)})
	m.size += int64(len(packed))
	return nil
}

// Merged merges the recordings of each host. The order in which they were added does not
// matter.
func (m *Merger) Merged(ctx context.Context) (*Merged, error) {
	out := m.merged
	slices.Sort(out.Files)
	slices.Sort(out.Failed)
	hosts := slices.Sorted(maps.Keys(m.byHost))
	type host struct {
		recordings []*capture.Recording
		notes      []numa.Note
	}
	err := inorder.Run(ctx, len(hosts), 0, func(_ context.Context, i int) (h host, err error) {
		h.recordings, h.notes, err = m.host(hosts[i])
		return h, err
	}, func(_ int, h host) error {
		out.Recordings, out.Notes = append(out.Recordings, h.recordings...), append(out.Notes, h.notes...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Recordings that could not be merged have their own names.
	slices.SortStableFunc(out.Recordings, func(a, b *capture.Recording) int { return cmp.Compare(a.Host, b.Host) })
	return &out, nil
}

// host merges the recordings of one host.
func (m *Merger) host(name string) ([]*capture.Recording, []numa.Note, error) {
	var parts []*capture.Recording
	for _, w := range m.byHost[name] {
		if w.rec == nil {
			packed := make([]byte, w.bytes)
			if _, err := m.file.ReadAt(packed, w.at); err != nil && err != io.EOF {
				return nil, nil, err
			}
			b, err := unpack(packed)
			if err != nil {
				return nil, nil, err
			}
			if w.rec, _, err = capture.Decode(b); err != nil {
				return nil, nil, err
			}
		}
		parts = append(parts, w.rec)
	}
	return capture.Merge(parts)
}
