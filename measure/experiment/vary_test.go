package experiment

import (
	"slices"
	"strings"
	"testing"
)

// TestWorldsOf checks what is varied of a case: all numbers but those that the source states,
// and only within their range.
func TestWorldsOf(t *testing.T) {
	c, err := Read("s", []byte(strings.Replace(head, "source nobody\n", "source nobody\nstated host * nodes, vm *\nrange load * cpu 30%..60%\n", 1)+fine))
	if err != nil {
		t.Fatal(err)
	}
	worlds, impossible := c.Worlds()
	var names []string
	combinations := 0
	for _, w := range worlds {
		if strings.HasPrefix(w.Name, "combination ") {
			combinations++
			continue
		}
		names = append(names, w.Name)
	}
	want := []string{
		"host esx01 cores=2 for 4", "host esx01 cores=8 for 4", "host esx01 memory=128GB for 64GB", "host esx01 memory=32GB for 64GB", "host esx01 threads=2 for 1",
		"load * cpu=30% for 50%", "load * cpu=60% for 50%", "load * memory=2GB for 4GB", "load * memory=8GB for 4GB",
		"all times × 0.5", "all times × 2", "1 GB of vCLS on node 0", "1 GB of vCLS on node 1", "the VMkernel on 2 % of each node",
	}
	if !slices.Equal(names, want) || combinations != Combinations || impossible != 0 {
		t.Errorf("found %q and %d combinations, %d impossible; want %q", names, combinations, impossible, want)
	}
	if again, _ := c.Worlds(); !slices.EqualFunc(worlds, again, func(a, b World) bool { return a.Name == b.Name }) {
		t.Error("other worlds the second time")
	}
}

// TestKinds checks that one fitted figure ends blindness for the source, and that what is
// restated is never counted as more.
func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		gave, line string
		want       Kind
	}{
		{"", "", Blind}, {"gave C-15: the reserve\n", "", Fitted}, {"", "fitted a number\n", Fitted},
		{"gave C-15: the reserve\n", "restated from the figure before\n", Restated},
	} {
		c, err := Read("s", []byte(strings.Replace(head, "source nobody\n", "source nobody\n"+tt.gave, 1)+fine+tt.line))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.kind(&c.Figures[0]); got != tt.want {
			t.Errorf("%q, %q: %s, want %s", tt.gave, tt.line, got, tt.want)
		}
	}
}

// TestPlayedForm checks that the record is read as it is written.
func TestPlayedForm(t *testing.T) {
	want := []*Played{{"a", "0123456789abcdef", 2, []PlayedWorld{{"load a cpu=1% for 2%", "RM-"}}}, {"b", "0", 0, nil}}
	got, err := ReadPlayed(writePlayed(want))
	if err != nil || len(got) != 2 || got[0].State != want[0].State || !slices.Equal(got[0].Worlds, want[0].Worlds) || got[1].Case != "b" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"RM- too early\n", "case a state 0 impossible 1\nRX x\n", "case a state 0 impossible 1\nRM\n"} {
		if _, err := ReadPlayed([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
