package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"example.org/homenode/internal/golden"
)

// sizePages are pages below docs/size whose console blocks are run.
var sizePages = []string{"calibrate.md", "dump.md", "fit.md", "io.md", "latency.md", "pages.md", "rightsize.md", "speed.md"}

// TestSizePages runs the commands of the pages on sizing and checks that each prints what
// the page shows.
func TestSizePages(t *testing.T) {
	t.Chdir("../..")
	for _, name := range sizePages {
		path := "docs/evidence/size/" + name
		page := golden.Read(t, path)
		got, commands := replayed(t, string(page))
		if commands == 0 {
			t.Errorf("%s: found no command", path)
		}
		golden.Equal(t, []byte(got), path)
	}
}

// TestFitPicture checks that the drawing of the page on fitting is today's.
func TestFitPicture(t *testing.T) {
	got := output([]string{"size", "fit", "--vm", "12x96GB", "--hosts", "2x32c/1TB,2x48c/1.5TB", "--format", "svg"})
	golden.Equal(t, []byte(got), "../../docs/img/size-fit.svg")
}

// TestRightSizeDay checks that the capture of the example is what the simulation makes of
// its story.
func TestRightSizeDay(t *testing.T) {
	const story, packed = "../../size/rightsize/testdata/day.txtar", "../../size/rightsize/testdata/day.csv.gz"
	file := filepath.Join(t.TempDir(), "day.csv")
	output([]string{"simulate", story, "--trace", "esxtop:" + file})
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if golden.Updating() {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(want); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, packed, b.Bytes())
	}
	f, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := got.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: %d bytes that are not the %d of the simulation (go test -update writes it)", packed, got.Len(), len(want))
	}
}
