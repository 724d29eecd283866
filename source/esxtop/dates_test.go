package esxtop

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// stamped returns a file of one column with these stamps.
func stamped(stamps ...string) string {
	var in strings.Builder
	in.WriteString(`(PDH-CSV 4.0) (UTC)(0),\\a\Memory\Free MBytes` + "\n")
	for _, s := range stamps {
		in.WriteString(s + ",1\n")
	}
	return in.String()
}

// times returns the lines and times of a file, its warnings and its error.
func times(t *testing.T, r io.Reader, workers int) (out []string) {
	t.Helper()
	rd, err := NewReader("b.csv", r, Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	for rd.Scan() {
		out = append(out, fmt.Sprintf("%d %s", rd.Row().Line, rd.Row().Time.Format("2006-01-02T15:04:05.999")))
	}
	for _, w := range rd.Warnings() {
		out = append(out, w.Error())
	}
	if rd.Err() != nil {
		out = append(out, rd.Err().Error())
	}
	return out
}

// filler pads a file beyond the first batch with rows of one second each on one day.
func filler(date string, n int) (stamps []string) {
	for i := range n {
		stamps = append(stamps, fmt.Sprintf("%s %02d:%02d:%02d", date, i/3600, i/60%60, i%60))
	}
	return stamps
}

const assumed = "b.csv:2:1: found several rows of one minute without seconds: they are spread evenly over it, so times within a minute are assumed (and %d more such rows)"

func TestDates(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stamps []string
		want   []string
	}{
		{"day/month, by a later row", []string{"12/11/2026 23:59:50", "13/11/2026 00:00:00"},
			[]string{"2 2026-11-12T23:59:50", "3 2026-11-13T00:00:00", "b.csv:2:1: found dates such as 12/11/2026: they are read as day/month, as other dates of the file show"}},
		{"day/month, as a month is left out", []string{"3/11/2026 23:59", "4/11/2026 0:00"},
			[]string{"2 2026-11-03T23:59:00", "3 2026-11-04T00:00:00", "b.csv:2:1: found dates such as 03/11/2026: they are read as day/month, as other dates of the file show"}},
		{"day/month, as time would run backwards", []string{"31/12/2026 23:59", "01/01/2027 0:00"},
			[]string{"2 2026-12-31T23:59:00", "3 2027-01-01T00:00:00", "b.csv:2:1: found dates such as 31/12/2026: they are read as day/month, as other dates of the file show"}},
		{"day/month, next month", []string{"10/11/2026 0:00", "1/12/2026 0:00"},
			[]string{"2 2026-11-10T00:00:00", "3 2026-12-01T00:00:00", "b.csv:2:1: found dates such as 10/11/2026: they are read as day/month, as other dates of the file show"}},
		{"month/day", []string{"11/3/2026 23:59", "11/4/2026 0:00"}, []string{"2 2026-11-03T23:59:00", "3 2026-11-04T00:00:00"}},
		{"nothing shows", []string{"3/11/2026 1:00", "3/11/2026 1:01"}, []string{"2 2026-03-11T01:00:00", "3 2026-03-11T01:01:00",
			"b.csv:2:1: found dates such as 03/11/2026: they are read as month/day, as esxtop writes them; nothing in the file shows whether another program has turned them around"}},
		{"as esxtop writes it, but without quotes", []string{"03/11/2026 01:00:00"}, []string{"2 2026-03-11T01:00:00",
			"b.csv:2:1: found dates such as 03/11/2026: they are read as month/day, as esxtop writes them; nothing in the file shows whether another program has turned them around"}},
		{"dashes", []string{"02-11-2026 23:45:00", "02-11-2026 23:45:05"}, []string{"2 2026-11-02T23:45:00", "3 2026-11-02T23:45:05",
			"b.csv:2:1: found dates such as 02-11-2026: they are read as day/month, as programs write them that write decimal commas or dashes; nothing else in the file shows it"}},
		{"dashes, month first", []string{"11-12-2026 23:45:00", "11-13-2026 23:45:05"}, []string{"2 2026-11-12T23:45:00", "3 2026-11-13T23:45:05"}},
		{"both", []string{"11/21/2026 01:00:00", "21/11/2026 01:00:05"}, []string{"2 2026-11-21T01:00:00", "b.csv:3:1: found 21/11/2026, want month/day as in the rows before: the row is left out"}},
		{"halves of a day", []string{"11/21/2026 12:00:05 AM", "11/21/2026 1:00:05 pm", "11/21/2026 11:07 PM"}, []string{"2 2026-11-21T00:00:05", "3 2026-11-21T13:00:05", "4 2026-11-21T23:07:00"}},
		{"20 s apart", []string{"11/21/2026 1:00", "11/21/2026 1:00", "11/21/2026 1:01", "11/21/2026 1:01", "11/21/2026 1:01", "11/21/2026 1:02"},
			[]string{"2 2026-11-21T01:00:20", "3 2026-11-21T01:00:40", "4 2026-11-21T01:01:00", "5 2026-11-21T01:01:20", "6 2026-11-21T01:01:40", "7 2026-11-21T01:02:00", fmt.Sprintf(assumed, 5)}},
		{"one minute", []string{"11/21/2026 1:00", "11/21/2026 1:00", "11/21/2026 1:00"},
			[]string{"2 2026-11-21T01:00:00", "3 2026-11-21T01:00:20", "4 2026-11-21T01:00:40", fmt.Sprintf(assumed, 2)}},
		{"seconds behind", []string{"11/21/2026 1:00", "11/21/2026 1:00", "11/21/2026 01:01:07"},
			[]string{"2 2026-11-21T01:00:00", "3 2026-11-21T01:00:30", "4 2026-11-21T01:01:07", fmt.Sprintf(assumed, 1)}},
		{"a minute apart", []string{"11/21/2026 1:00", "11/21/2026 1:01", "11/21/2026 1:03"}, []string{"2 2026-11-21T01:00:00", "3 2026-11-21T01:01:00", "4 2026-11-21T01:03:00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := stamped(tt.stamps...)
			for name, got := range map[string][]string{
				"file": times(t, strings.NewReader(in), 0), "stream": times(t, io.MultiReader(strings.NewReader(in)), 0), "workers": times(t, strings.NewReader(in), 2),
			} {
				if !slices.Equal(got, tt.want) {
					t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
				}
			}
		})
	}
}

// What shows the order can be far behind: it is looked for in a file, and is an error in a
// stream, whose first rows were read otherwise.
func TestDatesFar(t *testing.T) {
	in := stamped(append(filler("12/11/2026", 40_000), "13/11/2026 00:00:00")...)
	got := times(t, strings.NewReader(in), 0)
	want := []string{"2 2026-11-12T00:00:00", "40002 2026-11-13T00:00:00", "b.csv:2:1: found dates such as 12/11/2026: they are read as day/month, as other dates of the file show"}
	if got := []string{got[0], got[40_000], got[40_001]}; !slices.Equal(got, want) {
		t.Errorf("file: %q, want %q", got, want)
	}
	got = times(t, io.MultiReader(strings.NewReader(in)), 0)
	want = []string{"2 2026-12-11T00:00:00", "b.csv:40002:1: found 13/11/2026, while the dates before were read as month/day: they cannot be; read the file from disk, unpacked"}
	if got := []string{got[0], got[len(got)-1]}; !slices.Equal(got, want) {
		t.Errorf("stream: %q, want %q", got, want)
	}
}

func TestDatesBroken(t *testing.T) {
	rd, err := NewReader("b.csv", io.MultiReader(strings.NewReader(stamped("11/21/2026 1:00", "11/21/2026 1:00")), brokenPipe{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rd.Scan() {
		n++
	}
	if n != 2 || !errors.Is(rd.Err(), io.ErrClosedPipe) {
		t.Errorf("%d rows, %v; want 2 and %v", n, rd.Err(), io.ErrClosedPipe)
	}
}

type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
