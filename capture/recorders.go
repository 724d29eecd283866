package capture

import (
	"cmp"
	"slices"
	"strings"

	"homenode/numa"
)

// Recorders make Recordings from a stream that holds ticks of several hosts: each goes to
// the Recorder of its host.
type Recorders struct {
	options Options
	byHost  map[string]*Recorder
	last    *Recorder   // of the last tick
	file    File        // being read, with the warnings so far
	opened  []*Recorder // that have a tick of it
}

// NewRecorders returns Recorders that count by these limits; it panics when Check rejects
// them.
func NewRecorders(o Options) *Recorders {
	if err := o.Check(); err != nil {
		panic(err)
	}
	return &Recorders{options: o, byHost: map[string]*Recorder{}}
}

// Open says that the ticks from now on come from a file. A Recording names the files that
// hold ticks of its host.
func (r *Recorders) Open(name, format string) {
	r.file = File{Name: name, Format: format}
	r.opened = r.opened[:0]
}

// Warn adds a warning to the file that is being read, in the Recording of each host that
// the file holds.
func (r *Recorders) Warn(text string) {
	r.file.Warnings = append(r.file.Warnings, text)
	for _, one := range r.opened {
		one.Warn(text)
	}
}

// LeaveOut says that so many rows of the file that is being read were left out before they
// became ticks, and whether it could not be read to its end. The Recording of each host
// that the file holds has it.
func (r *Recorders) LeaveOut(rows int, cut bool) {
	r.file.Left += rows
	r.file.Cut = r.file.Cut || cut
	for _, one := range r.opened {
		one.LeaveOut(rows, cut)
	}
}

// ReadFrom says how many files are read as the one that is being read.
func (r *Recorders) ReadFrom(files int) {
	if files == 1 {
		files = 0 // as for one that was not counted
	}
	r.file.Parts = files
	for _, one := range r.opened {
		one.current().Parts = files
	}
}

// Add takes the next tick, as Recorder.Add does.
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

// Recordings returns what was recorded, by host. The Recorders are of no more use.
func (r *Recorders) Recordings() (out []*Recording) {
	for _, one := range r.byHost {
		if rec := one.Recording(); rec != nil {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b *Recording) int { return cmp.Compare(a.Host, b.Host) })
	return out
}
