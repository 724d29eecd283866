package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homenode/capture/store"
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
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// gone is the damage of a file that is not there any more.
const gone = "it is missing"

// damages are ways in which a file becomes another, or another thing.
var damages = []struct {
	name  string
	do    func(r *rand.Rand, b []byte) []byte
	place func(path string) error
}{
	{"a bit is another", func(r *rand.Rand, b []byte) []byte { b[r.IntN(len(b))] ^= 1 << r.IntN(8); return b }, nil},
	{"ten bytes are others", func(r *rand.Rand, b []byte) []byte {
		for range 10 {
			b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		}
		return b
	}, nil},
	{"a piece is zeros", func(r *rand.Rand, b []byte) []byte {
		at := r.IntN(len(b))
		for i := at; i < min(at+512, len(b)); i++ {
			b[i] = 0
		}
		b[at] = 0xff // zeros may have stood there
		return b
	}, nil},
	{"the end is missing", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }, nil},
	{"a piece is missing", func(r *rand.Rand, b []byte) []byte {
		at := r.IntN(len(b))
		return append(b[:at:at], b[min(at+1+r.IntN(300), len(b)):]...)
	}, nil},
	{"it is empty", func(*rand.Rand, []byte) []byte { return nil }, nil},
	{"it is something else", func(r *rand.Rand, b []byte) []byte {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}, nil},
	{gone, nil, func(string) error { return nil }},
	{"the first line", func(_ *rand.Rand, b []byte) []byte { b[3] ^= 1; return b }, nil},
	{"a folder stands there", nil, func(path string) error { return os.Mkdir(path, 0o700) }},
	{"a link to nothing stands there", nil, func(path string) error { return os.Symlink(path+" is gone", path) }},
}

// TestDamage damages every file of a store in every way: it opens, has nothing that is wrong, says what is lost, has set the file aside,
// goes on, and is whole when it is opened again.
func TestDamage(t *testing.T) {
	origin := t.TempDir()
	begin := time.Now().Add(-damagedMinutes * time.Minute).Truncate(time.Minute)
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
		for k, damage := range damages {
			r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
			kinds[filepath.Ext(file.Name())]++
			t.Run(file.Name()+"/"+damage.name, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(origin)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, file.Name())
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if damage.place != nil {
					err = errors.Join(os.Remove(path), damage.place(path))
				} else {
					err = os.WriteFile(path, damage.do(r, b), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				saved += openDamaged(t, dir, file.Name(), damage.name == gone, begin)
			})
		}
	}
	if kinds[".block"] < 16 || kinds[".journal"] < 8 || kinds[".list"] != len(damages) || len(kinds) != 3 {
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
	if lost := damagedSeries*damagedMinutes - n; losses[0].Samples >= 0 && int64(lost) != losses[0].Samples {
		t.Errorf("%d samples are lost: %v", lost, losses[0])
	}
	after := begin.Add(damagedMinutes * time.Minute)
	if kept, err := s.Append(t.Context(), after, []store.Sample{{Series: s.Series("later", "i", "0"), Number: 1}}); err != nil || !kept {
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
