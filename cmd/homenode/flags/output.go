// Package flags has flags that several commands share: about reading a fleet or captures, and
// about the form of an answer.
package flags

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/internal/version"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
	"example.org/homenode/output/table/xlsx"
)

// ErrFindings is the error of a command that succeeded and has findings.
var ErrFindings = errors.New("findings")

// ErrNotKnown is the error of a command that succeeded but has no result yet.
var ErrNotKnown = errors.New("not known yet")

// Printed is called with each answer before it is printed, for tests.
var Printed func(all []*answer.Answer)

// An Output has the form and the destination of the output.
type Output struct {
	Format string
	File   string
	forms  []string
}

// Register adds the flags to a command; the first form is the default.
func (f *Output) Register(cmd *cobra.Command, forms ...string) {
	f.forms = forms
	cmd.Flags().StringVar(&f.Format, "format", forms[0], fmt.Sprintf("form of the output, such as %s (all: %s)", strings.Join(forms[:min(4, len(forms))], ", "), strings.Join(forms, ", ")))
	cmd.Flags().StringVarP(&f.File, "output", "o", "", "write to this file, whole or not at all, instead of standard output")
	Complete(cmd, "format", Among(forms))
}

// Check validates the flags before anything is read. Without --format the name of the file tells the form.
func (f *Output) Check(cmd *cobra.Command) error {
	if ending := strings.TrimPrefix(strings.ToLower(filepath.Ext(f.File)), "."); ending != "" && !cmd.Flags().Changed("format") {
		if form := cmp.Or(endings[ending], ending); slices.Contains(f.forms, form) {
			f.Format = form
		} else if slices.Contains(format.Tables, form) {
			return fmt.Errorf("-o %s: this answer has no form %s, want one of %s", f.File, form, strings.Join(f.forms, ", "))
		}
	}
	switch {
	case !slices.Contains(f.forms, f.Format):
		return fmt.Errorf("--format: found %q, want one of %s", f.Format, strings.Join(f.forms, ", "))
	case slices.Contains(f.forms, f.File) && !cmd.Flags().Changed("format"):
		return fmt.Errorf("-o %[1]s: -o names a file, want --format %[1]s, or -o with the name of a file", f.File)
	case f.Format == "xlsx" && (f.File == "" || f.File == "-") && IsTerminal(cmd.OutOrStdout()):
		return errors.New("--format xlsx: a workbook is nothing for a terminal: name a file with -o")
	}
	return nil
}

// endings has the forms whose files have other endings.
var endings = map[string]string{"htm": "html", "md": "markdown", "ps1": "powercli", "txt": "table"}

// Write writes to the file, or to standard output if no file is named.
func (f *Output) Write(cmd *cobra.Command, write func(w io.Writer, colour bool) error) error {
	if f.File != "" && f.File != "-" {
		err := atomicfile.Write(f.File, func(w io.Writer) error { return write(w, false) })
		if err == nil && IsTerminal(cmd.ErrOrStderr()) {
			fmt.Fprintf(cmd.ErrOrStderr(), "written to %s as %s\n", f.File, f.Format)
		}
		return err
	}
	w := cmd.OutOrStdout()
	return write(w, colours(w))
}

// Print writes an answer in the requested form. Output on a terminal has the width of the
// terminal.
func (f *Output) Print(cmd *cobra.Command, a *answer.Answer) error {
	return f.PrintJudged(cmd, format.Options{}, a)
}

// PrintJudged is like Print, with options about findings, sources and tables. Several answers
// are only possible as text, separated by empty lines.
func (f *Output) PrintJudged(cmd *cobra.Command, o format.Options, all ...*answer.Answer) error {
	if Printed != nil {
		Printed(all)
	}
	return f.Write(cmd, func(w io.Writer, colour bool) error {
		o.Version, o.Colour, o.Width, o.Workbook = version.String(), colour, terminalWidth(w), xlsx.Write
		for i, a := range all {
			if i > 0 {
				if _, err := fmt.Fprintln(w); err != nil {
					return err
				}
			}
			if err := format.Write(w, f.Format, a, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// terminalWidth returns the width of a terminal; 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
	}
	return 0
}

// colours reports whether w is a terminal with colours enabled (no-color.org).
func colours(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
