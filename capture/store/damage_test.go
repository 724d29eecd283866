package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/capture/store"
	"example.org/homenode/internal/testdeps"
)

// What TestDamage keeps and damages: more than a day at one a minute, so that there are blocks of several sizes and pages.
const damagedSeries, damagedMinutes = 40, 30*60 + 17

func damagedNumber(series, minute int) float64 { return float64(minute*7919+series*104729%1000) / 8 }

func fillForDamage(t *testing.T, dir string, begin time.Time) {
	t.Helper()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]store.Sample, damagedSeries)
	for i := range samples {
		samples[i].Series = s.Series("m", "i", fmt.Sprint(i), "host", fmt.Sprint(i%3))
	}
	for m := range damagedMinutes {
		for i := range samples {
			samples[i].Number = damagedNumber(i, m)
		}
		if kept, err := s.Append(t.Context(), begin.Add(time.Duration(m)*time.Minute), samples); err != nil || !kept {
			t.Fatal(kept, err)
		}
		store.Settle(s) // so that the blocks do not depend on the speed of the machine
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamage damages every file of a store in every way: it opens, has nothing that is wrong, says what is lost, has set the file aside,
// goes on, and is whole when it is opened again.
func TestDamage(t *testing.T) {
	origin := t.TempDir()
	// It ends at 21:20 of yesterday, so that there are the same blocks at every time of the day.
	begin := time.Now().Truncate(24 * time.Hour).Add(-160*time.Minute - damagedMinutes*time.Minute)
	fillForDamage(t, origin, begin)
	files, err := os.ReadDir(origin)
	if err != nil {
		t.Fatal(err)
	}
	kinds, saved := map[string]int{}, 0
	for n, file := range files {
		if file.Name() == "lock" {
			continue
		}
		for k, damage := range testdeps.Damages {
			r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
			kinds[filepath.Ext(file.Name())]++
			t.Run(file.Name()+"/"+damage.Name, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(origin)); err != nil {
					t.Fatal(err)
				}
				if err := damage.Do(r, filepath.Join(dir, file.Name())); err != nil {
					t.Fatal(err)
				}
				saved += openDamaged(t, dir, file.Name(), damage.Name == testdeps.Gone, begin)
			})
		}
	}
	if kinds[".block"] < 16 || kinds[".journal"] < 8 || kinds[".list"] != len(testdeps.Damages) || len(kinds) != 3 {
		t.Errorf("damaged %v", kinds)
	}
	t.Logf("damaged %v; on average %d of %d samples are there", kinds, saved/max(1, kinds[".block"]+kinds[".journal"]), damagedSeries*damagedMinutes)
}

// openDamaged opens a store with one damaged file, and returns how many samples it has.
func openDamaged(t *testing.T, dir, file string, missing bool, begin time.Time) (n int) {
	var told []store.Loss
	s, err := store.Open(dir, store.Options{Lost: func(x store.Loss) { told = append(told, x) }})
	if err != nil {
		t.Fatal(err)
	}
	there := func() (n int) {
		all := values(t, s, "m")
		for series := range damagedSeries {
			for at, number := range all[fmt.Sprint(series)] {
				if minute := int(at-begin.Unix()) / 60; number != damagedNumber(series, minute) {
					t.Fatalf("series %d, minute %d: %v", series, minute, number)
				}
				n++
			}
		}
		return n
	}
	n = there()
	losses := s.State().Losses
	if len(losses) != 1 || filepath.Base(losses[0].File) != file || losses[0].Missing != missing || strings.HasPrefix(losses[0].File, filepath.Join(dir, "damaged")) == missing || !slices.Equal(told, losses) {
		t.Fatalf("losses %v, told %v", losses, told)
	}
	if _, err := os.Lstat(losses[0].File); (err != nil) != missing && file != "files.list" {
		t.Error(err)
	}
	if losses[0].From.IsZero() && strings.HasSuffix(file, ".block") || losses[0].From.IsZero() && missing && strings.HasSuffix(file, ".journal") {
		t.Errorf("of no time: %v", losses[0])
	}
	all := values(t, s, "m")
	for series := range damagedSeries {
		for minute := range damagedMinutes {
			at := begin.Add(time.Duration(minute) * time.Minute)
			early, after := at.Before(losses[0].From.Truncate(time.Second)), !losses[0].To.IsZero() && at.After(losses[0].To)
			if _, kept := all[fmt.Sprint(series)][at.Unix()]; !kept && (early || after) {
				t.Fatalf("the sample of %v is lost too: %v", at.UTC(), losses[0])
			}
		}
	}
	if lost := damagedSeries*damagedMinutes - n; losses[0].Samples >= 0 && int64(lost) != losses[0].Samples {
		t.Errorf("%d samples are lost: %v", lost, losses[0])
	}
	later := begin.Add(damagedMinutes * time.Minute)
	if kept, err := s.Append(t.Context(), later, []store.Sample{{Series: s.Series("later", "i", "0"), Number: 1}}); err != nil || !kept {
		t.Error(kept, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(dir, store.Options{}); err != nil {
		t.Fatal(err)
	}
	if again := there(); again != n || len(s.State().Losses) > 0 || len(values(t, s, "later")["0"]) != 1 {
		t.Errorf("opened again: %d samples, %d before; %+v", again, n, s.State())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestForeign refuses the folder of a Prometheus.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "wal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir, store.Options{}); err == nil || !strings.HasSuffix(err.Error(), "is a database of Prometheus (it has wal): name another folder") {
		t.Errorf("a folder of Prometheus: %v", err)
	}
}
