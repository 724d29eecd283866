package measure

import (
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/output/measure/playbook"
)

// newPlaybook returns the command that prints the playbook.
func newPlaybook(helps fs.FS) *cobra.Command {
	var out flags.Output
	cmd := flags.Describe(helps, "measure-playbook", &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return out.Write(cmd, func(w io.Writer, _ bool) error {
				_, err := io.WriteString(w, playbook.Text)
				return err
			})
		},
	})
	cmd.Flags().StringVarP(&out.File, "output", "o", "", "write to this file, whole or not at all, instead of standard output")
	return cmd
}
