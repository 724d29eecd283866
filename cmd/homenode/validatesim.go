package main

import (
	"io/fs"

	"github.com/spf13/cobra"

	"homenode/esxi/vnuma"
	"homenode/measure/experiment"
	"homenode/measure/published"
	"homenode/output/measure"
)

// validateSimulations prints published experiments beside the model.
func validateSimulations(cmd *cobra.Command, out *outputFlags, choices vnuma.Choices, files []string) error {
	cases, err := readExperiments(files)
	if err != nil {
		return err
	}
	results := make([]*experiment.Result, len(cases))
	for i, c := range cases {
		if results[i], err = experiment.Judge(cmd.Context(), c, choices); err != nil {
			return err
		}
	}
	err = out.print(cmd, measure.Experiments(results))
	if err == nil && experiment.Unexplained(results) > 0 {
		return errFindings
	}
	return err
}

// readExperiments reads the files, or the cases that homenode ships.
func readExperiments(files []string) ([]*experiment.Case, error) {
	var cases []*experiment.Case
	for _, name := range files {
		c, err := experiment.ReadFile(name)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	if len(files) > 0 {
		return cases, nil
	}
	names, err := fs.Glob(published.Simulations, "testdata/sim/*.txtar")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := fs.ReadFile(published.Simulations, name)
		if err != nil {
			return nil, err
		}
		c, err := experiment.Read(name, b)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}
