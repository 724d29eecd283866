package flags

import (
	"strings"

	"github.com/spf13/cobra"
)

// Completing is set when the program runs for a shell that completes a command line. Only then completions are registered:
// cobra keeps each one, with its command and all that the command holds, in a map of the process that it never clears.
var Completing bool

// Complete registers a completion; cobra refuses a flag that does not exist.
func Complete(c *cobra.Command, name string, complete cobra.CompletionFunc) {
	if !Completing {
		return
	}
	if err := c.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err)
	}
}

// Among completes one of the words.
func Among(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return Beginning(words, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// Beginning returns the words that begin with begun, in any case of letters. What
// stands after a tab describes a word.
func Beginning(words []string, begun string) []string {
	var out []string
	for _, w := range words {
		if len(w) >= len(begun) && strings.EqualFold(w[:len(begun)], begun) {
			out = append(out, w)
		}
	}
	return out
}
