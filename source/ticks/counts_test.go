package ticks

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/numa"
)

// What a File was read from is counted, and what was left out of it.
func TestCounts(t *testing.T) {
	const (
		clients = "groupName groupID clientID homeNode affinity nWorlds vmmWorlds localMem remoteMem currLocal% cummLocal%\n" +
			"vm.5 5 0 0 3 8 8 1024 0 100 100\n"
		round  = "Sat Nov 21 20:30:00 UTC 2026\n" + clients
		header = `"(PDH-CSV 4.0) (UTC)(0)","\\esx01\Group Memory(5:db)\Numa Local Memory MBytes","\\esx01\Group Memory(5:db)\Numa Remote Memory MBytes"` + "\n"
		row    = `"11/21/2026 20:30:00","100.00","0.00"` + "\n"
	)
	type counts struct {
		ticks, parts, left int
		cut                bool
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  counts
	}{
		{"batch", map[string]string{"a.csv": header + row}, counts{1, 1, 0, false}},
		{"rows left out", map[string]string{"a.csv": header + row + "odd\n" + `"11/21/2026 20:29:00","1.00","0.00"` + "\n" + `"11/21/2026 20:30:05","100`}, counts{1, 1, 3, true}},
		{"cut in the time of a row", map[string]string{"a.csv": header + row + `"11/21/2026 20:3`}, counts{1, 1, 1, true}},
		{"cut in the last value of a row", map[string]string{"a.csv": header + row + `"11/21/2026 20:30:05","100.00","0`}, counts{2, 1, 0, true}},
		{"cut in the last value, without quotes", map[string]string{"a.csv": strings.ReplaceAll(header+row+row[:len(row)-2], `"`, "")}, counts{2, 1, 0, true}},
		{"no line end", map[string]string{"a.csv": header + row + row[:len(row)-1]}, counts{2, 1, 0, false}},
		{"outputs in files", map[string]string{"clients-20261121T203000Z.txt": clients, "clients-20261121T203100Z.txt": clients, "clients-20261121T203200Z.txt": clients}, counts{3, 3, 0, false}},
		{"one file broken", map[string]string{"clients-20261121T203000Z.txt": clients, "clients-20261121T203100Z.txt": clients + "\n" + clients}, counts{2, 2, 0, true}},
		{"rounds left out", map[string]string{"a.txt": round + round + round}, counts{1, 1, 2, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				golden.Write(t, filepath.Join(dir, name), []byte(text))
			}
			var got counts
			_, err := Walk(context.Background(), dir, Options{}, Visit{
				Tick: func(*numa.Tick) error { return nil },
				Done: func(f *File, err error) error {
					if f.Cut != (err != nil) {
						t.Errorf("cut %v, and the error is %v", f.Cut, err)
					}
					got = counts{f.Ticks, f.Parts, f.Left, f.Cut}
					return nil
				},
			})
			if err != nil || got != tt.want {
				t.Errorf("Walk() counts %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}
