package archive

import (
	"fmt"
	"testing"
)

// BenchmarkArchive reads 1,000 small files with the goroutines of this process, and with
// as many workers of a queue: what the queue costs for each file.
func BenchmarkArchive(b *testing.B) {
	const files, workers = 1000, 2
	root := b.TempDir()
	for i := range files {
		writeFile(b, root, fmt.Sprintf("esx%02d/%04d.csv", i%20, i), fmt.Sprintf(
			"\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\esx%02d\\Memory\\Free MBytes\"\n\"11/03/2026 %02d:%02d:%02d\",\"1000\"\n", i%20, i/3600, i/60%60, i%60))
	}
	list, err := Scan(root)
	if err != nil {
		b.Fatal(err)
	}
	check := func(b *testing.B, m *Merged, err error) {
		if err != nil {
			b.Fatal(err)
		}
		if m.Read != files || len(m.Recordings) != 20 {
			b.Fatalf("read %d files of %d hosts, want %d of 20", m.Read, len(m.Recordings), files)
		}
	}
	rate := func(b *testing.B) { b.ReportMetric(float64(files*b.N)/b.Elapsed().Seconds(), "files/s") }
	b.Run("pool", func(b *testing.B) {
		for b.Loop() {
			m, err := Run(b.Context(), Here{Root: root, AtOnce: workers}, list.Jobs, options(), nil)
			check(b, m, err)
		}
		rate(b)
	})
	b.Run("queue", func(b *testing.B) {
		url := serve(b)
		for i := range workers {
			startArchiveWorker(b, url, Here{Root: root}, fmt.Sprint("w", i))
		}
		c := dial(b, url)
		for b.Loop() {
			m, err := RunOn(b.Context(), c, Here{Root: root}, list.Jobs, options(), nil)
			check(b, m, err)
		}
		rate(b)
	})
}
