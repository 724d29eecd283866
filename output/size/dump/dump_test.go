package dump

import (
	"bytes"
	"testing"

	"homenode/internal/golden"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/format"
	"homenode/size/dump"
)

// TestDump pins the answers in the forms that programs and pages take; the scripts of the
// command hold the text.
func TestDump(t *testing.T) {
	q := dump.Question{RAM: 1024 * numa.GiB, Release: numa.ESXi80 + 3, Boot: 33 * dump.GiB, Needs: dump.Published}
	q.Needs.Logs = 6 * dump.GiB
	r, err := dump.Answer(q)
	if err != nil {
		t.Fatal(err)
	}
	a := Answer(q, &r, map[string]bool{"logs": true})
	hosts := []numa.Host{
		{Name: "esx|01", Memory: numa.ReadAt(3*numa.TiB, "t"), Release: numa.ReadAt(numa.ESXi80, "t")},
		{Name: "esx02", Memory: numa.ReadAt(256*numa.GiB, "t"), Release: numa.ReadAt(numa.ESXi67, "t")},
		{Name: "esx03"}, {Name: "esx04"},
		{Name: "esx05", Memory: numa.ReadAt(3*numa.TiB+numa.GiB, "t"), Release: numa.ReadAt(numa.ESXi80, "t")}, // reads as another row
		{Name: "esx06", Memory: numa.ReadAt(3*numa.TiB, "t")},
	}
	f, err := dump.OfFleet(hosts, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file, form string
		a          *answer.Answer
	}{
		{"dump.svg", "svg", a}, {"fleet.md", "markdown", Fleet("fleet", &f, nil)},
		{"fleet.svg", "svg", Fleet("fleet", &f, nil)}, {"published.csv", "csv", Published()},
	} {
		var b bytes.Buffer
		if err := format.Write(&b, tt.form, tt.a, format.Options{}); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, b.Bytes(), "testdata/"+tt.file)
	}
}
