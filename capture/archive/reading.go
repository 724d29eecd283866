package archive

import (
	"homenode/capture"
	"homenode/numa"
	"homenode/source/ticks"
)

// A Reading records what series reads, file by file: its Open, Tick and Done go into a
// ticks.Visit.
type Reading struct {
	Options *Options
	Result  Result // of the files that are done

	recorders *capture.Recorders // of the file that is read; nil between files
	name      string             // of it
	ticks     int                // of it, that are not left out
}

// Open begins a file. One for each file: those in an archive are in no order of time.
func (r *Reading) Open(name, format string) {
	r.name, r.ticks = name, 0
	r.recorders = capture.NewRecorders(r.Options.Capture)
	r.recorders.Open(r.name, format)
}

// Name returns the name of the file that is read.
func (r *Reading) Name() string { return r.name }

// Tick takes a tick of the file; false when it is left out, as one outside Options.From
// and Options.To.
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

// Done ends a file, which need not have been opened; err says why it could not be read, or not
// to its end. Recordings hold the warnings of files with ticks, notes those of others.
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

// Fail says that a file could not be read, or not to its end.
func (r *Reading) Fail(err error) { r.Result.Failed = append(r.Result.Failed, err.Error()) }

// Note adds a note.
func (r *Reading) Note(text string) { r.Result.Notes = append(r.Result.Notes, text) }
