package flags

import (
	"os"
	"strings"
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

// The ending of a file tells its form where --format does not.
func TestEndingTellsForm(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-o a.XLSX", "xlsx"}, {"-o a.md", "markdown"}, {"-o a.txt", "table"}, {"-o a.log", "table"}, {"-o a", "table"}, {"", "table"},
		{"-o a.xlsx --format markdown", "markdown"}, {"-o a.html", "-o a.html: this answer has no form html, want one of table, markdown, xlsx"},
	} {
		cmd, out := &cobra.Command{}, Output{}
		out.Register(cmd, "table", "markdown", "xlsx")
		if err := cmd.ParseFlags(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		err := out.Check(cmd)
		got := out.Format
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.args, got, tt.want)
		}
	}
}
