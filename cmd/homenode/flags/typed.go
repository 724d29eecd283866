package flags

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/homenode/internal/texttab"
)

// Typed returns the named flags that the user gave.
func Typed(cmd *cobra.Command, names []string) (words []string) {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		switch {
		case f == nil || !f.Changed:
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			words = append(words, "--"+name)
		case f.Value.Type() == "bool":
			words = append(words, "--"+name+"="+f.Value.String())
		default:
			values := []string{f.Value.String()}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				values = list.GetSlice()
			}
			for _, value := range values {
				words = append(words, "--"+name, value)
			}
		}
	}
	return words
}

// ErrorText formats an error for a terminal. It indents continuation lines, so that a name with
// a line break cannot imitate a message of this program.
// A text that quotes a whole file is cut.
func ErrorText(err error) string {
	text := err.Error()
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
