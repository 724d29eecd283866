package measure

import (
	"io/fs"

	"github.com/spf13/cobra"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/cmd/homenode/measure/here"
)

// newWatch returns the command that measures repeatedly.
func newWatch(helps fs.FS) *cobra.Command {
	w := &here.Watch{Asked: withRequests()}
	cmd := flags.Describe(helps, "measure-watch", &cobra.Command{Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return w.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}})
	w.Register(cmd.Flags())
	completeHuge(cmd)
	return cmd
}
