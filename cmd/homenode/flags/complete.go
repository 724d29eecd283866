package flags

import (
	"strings"

	"github.com/spf13/cobra"
)

// Completing is set when the process completes a command line for a shell. Completions are only registered then, because
// cobra stores each of them, with the command and everything it references, in a global map that is never cleared.
var Completing bool

// Complete registers a completion. It panics for a flag that does not exist.
func Complete(c *cobra.Command, name string, complete cobra.CompletionFunc) {
	if !Completing {
		return
	}
	if err := c.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err)
	}
}

// Among returns a completion from a list of words.
func Among(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return Beginning(words, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// Beginning returns the words that begin with begun, ignoring case. The text after a tab describes a word.
func Beginning(words []string, begun string) []string {
	var out []string
	for _, w := range words {
		if len(w) >= len(begun) && strings.EqualFold(w[:len(begun)], begun) {
			out = append(out, w)
		}
	}
	return out
}
