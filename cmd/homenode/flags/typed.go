package flags

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
)

// Typed returns the named flags that the user gave.
func Typed(cmd *cobra.Command, names []string) (given []string) {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		switch {
		case f == nil || !f.Changed:
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			given = append(given, "--"+name)
		case f.Value.Type() == "bool":
			given = append(given, "--"+name+"="+f.Value.String())
		default:
			for _, value := range valuesOf(f) {
				given = append(given, "--"+name, value)
			}
		}
	}
	return given
}

// valuesOf returns the values of a flag, each by itself.
func valuesOf(f *pflag.Flag) []string {
	switch v := f.Value.(type) {
	case *value:
		return v.field.Values()
	case pflag.SliceValue:
		return v.GetSlice()
	}
	return []string{f.Value.String()}
}

// KeepsInput returns an error when the command would write its output over a file that it reads.
func KeepsInput(cmd *cobra.Command, args []string) (err error) {
	output := cmd.Flags().Lookup("output")
	if output == nil {
		return nil
	}
	file := output.Value.String()
	written, missing := os.Stat(file)
	if missing != nil || !written.Mode().IsRegular() {
		return nil
	}
	check := func(text string) {
		_, observed, _ := strings.Cut(text, "=") // --evidence VM=FILE
		for _, name := range []string{text, strings.TrimPrefix(text, "@"), observed} {
			if read, missing := os.Stat(name); missing == nil && os.SameFile(read, written) {
				err = fmt.Errorf("-o %s: the command reads this file and would replace it: name another one", file)
			}
		}
	}
	for _, text := range args {
		check(text)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f != output {
			for _, text := range valuesOf(f) {
				check(text)
			}
		}
	})
	return err
}

// ErrorText formats an error for a terminal. It indents continuation lines, so that a name with
// a line break cannot imitate a message of this program.
// A text that quotes a whole file is cut.
func ErrorText(err error) string {
	text := words.Error(err)
	rest := ""
	if n := len(text) - mostError; n > 0 {
		text, rest = text[:mostError], fmt.Sprintf(" … (%d bytes more)", n)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, texttab.Clean(line))
		}
	}
	return strings.Join(lines, "\n  ") + rest
}

// mostError bounds the text of an error, in bytes.
const mostError = 16 << 10

// Warn prints a warning.
func Warn(w io.Writer, text string) {
	fmt.Fprintf(w, "homenode: %s\n", ErrorText(errors.New(text)))
}
