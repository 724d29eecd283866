package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"homenode/esxi/rulebook"
	"homenode/internal/golden"
)

// TestReadme runs the commands of the README and holds that each prints what the
// page shows.
func TestReadme(t *testing.T) {
	t.Chdir("../..") // commands name files as a reader in the checkout does
	const path = "README.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, commands := replayed(t, string(page))
	if commands < 5 {
		t.Errorf("%s: found %d commands: the test looks at nothing", path, commands)
	}
	golden.Equal(t, []byte(got), path)
}

// TestPictures holds that the drawings in the README are today's.
func TestPictures(t *testing.T) {
	got := output([]string{"topo", "demo", "esx01", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/esx01.svg")
	got = output([]string{"capture", "demo", "--fleet", "demo", "--vm", "app04", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/app04.svg")
	got = output([]string{"simulate", "demo", "--vm", "app20", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/simulated-app20.svg")
	got = output([]string{"size", "io", "--iops", "100k", "--block", "32k", "--read", "70", "--host-cores", "32", "--core", "3.6GHz", "--hosts", "6", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/size-io.svg")
}

// TestGlossary holds that every word of the glossary names statements that are in the
// rule book.
func TestGlossary(t *testing.T) {
	page, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| **") {
			continue
		}
		words++
		cells := strings.Split(line, "|")
		for id := range strings.SplitSeq(cells[len(cells)-2], ",") {
			if _, ok := rulebook.Find(strings.TrimSpace(id)); !ok {
				t.Errorf("found %q, want an id of the rule book: %s", id, line)
			}
		}
	}
	if words < 12 {
		t.Errorf("found %d words: the test looks at nothing", words)
	}
}

// replayed returns the page with the output of each console block as it is today. A
// line "$ homenode …" is run; lines after it are its output.
func replayed(t *testing.T, page string) (out string, commands int) {
	t.Helper()
	var b strings.Builder
	inside, running := false, false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "```console"):
			inside, running = true, false
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && strings.HasPrefix(line, "$ homenode "):
			b.WriteString(line)
			b.WriteString(output(shellWords(line)[2:]))
			commands++
			running = true
			continue
		case inside && strings.HasPrefix(line, "$ "):
			running = false
		}
		if inside && running {
			continue
		}
		b.WriteString(line)
	}
	return b.String(), commands
}

// shellWords splits a line at blanks outside single quotes.
func shellWords(line string) []string {
	var out []string
	for i, part := range strings.Split(strings.TrimSpace(line), "'") {
		if i%2 == 0 {
			out = append(out, strings.Fields(part)...)
		} else {
			out = append(out, part)
		}
	}
	return out
}

// output runs the program and returns what a terminal shows, without blanks at line
// ends.
func output(args []string) string {
	var both bytes.Buffer
	run(context.Background(), args, strings.NewReader(""), &both, &both)
	return both.String()
}
