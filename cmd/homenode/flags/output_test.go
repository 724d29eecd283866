package flags

import (
	"os"
	"testing"

	"github.com/spf13/cobra"
)

// TestWorkbookToTerminal checks that a workbook is refused for a terminal before anything is
// read, and for nothing else.
func TestWorkbookToTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !IsTerminal(terminal) {
		t.Skip("no pseudo terminal here")
	}
	defer terminal.Close()
	cmd := &cobra.Command{}
	cmd.SetOut(terminal)
	for _, tt := range []struct {
		format, file string
		refused      bool
	}{{"xlsx", "", true}, {"xlsx", "-", true}, {"xlsx", "numa.xlsx", false}, {"table", "", false}} {
		out := Output{Format: tt.format, File: tt.file, forms: []string{"table", "xlsx"}}
		if err := out.Check(cmd); (err != nil) != tt.refused {
			t.Errorf("--format %s -o %q: %v", tt.format, tt.file, err)
		}
	}
}
