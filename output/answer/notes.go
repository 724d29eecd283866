package answer

import (
	"fmt"
	"strings"

	"homenode/numa"
)

// A Note is a sentence about what is doubtful or left out.
type Note struct {
	Text string `json:"text"`
	At   string `json:"at,omitempty"`   // where it was read
	From string `json:"from,omitempty"` // who says so: source, capture, judgement, configuration, simulation
	Host bool   `json:"-"`              // At is a host that several notes can be counted by
}

// String returns the note with the place before it.
func (n Note) String() string { return numa.Note{At: n.At, Text: n.Text}.String() }

// Note adds sentences to the notes.
func (a *Answer) Note(sentences ...string) {
	for _, s := range sentences {
		a.Notes = append(a.Notes, Note{Text: s})
	}
}

// NotesFrom adds what somebody says to the notes.
func (a *Answer) NotesFrom(who string, notes ...numa.Note) {
	for _, n := range notes {
		a.Notes = append(a.Notes, Note{Text: n.Text, At: n.At, From: who})
	}
}

// fewNotes is how many notes that differ by the VM or host alone stand as they are.
const fewNotes = 3

// FewNotes returns the notes with those about VMs or hosts, of which more than a few say the
// same, as one that counts them and names the first: for people. Programs read them all.
func (a *Answer) FewNotes() []Note {
	type same struct{ noun, text, from string }
	key := func(n Note) (s same, name string) {
		if rest, ok := strings.CutPrefix(n.Text, "VM "); ok {
			if name, text, ok := strings.Cut(rest, ": "); ok {
				return same{"VM", text, n.From}, name
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
	return out
}
