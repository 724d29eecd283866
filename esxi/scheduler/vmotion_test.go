package scheduler

import (
	"testing"

	"example.org/homenode/numa"
)

func TestCopySteps(t *testing.T) {
	gb := int64(1<<30) / int64(numa.PageSize)
	for _, c := range []struct {
		name               string
		pages, link, dirty int64
		want               int64
	}{
		{"nothing touched", 0, gb, 0, 1},
		{"one pass", 100 * gb, gb, 0, 50},
		{"one pass and a rest", 101 * gb, gb, 0, 51},
		{"a tenth is written anew: 100 + 10 + 1 + 0.1", 100 * gb, gb, gb / 10, 56},
		{"writes faster than the link: slowed down to half of it", 100 * gb, gb, 10 * gb, 100},
		{"no link to speak of", 10, 0, 0, 5},
	} {
		if got := copySteps(c.pages, c.link, c.dirty); got != c.want {
			t.Errorf("%s: %d steps, want %d", c.name, got, c.want)
		}
	}
}
