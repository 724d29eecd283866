package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"homenode/numa"
)

func TestGrouped(t *testing.T) {
	notes := []numa.Note{{At: "export", Text: "no column"}}
	for i := range 4 {
		notes = append(notes, numa.Note{At: fmt.Sprint("row ", i), Text: fmt.Sprintf("VM db%d: the vCPU count is unknown", i)})
		if i < 3 {
			notes = append(notes, numa.Note{Text: fmt.Sprintf("VM db%d: no host", i)})
		}
	}
	var got []string
	for _, n := range grouped(notes) {
		got = append(got, n.String())
	}
	const want = "export: no column|row 0: 4 VMs: the vCPU count is unknown (first: db0)|VM db0: no host|VM db1: no host|VM db2: no host"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// What many hosts lack is one line; what few do stands as it is.
func TestPerHost(t *testing.T) {
	notes := []numa.Note{{At: "a", Text: "lacks x"}, {At: "file", Text: "lacks x"}, {At: "b", Text: "lacks x"}, {At: "c", Text: "lacks x"}, {At: "d", Text: "lacks x"}, {At: "d", Text: "too short"}}
	want := []numa.Note{{Text: "4 hosts: lacks x (first: a)"}, {At: "file", Text: "lacks x"}, {At: "d", Text: "too short"}}
	if got := perHost(notes, []string{"a", "b", "c", "d"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := perHost(notes, []string{"a", "b", "c"}); !slices.Equal(got, notes) {
		t.Errorf("of three hosts %q, want %q", got, notes)
	}
}
