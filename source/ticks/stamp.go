package ticks

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/archive"
)

// A stamp is the information about a file's time from outside its contents, and from memstats.
type stamp struct {
	name    time.Time // in its name; zero without
	clock   bool      // name has a time of day too
	inside  time.Time // that memstats prints; zero without
	written time.Time // last; zero when it is not known
}

// order returns the time for sorting the files of one series.
func (s stamp) order() time.Time {
	switch {
	case !s.inside.IsZero():
		return s.inside
	case s.clock:
		return s.name
	}
	return s.written
}

// inName is a date in a file name, perhaps with a time: esx01-20261121T203044Z.txt,
// clients_2026-11-21_20-30.txt, esx01-20261121T20.dsv.
var inName = pattern.Of(`(?:^|\D)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?:[-_. T]*([0-2]\d)[-_.:h]?([0-5]\d)(?:[-_.:m]?([0-5]\d))?|T([0-2]\d))?(?:\D|$)`)

// stampOf parses the date in a file name; its time is read as UTC.
func stampOf(name string) (s stamp) {
	s.name, s.clock = nameStamp(name)
	return s
}

func nameStamp(name string) (t time.Time, clock bool) {
	m := inName.FindStringSubmatch(path.Base(filepath.ToSlash(name)))
	if m == nil {
		return time.Time{}, false
	}
	n := [8]int{}
	for i := 1; i < len(m); i++ {
		n[i], _ = strconv.Atoi(m[i])
	}
	n[4] += n[7] // of one of two forms
	t = time.Date(n[1], time.Month(n[2]), n[3], n[4], n[5], n[6], 0, time.UTC)
	if t.Month() != time.Month(n[2]) || t.Day() != n[3] || n[4] > 23 {
		return time.Time{}, false
	}
	return t, m[4]+m[7] != ""
}

// fileStamp returns the stamp of a file on disk, or of a stream by its name.
func fileStamp(name string, r io.Reader) (s stamp) {
	s = stampOf(name)
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			s.written = info.ModTime().UTC()
		}
	}
	return s
}

// hostName returns the name of a file without its folder and extensions, used for a host that is named nowhere.
func hostName(name string) string {
	base := archive.Plain(path.Base(filepath.ToSlash(name)))
	if cut := strings.TrimSuffix(base, path.Ext(base)); cut != "" {
		base = cut
	}
	return base
}

// clockForm matches the clock of the esxtop screen: "2:06:59pm", "14:06".
var clockForm = pattern.Of(`^(\d{1,2}):(\d\d)(?::(\d\d))?(am|pm)?$`)

// clockOf returns a time of day.
func clockOf(s string) (sinceMidnight time.Duration, ok bool) {
	m := clockForm.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	h, _ := strconv.Atoi(m[1])
	minutes, _ := strconv.Atoi(m[2])
	seconds, _ := strconv.Atoi(m[3])
	switch {
	case m[4] != "" && (h < 1 || h > 12), h > 23, minutes > 59, seconds > 59:
		return 0, false
	case m[4] == "pm" && h < 12:
		h += 12
	case m[4] == "am" && h == 12:
		h = 0
	}
	return time.Duration(h)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second, true
}

const day = 24 * time.Hour

// midnight returns the start of the day of t.
func midnight(t time.Time) time.Time { return t.Truncate(day) }
