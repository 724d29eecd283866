package move

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"homenode/change/move"
	"homenode/internal/golden"
)

// TestDocs checks that the table of docs/reference/platforms.md is that of the code.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../docs/reference/platforms.md", "<!-- table: written by go test ./output/move -update -->\n", "<!-- end -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := bytes.Cut(page, []byte(begin))
	got, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok1 || !ok2 {
		t.Fatalf("%s has no table", path)
	}
	want := table()
	if string(got) == want {
		return
	}
	if !golden.Updating() {
		t.Fatalf("%s: the table is not that of the code (go test ./output/move -update writes it)", path)
	}
	if err := os.WriteFile(path, []byte(string(before)+begin+want+end+string(after)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table returns what platforms can, with the proof of each, and their limits below it.
func table() string {
	var b strings.Builder
	b.WriteString("\n| |")
	for _, p := range move.Platforms {
		b.WriteString(" " + p.Title + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(move.Platforms)) + "\n")
	var limits []string
	for _, f := range move.Features() {
		b.WriteString("| " + f.String() + " |")
		for _, p := range move.Platforms {
			can := p.Can[f]
			text := "no"
			if can.Can {
				text = can.Proof.String()
			}
			if can.Can && can.Limit != "" {
				limits = append(limits, fmt.Sprintf("%s, %s: %s.", p.Title, f, can.Limit))
				text += fmt.Sprintf(" (%d)", len(limits))
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, limit := range limits {
		fmt.Fprintf(&b, "%d. %s\n", i+1, limit)
	}
	b.WriteString("\n")
	return b.String()
}
