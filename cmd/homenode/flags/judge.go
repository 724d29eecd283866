package flags

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/rules"
	"example.org/homenode/rules/policy"
)

// Config reads the configuration.
type Config struct{ File string }

// NoConfig is the value of --config that disables the configuration.
const NoConfig = "none"

// Register adds the flag to a command.
func (f *Config) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.File, "config", "", "configuration: thresholds, severities, accepted findings (default: "+policy.DefaultFile+" in the working directory, if it exists; "+NoConfig+" ignores it)")
}

// Policy reads the configuration; nil if there is none.
func (f *Config) Policy() (*policy.Policy, error) {
	if f.File == NoConfig {
		return nil, nil
	}
	name := cmp.Or(f.File, policy.DefaultFile)
	text, err := bounded.File(name, policy.MaxSize)
	switch {
	case f.File == "" && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("--config: %w", err)
	}
	return policy.Parse(name, text, rules.All)
}
