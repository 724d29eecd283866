package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"time"

	"homenode/internal/bounded"
	"homenode/numa"
)

// Version is that of the form Encode writes. It changes when a Recording does.
const Version = 3

// maxWidth of a Timeline lets the time of a bucket's end fit in 63 bits of nanoseconds.
const maxWidth = time.Second << 33

type envelope struct {
	Version   int        `json:"version"`
	Recording *Recording `json:"recording"`
}

// Encode writes a Recording for another process: one line of JSON, the same bytes for
// the same Recording.
func Encode(w io.Writer, r *Recording) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(envelope{Version, r}); err != nil {
		return fmt.Errorf("write recording of %s: %w", r.Host, err)
	}
	return nil
}

// maxEncoded bounds what Decode reads, in bytes: a recording of a day has some ten MB.
const maxEncoded = 1 << 30

// Decode reads what Encode wrote, and nothing else: another version, a field that it does
// not know, more text and a Recording that contradicts itself are errors.
func Decode(r io.Reader) (*Recording, error) {
	text, err := io.ReadAll(bounded.Reader(r, maxEncoded))
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	if err := checkVersion(text); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	var e envelope
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	if more := bytes.TrimSpace(text[dec.InputOffset():]); len(more) > 0 {
		return nil, fmt.Errorf("read recording: found more after byte %d, want the end", dec.InputOffset())
	}
	if e.Recording == nil {
		return nil, errors.New("read recording: found none")
	}
	if err := e.Recording.check(); err != nil {
		return nil, fmt.Errorf("read recording of %s: %w", e.Recording.Host, err)
	}
	return e.Recording, nil
}

// checkVersion looks at the version before the fields, which it decides on. Encode
// writes it first.
func checkVersion(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	for _, want := range []json.Token{json.Delim('{'), "version", float64(Version)} {
		got, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case got != want:
			return fmt.Errorf("found %v, want %v, as in version %d of a recording", got, want, Version)
		}
	}
	return nil
}

// check returns an error when the Recording is not one that a Recorder or Merge gives, as
// far as Merge relies on it.
func (r *Recording) check() error {
	if err := r.Options.Check(); err != nil {
		return err
	}
	switch {
	case r.FirstTick == nil || r.LastTick == nil:
		return errors.New("found no first or no last tick")
	case r.Ticks < 1 || r.First.Before(earliest) || !r.Last.Before(latest) || r.Last.Before(r.First):
		return fmt.Errorf("found %d ticks from %v to %v", r.Ticks, r.First, r.Last)
	case !r.FirstTick.Time.Equal(r.First) || !r.LastTick.Time.Equal(r.Last):
		return fmt.Errorf("found ticks of %v and %v at the ends, want %v and %v", r.FirstTick.Time, r.LastTick.Time, r.First, r.Last)
	}
	for _, n := range slices.Concat(r.FirstTick.Nodes, r.LastTick.Nodes) {
		if n.ID < 0 || n.ID >= numa.MaxNodes {
			return fmt.Errorf("found node %d, want one from 0 to %d", n.ID, numa.MaxNodes-1)
		}
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.ID < 0 || n.ID >= numa.MaxNodes || i > 0 && n.ID <= r.Nodes[i-1].ID {
			return fmt.Errorf("found node %d at place %d, want nodes by number", n.ID, i+1)
		}
		if err := n.Timeline.check(r.First, r.Last, r.Options.Buckets); err != nil {
			return fmt.Errorf("node %d: %w", n.ID, err)
		}
	}
	for i := range r.VMs {
		v := &r.VMs[i]
		if i > 0 && byName(r.VMs[i-1], *v) >= 0 {
			return fmt.Errorf("found VM %s at place %d, want VMs by name", v.Name, i+1)
		}
		if v.First.Before(r.First) || v.Last.After(r.Last) || v.Ticks < 1 || len(v.Changes) > MaxChanges {
			return fmt.Errorf("VM %s: found %d ticks from %v to %v and %d changes", v.Name, v.Ticks, v.First, v.Last, len(v.Changes))
		}
		if err := v.Timeline.check(v.First, v.Last, r.Options.Buckets); err != nil {
			return fmt.Errorf("VM %s: %w", v.Name, err)
		}
		if (v.Needs != nil) != r.Options.Needs {
			return fmt.Errorf("VM %s: found needs %t, want %t by the options", v.Name, v.Needs != nil, r.Options.Needs)
		}
		if v.Needs != nil && !v.Needs.check() {
			return fmt.Errorf("VM %s: found needs in buckets that there are not, or of less than no time", v.Name)
		}
	}
	return nil
}

// check returns an error when the buckets do not lie between two times.
func (t *Timeline[B]) check(first, last time.Time, most int) error {
	if t.Width < time.Second || t.Width > maxWidth || t.Width%time.Second != 0 || bits.OnesCount64(uint64(t.Width/time.Second)) != 1 {
		return fmt.Errorf("found buckets of %v, want a power of two in seconds", t.Width)
	}
	from, to := first.Unix()>>t.shift(), last.Unix()>>t.shift()
	if n := int64(len(t.Buckets)); n < 1 || n > int64(most) || t.Start < from || t.Start+n-1 > to {
		return fmt.Errorf("found %d buckets from %d, want at most %d of those from %d to %d", n, t.Start, most, from, to)
	}
	return nil
}
