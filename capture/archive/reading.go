package archive

import (
	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/source/ticks"
)

// A Reading records a series, file by file. Its Open, Tick and Done go into a ticks.Visit.
type Reading struct {
	Options *Options
	Result  Result // of the files that are done

	recorders *capture.Recorders // of the current file; nil between files
	name      string             // name of the current file
	ticks     int                // recorded ticks of the current file
}

// Open begins a file. Each file gets its own Recorders: files in an archive are in no time
// order.
func (r *Reading) Open(name, format string) {
	r.name, r.ticks = name, 0
	r.recorders = capture.NewRecorders(r.Options.Capture)
	r.recorders.Open(r.name, format)
}

// Name returns the name of the current file.
func (r *Reading) Name() string { return r.name }

// Tick records a tick of the file. It reports false if the tick lies outside Options.From and
// Options.To.
func (r *Reading) Tick(t *numa.Tick) (taken bool) {
	o := r.Options
	if t.Time.Before(o.From) || !o.To.IsZero() && t.Time.After(o.To) {
		r.Result.Outside++
		return false
	}
	r.recorders.Add(t)
	r.ticks++
	return true
}

// Done ends a file, which need not have been opened; err is the error if it could not be read
// completely. Warnings go into the recording of a file with ticks, or into the notes if there
// are no ticks.
func (r *Reading) Done(f *ticks.File, err error) {
	texts := f.Warnings
	if err != nil {
		r.Fail(err)
		if r.ticks > 0 {
			texts = append(texts, err.Error())
		}
	} else if f.Ticks == 0 {
		texts = append(texts, f.Name+": holds no ticks")
	}
	for _, text := range texts {
		if r.recorders != nil && r.ticks > 0 {
			r.recorders.Warn(text)
		} else {
			r.Note(text)
		}
	}
	if f.Named != "" && len(f.Hosts) > 0 {
		r.Result.Named = append(r.Result.Named, Named{As: f.Hosts[0], Host: f.Named, File: f.Name})
	}
	if r.recorders != nil { // it was a capture
		r.recorders.LeaveOut(f.Left, f.Cut)
		r.recorders.ReadFrom(f.Parts)
		r.Result.Recordings = append(r.Result.Recordings, r.recorders.Recordings()...)
	}
	r.recorders, r.ticks = nil, 0
}

// Fail records the error of a file that could not be read completely.
func (r *Reading) Fail(err error) { r.Result.Failed = append(r.Result.Failed, err.Error()) }

// Note adds a note.
func (r *Reading) Note(text string) { r.Result.Notes = append(r.Result.Notes, text) }
