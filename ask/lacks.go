package ask

import (
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
)

// Lacks are the sources and files of a question that could not be read, or not completely. It is an error, for the exit code, and marks the answers.
type Lacks struct {
	failed []numa.Note // of unreadable sources
	files  int         // unreadable or truncated files and sources
	notes  []numa.Note // about these files
}

// Of adds the files of the fleet that were not read completely. The fleet may be nil.
func (l *Lacks) Of(f *numa.Fleet) {
	if f == nil {
		return
	}
	l.files += len(f.Unread)
	lost, _ := f.Lost()
	l.notes = append(l.notes, lost...)
}

// Err returns the lacks as an error; nil for none.
func (l *Lacks) Err() error {
	if len(l.failed)+l.files == 0 {
		return nil
	}
	return l
}

// Error says that not everything was read.
func (l *Lacks) Error() string {
	if len(l.failed) > 0 {
		return "not everything was read: " + words.Plural(len(l.failed), "source") + " failed"
	}
	return "not everything was read: " + words.Plural(l.files, "file") + " could not be, or not whole: see the notes"
}

// Mark adds to the answer that its sources were not read completely, in its verdict and first in its notes, unless it has them.
func (l *Lacks) Mark(a *answer.Answer) {
	text := words.Plural(l.files, "source") + " could not be read completely"
	if l.files > 0 && !strings.Contains(strings.Join(a.Verdict, " "), text) {
		a.Verdict = append(a.Verdict, text+", so VMs may be missing: see the notes.")
	}
	var notes []answer.Note
	for _, n := range append(l.failed[:len(l.failed):len(l.failed)], l.notes...) {
		if !hasNote(a.Notes, n) && !hasNote(notes, n) {
			notes = append(notes, answer.Note{Text: n.Text, At: n.At, From: "source"})
		}
	}
	a.Notes = append(notes, a.Notes...)
}

// hasNote reports whether a note is among those of an answer.
func hasNote(notes []answer.Note, n numa.Note) bool {
	for i := range notes {
		if notes[i].Text == n.Text && notes[i].At == n.At {
			return true
		}
	}
	return false
}
