package answer

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A Note is a sentence about a doubt or an omission.
type Note struct {
	Text string `json:"text"`
	At   string `json:"at,omitempty"`   // place in the source
	From string `json:"from,omitempty"` // origin: source, capture, judgement, configuration, simulation
	Host bool   `json:"-"`              // At is a host; notes can be counted by host
}

// String returns the note with its place as prefix.
func (n Note) String() string { return numa.Note{At: n.At, Text: n.Text}.String() }

// Note adds sentences to the notes.
func (a *Answer) Note(sentences ...string) {
	for _, s := range sentences {
		a.Notes = append(a.Notes, Note{Text: words.Usual(s)})
	}
}

// NotesFrom adds notes with their origin.
func (a *Answer) NotesFrom(who string, notes ...numa.Note) {
	for _, n := range notes {
		a.Notes = append(a.Notes, Note{Text: words.Usual(n.Text), At: n.At, From: who})
	}
}

// fewNotes is the maximum number of notes that are not merged although they differ only in the
// VM or host.
const fewNotes = 3

// FewNotes returns notes for human readers. It merges more than fewNotes equal notes about VMs
// or hosts into one with their number and the name of the first. Programs get all notes.
func (a *Answer) FewNotes() []Note {
	type same struct{ noun, text, from string }
	key := func(n Note) (s same, name string) {
		for _, noun := range []string{"VM", "host"} {
			rest, about := strings.CutPrefix(n.Text, noun+" ")
			if name, text, ok := strings.Cut(rest, ": "); about && ok {
				return same{noun, text, n.From}, name
			}
		}
		if n.Host {
			return same{"host", n.Text, n.From}, n.At
		}
		return same{}, ""
	}
	count := map[same]int{}
	for _, n := range a.Notes {
		s, _ := key(n)
		count[s]++
	}
	told := map[same]bool{}
	var out []Note
	for _, n := range a.Notes {
		switch s, name := key(n); {
		case s.noun == "" || count[s] <= fewNotes:
			out = append(out, n)
		case !told[s]:
			told[s] = true
			n.Text = fmt.Sprintf("%d %ss: %s (first: %s)", count[s], s.noun, s.text, name)
			if n.Host {
				n.At = ""
			}
			out = append(out, n)
		}
	}
	// A note about the whole source must not hide behind those about single rows, of which a screen shows the first.
	slices.SortStableFunc(out, func(a, b Note) int { return strings.Count(a.At, ", row ") - strings.Count(b.At, ", row ") })
	return out
}
