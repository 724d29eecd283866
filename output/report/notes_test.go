package report

import (
	"fmt"
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
