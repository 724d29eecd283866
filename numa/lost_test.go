package numa_test

import (
	"testing"

	"example.org/homenode/numa"
)

// TestLost: notes about an unread file are those of the file and of its lines, and no others.
func TestLost(t *testing.T) {
	f := numa.Fleet{Unread: []string{"a/b.xml", "c:d.csv"}}
	for _, at := range []string{"a/b.xml", "a/b.xml:3:1", "a/b.xml2", "a", "c:d.csv:1", "c", "", "a/b.xml: sheet"} {
		f.Notes = append(f.Notes, numa.Note{At: at})
	}
	lost, others := f.Lost()
	var got string
	for _, n := range append(append(lost, numa.Note{At: "–"}), others...) {
		got += n.At + "|"
	}
	if want := "a/b.xml|a/b.xml:3:1|c:d.csv:1|a/b.xml: sheet|–|a/b.xml2|a|c||"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}
