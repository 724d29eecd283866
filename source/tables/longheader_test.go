package tables

import (
	"strings"
	"testing"
)

// TestLongHeader compares the beginning of a header alone: a key of 50 MB costs no more than a short one.
func TestLongHeader(t *testing.T) {
	if n := len(squash(strings.Repeat("Key", 1<<20))); n > longestHeader {
		t.Errorf("%d bytes are compared", n)
	}
	if is := squash("Cores p/s (" + strings.Repeat(" ", 900) + "vCPU)"); is != "corespsvcpu" {
		t.Errorf("a header of blanks: %q", is)
	}
}
