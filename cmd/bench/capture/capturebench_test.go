//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// small generates a capture of 18,000 columns that reaches 3 MB.
func small(t *testing.T) *made {
	t.Helper()
	m, err := generate(filepath.Join(t.TempDir(), "small.csv"), 18_000, 3_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGenerate(t *testing.T) {
	m := small(t)
	b, err := os.ReadFile(m.Path)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(b)) != m.Bytes {
		t.Errorf("the file has %d bytes, generate says %d", len(b), m.Bytes)
	}
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	if len(lines) != m.Rows+1 || m.Rows < 10 {
		t.Errorf("the file has %d lines, generate says %d rows, want at least 10", len(lines), m.Rows)
	}
	for i, line := range lines {
		if n := bytes.Count(line, []byte(`",`)); n != 18_000 || line[len(line)-1] != ',' {
			t.Errorf("line %d has %d fields, want 18000 and a comma at its end", i+1, n)
		}
	}
	again := small(t)
	second, err := os.ReadFile(again.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, second) {
		t.Error("two runs generated different bytes")
	}
}

// TestAnswersAgree checks that the readers of this process agree, and that every part of
// the answer matters.
func TestAnswersAgree(t *testing.T) {
	m := small(t)
	answers := map[string]string{}
	for name, read := range readers {
		f, err := os.Open(m.Path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answers[name] = got.String()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, group := range [][]string{{"csv", "reader", "ticks"}, {"csv-all", "all"}} {
		for _, name := range group[1:] {
			if answers[name] != answers[group[0]] {
				t.Errorf("%s answers %s, %s %s", name, answers[name], group[0], answers[group[0]])
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	base := vmTally{name: "7:db", local: 1, remote: 2, below: 3, moved: 4, ready: 5, coStop: 6, changes: 7, wide: 8}
	seen := []string{outcomeOf([]vmTally{base}, 1).String()}
	for _, change := range []func(*vmTally){
		func(t *vmTally) { t.name = "8:db" },
		func(t *vmTally) { t.local++ },
		func(t *vmTally) { t.remote++ },
		func(t *vmTally) { t.below++ },
		func(t *vmTally) { t.moved++ },
		func(t *vmTally) { t.ready++ },
		func(t *vmTally) { t.coStop++ },
		func(t *vmTally) { t.changes++ },
		func(t *vmTally) { t.wide++ },
	} {
		other := base
		change(&other)
		got := outcomeOf([]vmTally{other}, 1).String()
		if slices.Contains(seen, got) {
			t.Errorf("%+v gives %s, as another answer does", other, got)
		}
		seen = append(seen, got)
	}
}

func TestTally(t *testing.T) {
	v := vmTally{}
	for _, row := range []struct {
		cells [counters]int64
		homes string
	}{
		{[counters]int64{onReady: 250, onCoStop: 10, onLocal: 79_00, onRemote: 21_00, onShare: 79_00}, "0"},
		{[counters]int64{onReady: 150, onCoStop: 20, onLocal: 80_00, onRemote: 20_00, onShare: 80_00, onMoved: 1_00}, "0,1"},
		{[counters]int64{onReady: 50}, "0"}, // no memory: N%L of 0 says nothing
	} {
		v.add(&row.cells)
		v.addHomes(row.homes)
	}
	want := vmTally{local: 159_00, remote: 41_00, below: 1, moved: 1, ready: 250, coStop: 20, changes: 2, wide: 1, homes: "0"}
	if v != want {
		t.Errorf("got %+v, want %+v", v, want)
	}
}
