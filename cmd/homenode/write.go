package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// tableFlag reads --table: which of these tables a CSV file has.
type tableFlag struct {
	name  string
	names []string
}

func (f *tableFlag) register(cmd *cobra.Command, names []string) {
	f.names = names
	cmd.Flags().StringVar(&f.name, "table", "findings", "table that --format csv writes: "+strings.Join(names, ", "))
}

// check looks at the flags before anything is read.
func (f *tableFlag) check(cmd *cobra.Command, out *outputFlags) error {
	switch {
	case !slices.Contains(f.names, f.name):
		return fmt.Errorf("--table: found %q, want one of %s", f.name, strings.Join(f.names, ", "))
	case out.format != "csv" && cmd.Flags().Changed("table"):
		return errors.New("--table: only with --format csv")
	case out.format == "xlsx" && (out.file == "" || out.file == "-") && isTerminal(cmd.OutOrStdout()):
		return errors.New("--format xlsx: a workbook is nothing for a terminal: name a file with -o")
	}
	return nil
}

// sourceFiles returns the sources that are files, and "" for each other one.
func sourceFiles(sources []string) []string {
	files := make([]string, len(sources))
	for i, source := range sources {
		if info, err := os.Stat(source); err == nil && info.Mode().IsRegular() {
			files[i] = source
		}
	}
	return files
}
