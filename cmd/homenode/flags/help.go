package flags

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
)

// Describe gives a command what the file help/NAME.txt says of it: a line with its usage, one
// with what it does, paragraphs, and its examples below "Examples:". {SOURCE} in it stands
// for SourceHelp. It panics where the file is wrong, which every test shows.
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

// Refuse returns an error when one of these flags was given.
func Refuse(cmd *cobra.Command, why string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s: %s", name, why)
		}
	}
	return nil
}
