package esxtop

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// TestTicks reads a small file of two hosts, as relog merges them.
func TestTicks(t *testing.T) {
	columns := []struct{ name, first, second string }{
		{`\\a\Memory\Free MBytes`, "1024.00", "1000.50"},
		{`\\a\Memory\Kernel MinFree MBytes`, "512.00", "512.00"},
		{`\\a\Memory\Kernel State`, "0", "2"},
		{`\\a\Memory\Machine MBytes`, "8192.00", "8192.00"},
		{`\\a\Memory\PShare Shared MBytes`, "12.50", "13.00"},
		{`\\a\Memory\PShare Common MBytes`, "4.25", "-"},
		{`\\a\Numa Node(1)\% Util Time`, "50.00", "150.00"},
		{`\\a\Numa Node(0)\% Core Util Time`, "25.00", "12.50"},
		{`\\a\Numa Node(0)\Total MBytes`, "4096.00", "4096.00"},
		{`\\a\Numa Node(0)\Free MBytes`, "100.00", "50.00"},
		{`\\a\Group Cpu(9:idle)\% Used`, "400.00", "400.00"},
		{`\\a\Group Cpu(7:db:1)\Members`, "9", "9"},
		{`\\a\Group Cpu(7:db:1)\% VmWait`, "1.00", "1.00"},
		{`\\a\Group Cpu(7:db:1)\% Ready`, "50.00", "240.00"},
		{`\\a\Group Cpu(8:gone)\Members`, "4", "0"},
		{`\\a\Group Cpu(8:gone)\% VmWait`, "1.00", "0.00"},
		{`\\a\Vcpu(7:db:1:44:vmx-vcpu-0:db:1)\% Used`, "1.00", "1.00"},
		{`\\a\Vcpu(7:db:1:45:vmx-vcpu-1:db:1)\% Used`, "1.00", "1.00"},
		{`\\a\Vcpu(7:db:1:46:vmx)\% Used`, "1.00", "1.00"},
		{`\\a\Group Memory(7:db:1)\Numa Home Nodes`, "0,1", "1"},
		{`\\a\Group Memory(7:db:1)\Numa Rebalance Count Delta`, "0", "3"},
		{`\\a\Group Memory(7:db:1)\Numa Remote Memory MBytes`, "1.00", "0.50"},
		{`\\a\Group Memory(7:db:1)\Numa Local Memory MBytes`, "3.00", "-"},
		{`\\a\Group Memory(7:db:1)\Numa % Local`, "75", "80"},
		{`\\a\Group Memory(7:db:1)\Numa GST_ND1 MBytes`, "4.00", "4.00"},
		{`\\a\Group Memory(7:db:1)\Numa OVD_ND1 MBytes`, "0.25", "0.25"},
		{`\\a\Group Memory(7:db:1)\Memory Size MBytes`, "8.00", "8.00"},
		{`\\a\Group Memory(7:db:1)\Shared Saved MBytes`, "2.25", "2.50"},
		{`\\a\Group Memory(7:db:1)\Copy On Write Hint MBytes`, "1.50", "-"},
		{`\\a\Group Memory(7:db:1)\Compressed Memory MBytes`, "64.00", "64.00"}, // the size of the cache: it says nothing of the guest
		{`\\a\Group Memory(7:db:1)\Used Compressed Memory MBytes`, "0.75", "-"},
		{`\\a\Group Memory(8:gone)\Numa Home Nodes`, "0", "0"},
		{`\\a\Group Memory(8:gone)\Numa Remote Memory MBytes`, "0.00", "0.00"},
		{`\\a\Group Memory(8:gone)\Numa Local Memory MBytes`, "0.00", "0.00"},
		{`\\b\Memory\Free MBytes`, "7.00", "-7.00"},
	}
	in := `"(PDH-CSV 4.0) (UTC)(0)"`
	rows := []string{`"11/21/2026 10:00:00"`, `"11/21/2026 10:00:05"`, `"11/21/2026 09:00:00"`}
	for _, c := range columns {
		in += `,"` + c.name + `"`
		rows[0] += `,"` + c.first + `"`
		rows[1] += `,"` + c.second + `"`
		rows[2] += `,"1"`
	}
	in += "\n" + strings.Join(rows, "\n") + "\n"
	ticks, err := NewTicks("b.csv", strings.NewReader(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	mib := func(n float64) numa.Bytes { return numa.Bytes(n * float64(numa.MiB)) }
	onNode := []numa.MemoryOnNode{{Node: 1, Guest: 4 * numa.MiB, Overhead: numa.MiB / 4}}
	want := []numa.Tick{
		{Host: "a", Time: at, Line: 2, Has: numa.HasFree | numa.HasMinFree | numa.HasState | numa.HasTotal | numa.HasShared | numa.HasCommon, Free: mib(1024), MinFree: mib(512),
			Memory: mib(8192), Shared: mib(12.5), Common: mib(4.25),
			Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasCore | numa.HasTotal | numa.HasFree, Core: 0.25, Total: mib(4096), Free: mib(100)}, {ID: 1, Has: numa.HasUtil, Util: 0.5}},
			VMs: []numa.VMTick{
				{GID: 7, Name: "db:1", VCPUs: 2, Has: numa.HasReady | numa.HasHomes | numa.HasMoves | numa.HasMemory | numa.HasPercent | numa.HasSize | numa.HasSaved | numa.HasHint | numa.HasCompressed,
					Saved: mib(2.25), Hint: mib(1.5), Compressed: mib(0.75),
					Ready: 0.5, Homes: numa.SetOf(0, 1), Local: mib(3), Remote: mib(1), Percent: 75, Size: mib(8), OnNode: onNode},
				// No memory on a node: the 0 among its home nodes means nothing.
				{GID: 8, Name: "gone", Has: numa.HasMemory},
			}},
		{Host: "b", Time: at, Line: 2, Has: numa.HasFree, Free: mib(7)},
		{Host: "a", Time: at.Add(5 * time.Second), Line: 3, Since: 5 * time.Second, Has: numa.HasFree | numa.HasMinFree | numa.HasState | numa.HasTotal | numa.HasShared, Free: mib(1000.5), MinFree: mib(512), State: numa.Soft,
			Memory: mib(8192), Shared: mib(13),
			Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasCore | numa.HasTotal | numa.HasFree, Core: 0.125, Total: mib(4096), Free: mib(50)}, {ID: 1, Has: numa.HasUtil, Util: 1.5}},
			VMs: []numa.VMTick{{GID: 7, Name: "db:1", VCPUs: 2, Has: numa.HasReady | numa.HasHomes | numa.HasMoves | numa.HasPercent | numa.HasSize | numa.HasSaved,
				Saved: mib(2.5), Ready: 2.4, Homes: numa.SetOf(1), Percent: 80, Moves: numa.Moves{All: 3}, Size: mib(8), OnNode: onNode}}},
		{Host: "b", Time: at.Add(5 * time.Second), Line: 3, Since: 5 * time.Second},
	}
	for i := range want {
		if !ticks.Scan() {
			t.Fatalf("%d ticks, want %d", i, len(want))
		}
		got := *ticks.Tick()
		if len(got.Nodes) == 0 {
			got.Nodes = nil
		}
		if len(got.VMs) == 0 {
			got.VMs = nil
		}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("tick %d =\n%+v, want\n%+v", i, got, want[i])
		}
	}
	if ticks.Scan() {
		t.Errorf("one tick more: %+v", ticks.Tick())
	}
	var warnings []string
	for _, w := range ticks.Warnings() {
		warnings = append(warnings, w.Error())
	}
	wantWarnings := []string{
		`b.csv:1:1: \\a\Group Memory(7:db:1)\Numa GST_ND1 MBytes: the name is guessed to be memory on node 1: no published file shows how esxtop calls it (and 1 more such columns)`,
		"b.csv:3: Kernel State 2 is read as soft, as ESXi 6.0 and later mean it; the file does not say its release",
		`b.csv:3: \\b\Memory\Free MBytes: found -7, which it cannot be: the cell is left out`,
		"b.csv:4:1: found a row of 2026-11-21 09:00:00 after one of 2026-11-21 10:00:05: it is left out, rows have to be in the order of time",
	}
	if !slices.Equal(warnings, wantWarnings) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(wantWarnings, "\n"))
	}
	if !math.IsNaN(Missing) || ticks.Err() != nil {
		t.Error(ticks.Err())
	}
}

// summary returns the ticks of a file, one line each, and its warnings.
func summary(t *testing.T, in string) (out []string) {
	t.Helper()
	ticks, err := NewTicks("b.csv", strings.NewReader(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for ticks.Scan() {
		tick := ticks.Tick()
		s := fmt.Sprintf("%d %s %v", tick.Line, tick.Time.Format(time.TimeOnly), tick.Since)
		for _, vm := range tick.VMs {
			s += fmt.Sprintf(" %d:%s %v/%v", vm.GID, vm.Name, vm.Local, vm.Remote)
		}
		out = append(out, s)
	}
	for _, w := range ticks.Warnings() {
		out = append(out, w.Error())
	}
	return out
}

// TestTicksHeaders reads a file with two headers: a VM arrives and another has left.
func TestTicksHeaders(t *testing.T) {
	header := func(groups ...string) string {
		s := `"(PDH-CSV 4.0) (UTC)(0)"`
		for _, g := range groups {
			s += fmt.Sprintf(`,"\\h\Group Cpu(%s)\%% VmWait","\\h\Group Memory(%[1]s)\Numa Local Memory MBytes","\\h\Group Memory(%[1]s)\Numa Remote Memory MBytes"`, g)
		}
		return s + ",\n"
	}
	got := summary(t, header("7:a", "8:a")+`"11/21/2026 10:00:00","1.00","1.00","2.00","1.00","3.00","4.00",`+"\n"+
		header("8:a", "9:c", "10:d")+`"11/21/2026 10:00:05","1.00","5.00","6.00","1.00","7.00","8.00","0.00","0.00","0.00",`+"\n")
	want := []string{
		"2 10:00:00 0s 7:a 1 MB/2 MB 8:a 3 MB/4 MB",
		"4 10:00:05 0s 8:a 5 MB/6 MB 9:c 7 MB/8 MB 10:d 0 B/0 B", // nothing says that 10 is gone
		"b.csv:3:1: found another header with 9 columns, the one before has 6: rows below are read by it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTicksHosts reads a file of two hosts that were not looked at together, of columns
// that leave open what is gone.
func TestTicksHosts(t *testing.T) {
	got := summary(t, `"(PDH-CSV 4.0) (UTC)(0)","\\a\Group Cpu(7:x)\% VmWait","\\a\Group Cpu(7:x)\% Ready","\\b\Group Cpu(7:y)\% VmWait","\\b\Group Memory(7:y)\Memory Size MBytes"`+"\n"+
		`"11/21/2026 10:00:00","0.00","0.00"," "," "`+"\n"+`"11/21/2026 10:00:01"," "," ","1.00","5.00"`+"\n"+`"11/21/2026 10:00:05","0.00","0.00"," "," "`+"\n"+`"11/21/2026 10:00:06"," "," ","1.00","0.00"`+"\n")
	want := []string{"2 10:00:00 0s 7:x 0 B/0 B", "3 10:00:01 0s 7:y 0 B/0 B", "4 10:00:05 5s 7:x 0 B/0 B", "5 10:00:06 5s"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTicksUnproven reads a file whose columns were picked so that nothing says which
// groups are VMs.
func TestTicksUnproven(t *testing.T) {
	got := summary(t, `"(PDH-CSV 4.0) (UTC)(0)","\\h\Group Memory(5:sh)\Numa Local Memory MBytes","\\h\Group Memory(5:sh)\Numa Remote Memory MBytes","\\h\Group Memory(7:a)\Numa Local Memory MBytes","\\h\Group Memory(7:a)\Numa Remote Memory MBytes"`+"\n"+
		`"11/21/2026 10:00:00","0.00","0.00","3.00","4.00"`+"\n")
	want := []string{
		"b.csv:1:1: found neither % VmWait nor worlds of vCPUs: groups with memory on a NUMA node are assumed to be VMs (and 1 more such groups)",
		"2 10:00:00 0s 7:a 3 MB/4 MB",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A last row with too few fields is a cut too where it has a line end; one between others is none.
func TestTicksShortRow(t *testing.T) {
	const head = `"(PDH-CSV 4.0) (UTC)(0)","\\h\Memory\Free MBytes","\\h\Memory\Machine MBytes"` + "\n"
	const whole, short = `"11/21/2026 10:00:00","5","9"` + "\n", `"11/21/2026 10:00:05","5"` + "\n"
	for in, cut := range map[string]bool{head + whole + short: true, head + short + whole: false, head + whole: false} {
		ticks, err := NewTicks("b.csv", strings.NewReader(in), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for ticks.Scan() {
		}
		if got := ticks.Cut(); (got != nil) != cut || ticks.Left() != strings.Count(in, short) {
			t.Errorf("%q: cut %v, %d left out", in, got, ticks.Left())
		}
	}
}

// N%L proves a VM too, where memory on nodes is not recorded.
func TestTicksPercentAlone(t *testing.T) {
	got := summary(t, `"(PDH-CSV 4.0) (UTC)(0)","\\h\Group Memory(5:sh)\Numa % Local","\\h\Group Memory(7:a)\Memory Size MBytes","\\h\Group Memory(7:a)\Numa % Local"`+"\n"+
		`"11/21/2026 10:00:00","0","8.00","55"`+"\n")
	if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "7:a") }) || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "5:sh") }) {
		t.Errorf("got\n%s\nwant 7:a and not 5:sh", strings.Join(got, "\n"))
	}
}

// TestTicksBlind reads a file with columns of which no tick can be made.
func TestTicksBlind(t *testing.T) {
	got := summary(t, `(PDH-CSV 4.0) (UTC)(0),\\h\Physical Cpu(0)\% Util Time,\\h\Physical Cpu(_Total)\% Util Time,\\h\Power\Power Usage Now Watts`+"\n22:42:26,24.41,40.7,100\n22:42:32,1,2,3\n")
	want := []string{
		"b.csv:1:1: found no column about VMs, NUMA nodes or the memory of the host, but Physical Cpu, Power: record with esxtop -b -a",
		"b.csv:2:1: found a time without date: the first day is assumed to be 1970-01-01 (and 1 more such rows)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTicksDescending(t *testing.T) {
	in := `"(PDH-CSV 4.0) (UTC)(0)","\\a\Memory\Free MBytes"` + "\n"
	for _, at := range []string{"15", "10", "05", "00"} {
		in += `"11/21/2026 10:00:` + at + `","1"` + "\n"
	}
	want := []string{"a 10:00:15", "b.csv:3:1: rows are not in the order of time (descending): sort the file by its first column; 3 of 4 rows left out"}
	ticks, err := NewTicks("b.csv", strings.NewReader(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for ticks.Scan() {
		got = append(got, ticks.Tick().Host+" "+ticks.Tick().Time.Format(time.TimeOnly))
	}
	for _, w := range ticks.Warnings() {
		got = append(got, w.Error())
	}
	if !slices.Equal(got, want) || ticks.Left() != 3 || ticks.Cut() != nil {
		t.Errorf("found %q, %d left out, cut %v; want %q, 3, nil", got, ticks.Left(), ticks.Cut(), want)
	}
}

// What is odd about cells outside the time that is asked for is not said.
func TestTicksWindow(t *testing.T) {
	in := `"(PDH-CSV 4.0) (UTC)(0)","\\a\Memory\Kernel State"` + "\n" + `"11/21/2026 10:00:00","1"` + "\n" + `"11/21/2026 10:00:05","2"` + "\n" + `"11/21/2026 10:00:10","3"` + "\n"
	at := time.Date(2026, 11, 21, 10, 0, 5, 0, time.UTC)
	ticks, err := NewTicks("b.csv", strings.NewReader(in), Options{From: at, To: at})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ticks.Scan() {
		n++
	}
	want := "[b.csv:3: Kernel State 2 is read as soft, as ESXi 6.0 and later mean it; the file does not say its release]"
	if got := fmt.Sprint(ticks.Warnings()); n != 3 || got != want {
		t.Errorf("%d ticks, %s; want 3 and %s", n, got, want)
	}
}

// TestTicksOfWorkers checks that the ticks and warnings do not depend on the number of workers.
func TestTicksOfWorkers(t *testing.T) {
	c := newCapture(3000, 5)
	data := c.header(nil)
	for i := range 160 { // 4 MB, several batches
		start := len(data)
		data = c.row(data)
		copy(data[start+1:], time.Date(2026, 11, 21, 0, 0, 5*i, 0, time.UTC).Format("01/02/2006 15:04:05"))
	}
	var want string
	for _, workers := range []int{0, 1, 2, 7} {
		ticks, err := NewTicks("b.csv", bytes.NewReader(data), Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		n := 0
		for ; ticks.Scan(); n++ {
			fmt.Fprintf(&got, "%+v\n", *ticks.Tick())
		}
		fmt.Fprintf(&got, "%q", ticks.Warnings())
		if workers == 0 {
			want = got.String()
		}
		if n != 160 || ticks.Err() != nil || got.String() != want {
			t.Errorf("%d workers: %d ticks and %q, want 160 and the same as without workers; %v", workers, n, ticks.Warnings(), ticks.Err())
		}
	}
}

// TestTicksOfSpreadsheet: a file whose header fills a row of a spreadsheet was cut off by it; one column less, or the quotes of esxtop, tell that it was not.
func TestTicksOfSpreadsheet(t *testing.T) {
	for _, tt := range []struct {
		fields int
		quotes string
		cut    bool
	}{{16384, "", true}, {16384, `"`, true}, {16383, "", false}, {16385, "", false}, {1024, "", true}, {1024, `"`, false}, {256, "", true}, {256, `"`, false}} {
		head, row := tt.quotes+"(PDH-CSV 4.0) (UTC)(0)"+tt.quotes, tt.quotes+"11/21/2026 10:00:00"+tt.quotes
		for i := range tt.fields - 1 {
			head += fmt.Sprintf(`,%s\\h\Group Memory(%d:vm)\%s MBytes%s`, tt.quotes, i/2+1, []string{"Memory Size", "Touched"}[i%2], tt.quotes)
			row += "," + tt.quotes + "8" + tt.quotes
		}
		ticks, err := NewTicks("b.csv", strings.NewReader(head+"\n"+row+"\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for ticks.Scan() {
		}
		if got := ticks.Cut(); (got != nil) != tt.cut || got != nil && !strings.Contains(got.Error(), "the most that a spreadsheet keeps") {
			t.Errorf("%d fields, quotes %q: cut %v, want %v", tt.fields, tt.quotes, got, tt.cut)
		}
	}
}
