package main

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/rulebook"
	"example.org/homenode/internal/golden"
)

// TestReadme runs the commands of the README and of the guides, and checks that each prints what the page shows.
func TestReadme(t *testing.T) {
	t.Chdir("../..") // commands name files as a reader in the checkout does
	for path, least := range map[string]int{"README.md": 3, "docs/start.md": 2, "docs/checks.md": 1, "docs/captures.md": 1, "docs/plan.md": 2} {
		page := golden.Read(t, path)
		got, commands := replayed(t, string(page))
		if commands < least {
			t.Errorf("%s: found %d commands, want %d or more", path, commands, least)
		}
		golden.Equal(t, []byte(got), path)
	}
	page := golden.Read(t, "README.md")
	// Commands that homenode prints begin with its name alone, so the first step puts it into PATH.
	path, first := bytes.Index(page, []byte("export PATH=")), bytes.Index(page, []byte("\nhomenode assess demo"))
	if path < 0 || first < path || bytes.Contains(page, []byte("./homenode")) {
		t.Errorf("README.md: PATH is set at %d, the first command stands at %d; want it set first, and no ./homenode", path, first)
	}
	if n := bytes.Count(page, []byte("\n")); n > 120 {
		t.Errorf("README.md has %d lines: more belongs into the guides", n)
	}
}

// TestPictures checks that the drawings in the README are today's.
func TestPictures(t *testing.T) {
	got := output([]string{"explain", "demo", "esx02", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/esx02.svg")
	got = output([]string{"explain", "demo", "sql01", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/sql01.svg")
	got = output([]string{"capture", "demo", "--fleet", "demo", "--vm", "app04", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/app04.svg")
	got = output([]string{"capture", "demo", "--fleet", "demo", "--host", "esx02", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/night.svg")
	got = output([]string{"simulate", "demo", "--vm", "app20", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/simulated-app20.svg")
	moved := filepath.Join(t.TempDir(), "moved")
	output([]string{"move", "demo", "--hosts", "2x96c/4TB*6", "--vcpus-per-core", "4", "-o", moved})
	drawn := golden.Read(t, filepath.Join(moved, "moves.hosts.svg"))
	golden.Equal(t, drawn, "../../docs/img/move-hosts.svg")
}

// TestGlossary checks that every word of the glossary names statements that are in the
// rule book.
func TestGlossary(t *testing.T) {
	page := golden.Read(t, "../../docs/checks.md")
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

// replayed returns the page with the output of each console block as it is today. A line
// "$ homenode …" is run; the lines after it are its output. A line "…" stands for lines
// that the page leaves out: as many lines as stand before and after it are shown.
func replayed(t *testing.T, page string) (out string, commands int) {
	t.Helper()
	var b strings.Builder
	inside, running := false, false
	text := "" // that was printed
	var head, tail int
	cut := false
	flush := func() {
		if !running {
			return
		}
		running = false
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if cut && head+tail < len(lines) {
			lines = slices.Concat(lines[:head], []string{"…"}, lines[len(lines)-tail:])
		}
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "```console"):
			inside = true
		case strings.HasPrefix(line, "```"):
			flush()
			inside = false
		case inside && strings.HasPrefix(line, "$ homenode "):
			flush()
			b.WriteString(line)
			text, running, head, tail, cut = output(shellWords(line)[2:]), true, 0, 0, false
			commands++
			continue
		case inside && strings.HasPrefix(line, "$ "):
			flush()
		case inside && running && line == "…\n":
			cut = true
		case inside && running && cut:
			tail++
		case inside && running:
			head++
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
