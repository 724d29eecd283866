package esxtop

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLocalStamps reads one moment in the formats of many countries and programs, and refuses stamps that have several readings or none.
func TestLocalStamps(t *testing.T) {
	const moment = "2026-11-21T23:45:05"
	for _, text := range []string{
		"11/21/2026 23:45:05", "11/21/2026 11:45:05 PM", "11/21/26 23:45:05", "21/11/2026 23:45:05", "21/11/2026 23.45.05", "21/11/26 23:45:05", "21-11-2026 23:45:05", "21-11-2026 23.45.05",
		"21.11.2026 23:45:05", "21.11.26 23:45:05", "21. 11. 2026 23:45:05", "21. 11. 2026 23.45.05", "2026.11.21. 23:45:05", "2026. 11. 21. 23:45:05", "2026/11/21 23:45:05", "2026-11-21 23:45:05",
		"2026-11-21T23:45:05", "2026-11-21T23:45:05Z", "21/11/2026, 23:45:05", "21/11/2026 11:45:05 p. m.", "21/11/2026 11:45:05\u202fp.\u00a0m.", "2026-11-21\u00a023:45:05", "46347.9896412037", "46347,9896412037",
	} {
		ms, form := parseStamp([]byte(text))
		if got := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999"); got != moment || form.tells() != full {
			t.Errorf("%s: found %s, form %b", text, got, form)
		}
	}
	for text, want := range map[string]string{"02-11-2026 23.45": "2026-02-11T23:45:00", "02/11/26 1:05": "2026-02-11T01:05:00", "2.11.2026 23:45": "2026-11-02T23:45:00", "2026/1/3 2:00": "2026-01-03T02:00:00", "1/2/2026 12:05 am": "2026-01-02T00:05:00"} {
		ms, form := parseStamp([]byte(text))
		if got := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05"); got != want || form.tells() != minutes {
			t.Errorf("%s: found %s, form %b, want %s", text, got, form, want)
		}
	}
	for _, text := range []string{"45:00.0", "31.02.2026 10:00:00", "02/30/2026 10:00", "2026-13-01 00:00:00", "11/21/2026", "11/21/2026 24:00:00", "11/21/2026 10:60", "11/21/2026 13:00 PM", "11/21/2026 0:00 AM", "11/21/2026 10:00 UTC",
		"1/2/3 10:00:00", "11/21-2026 10:00:00", "21.11.2026 10", "46347", "12.5", "99999.5", "10:00", "2026.11.21.10:00:00x", "11/21/2026 10:00:00.1234"} {
		if _, form := parseStamp([]byte(text)); form != noStamp {
			t.Errorf("%s: form %b, want none", text, form)
		}
	}
	// An explicit zone counts, not that of the header.
	rows := times(t, strings.NewReader(strings.Replace(stamped("2026-11-21T23:45:05Z"), "(UTC)(0)", "(W. Europe Standard Time)(-60)", 1)), 0)
	if want := []string{"2 2026-11-21T23:45:05"}; !slices.Equal(rows, want) {
		t.Errorf("found %q, want %q", rows, want)
	}
}

// TestDecimalCommas: of a file with decimal commas, dates that nothing decides are day/month, with a note; with decimal points they are month/day.
func TestDecimalCommas(t *testing.T) {
	for _, tt := range []struct{ cell, want, order string }{{"39321,60", "2026-11-03", "day/month"}, {"1", "2026-11-03", "day/month"}, {"39\u2019321.60", "2026-03-11", "month/day"}} {
		in := "(PDH-CSV 4.0) (UTC)(0);\\\\a\\Memory\\Free MBytes;\\\\a\\Memory\\Kernel State\n"
		for i := range 3 {
			in += fmt.Sprintf("03/11/2026 02:00:%02d;%s;0\n", i, tt.cell)
		}
		for name, r := range map[string]io.Reader{"file": strings.NewReader(in), "stream": io.MultiReader(strings.NewReader(in))} {
			got := times(t, r, 0)
			if len(got) != 4 || got[0] != "2 "+tt.want+"T02:00:00" || !strings.Contains(got[3], "they are read as "+tt.order+", as") {
				t.Errorf("%s, %s: found %q", tt.cell, name, got)
			}
		}
	}
}

// FuzzStamp compares with the layouts of package time: where one of them fits, the time is the same.
func FuzzStamp(f *testing.F) {
	for _, s := range []string{"3/26/2015 22:42", "11/21/2026 11:45:05 PM", "21.11.2026 23:45:05.25", "2026-11-21T23:45:05Z", "23:59:58", "46347.98964", "02. 11. 2026 23:45"} {
		f.Add(s)
	}
	layouts := []string{"1/2/2006 15:04:05", "1/2/2006 15:04", "1/2/2006 3:04:05 PM", "1/2/2006 3:04 PM", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z", "2.1.2006 15:04:05", "2.1.2006 15:04"}
	f.Fuzz(func(t *testing.T, s string) {
		ms, form := parseStamp([]byte(s))
		if form == noStamp {
			return
		}
		got := time.UnixMilli(ms).UTC()
		if got.Year() > 9999 || form.tells() == undated && (ms < 0 || ms >= day) {
			t.Errorf("%q: found %v", s, got)
		}
		for _, layout := range layouts {
			if want, err := time.Parse(layout, strings.ToUpper(strings.TrimSpace(s))); err == nil && !want.Truncate(time.Millisecond).Equal(got) {
				t.Errorf("%q: found %v, want %v", s, got, want)
			}
		}
	})
}
