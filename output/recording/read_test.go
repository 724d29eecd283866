package recording_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/internal/formtest"
	"example.org/homenode/numa"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules"
)

// The head line says how much was read, not only how many files there are.
func TestCaptureSaysWhatWasNotRead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		files  []capture.File // of both hosts
		unread int
		want   string
	}{
		{"one", []capture.File{{Name: "a.csv"}}, 0, "1 file · "},
		{"a folder of outputs", []capture.File{{Name: "a.txt and 6 more", Parts: 7}, {Name: "b.csv", Parts: 1}}, 0, "8 files · "},
		{"cut", []capture.File{{Name: "a.csv", Cut: true, Left: 2}, {Name: "b.csv"}}, 0, "2 files (1 not to its end, 2 rows left out) · "},
		{"one stamp for several", []capture.File{{Name: "a.csv", Left: 3}}, 0, "1 file (3 rows left out) · "},
		{"not at all", []capture.File{{Name: "a.csv"}}, 2, "3 files (2 not at all) · "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := watchedNight(t)
			for _, rec := range w.Recordings {
				rec.Files = tt.files
			}
			w.Unread = tt.unread
			got := recording.Capture(w, recording.Options{}).Facts[0]
			if got.Name != "read" || !strings.HasPrefix(got.Text, tt.want) {
				t.Errorf("%s %.80q, want %q", got.Name, got.Text, tt.want)
			}
		})
	}
}

// The head line says that its times are of files where what was recorded states none.
func TestCaptureSaysWhenTimesAreOfFiles(t *testing.T) {
	for _, undated := range []bool{false, true} {
		w := watchedNight(t)
		f := capture.File{Name: "b.txt"}
		if undated {
			f.Warnings = []string{"b.txt:1: " + numa.Undated + "; a copy may have changed it"}
		}
		w.Recordings[0].Files = append(w.Recordings[0].Files, f)
		if text := recording.Capture(w, recording.Options{}).Facts[0].Text; strings.Contains(text, "file times") != undated {
			t.Errorf("undated %v: %s", undated, text)
		}
	}
}

// A place of SARIF is a file that is there: that of the host with the time.
func TestCaptureSARIFPlaces(t *testing.T) {
	w := watchedNight(t)
	for _, rec := range w.Recordings {
		rec.Files = []capture.File{
			{Name: "night/" + rec.Host + "-1.csv", First: at(0), Last: at(60), Ticks: 60},
			{Name: "night/" + rec.Host + "-2.txt and 6 more", Parts: 7, First: at(90), Last: at(240), Ticks: 150},
		}
	}
	p := &w.Recordings[1].VMs[1].Percents
	p.At, p.File, p.Line = at(10), "night/esx08-1.csv", 17
	w.Findings[2].From, w.Findings[2].To = at(10), at(20)
	var log formtest.SARIF
	if err := json.Unmarshal(written(t, "sarif", recording.Capture(w, recording.Options{}), format.Options{SourceFiles: []string{""}}), &log); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range log.Runs[0].Results {
		where := r.Locations[0].PhysicalLocation
		got = append(got, r.RuleID+" "+where.ArtifactLocation.URI+":"+strconv.Itoa(where.Region.StartLine))
	}
	want := []string{"M001 night/esx07-2.txt:1", "M004 night/esx07-1.csv:1", "M009 night/esx08-1.csv:17", "M002 night/esx07-2.txt:1"}
	if !slices.Equal(got, want) {
		t.Errorf("places %q, want %q", got, want)
	}
}

// What many hosts lack is one line; what few do stands as it is.
func TestNotesOfManyHosts(t *testing.T) {
	for hosts, want := range map[int]string{3: "a: lacks x|file: lacks x|b: lacks x|c: lacks x", 4: "4 hosts: lacks x (first: a)|file: lacks x"} {
		w := &rules.Watched{Notes: []numa.Note{{At: "a", Text: "lacks x"}, {At: "file", Text: "lacks x"}, {At: "b", Text: "lacks x"}, {At: "c", Text: "lacks x"}, {At: "d", Text: "lacks x"}}[:hosts+1]}
		for _, host := range []string{"a", "b", "c", "d"} {
			w.Recordings = append(w.Recordings, &capture.Recording{Host: host})
		}
		var got []string
		for _, n := range recording.Capture(w, recording.Options{}).FewNotes() {
			if strings.Contains(n.Text, "lacks x") {
				got = append(got, n.String())
			}
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%d hosts: %s, want %s", hosts, s, want)
		}
	}
}
