package bundle

import (
	"slices"
	"testing"
)

// TestUnique: IDs that are in use get the next free number.
func TestUnique(t *testing.T) {
	used := map[string]int{}
	var got []string
	for _, id := range []string{"a", "a#2", "a", "a", "b", "a#2"} {
		got = append(got, unique(used, id))
	}
	if want := []string{"a", "a#2", "a#3", "a#4", "b", "a#2#2"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
