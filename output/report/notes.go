package report

import (
	"fmt"
	"strings"

	"homenode/numa"
)

// fewNotes is how many notes that differ by the VM alone stand as they are.
const fewNotes = 3

// grouped returns the notes with those about VMs, of which more than a few say the same,
// as one that counts them and names the first. JSON and tables keep them all.
func grouped(notes []numa.Note) []numa.Note {
	count := map[string]int{}
	for _, n := range notes {
		if _, rest, ok := ofVM(n); ok {
			count[rest]++
		}
	}
	told := map[string]bool{}
	var out []numa.Note
	for _, n := range notes {
		name, rest, ok := ofVM(n)
		switch {
		case !ok || count[rest] <= fewNotes:
			out = append(out, n)
		case !told[rest]:
			told[rest] = true
			out = append(out, numa.Note{At: n.At, Text: fmt.Sprintf("%d VMs: %s (first: %s)", count[rest], rest, name)})
		}
	}
	return out
}

// ofVM takes a note about a VM apart.
func ofVM(n numa.Note) (name, rest string, ok bool) {
	text, ok := strings.CutPrefix(n.Text, "VM ")
	if !ok {
		return "", "", false
	}
	return strings.Cut(text, ": ")
}
