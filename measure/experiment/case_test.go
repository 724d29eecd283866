package experiment

import (
	"errors"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// head and tail stand around the lines of a test: they begin at line 15.
const (
	head = `Words.
-- case --
id S
title a case
source nobody
-- in --
release 7.0U3
host esx01 nodes=2 cores=4 threads=4 memory=64GB
vm web1 host=esx01 vcpus=2 memory=8GB
vm web2 host=esx01 vcpus=2 memory=8GB
run 10m every=1m start=2018-01-10T10:00:00Z
load * cpu=50% memory=4GB
-- observed --
figure a-limits what it is
`
	fine = "want homes web1 at 5m = 0\n"
)

// TestErrors checks the exact text and place of every error.
func TestErrors(t *testing.T) {
	const names = "homes, clients, nodes, crowd, local, remote, onNode, locality, consumed, large, shared, swapped, free, moves, ready, coStop, run, speed, far"
	for _, tt := range []struct{ name, in, want string }{
		{"nothing is wanted", "", `14:1: found figure a-limits with 0 of want, input and unmodelled, want one`},
		{"both", fine + "input told", `14:1: found figure a-limits with 2 of want, input and unmodelled, want one`},
		{"an input without its figure", "input told", `14:1: found figure a-limits without shown, want the figure in the words of the source`},
		{"a tolerance without a reason", "want locality web1 at 5m = 98% ±1%", `14:1: found figure a-limits with a tolerance, want because and the reason`},
		{"keyword", "wants homes web1 at 5m = 0", `15:1: found "wants", want one of figure, want, shown, because, why, fitted, restated, input, unmodelled`},
		{"keyword alone", fine + "  why", `16:3: found why alone, want words after it`},
		{"figure without an id", "figure memory", `15:8: found "memory", want e-wide or KB 430776 and what the figure is`},
		{"figure of no experiment", "figure F-1 memory", `15:8: found "F-1 memory", want e-wide or KB 430776 and what the figure is`},
		{"quantity", "want home web1 at 5m = 0", `15:6: found "home", want a value or one of ` + names},
		{"no quantity", "want 5 = 5", `15:6: found values alone, want a quantity: one of ` + names},
		{"nothing at the end", "want homes web1 at 5m =", `15:24: found "", want a value or one of ` + names},
		{"relation", "want homes web1 at 5m == 0", `15:23: found "==", want one of = != < > <= >=`},
		{"no relation", "want homes web1 at 5m", `15:22: found "", want one of = != < > <= >=`},
		{"no node", "want onNode web1 at 5m = 4GB", `15:6: found onNode, want onNode:NODE VM`},
		{"a node too much", "want local:0 web1 at 5m = 4GB", `15:6: found local:0, want local VM`},
		{"bad node", "want onNode:64 web1 at 5m = 4GB", `15:6: found onNode:64, want a node such as onNode:0`},
		{"node of a host", "want free:2 esx01 at 5m = 4GB", `15:6: found node 2, which esx01 does not have`},
		{"host", "want free:1 esx02 at 5m = 4GB", `15:13: found no host "esx02"`},
		{"VM", "want homes web3 at 5m = 0", `15:12: found no VM "web3"`},
		{"VMs for one", "want homes web* at 5m = 0", `15:12: found 2 VMs, want one`},
		{"when", "want homes web1 on 5m = 0", `15:17: found "on", want at 42m or over 0s..15m`},
		{"time", "want homes web1 at noon = 0", `15:20: found "noon", want a time such as 42m, 1h42m or 14:30`},
		{"time after the end", "want homes web1 at 10:11 = 0", `15:20: found 10:11, want a time in the 10m0s of the story`},
		{"time between ticks", "want homes web1 at 90s = 0", `15:20: found 90s, want a multiple of 1m0s, the time between ticks`},
		{"stretch at a moment", "want homes web1 at 1m..2m = 0", `15:20: found at 1m..2m, want at 42m or over 0s..15m`},
		{"moment of a stretch", "want homes web1 over 1m = 0", `15:22: found over 1m, want at 42m or over 0s..15m`},
		{"stretch backwards", "want homes web1 over 2m..1m = 0", `15:22: found 2m..1m, want the earlier first`},
		{"moves at a moment", "want moves web1 at 2m = 0", `15:20: found moves at a moment, want over 0s..15m`},
		{"story", "want homes web1 at 5m @4.0 = 0", `15:23: found no story "4.0"`},
		{"kinds", "want local web1 at 5m = locality web1 at 5m", `15:25: found locality, which is a share, beside memory`},
		{"value", "want local web1 at 5m = 4", `15:25: found "4", want memory such as 7278MB`},
		{"value of nodes", "want homes web1 at 5m = 64", `15:25: found "64", want nodes such as 0,1 or - for none`},
		{"share of memory", "want local web1 at 5m / local web2 at 5m = 4GB", `15:44: found "4GB", want a share such as 98%`},
		{"calculation with nodes", "want homes web1 at 5m > 0", `15:6: found a calculation with nodes, want = or != alone`},
		{"tolerance of nodes", "want homes web1 at 5m = 0 ±1", `15:27: found "±1", want a tolerance after = such as ±nodes such as 0,1 or - for none, or nothing more`},
		{"tolerance of more", "want local web1 at 5m > 4GB ±1GB", `15:29: found "±1GB", want a tolerance after = such as ±memory such as 7278MB, or nothing more`},
		{"nothing more", "want local web1 at 5m = 4GB ±1GB now", `15:35: found "now", want nothing more`},
		{"section", "-- out --", `15:1: found section "out", want one of case, in, vary, observed`},
		{"section twice", "-- in --", `15:1: found section "in" twice`},
		{"story with a blank", "-- in a b --", `15:1: found story "a b", want a name without blanks and @`},
		{"variant without a name", "-- vary --", `15:1: found section vary alone, want what it varies: -- vary 2 GB less is free --`},
		{"name of a section", "-- observed here --", `15:1: found section "observed here", want observed alone`},
		{"line of a variant", fine + "-- vary less --\nload web3 cpu=5%", `17:6: found no VM "web3"; alike: web1, web2`},
		{"line of a second story", fine + "-- in b --\nhost esx01 nodes=x", `17:12: found nodes="x", want a number from 1 to 64`},
		{"bytes", "want \xff", `1:1: found bytes that are not UTF-8`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read("s", []byte(head+tt.in+"\n"))
			if err == nil || err.Error() != "s:"+tt.want {
				t.Errorf("%v\nwant s:%s", err, tt.want)
			}
		})
	}
}

// TestCaseErrors checks the errors of the first section, and of cases without one.
func TestCaseErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "1:1: found no id, title or source, want all of them in a section -- case --"},
		{"keyword", "-- case --\nname S", `2:1: found "name", want one of id, title, source, assumed, gave, stated, range`},
		{"alone", "-- case --\nassumed", `2:1: found assumed alone, want words after it`},
		{"twice", "-- case --\nid S\n id T", `3:2: found id again`},
		{"no figure", "-- case --\nid S\ntitle a\nsource b", `1:1: found no figure, want some in a section -- observed --`},
		{"no figure first", "-- observed --\n# words\n\nwant homes a at 1m = 0", `4:1: found "want", want figure first`},
		{"no story", "-- observed --\nfigure a-limits a\nwant homes a at 1m = 0", `3:14: found no story, want one in a section -- in --`},
	} {
		_, err := Read("s", []byte(tt.in+"\n"))
		if err == nil || err.Error() != "s:"+tt.want {
			t.Errorf("%s: %v\nwant s:%s", tt.name, err, tt.want)
		}
	}
}

// FuzzRead demands a case that reads the same again, or an error with a place inside the
// input.
func FuzzRead(f *testing.F) {
	for _, b := range shipped(f) {
		f.Add(b)
	}
	f.Add([]byte(head + fine + "want free:1 esx01 over 0s..5m / local web* at 5m > 1%\nwhy it is\n"))
	long := regexp.MustCompile(`\d{3,}\s*\]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if long.Match(data) {
			return // such ranges are left to the tests of scenarios: they are slow
		}
		c, err := Read("case", data)
		if err == nil {
			if again, err := Read("case", data); err != nil || !reflect.DeepEqual(c, again) {
				t.Fatalf("it reads otherwise again: %v", err)
			}
			return
		}
		var e *numa.SyntaxError
		if !errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(string(data), "\n") || e.Col < 1 {
			t.Fatalf("the error names no place of the input: %v", err)
		}
	})
}

func shipped(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../published/testdata/sim/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		if out[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// shippedInOrder yields the shipped cases by name.
func shippedInOrder(t testing.TB) iter.Seq2[string, []byte] {
	all := shipped(t)
	return func(yield func(string, []byte) bool) {
		for _, file := range slices.Sorted(maps.Keys(all)) {
			if !yield(file, all[file]) {
				return
			}
		}
	}
}

// TestShipped checks that every case has its own id, names its source, and says why a
// figure is missed.
func TestShipped(t *testing.T) {
	ids := map[string]string{}
	for file, b := range shipped(t) {
		c, err := Read(file, b)
		if err != nil {
			t.Error(err)
			continue
		}
		if other, ok := ids[c.ID]; ok {
			t.Errorf("%s and %s have the id %s", file, other, c.ID)
		}
		ids[c.ID] = file
		if len(c.Assumed) == 0 {
			t.Errorf("%s assumes nothing: no source states everything", file)
		}
		r, err := Judge(t.Context(), c, vnuma.Choices{})
		if err != nil {
			t.Error(err)
			continue
		}
		for i := range r.Rows {
			row := &r.Rows[i]
			if row.Figure.Why == "" && (row.Verdict == Miss || row.Verdict == Reproduced && len(row.Against()) > 0) {
				t.Errorf("%s:%d: %s, %s: a %s without a reason (%d variants say otherwise)", file, row.Figure.Line, row.Figure.ID, row.Figure.What, row.Verdict, len(row.Against()))
			}
		}
	}
}
