package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/source/strict"
)

// version is the version of Encode's format. It changes whenever Recording does.
const version = 7

// maxWidth of a Timeline keeps the end time of a bucket within 63 bits of nanoseconds.
const maxWidth = time.Second << 33

type envelope struct {
	Version   int        `json:"version"`
	Recording *Recording `json:"recording"`
}

// Encode writes a Recording for another process; equal Recordings give equal bytes. The format
// is a line of JSON, then the Timelines, nodes first: the number of buckets as a varint, and the
// packed buckets. They are most of the output; in JSON they would be many times as large.
func Encode(w io.Writer, r *Recording) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(envelope{version, r}); err != nil {
		return fmt.Errorf("write recording of %s: %w", r.Host, err)
	}
	var b []byte
	for i := range r.Nodes {
		b = encodeTimeline(b, &r.Nodes[i].Timeline)
	}
	for i := range r.VMs {
		b = encodeTimeline(b, &r.VMs[i].Timeline)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write recording of %s: %w", r.Host, err)
	}
	return nil
}

// encodeTimeline appends a timeline.
func encodeTimeline[B any, P bucket[B]](to []byte, t *Timeline[B]) []byte {
	to = binary.AppendUvarint(to, uint64(t.n))
	if t.n == 0 {
		return to
	}
	last, n := t.last, P(&t.open).numbers()
	return pack(append(to, t.packed...), &last, &n)
}

// decodeTimeline reads the buckets of a timeline and returns the remaining input.
func decodeTimeline[B any, P bucket[B]](from []byte, t *Timeline[B]) (rest []byte, ok bool) {
	count, size := binary.Uvarint(from)
	if size <= 0 || count > uint64(len(from)-size) { // a bucket has a byte or more
		return from, false
	}
	from = from[size:]
	var last, n numbers
	for i := range int(count) {
		if n, from, ok = unpack(from, &last); !ok {
			return from, false
		}
		P(reach[B, P](t, i)).set(&n)
	}
	return from, true
}

// Decode reads a Recording that Encode wrote and returns the remaining input. Another version,
// an unknown field and a Recording that contradicts itself are errors.
func Decode(in []byte) (r *Recording, rest []byte, err error) {
	text, rest, ok := bytes.Cut(in, []byte("\n"))
	if !ok {
		return nil, nil, fmt.Errorf("read recording: %w", io.ErrUnexpectedEOF)
	}
	if err := checkVersion(text); err != nil {
		return nil, nil, fmt.Errorf("read recording: %w", err)
	}
	var e envelope
	if err := strict.Unmarshal("", "recording", text, &e); err != nil {
		return nil, nil, fmt.Errorf("read recording: %w", err)
	}
	if e.Recording == nil {
		return nil, nil, errors.New("read recording: found none")
	}
	for i := 0; ok && i < len(e.Recording.Nodes); i++ {
		rest, ok = decodeTimeline(rest, &e.Recording.Nodes[i].Timeline)
	}
	for i := 0; ok && i < len(e.Recording.VMs); i++ {
		rest, ok = decodeTimeline(rest, &e.Recording.VMs[i].Timeline)
	}
	if !ok {
		return nil, nil, fmt.Errorf("read recording of %s: found no number where the buckets of its timelines are", e.Recording.Host)
	}
	if err := e.Recording.check(); err != nil {
		return nil, nil, fmt.Errorf("read recording of %s: %w", e.Recording.Host, err)
	}
	return e.Recording, rest, nil
}

// checkVersion checks the version first, because it decides which fields are valid. Encode
// writes it first.
func checkVersion(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	for _, want := range []json.Token{json.Delim('{'), "version", float64(version)} {
		got, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case got != want:
			return fmt.Errorf("found %v, want %v, as in version %d of a recording", got, want, version)
		}
	}
	return nil
}

// check returns an error if Merge cannot rely on the Recording: a Recorder or Merge would not
// have produced it.
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

// check returns an error if the buckets do not lie between two times.
func (t *Timeline[B]) check(first, last time.Time, most int) error {
	if t.Width < time.Second || t.Width > maxWidth || t.Width%time.Second != 0 || bits.OnesCount64(uint64(t.Width/time.Second)) != 1 {
		return fmt.Errorf("found buckets of %v, want a power of two in seconds", t.Width)
	}
	from, to := first.Unix()>>t.shift(), last.Unix()>>t.shift()
	if n := int64(t.n); n < 1 || n > int64(most) || t.Start < from || t.Start+n-1 > to {
		return fmt.Errorf("found %d buckets from %d, want at most %d of those from %d to %d", n, t.Start, most, from, to)
	}
	return nil
}
