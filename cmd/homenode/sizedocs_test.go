package main

import (
	"os"
	"testing"

	"homenode/internal/golden"
)

// sizePages are pages below docs/size whose console blocks are run.
var sizePages = []string{"calibrate.md", "dump.md", "fit.md", "io.md", "latency.md", "pages.md", "rightsize.md", "speed.md"}

// TestSizePages runs the commands of the pages on sizing and checks that each prints what
// the page shows.
func TestSizePages(t *testing.T) {
	t.Chdir("../..")
	for _, name := range sizePages {
		path := "docs/size/" + name
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
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
