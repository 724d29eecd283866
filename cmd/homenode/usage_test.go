package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestHelpIsAScreen checks that the help of the longest commands fits a screen of 60 lines each.
func TestHelpIsAScreen(t *testing.T) {
	for _, name := range []string{"assess", "capture", "explain", "simulate", "fix", "optimise"} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{name, "--help"}, nil, &out, &errs); code != exitClean {
			t.Fatalf("%s --help: exit %d: %s", name, code, errs.String())
		}
		if lines := strings.Count(out.String(), "\n"); lines > 60 {
			t.Errorf("%s --help has %d lines, want at most 60", name, lines)
		}
	}
}
