package xlsx_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"example.org/homenode/capture"
	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	fleetanswer "example.org/homenode/output/fleet"
	"example.org/homenode/output/recording"
	"example.org/homenode/output/table"
	"example.org/homenode/output/table/xlsx"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/tables"
)

const fleet = `
release 7.0U3
cluster prod
host esx[01-02] nodes=2 cores=18 memory=1024GB
vm sql01  host=esx01 vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm hana01 host=esx02 vcpus=16 coresPerSocket=16 memory=740GB
vm web[01-03] vcpus=4 memory=16GB
vm gold vcpus=4 memory=16GB template=on
`

// hostile names try to become a formula, an escape of Excel, or markup.
var hostile = []string{
	"=1+1", "+1", "-1", "@SUM(A1)", `=cmd|' /C calc'!A0`, "<f>1</f>", `</t></is></c>`, "_x0041_", "_x005F_x0041_", "a\x00\x1b\u202e\uffff\xff", "  blanks  ",
	"a\r\nb\tc", `"quoted'`, "&amp;", "]]>", strings.Repeat("long ü𝄞 ", 8000),
}

func judged(t testing.TB, text string) *rules.Result {
	t.Helper()
	return rules.Run(given.Fleet(t, "fleet.txt", []byte(text)), rules.Options{})
}

func write(t testing.TB, r *rules.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := xlsx.Write(&b, fleetanswer.Assess(r, fleetanswer.Options{Version: "1.2.3"}).Data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, b []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(b), excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// Every cell reads back as the table has it: numbers as numbers, texts as texts,
// never a formula; each sheet has a frozen header and a filter over all its rows.
func TestReadBack(t *testing.T) {
	for _, name := range append([]string{""}, hostile...) {
		r := judged(t, fleet)
		if name != "" {
			r.Fleet.VMs[0].Name, r.Fleet.Hosts[0].Name, r.Fleet.Source = name, name, name
			r = rules.Run(r.Fleet, rules.Options{})
		}
		f := open(t, write(t, r))
		tables := fleetanswer.Assess(r, fleetanswer.Options{Version: "1.2.3"}).Data
		if got, want := strings.Join(f.GetSheetList(), " "), "Findings VMs Hosts Clusters Observations Suppressed Rules Notes About"; got != want {
			t.Fatalf("sheets %s, want %s", got, want)
		}
		for i, sheet := range f.GetSheetList() {
			checkSheet(t, f, sheet, tables[i])
		}
	}
}

func checkSheet(t *testing.T, f *excelize.File, sheet string, tab table.Table) {
	t.Helper()
	panes, err := f.GetPanes(sheet)
	if err != nil || !panes.Freeze || panes.YSplit != 1 {
		t.Errorf("%s: panes %+v, %v; want one frozen row", sheet, panes, err)
	}
	row := 1
	for cells := range tab.Rows {
		row++
		for i, cell := range cells {
			at, err := excelize.CoordinatesToCellName(i+1, row)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.GetCellValue(sheet, at)
			if err != nil {
				t.Fatal(err)
			}
			kind, err := f.GetCellType(sheet, at)
			if err != nil {
				t.Fatal(err)
			}
			if formula, err := f.GetCellFormula(sheet, at); formula != "" || err != nil {
				t.Errorf("%s!%s: formula %q, %v", sheet, at, formula, err)
			}
			want := cell.String()
			if n, ok := cell.Number(); ok {
				back, err := strconv.ParseFloat(got, 64)
				if err != nil || math.Abs(back-n) > 1e-9 || kind != excelize.CellTypeUnset {
					t.Errorf("%s!%s: %q of type %d, want the number %v", sheet, at, got, kind, n)
				}
				continue
			}
			if cut, isCut := strings.CutSuffix(got, " …"); isCut && len(want) > excelize.TotalCellChars && strings.HasPrefix(want, cut) {
				continue
			}
			if got != want || want != "" && kind != excelize.CellTypeInlineString {
				t.Errorf("%s!%s (%s): %q of type %d, want the text %q", sheet, at, tab.Columns[i].Name, got, kind, want)
			}
		}
	}
	last, err := excelize.CoordinatesToCellName(len(tab.Columns), tab.Len+1, true)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("'%s'!$A$1:%s", sheet, last)
	for _, n := range f.GetDefinedName() {
		if n.Name == "_xlnm._FilterDatabase" && n.RefersTo == want {
			return
		}
	}
	t.Errorf("%s: no filter over %s in %+v", sheet, want, f.GetDefinedName())
}

// The same fleet gives the same bytes; the parts stand in order, the list of
// content types first, as some readers want it.
func TestSameBytes(t *testing.T) {
	r := judged(t, fleet)
	first := write(t, r)
	for range 5 {
		if !bytes.Equal(first, write(t, r)) {
			t.Fatal("two workbooks of one result differ")
		}
	}
	z, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range z.File {
		if i == 0 && f.Name != "[Content_Types].xml" || i > 0 && f.Name <= z.File[i-1].Name {
			t.Errorf("part %d is %s", i, f.Name)
		}
		rc, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, rc); err != nil { // checks length and CRC
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestOwnReport refuses a workbook of ours as an inventory.
func TestOwnReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numa.xlsx")
	golden.Write(t, path, write(t, judged(t, fleet)))
	_, err := tables.Read(path)
	const want = "a report of this program"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("read as an inventory: %v, want an error with %q", err, want)
	}
}

func TestEmptyFleet(t *testing.T) {
	f := open(t, write(t, &rules.Result{Fleet: &numa.Fleet{}}))
	if v, err := f.GetCellValue("About", "B2"); v != "The inventory is empty: it lists no VM." || err != nil {
		t.Errorf("About!B2 = %q, %v", v, err)
	}
}

func largeFleet() string {
	text := "release 7.0U3\n"
	for i := range 20 {
		text += fmt.Sprintf(`cluster c%[1]d
host h%[1]d-[01-08] nodes=2 cores=18 memory=1024GB
vm sql%[1]d-[01-60] vcpus=32 coresPerSocket=2 memory=384GB hotAdd=on
vm web%[1]d-[001-220] vcpus=4 memory=16GB hotAdd=on
vm app%[1]d-[001-220] vcpus=12 coresPerSocket=1 memory=64GB
`, i)
	}
	return text
}

// A workbook of 10,000 VMs needs less than 150 MB beyond the judged fleet.
func TestMemory(t *testing.T) {
	r := judged(t, largeFleet())
	tables := fleetanswer.Assess(r, fleetanswer.Options{Version: "1.2.3"}).Data
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		peak := uint64(0)
		for {
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapInuse)
			}
		}
	}()
	n := counter(0)
	err := xlsx.Write(&n, tables)
	close(done)
	peak := <-most
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d VMs, %d findings: %d bytes, heap from %d to %d MB", r.VMs, len(r.Findings), n, before.HeapInuse>>20, peak>>20)
	if peak > before.HeapInuse+150<<20 {
		t.Errorf("the heap grew by %d MB, want less than 150", (peak-before.HeapInuse)>>20)
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func BenchmarkWrite(b *testing.B) {
	tables := fleetanswer.Assess(judged(b, largeFleet()), fleetanswer.Options{Version: "1.2.3"}).Data
	b.ReportAllocs()
	for b.Loop() {
		n := counter(0)
		if err := xlsx.Write(&n, tables); err != nil || n == 0 {
			b.Fatal(n, err)
		}
		b.SetBytes(int64(n))
	}
}

// Every table of a capture has a sheet, in their order.
func TestWriteCapture(t *testing.T) {
	var b bytes.Buffer
	if err := xlsx.Write(&b, recording.Capture(&rules.Watched{}, recording.Options{}).Data); err != nil {
		t.Fatal(err)
	}
	f := open(t, b.Bytes())
	if got, want := strings.Join(f.GetSheetList(), " "), "Findings VMs Nodes Hosts Changes Files Suppressed Rules Notes About"; got != want {
		t.Errorf("sheets %s, want %s", got, want)
	}
}

// Times are dates of Excel, which sort and count as such.
func TestTimes(t *testing.T) {
	at := time.Date(2026, 11, 20, 22, 5, 30, 0, time.UTC)
	w := &rules.Watched{Recordings: []*capture.Recording{{Host: "esx01", First: at, Last: at.Add(time.Hour), VMs: []capture.VM{{Name: "db01", First: at, Last: at}}}}}
	var b bytes.Buffer
	if err := xlsx.Write(&b, recording.Capture(w, recording.Options{}).Data); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := f.GetCellValue("Hosts", "C2")
	raw, err2 := f.GetCellValue("Hosts", "C2", excelize.Options{RawCellValue: true})
	if err := errors.Join(err, err2, f.Close()); err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		t.Fatal(err)
	}
	back, err := excelize.ExcelDateToTime(n, false)
	if shown != "2026-11-20 22:05:30" || err != nil || !back.Round(time.Second).Equal(at) {
		t.Errorf("first tick is shown as %q and is %v, %v; want %v", shown, back, err, at)
	}
}

// TestTooManyRows refuses a table with more rows than a sheet can have.
func TestTooManyRows(t *testing.T) {
	err := xlsx.Write(io.Discard, []table.Table{{Name: "vms", Columns: []table.Column{{Name: "VM"}}, Len: 1 << 20}})
	if err == nil || !strings.Contains(err.Error(), "at most 1048575 ") {
		t.Errorf("%v, want an error with the limit", err)
	}
}
