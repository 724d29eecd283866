package answer

import (
	"testing"

	"example.org/homenode/numa"
)

// Notes quote errors in usual words, wherever they come from.
func TestNotesInUsualWords(t *testing.T) {
	var a Answer
	a.Note("a.json: unexpected EOF")
	a.NotesFrom("source", numa.Note{Text: "b.json: unexpected end of JSON input"})
	for i, want := range []string{"a.json: the data end early", "b.json: the JSON is cut off"} {
		if a.Notes[i].Text != want {
			t.Errorf("%q, want %q", a.Notes[i].Text, want)
		}
	}
}
