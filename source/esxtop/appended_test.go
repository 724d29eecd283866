package esxtop

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// The first row behind a header, of a capture that was appended to another one, does not
// say what time its rates are over: it is not the hours between the two.
func TestSinceOfAppendedCapture(t *testing.T) {
	const header = `"(PDH-CSV 4.0) (UTC)(0)","\\a\Group Cpu(7:db)\% VmWait","\\a\Group Cpu(7:db)\% Ready",` + "\n"
	const other = `"(PDH-CSV 4.0) (UTC)(0)","\\a\Group Cpu(7:db)\% VmWait","\\a\Group Cpu(7:db)\% Ready","\\a\Memory\Free MBytes",` + "\n"
	row := func(clock, rest string) string {
		return fmt.Sprintf(`"11/21/2026 %s","1.00","5.00",%s`+"\n", clock, rest)
	}
	in := header + row("10:00:00", "") + row("10:00:05", "") +
		header + row("12:00:00", "") + row("12:00:06", "") +
		other + row("15:00:00", `"1.00",`) + row("15:00:07", `"1.00",`)
	want := []time.Duration{0, 5 * time.Second, 0, 6 * time.Second, 0, 7 * time.Second}
	for _, workers := range []int{0, 2} {
		ticks, err := NewTicks("b.csv", strings.NewReader(in), Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		var got []time.Duration
		for ticks.Scan() {
			got = append(got, ticks.Tick().Since)
		}
		if err := ticks.Err(); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("with %d workers Since is %v, %v; want %v", workers, got, err, want)
		}
	}
}

// A header of one name many times takes no time that grows with its square: this one did for
// minutes.
func TestManyColumnsOfOneName(t *testing.T) {
	const n = 400_000
	var b strings.Builder
	b.WriteString(`"(PDH-CSV 4.0) (UTC)(0)"`)
	for i := range n {
		fmt.Fprintf(&b, `,"\\a\Virtual Disk(db%d)\Reads/sec"`, i%2)
	}
	rd, err := NewReader("b.csv", strings.NewReader(b.String()+"\n"), Options{Want: func(c *Column) bool { return c.Copy == n/2-1 }})
	if err != nil {
		t.Fatal(err)
	}
	if h := rd.Header(); fmt.Sprint(h.Wanted) != fmt.Sprint([]int{n - 2, n - 1}) {
		t.Errorf("the last copies are columns %v, want the last two", h.Wanted)
	}
}

// More columns than any host has are refused before they fill the memory.
func TestTooManyColumns(t *testing.T) {
	in := magic + " 4.0) (UTC)(0)" + strings.Repeat(",a", maxColumns) + ",a,a\n"
	_, err := NewReader("b.csv", strings.NewReader(in), Options{})
	if want := "b.csv:1:1: found more than 1048576 columns"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// More VMs than any host has are refused before each of them takes memory: those of one host, and those of many.
func TestTooManyGroups(t *testing.T) {
	for _, column := range []string{`\\esx01\Group Cpu(%d:db)\%% Used`, `\\esx%d\Group Cpu(7:db)\%% Used`, `\\esx01\Vcpu(%d:db:9:vmx-vcpu-0)\%% Used`} {
		var in strings.Builder
		in.WriteString(magic + " 4.0) (UTC)(0)")
		for i := range numa.MaxHostVMs + 1 {
			fmt.Fprintf(&in, ","+column, i)
		}
		_, err := NewTicks("b.csv", strings.NewReader(in.String()+"\n"), Options{})
		if want := "b.csv:1:1: found more than 8192 groups of the scheduler, want those of one host, or of some"; err == nil || err.Error() != want {
			t.Errorf("%s: the error is %v, want %s", column, err, want)
		}
	}
}

// A header that never ends, as a small compressed file can have, is refused before it fills the memory.
func TestEndlessHeader(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := io.MultiReader(strings.NewReader(magic+" 4.0) (UTC)(0)"), io.LimitReader(commas{}, 1<<30))
	_, err := NewReader("b.csv", in, Options{})
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || !strings.Contains(err.Error(), "found a line of more than 32 MiB") || took > 256 {
		t.Errorf("%d MiB, %v", took, err)
	}
}

// commas is a line of nothing else.
type commas struct{}

func (commas) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ','
	}
	return len(b), nil
}
