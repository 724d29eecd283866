package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Group lets functions register flags, which the help shows below this heading.
func Group(cmd *cobra.Command, name string, register ...func(*cobra.Command)) {
	had := map[string]bool{}
	cmd.Flags().SortFlags = false // groups stand in the order of registration
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

// GroupOf is the annotation of a flag with the heading above it.
const GroupOf = "homenode group"
