package story

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/cost"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// TestDocs reads the example of the documentation, and checks that the documentation
// explains every word.
func TestDocs(t *testing.T) {
	b := golden.Read(t, "../../docs/reference/scenarios.md")
	_, rest, ok := strings.Cut(string(b), "```\n")
	example, rest, ok2 := strings.Cut(rest, "```\n")
	if !ok || !ok2 {
		t.Fatal("no example")
	}
	s := read(t, example)
	golden.Equal(t, []byte(dump(s)), "testdata/docs.txt")

	explained := map[string]bool{} // first words of what stands as code in a table
	for _, row := range strings.Split(rest, "\n") {
		if !strings.HasPrefix(row, "| ") {
			continue
		}
		for i, part := range strings.Split(row, "`") {
			if i%2 == 1 {
				first, _, _ := strings.Cut(part, " ")
				explained[strings.TrimSuffix(first, "=")] = true
			}
		}
	}
	words := slices.Concat(fleetLines, storyLines, loadWords, placedWords, kindNames(), hotWords, []string{"every", "start", "seed", "node", "rate", "host", "stored"})
	for _, w := range slices.Concat(words, numa.Workloads) {
		if !explained[w] {
			t.Errorf("docs/reference/scenarios.md does not explain %s", w)
		}
	}
}

// TestWorkloads checks that stories know the classes of the cost model.
func TestWorkloads(t *testing.T) {
	var names []string
	for _, w := range cost.Workloads {
		names = append(names, w.Name)
	}
	if !slices.Equal(names, numa.Workloads) {
		t.Errorf("the classes are %v, stories know %v", names, numa.Workloads)
	}
}
