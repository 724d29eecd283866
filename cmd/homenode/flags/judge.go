package flags

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"homenode/esxi/vnuma"
	"homenode/internal/bounded"
	"homenode/rules"
	"homenode/rules/policy"
)

// Choice reads --choose.
type Choice struct{ ids []string }

// Register adds the flag to a command.
func (f *Choice) Register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.ids, "choose", nil, "take the other side where sources disagree, such as F-18 (list: homenode rules --conflicts)")
}

// Choices returns what was chosen.
func (f *Choice) Choices() (c vnuma.Choices, err error) {
	for _, id := range f.ids {
		if err := c.Take(id); err != nil {
			return c, fmt.Errorf("--choose: %w", err)
		}
	}
	return c, nil
}

// Config reads the configuration.
type Config struct {
	File string

	cmd *cobra.Command
}

// NoConfig is the value of --config that takes none.
const NoConfig = "none"

// Register adds the flag to a command.
func (f *Config) Register(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.File, "config", "", "configuration: thresholds, severities, accepted findings (default: "+policy.DefaultFile+" of the working directory, if there is one; "+NoConfig+" takes none)")
}

// Options returns the options of a run under the configuration: that of the server, for a command that it runs itself.
func (f *Config) Options(choices vnuma.Choices) (rules.Options, error) {
	o := rules.Options{Choices: choices, Today: time.Now()}
	var err error
	o.Policy, err = f.Policy()
	return o, err
}

// Policy returns the configuration; nil when there is none.
func (f *Config) Policy() (*policy.Policy, error) {
	name, text, err := f.text()
	if name == "" || err != nil {
		return nil, err
	}
	return policy.Parse(name, text, rules.All)
}

// text returns the configuration and its name; no name when there is none.
func (f *Config) text() (name string, text []byte, err error) {
	if f.File == NoConfig {
		return "", nil, nil
	}
	if name = f.File; name == "" {
		name = policy.DefaultFile
	}
	text, err = bounded.File(name, policy.MaxSize)
	if f.File == "" && errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("--config: %w", err)
	}
	return name, text, nil
}
