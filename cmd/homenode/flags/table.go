package flags

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Table is --table, which selects the table of CSV or JSON output.
type Table struct {
	Name  string
	names []string
}

// Register adds the flag to a command.
func (f *Table) Register(cmd *cobra.Command, names []string) {
	f.names = names
	cmd.Flags().StringVar(&f.Name, "table", "findings", "table that --format csv or json writes: "+strings.Join(names, ", "))
}

// Check validates the flags before anything is read.
func (f *Table) Check(cmd *cobra.Command, out *Output) error {
	switch {
	case !slices.Contains(f.names, f.Name):
		return fmt.Errorf("--table: found %q, want one of %s", f.Name, strings.Join(f.names, ", "))
	case out.Format != "csv" && out.Format != "json" && cmd.Flags().Changed("table"):
		return errors.New("--table: only with --format csv or json")
	}
	return nil
}

// SourceFiles returns the sources, with "" for each one that is not a file.
func SourceFiles(sources []string) []string {
	files := make([]string, len(sources))
	for i, source := range sources {
		if info, err := os.Stat(source); err == nil && info.Mode().IsRegular() {
			files[i] = source
		}
	}
	return files
}
