package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"homenode/ask"
	"homenode/change/whatif"
	"homenode/output/format"
)

// WhatIf has the changes of --what-if, in the order of the command line.
type WhatIf struct {
	Asked []string
}

// Register adds the flag to a command.
func (f *WhatIf) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.Asked, "what-if", nil, "judge the fleet with this change beside today's: 'vm=sql* hotAdd=off', 'host=esx* nodesPerSocket=2', 'release=8.0U3 hw=21', 'lose-host=esx07' (its VMs where it suits them worst), 'add-host=2x32c/1TB' or 'add-host=like=esx01 count=2', or @FILE with such lines (repeatable)")
}

// Changes reads what the flag says; name is the format of the output.
func (f *WhatIf) Changes(name string) ([]whatif.Change, error) {
	if f.Asked != nil && !slices.Contains(format.Tables, name) {
		return nil, fmt.Errorf("--format: found %q, want one of %s for a what-if", name, strings.Join(format.Tables, ", "))
	}
	return ask.Changes(&ask.Env{}, f.Asked)
}
