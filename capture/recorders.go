package capture

import (
	"cmp"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// Recorders make Recordings from a stream with ticks of several hosts: each tick goes to the
// Recorder of its host.
type Recorders struct {
	options Options
	byHost  map[string]*Recorder
	last    *Recorder   // Recorder of the last tick
	file    File        // current file, with the warnings so far
	opened  []*Recorder // Recorders that have a tick of the current file
}

// NewRecorders returns Recorders that count by these limits; it panics if Check rejects them.
func NewRecorders(o Options) *Recorders {
	if err := o.Check(); err != nil {
		panic(err)
	}
	return &Recorders{options: o, byHost: map[string]*Recorder{}}
}

// Open sets the file of the following ticks. A Recording lists the files that have ticks of its
// host.
func (r *Recorders) Open(name, format string) {
	r.file = File{Name: name, Format: format}
	r.opened = r.opened[:0]
}

// Warn adds a warning to the current file, in the Recording of each host in the file.
func (r *Recorders) Warn(text string) {
	r.file.Warnings = append(r.file.Warnings, text)
	for _, one := range r.opened {
		one.Warn(text)
	}
}

// LeaveOut adds the number of rows of the current file that were omitted before they became
// ticks; cut means that it could not be read completely. Both go to the Recording of each host
// in the file.
func (r *Recorders) LeaveOut(rows int, cut bool) {
	r.file.Left += rows
	r.file.Cut = r.file.Cut || cut
	for _, one := range r.opened {
		one.LeaveOut(rows, cut)
	}
}

// ReadFrom sets the number of files that are read as the current one.
func (r *Recorders) ReadFrom(files int) {
	if files == 1 {
		files = 0 // as for a file that was not counted
	}
	r.file.Parts = files
	for _, one := range r.opened {
		one.current().Parts = files
	}
}

// Add records the next tick, as Recorder.Add does.
func (r *Recorders) Add(t *numa.Tick) {
	one := r.last
	if one == nil || one.host != t.Host {
		one = r.byHost[t.Host]
	}
	if one == nil {
		one = NewRecorder(r.options)
		r.byHost[strings.Clone(t.Host)] = one
	}
	if r.file.Name != "" && !slices.Contains(r.opened, one) {
		one.Open(r.file.Name, r.file.Format)
		for _, text := range r.file.Warnings {
			one.Warn(text)
		}
		one.LeaveOut(r.file.Left, r.file.Cut)
		one.current().Parts = r.file.Parts
		r.opened = append(r.opened, one)
	}
	r.last = one
	one.Add(t)
}

// Recordings returns the recordings, by host. The Recorders must not be used afterwards.
func (r *Recorders) Recordings() (out []*Recording) {
	for _, one := range r.byHost {
		if rec := one.Recording(); rec != nil {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b *Recording) int { return cmp.Compare(a.Host, b.Host) })
	return out
}
