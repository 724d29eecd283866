package rightsize

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/size/rightsize"
)

// sized is a result of three VMs that shrink, one that grows, one that waits and six that
// were seen too short.
func sized() *rightsize.Result {
	r := &rightsize.Result{Options: rightsize.Options{Percentile: 0.99, Headroom: 0.2, Least: 24 * time.Hour}}
	add := func(name string, v rightsize.Verdict, vcpus, suggested int, reason string) *rightsize.Advice {
		r.VMs = append(r.VMs, rightsize.Advice{Name: name, Verdict: v, VCPUs: vcpus, Suggested: suggested, Reason: reason, Seen: 30 * time.Hour,
			Demand: &rightsize.Percentiles{P50: 1, P95: 2, P99: 2.5, At: 2.5, Peak: 3}})
		return &r.VMs[len(r.VMs)-1]
	}
	add("etl01", rightsize.Larger, 2, 4, "")
	sql := add("sql01", rightsize.Smaller, 16, 4, "")
	sql.Kinds = []rightsize.Kind{{Host: "2 nodes of 10 cores", Nodes: 2, Cores: 10, Before: rightsize.Layout{Clients: []int{8, 8}, Guest: []int{16}, CoresPerSocket: 2}, After: rightsize.Layout{Clients: []int{4}, Guest: []int{4}, CoresPerSocket: 4}}}
	sql.Memory = rightsize.Memory{Size: 64 * numa.GiB, Low: 12 * numa.GiB, High: 40 * numa.GiB}
	sql.Above = 0.0004
	add("web01", rightsize.Smaller, 8, 4, "").Memory = rightsize.Memory{Size: 300 * numa.GiB, Over: 44 * numa.GiB, Node: 256 * numa.GiB, Nodes: 1, Reason: "no active memory (Touched MBytes)"}
	add("wait01", rightsize.Keep, 4, 4, "waits for cores of the host: more vCPUs would wait, too")
	for i := range 6 {
		add(fmt.Sprintf("new%02d", i+1), rightsize.NotJudged, 4, 0, "1 h of 24 h observed")
	}
	r.Totals = rightsize.Totals{VMs: 10, Judged: 4, Smaller: 2, Larger: 1, Kept: 1, VCPUs: 30, Suggested: 16, Freed: 16, Added: 2, Placed: 1, WideBefore: 1}
	return r
}

// texts returns the texts of a table's cells.
func texts(t *answer.Table) (out [][]string) {
	for _, row := range t.Rows {
		var line []string
		for _, c := range row {
			line = append(line, c.Text)
		}
		out = append(out, line)
	}
	return out
}

func TestRightSize(t *testing.T) {
	a := Answer(sized(), nil, Options{Files: "week/", Words: "week/", Unseen: 1})
	want := [][]string{
		{"etl01", "2", "1.0", "2.5", "3.0", "4", "0 %", "unknown", "unknown", "-"},
		{"sql01", "16", "1.0", "2.5", "3.0", "4", "<0.1 %", "2×8, guest 16", "4", "64 GB → 12 GB to 40 GB"},
		{"web01", "8", "1.0", "2.5", "3.0", "4", "0 %", "unknown", "unknown", "300 GB, 44 GB over"},
	}
	if got := texts(&a.Tables[0]); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("rows\n%v, want\n%v", got, want)
	}
	notes := []string{
		"Kept: wait01: waits for cores of the host: more vCPUs would wait, too.",
		"Not judged: new01, new02, new03, new04 and 2 more: 1 h of 24 h observed.",
		"30 h observed: no week, no end of a month is in it. What runs then is not known.",
		"Memory of 1 VM: no range: no active memory (Touched MBytes).",
		"web01 needs 44 GB less memory to fit 1 node of 256 GB.",
		"Databases or SAP by their names, a guess: sql01. SAP, not active memory, sizes HANA; vendors' minimums count.",
		"Not in a capture: vendors' sizes (SAP HANA), databases' memory settings, licences, failover. Ask the owner first.",
		"In the inventory, not in the capture: 1 VM that should run on these hosts.",
	}
	var got []string
	for _, n := range a.Notes {
		got = append(got, n.Text)
	}
	if !slices.Equal(got, notes) {
		t.Errorf("notes\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(notes, "\n"))
	}
}

// A bar goes to the vCPUs, or to the peak where that is more; the suggestion stands across.
func TestRightSizeBars(t *testing.T) {
	r := sized()
	c, ok := demandChart(r, listed(r, &Options{Details: true}))
	if !ok {
		t.Fatal("no chart")
	}
	rows := c.Figure.(*chart.Bars).Rows
	want := map[string][2]float64{"etl01": {3, 4}, "sql01": {16, 4}, "web01": {8, 4}, "wait01": {4, 4}}
	for _, row := range rows {
		sum := 0.0
		for _, s := range row.Segments {
			sum += s.Value
		}
		if got := [2]float64{sum, row.Limit}; got != want[row.Name] {
			t.Errorf("bar and limit of %s = %v, want %v", row.Name, got, want[row.Name])
		}
	}
	if len(rows) != len(want) {
		t.Errorf("%d bars, want %d", len(rows), len(want))
	}
}

func TestRightSizeOfNothing(t *testing.T) {
	r := sized()
	if got := verdict(&rightsize.Result{}); fmt.Sprint(got) != "[No VM is in the captures.]" {
		t.Errorf("verdict of no VM: %s", got)
	}
	r.VMs = r.VMs[4:]
	r.Totals = rightsize.Totals{VMs: 6}
	a := Answer(r, []rightsize.Change{{If: "more", R: r}}, Options{})
	if got := fmt.Sprint(a.Verdict, len(a.Tables), len(a.Changes), len(a.Drawings)); got != "[None of 6 VMs can be judged.] 0 0 0" {
		t.Errorf("found %s", got)
	}
}

// TestDatabaseName checks which names are taken for databases, and that words that hold
// their letters by chance are not.
func TestDatabaseName(t *testing.T) {
	for name, want := range map[string]bool{
		"hana01": true, "SAP-PRD": true, "mssql02": true, "db-7": true, "app-db01": true, "ora01": true, "pg.eu": true,
		"web01": false, "debora": false, "dbx": false, "storage": false, "": false,
	} {
		if got := databaseName(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}

// TestMoreNodes holds over how many nodes memory could lie in equal parts.
func TestMoreNodes(t *testing.T) {
	for _, tt := range []struct {
		size  numa.Bytes
		vcpus int
		nodes int
		want  int
	}{
		{208, 6, 2, 2}, {208, 5, 2, 0}, {400, 6, 2, 0}, {400, 6, 4, 3}, {208, 6, 1, 0},
	} {
		a := &rightsize.Advice{Suggested: tt.vcpus, Memory: rightsize.Memory{Size: tt.size * numa.GiB, Node: 192 * numa.GiB, Nodes: 1}, Kinds: []rightsize.Kind{{Nodes: tt.nodes}}}
		if got := moreNodes(a); got != tt.want {
			t.Errorf("%d GB, %d vCPUs, %d nodes: %d, want %d", tt.size, tt.vcpus, tt.nodes, got, tt.want)
		}
	}
}
