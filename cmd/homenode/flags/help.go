package flags

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa/pattern"
)

// Describe sets the texts of a command from the file help/NAME.txt: a line with the usage, a line with the summary,
// paragraphs, and examples below "Examples:". {SOURCE} is replaced by SourceHelp. It panics on a malformed file, which every
// test would show.
func Describe(files fs.FS, name string, cmd *cobra.Command) *cobra.Command {
	b, err := fs.ReadFile(files, "help/"+name+".txt")
	if err != nil {
		panic(err)
	}
	text, examples, found := strings.Cut(string(b), "\n\nExamples:\n")
	use, text, _ := strings.Cut(text, "\n")
	short, long, more := strings.Cut(text, "\n\n")
	if !found || !more {
		panic(fmt.Sprintf("%s.txt: want usage, a line, paragraphs and examples", name))
	}
	cmd.Use, cmd.Short, cmd.Long = use, short, strings.ReplaceAll(long, "{SOURCE}", SourceHelp)
	cmd.Example = strings.TrimRight(examples, "\n")
	return cmd
}

// Long returns the long text of the help of a command. Only one of all commands is asked for it, so it is wrapped here.
func Long(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return Reflow(cmd.Long)
	}
	return cmd.Long
}

// Columns is the maximum width of help text.
const Columns = 100

// entry matches the start of a line in a list, up to the column of the description.
var entry = pattern.Of(`^ +\S+(?: \S+)*?  +|^ +`)

// Reflow wraps a text at Columns. It joins the lines of a paragraph, and indents continuation lines of a list.
func Reflow(text string) string {
	var out, paragraph []string
	flush := func() {
		if paragraph != nil {
			out = append(out, texttab.Wrap(strings.Join(paragraph, " "), Columns)...)
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		head := entry.FindString(line)
		switch {
		case head == "" && line != "":
			paragraph = append(paragraph, line)
			continue
		case line == "" || texttab.Width(line) <= Columns:
			flush()
			out = append(out, line)
			continue
		}
		flush()
		for i, part := range texttab.Wrap(line[len(head):], Columns-texttab.Width(head)) {
			if i > 0 {
				head = strings.Repeat(" ", texttab.Width(head))
			}
			out = append(out, head+part)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// Refuse returns an error if one of these flags was given.
func Refuse(cmd *cobra.Command, why string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s: %s", name, why)
		}
	}
	return nil
}
