package iocost

import (
	"example.org/homenode/esxi/rulebook"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa/unit"
)

// listed are the inconsistencies of the record that these figures may name, with where the
// record finds them.
var listed = map[string][]string{
	"I-5": {"b-nvme"}, "I-6": {"b-nvme", "b-nvme-rule"}, "I-7": {"b-network"}, "I-8": {"b-vsan-bits"}, "I-9": {"b-vsan-bits"}, "I-10": {"b-vsan-bits"}, "I-11": {"b-vsan-bits"},
	"I-12": {"b-vsan-rule"}, "I-13": {"b-rdma"}, "I-14": {"b-vsan", "b-limits"},
}

// TestChecks checks that every figure is reproduced or contradicts its own article in a way
// that is on record, and that no reproduced one is called inconsistent.
func TestChecks(t *testing.T) {
	named := map[string]bool{}
	var b strings.Builder
	reproduced := 0
	seen := map[string]bool{}
	for _, c := range Checks() {
		key := c.ID + " " + c.What + " " + c.Quantity + " " + c.Printed
		if seen[key] {
			t.Errorf("%s: twice", key)
		}
		seen[key] = true
		if _, ok := c.Deviation(); !ok || math.IsNaN(c.Computed) || math.IsInf(c.Computed, 0) {
			t.Errorf("%s: found %q and %v, want two numbers", key, c.Printed, c.Computed)
		}
		switch verdict := c.Verdict(); {
		case verdict == "MISSED":
			t.Errorf("%s: found %v: neither reproduced nor explained", key, c.Computed)
		case c.Reproduced() && c.Inconsistency != "":
			t.Errorf("%s: reproduced, but called inconsistent (%s)", key, c.Inconsistency)
		case c.Reproduced():
			reproduced++
		default:
			named[verdict] = true
			if at := strings.Join(listed[verdict], " "); !strings.Contains(" "+at+" ", " "+c.ID+" ") {
				t.Errorf("%s: found %s, which the record finds in %q", key, verdict, at)
			}
			if c.Note == "" {
				t.Errorf("%s: %s without saying how", key, verdict)
			}
			fmt.Fprintf(&b, "%-4s %-5s %s: %s %s, not %s (%s)\n", verdict, c.ID, c.What, unit.Digits(c.Computed, 4), c.Quantity, c.Printed, c.Note)
		}
	}
	for id := range listed {
		if !named[id] {
			t.Errorf("%s: no figure shows it", id)
		}
	}
	// A figure that stops being reproduced and is excused by an inconsistency shows here.
	fmt.Fprintf(&b, "%d reproduced\n", reproduced)
	golden.Equal(t, []byte(b.String()), "testdata/inconsistent.txt")
}

// TestListed compares the ids with those of the record, where it lies beside the checkout.
func TestListed(t *testing.T) {
	record, err := os.ReadFile("../../../shared/experiments.md")
	if err != nil {
		t.Skip("the record of the experiments is not beside the checkout")
	}
	for id, where := range listed {
		_, after, ok := strings.Cut(string(record), "| "+id+" | ")
		if !ok {
			t.Errorf("%s is not in the record", id)
			continue
		}
		cell, _, _ := strings.Cut(after, " | ")
		for _, w := range strings.Split(cell, ", ") {
			if e, _ := rulebook.FindExperiment("exp " + w); !slices.Contains(where, e.Name) {
				t.Errorf("%s: the record finds it in %s, want %v", id, cell, where)
			}
		}
	}
}

// TestPredictions checks what the article found strange and is not: mixes of reads and writes
// cost what their parts do, within a tenth.
func TestPredictions(t *testing.T) {
	pure := model(t, slices.DeleteFunc(Published(), func(p Point) bool { return p.Read != 0 && p.Read != 1 })...)
	for i, want := range map[int]float64{2: 6.4, 5: -3.0} { // percent
		r := &hcibench[i]
		c := cost(t, pure, Kind{VSANESA, r.Block, r.Read, r.Random})
		if off := math.Round(1000*(float64(c.PerIO.Value)*float64(r.rate())/float64(r.net())-1)) / 10; off != want {
			t.Errorf("%s: found %v %% from its parts, want %v", r.Name, off, want)
		}
	}
}
