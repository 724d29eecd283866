package keyed

import (
	"fmt"
	"testing"
)

// TestLists: keys keep the order in which they came, values theirs, and an end of the loop ends it.
func TestLists(t *testing.T) {
	var b Lists[string, int]
	b.Add("b", 1)
	b.Add("a", 2, 3)
	b.Add("b", 4)
	b.Add("c")
	got := ""
	for key, values := range b.All() {
		got += fmt.Sprint(key, values)
	}
	if want := "b[1 4]a[2 3]c[]"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	for key := range b.All() {
		if key != "b" {
			t.Errorf("found %s after the end of the loop", key)
		}
		break
	}
	if len(b.Of("a")) != 2 || b.Of("none") != nil {
		t.Errorf("found %v and %v", b.Of("a"), b.Of("none"))
	}
}
