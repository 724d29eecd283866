package recording_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
)

type levelRead struct {
	Mean *float64
	Most float64
}

type vmRead struct {
	VM     string
	GID    int64
	VCPUs  int
	Memory *struct {
		Least                           *struct{ Locality float64 }
		MeanLocality                    *float64
		MostRemoteBytes                 numa.Bytes
		MeanRemoteBytes                 *numa.Bytes
		LowLocality                     struct{ Seconds float64 }
		LastLocalBytes, LastRemoteBytes numa.Bytes
	}
	Homes *struct {
		Changed, Returns int64
	}
	Migrations          *struct{ All int64 }
	Ready, CoStop, Used *levelRead
}

type nodeRead struct {
	ID             int
	Bytes          numa.Bytes
	Busy           *levelRead
	LeastFreeBytes *numa.Bytes
}

type captureRead struct {
	Verdict []string
	Result  struct {
		Recordings []struct {
			Host           string
			Ticks          int
			CoveredSeconds float64
			Migrations     *int64
			Nodes          []nodeRead
			VMs            []vmRead
		}
	}
}

// truncated is N%L as esxtop shows it.
func truncated(share float64) string { return fmt.Sprintf("%d %%", int(math.Floor(share*100+1e-9))) }

// rounded is another share as the reports show it.
func rounded(share float64) string {
	if share*100 < 9.95 {
		return fmt.Sprintf("%.1f %%", share*100)
	}
	return fmt.Sprintf("%.0f %%", math.Floor(share*100+0.5))
}

func meanOf(l *levelRead) string {
	if l == nil || l.Mean == nil {
		return "–"
	}
	return rounded(*l.Mean)
}

func mostOf(l *levelRead) string {
	if l == nil {
		return "–"
	}
	return rounded(l.Most)
}

// cells are what a person reads of the VM, made from the JSON alone: N%L least and mean,
// most remote, migrated, ready mean and most, co-stop most.
func (v *vmRead) cells() []string {
	out := slices.Repeat([]string{"–"}, 4)
	if m := v.Memory; m != nil {
		if m.Least != nil {
			out[0] = truncated(m.Least.Locality)
		}
		if m.MeanLocality != nil {
			out[1] = truncated(*m.MeanLocality)
		}
		if out[2] = "none"; m.MostRemoteBytes > 0 {
			out[2] = m.MostRemoteBytes.String()
		}
	}
	if v.Migrations != nil {
		out[3] = strconv.FormatInt(v.Migrations.All, 10)
	}
	return append(out, meanOf(v.Ready), mostOf(v.Ready), mostOf(v.CoStop))
}

func (n *nodeRead) cells() []string {
	free := "–"
	if n.LeastFreeBytes != nil {
		free = n.LeastFreeBytes.String()
	}
	memory := "–"
	if n.Bytes > 0 {
		memory = n.Bytes.String()
	}
	return []string{memory, meanOf(n.Busy), mostOf(n.Busy), free}
}

// TestCaptureFormsAgree: text and CSV have the numbers of the JSON. Markdown and pages print the tables of the text.
func TestCaptureFormsAgree(t *testing.T) {
	for name, w := range map[string]*rules.Watched{"demo": demoWatched(t), "night": watchedNight(t)} {
		var j captureRead
		a := recording.Capture(w, recording.Options{Details: true})
		if err := json.Unmarshal(written(t, "json", a, format.Options{}), &j); err != nil {
			t.Fatal(err)
		}
		t.Run(name+" csv", func(t *testing.T) { agreeTables(t, a, &j) })
		text := string(written(t, "table", a, format.Options{Details: true, Width: 2000}))
		lines := textRows(text)
		if rest := strings.SplitN(text, "\n", 3); rest[0] != j.Verdict[0] || rest[1] != j.Verdict[1] {
			t.Errorf("%s: the text says\n%s\n%s\nwant\n%s", name, rest[0], rest[1], j.Verdict)
		}
		inText := 0
		for _, rec := range j.Result.Recordings {
			covered := words.Duration(time.Duration(rec.CoveredSeconds * float64(time.Second)))
			if row := lines["host "+rec.Host]; !slices.Contains(row, covered) || !slices.Contains(row, strconv.Itoa(rec.Ticks)) || rec.Migrations != nil && !slices.Contains(row, strconv.FormatInt(*rec.Migrations, 10)) {
				t.Errorf("%s %s: %q, want %d ticks in %s", name, rec.Host, row, rec.Ticks, covered)
			}
			for i := range rec.Nodes {
				n := &rec.Nodes[i]
				key := fmt.Sprintf("node %s %d", rec.Host, n.ID)
				if got := without(lines[key], 3, 5); !slices.Equal(got, n.cells()) {
					t.Errorf("%s %s: %q, want %q", name, key, got, n.cells())
				}
			}
			for i := range rec.VMs {
				v := &rec.VMs[i]
				want := v.cells()
				if slices.ContainsFunc(w.Findings, func(f finding.Finding) bool { return f.Rule == "M006" && f.VM == v.VM && f.VMID != "" }) {
					want[0], want[1], want[2] = "–", "–", "–" // interleaved: they mean nothing
				}
				key := "vm " + v.VM
				if lines[key] == nil {
					key = fmt.Sprintf("vm %s (gid %d)", v.VM, v.GID)
				}
				if inText++; !slices.Equal(lines[key], want) {
					t.Errorf("%s text %s: %q, want %q", name, key, lines[key], want)
				}
			}
		}
		if inText < 2 {
			t.Errorf("%s: %d VMs in the text: the test looks at nothing", name, inText)
		}
	}
}

func without(row []string, drop ...int) (out []string) {
	for i, cell := range row {
		if !slices.Contains(drop, i) {
			out = append(out, cell)
		}
	}
	return out
}

var columns = regexp.MustCompile(`\s{2,}`)

// textRows returns the rows of the tables of the text by subject: of VMs the numbers.
func textRows(text string) map[string][]string {
	rows := map[string][]string{}
	kind, from := "", 0
	for line := range strings.Lines(text) {
		cells := columns.Split(strings.TrimSpace(line), -1)
		switch {
		case len(cells) < 7:
			kind = ""
		case cells[0] == "VM":
			kind, from = "vm", slices.Index(cells, "N%L LEAST")
		case cells[0] == "HOST" && cells[1] == "NODE":
			kind = "node"
		case cells[0] == "HOST":
			kind = "host"
		case kind == "vm":
			rows["vm "+cells[0]] = cells[from : from+7]
		case kind == "node":
			rows["node "+cells[0]+" "+cells[1]] = cells[2:]
		case kind == "host":
			rows["host "+cells[0]] = cells
		}
	}
	return rows
}

// agreeTables compares the tables of VMs and nodes, which CSV and XLSX write.
func agreeTables(t *testing.T, a *answer.Answer, j *captureRead) {
	tables := map[string][]map[string]string{}
	for _, from := range a.Data {
		all, err := csv.NewReader(bytes.NewReader(written(t, "csv "+from.Name, a, format.Options{}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range all[1:] {
			one := map[string]string{}
			for i, cell := range row {
				one[all[0][i]] = cell
			}
			tables[from.Name] = append(tables[from.Name], one)
		}
	}
	check := func(subject string, row map[string]string, column string, want float64, known bool) {
		t.Helper()
		cell, ok := row[column]
		if !ok {
			t.Fatalf("no column %q", column)
		}
		got, err := strconv.ParseFloat(cell, 64)
		if known != (cell != "") || known && (err != nil || math.Abs(got-want) > 0.00501) {
			t.Errorf("%s: %s is %q, want %v (known: %v)", subject, column, cell, want, known)
		}
	}
	level := func(subject string, row map[string]string, column string, l *levelRead) {
		t.Helper()
		if l == nil {
			l = &levelRead{Most: math.NaN()}
		}
		mean := 0.0
		if l.Mean != nil {
			mean = *l.Mean
		}
		check(subject, row, column+" mean %", mean*100, l.Mean != nil)
		check(subject, row, column+" max %", l.Most*100, l.Most == l.Most)
	}
	vm, node := 0, 0
	for i, rec := range j.Result.Recordings {
		check(rec.Host, tables["hosts"][i], "Ticks", float64(rec.Ticks), true)
		check(rec.Host, tables["hosts"][i], "Covered seconds", rec.CoveredSeconds, true)
		for k := range rec.Nodes {
			n, row := &rec.Nodes[k], tables["nodes"][node]
			node++
			level(rec.Host, row, "Busy", n.Busy)
			check(rec.Host, row, "Node", float64(n.ID), true)
			check(rec.Host, row, "Memory MB", mib(&n.Bytes), n.Bytes > 0)
			check(rec.Host, row, "Least free MB", mib(n.LeastFreeBytes), n.LeastFreeBytes != nil)
		}
		for k := range rec.VMs {
			v, row := &rec.VMs[k], tables["vms"][vm]
			vm++
			if row["VM"] != v.VM || row["Host"] != rec.Host {
				t.Fatalf("row %d is of %s on %s, want %s on %s", vm, row["VM"], row["Host"], v.VM, rec.Host)
			}
			check(v.VM, row, "vCPUs", float64(v.VCPUs), v.VCPUs > 0)
			level(v.VM, row, "Ready", v.Ready)
			level(v.VM, row, "Co-stop", v.CoStop)
			level(v.VM, row, "Used", v.Used)
			if v.Migrations != nil {
				check(v.VM, row, "Migrations", float64(v.Migrations.All), true)
			}
			if v.Homes != nil {
				check(v.VM, row, "Home node changes", float64(v.Homes.Changed), true)
				check(v.VM, row, "Returns", float64(v.Homes.Returns), true)
			}
			m := v.Memory
			if m == nil {
				check(v.VM, row, "Least N%L", 0, false)
				check(v.VM, row, "Most remote MB", 0, false)
				continue
			}
			check(v.VM, row, "Least N%L", m.Least.Locality*100, true)
			check(v.VM, row, "Mean N%L", *m.MeanLocality*100, true)
			check(v.VM, row, "Most remote MB", mib(&m.MostRemoteBytes), true)
			check(v.VM, row, "Mean remote MB", mib(m.MeanRemoteBytes), true)
			check(v.VM, row, "Last local MB", mib(&m.LastLocalBytes), true)
			check(v.VM, row, "Last remote MB", mib(&m.LastRemoteBytes), true)
			check(v.VM, row, "Low N%L seconds", m.LowLocality.Seconds, true)
		}
	}
	if got := tables["about"][0]["Value"]; got != strings.Join(j.Verdict, " ") {
		t.Errorf("about says %q, want %q", got, j.Verdict)
	}
	if vm != len(tables["vms"]) || node != len(tables["nodes"]) || vm == 0 {
		t.Errorf("%d and %d rows, want %d VMs and %d nodes", len(tables["vms"]), len(tables["nodes"]), vm, node)
	}
}

func mib(b *numa.Bytes) float64 {
	if b == nil {
		return 0
	}
	return float64(*b) / float64(numa.MiB)
}
