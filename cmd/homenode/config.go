package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"homenode/esxi/vnuma"
	"homenode/rules"
	"homenode/rules/policy"
)

// configFlag reads the configuration.
type configFlag struct{ file string }

// noConfig is the value of --config that takes none.
const noConfig = "none"

func (f *configFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "config", "", "configuration: thresholds, severities, accepted findings (default: "+policy.DefaultFile+" of the working directory, if there is one; "+noConfig+" takes none)")
}

// options returns the options of a run under the configuration.
func (f *configFlag) options(choices vnuma.Choices) (rules.Options, error) {
	o := rules.Options{Choices: choices, Today: time.Now()}
	name, text, err := f.text()
	if name == "" || err != nil {
		return o, err
	}
	o.Policy, err = policy.Parse(name, text, rules.All)
	return o, err
}

// text returns the configuration and its name; no name when there is none.
func (f *configFlag) text() (name string, text []byte, err error) {
	if f.file == noConfig {
		return "", nil, nil
	}
	if name = f.file; name == "" {
		name = policy.DefaultFile
	}
	text, err = os.ReadFile(name)
	if f.file == "" && errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("--config: %w", err)
	}
	return name, text, nil
}
