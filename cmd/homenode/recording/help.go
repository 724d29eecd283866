package recording

import (
	"embed"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
)

// helps are what commands say of themselves.
//
//go:embed help
var helps embed.FS

func described(name string, cmd *cobra.Command) *cobra.Command {
	return flags.Describe(helps, name, cmd)
}
