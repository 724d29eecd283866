package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/output/report"
	"homenode/output/table"
	"homenode/output/table/xlsx"
	"homenode/rules"
)

// assessForms are the forms of assess; the first is the default.
var assessForms = []string{"table", "json", "html", "csv", "xlsx", "sarif", "junit", "markdown"}

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

// writeTables writes all tables as a workbook, or the one of this name as CSV.
func writeTables(w io.Writer, form, name string, tables []table.Table) error {
	if form == "xlsx" {
		return xlsx.Write(w, tables)
	}
	t, ok := table.Named(tables, name)
	if !ok {
		return fmt.Errorf("no table %s", name)
	}
	return table.CSV(w, t)
}

// writeAssessment writes result in one of the forms for programs and files; text
// writes it for a terminal.
func writeAssessment(w io.Writer, form, table string, result *rules.Result, o report.ExportOptions, text func() error) error {
	switch form {
	case "json":
		return report.AssessJSON(w, result)
	case "html":
		return report.HTML(w, result, report.HTMLOptions{Version: o.Version})
	case "csv", "xlsx":
		return writeTables(w, form, table, report.Tables(result, o.Version))
	case "sarif":
		return report.SARIF(w, result, o)
	case "junit":
		return report.JUnit(w, result, o)
	case "markdown":
		return report.Markdown(w, result, o)
	}
	return text()
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
