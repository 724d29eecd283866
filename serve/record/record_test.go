package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
	"example.org/homenode/serve/collect"
	"example.org/homenode/serve/record"
	"example.org/homenode/source/esxtop/fetchstats"
	"example.org/homenode/source/ticks"
)

// begin is ten minutes before a full hour.
var begin = time.Date(2026, 11, 20, 9, 50, 0, 0, time.UTC)

// A source makes the answers of one host.
type source struct {
	w fetchstats.Writer
	r *record.Recorder
}

func (s *source) columns() {
	s.r.Answer(&collect.Answer{VCenter: "vc/1", Host: "host-7", Name: "esx|01", Columns: true, Text: []byte(s.w.Info())})
}

func (s *source) answer(at time.Time) {
	t := numa.Tick{Time: at, Nodes: []numa.NodeTick{{ID: 0, Total: 64 << 30, Free: 1 << 30}, {ID: 1, Total: 64 << 30}},
		VMs: []numa.VMTick{{GID: 7, Name: "a|b", Has: numa.HasHomes | numa.HasMemory, Homes: numa.SetOf(1), Local: 3 << 30, Remote: 1 << 30}}}
	s.r.Answer(&collect.Answer{VCenter: "vc/1", Host: "host-7", Name: "esx|01", Time: at, Text: []byte(s.w.Answer(&t))})
}

// read returns the recording in a folder, and the times of the ticks in it.
func read(t *testing.T, dir, host string) (times []time.Time) {
	t.Helper()
	_, err := ticks.Walk(t.Context(), dir, ticks.Options{}, ticks.Visit{
		Tick: func(x *numa.Tick) error {
			if x.Host != host || len(x.VMs) != 1 || x.VMs[0].Name != "a|b" {
				return fmt.Errorf("found host %s, VMs %+v", x.Host, x.VMs)
			}
			times = append(times, x.Time)
			return nil
		},
		Done: func(_ *ticks.File, _ error) error { return nil },
	})
	if err != nil {
		t.Error(err)
	}
	return times
}

func open(t *testing.T, dir string) *record.Recorder {
	t.Helper()
	r, err := record.Open(dir, record.Options{Every: time.Minute, Version: "test"}, begin)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRecord records past a full hour with a gap, is killed within an answer, and goes on.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	s := &source{w: fetchstats.Writer{Boot: begin.Add(-time.Hour)}, r: open(t, dir)}
	s.columns()
	want := 0
	for i := range 20 {
		if i == 3 || i == 4 {
			continue // not seen for two turns
		}
		s.answer(begin.Add(time.Duration(i) * time.Minute))
		want++
	}
	files, err := filepath.Glob(dir + "/vc_1/esx_01/*.dsv.zst")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v: want one file for each hour", files, err)
	}
	// The process ends within the next answer.
	last := dir + "/vc_1/esx_01/esx_01-20261120T10.dsv.zst"
	b := golden.Read(t, last)
	before := len(b)
	s.answer(begin.Add(20 * time.Minute))
	if b, err = os.ReadFile(last); err != nil || len(b) <= before {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	golden.Write(t, last, b[:before+(len(b)-before)/2])
	// The process ended before it said whose the files are.
	if got := read(t, dir, "esx_01"); len(got) != want {
		t.Errorf("%d ticks, want %d", len(got), want)
	}

	s = &source{w: s.w, r: open(t, dir)}
	s.columns()
	for i := 21; i < 24; i++ {
		s.answer(begin.Add(time.Duration(i) * time.Minute))
		want++
	}
	s.r.Note([]collect.Status{{Name: "vc/1", Up: true, Hosts: []collect.HostStatus{{ID: "host-8", Name: "esx02", Failing: "it does not answer"}}}}, begin.Add(25*time.Minute))
	if err := s.r.Close(begin.Add(26 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "esx|01"); len(got) != want {
		t.Errorf("%d ticks after going on, want %d", len(got), want)
	}
	b = golden.Read(t, dir+"/meta.json")
	var m ticks.Meta
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Runs) != 2 || m.Runs[0].Ended || !m.Runs[1].Ended {
		t.Fatalf("runs: %s", b)
	}
	h := m.Runs[1].Hosts
	if len(h) != 2 || h[0].Answers != 3 || h[0].Files[0] != "vc_1/esx_01/esx_01-20261120T10-2.dsv.zst" || h[1].Gaps[0].Reason != "it does not answer" || !h[1].Gaps[0].To.IsZero() {
		t.Errorf("hosts: %s", b)
	}
}

// TestGaps tells what is missing.
func TestGaps(t *testing.T) {
	r := open(t, t.TempDir())
	s := &source{w: fetchstats.Writer{Boot: begin.Add(-time.Hour)}, r: r}
	s.columns()
	s.answer(begin)
	r.Note([]collect.Status{{Name: "vc/1", Up: true, Hosts: []collect.HostStatus{{ID: "host-7", Name: "esx|01", Failing: "timeout"}}}}, begin.Add(2*time.Minute))
	s.answer(begin.Add(10 * time.Minute))
	s.answer(begin.Add(11 * time.Minute))
	s.answer(begin.Add(15 * time.Minute))
	at := func(m int) time.Time { return begin.Add(time.Duration(m) * time.Minute) }
	want := []ticks.Gap{{From: at(0), To: at(10), Reason: "timeout"}, {From: at(11), To: at(15), Reason: "no answer"}}
	got := r.Hosts()[0].Gaps
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if err := r.Close(at(20)); err != nil {
		t.Error(err)
	}
}

func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	golden.Write(t, dir+"/mine.txt", nil)
	if _, err := record.Open(dir, record.Options{}, begin); err == nil {
		t.Error("a folder of somebody else is taken")
	}
	golden.Write(t, dir+"/meta.json", []byte(`{"format":"other"}`))
	if _, err := record.Open(dir, record.Options{}, begin); err == nil {
		t.Error("another meta.json is taken")
	}
}

// TestLongName records hosts whose names are longer than those of files, in files of their own: one of them would end the recording of all.
func TestLongName(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	s := &source{w: fetchstats.Writer{Boot: begin.Add(-time.Hour)}}
	for i := range 2 {
		a := collect.Answer{VCenter: "vc", Host: fmt.Sprint(i), Name: fmt.Sprintf("%0300d", i), Columns: true, Text: []byte(s.w.Info())}
		r.Answer(&a)
		a.Columns, a.Time, a.Text = false, begin, []byte(s.w.Answer(&numa.Tick{Time: begin}))
		r.Answer(&a)
	}
	if err := r.Close(begin.Add(time.Minute)); err != nil {
		t.Error(err)
	}
	if files, err := filepath.Glob(dir + "/vc/*/*.dsv.zst"); err != nil || len(files) != 2 {
		t.Errorf("%q, %v", files, err)
	}
}

// TestReadAgain reads recordings as capture does: hosts have their names, what belongs to the recording is not skipped,
// and what is missing is said with its reason.
func TestReadAgain(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	s := &source{w: fetchstats.Writer{Boot: begin.Add(-time.Hour)}, r: r}
	r.Fleet("vc/1", &numa.Fleet{})
	s.columns()
	for i := range 3 {
		s.answer(begin.Add(time.Duration(i) * time.Minute))
	}
	failing := func(id, name, why string) collect.HostStatus {
		return collect.HostStatus{ID: id, Name: name, Failing: why}
	}
	r.Note([]collect.Status{{Name: "vc/1", Up: true, Hosts: []collect.HostStatus{failing("host-7", "esx|01", "timeout"), failing("host-8", "esx02", "refused"), failing("host-9", "esx03", "refused")}}}, begin.Add(4*time.Minute))
	if err := r.Close(begin.Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	walk := func() (passed int, files []*ticks.File, err error) {
		passed, err = ticks.Walk(t.Context(), dir, ticks.Options{}, ticks.Visit{
			Tick: func(*numa.Tick) error { return nil },
			Done: func(f *ticks.File, err error) error { files = append(files, f); return err },
		})
		return passed, files, err
	}
	passed, files, err := walk()
	if err != nil || passed != 0 || len(files) != 1 || files[0].Hosts[0] != "esx|01" || files[0].Ticks != 3 {
		t.Fatalf("%d passed, %v, %+v", passed, err, files)
	}
	want := []string{dir + ": no answer of esx02, esx03 was recorded: refused", dir + ": host esx|01: no answer from 2026-11-20 09:52:00 to the end: timeout"}
	if got := files[0].Warnings; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := ticks.Inventories(dir); len(got) != 1 || got[0] != dir+"/inventory-vc_1.json" {
		t.Errorf("inventories %q", got)
	}
	dir = t.TempDir()
	r = open(t, dir)
	r.Note([]collect.Status{{Name: "vc/1", Up: true, Hosts: []collect.HostStatus{failing("host-8", "esx02", "refused")}}}, begin)
	if err := r.Close(begin.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := walk(); err == nil || err.Error() != "nothing was recorded: "+dir+": no answer of esx02 was recorded: refused" {
		t.Errorf("found %v", err)
	}
}
