package recording

import (
	"slices"
	"testing"

	"homenode/cmd/homenode/flags"
)

// The next commands answer the same question: they have every flag that changes it.
func TestCaptureWords(t *testing.T) {
	cmd := NewCapture()
	if err := cmd.ParseFlags([]string{
		"--to", "2026-11-03 05:00", "--from=2026-11-03 02:00", "--fleet", "a.xlsx", "--fleet", "b.xlsx", "--config", "none", "--details", "--format", "html", "--interval", "20s",
	}); err != nil {
		t.Fatal(err)
	}
	got := captureWords(cmd, []string{"night/"})
	want := []string{"night/", "--fleet", "a.xlsx", "--fleet", "b.xlsx", "--from", "2026-11-03 02:00", "--to", "2026-11-03 05:00", "--interval", "20s", "--config", "none"}
	if !slices.Equal(got, want) {
		t.Errorf("captureWords() = %q\nwant %q", got, want)
	}
	for _, name := range flags.Answer {
		if cmd.Flags().Lookup(name) == nil && !slices.Contains(flags.SourceNames, name) {
			t.Errorf("capture has no flag --%s", name)
		}
	}
}
