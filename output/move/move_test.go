package move

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/golden"
)

// TestDocs checks that the table of docs/reference/platforms.md is that of the code.
func TestDocs(t *testing.T) {
	const path, begin, end = "../../docs/reference/platforms.md", "<!-- table: written by go test ./output/move -update -->\n", "<!-- end -->"
	page := golden.Read(t, path)
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
	golden.Write(t, path, []byte(string(before)+begin+want+end+string(after)))
}

// features are the names of the features of platforms, in the order of move.Feature.
var features = []string{"number of nodes", "uneven nodes", "memory of each node", "sockets and cores", "threads of a core", "dies of a socket",
	"distances", "home node", "a CPU for each vCPU", "size of huge pages", "vCPUs that can be added"}

// table returns what platforms can, with the proof of each, and their limits below it.
func table() string {
	var b strings.Builder
	b.WriteString("\n| |")
	for _, p := range move.Platforms {
		b.WriteString(" " + p.Title + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(move.Platforms)) + "\n")
	var limits []string
	for f, name := range features {
		b.WriteString("| " + name + " |")
		for _, p := range move.Platforms {
			can := p.Can[f]
			text := "no"
			if can.Can {
				text = can.Proof.String()
			}
			if can.Can && can.Limit != "" {
				limits = append(limits, fmt.Sprintf("%s, %s: %s.", p.Title, name, can.Limit))
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

// TestConditions: a move that needs more than is written counts as one under a condition, and the table has each condition once.
func TestConditions(t *testing.T) {
	p := move.PlatformOf("proxmox")
	one := &move.Move{ID: "a", Title: "a", Platform: p, To: p.Name, Items: []move.Item{{Kind: move.Changed, What: "x", Needs: "pages"}, {Kind: move.Changed, What: "y", Needs: "pages"}, {Kind: move.Changed, What: "z", Needs: "bits"}}}
	two := &move.Move{ID: "b", Title: "b", Platform: p, To: p.Name, Items: []move.Item{{Kind: move.Changed, What: "x", Needs: "pages"}}}
	none := &move.Move{ID: "c", Title: "c", Platform: p, To: p.Name}
	a := Fleet([]*move.Move{one, two, none}, nil, "", func(*move.Move) []string { return nil })
	if want := "2 moves start only under a condition: see the table of them, and the comments of the files."; a.Verdict[1] != want {
		t.Errorf("found %q, want %q", a.Verdict, want)
	}
	if rows := a.Tables[1].Rows; len(rows) != 2 || rows[0][1].Text != "pages" || rows[0][2].Text != "2" || rows[0][3].Text != "a, b" || rows[1][1].Text != "bits" {
		t.Errorf("conditions %+v", rows)
	}
	if rows := a.Tables[0].Rows; rows[0][7].Text != "2" || rows[1][7].Text != "1" || rows[2][7].Text != "0" {
		t.Errorf("moves %+v", rows)
	}
}
