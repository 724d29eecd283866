package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Group calls functions that register flags. The help shows these flags below the heading name.
func Group(cmd *cobra.Command, name string, register ...func(*cobra.Command)) {
	had := map[string]bool{}
	cmd.Flags().SortFlags = false // groups appear in the order of registration
	cmd.Flags().VisitAll(func(f *pflag.Flag) { had[f.Name] = true })
	for _, one := range register {
		one(cmd)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !had[f.Name] {
			f.Annotations = map[string][]string{GroupOf: {name}}
		}
	})
}

// GroupOf is the annotation with the heading of a flag's group.
const GroupOf = "homenode group"
