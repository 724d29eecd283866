package main

import (
	"io/fs"

	"github.com/spf13/cobra"

	"homenode/measure/published"
	"homenode/output/form"
	"homenode/output/measure"
)

func newValidate() *cobra.Command {
	var (
		out         outputFlags
		choose      choiceFlag
		simulations bool
	)
	cmd := described("validate", &cobra.Command{
		RunE: func(cmd *cobra.Command, args []string) error {
			choices, err := choose.choices()
			if err != nil {
				return err
			}
			if err := out.check(); err != nil {
				return err
			}
			if simulations {
				return validateSimulations(cmd, &out, choices, args)
			}
			cases, err := readCases(args)
			if err != nil {
				return err
			}
			score := published.NewScore(cases, choices)
			err = out.print(cmd, measure.Score(score))
			if err == nil && score.Unexplained() > 0 {
				return errFindings
			}
			return err
		},
	})
	out.register(cmd, form.Tables...)
	choose.register(cmd)
	cmd.Flags().BoolVar(&simulations, "simulations", false, "replay published experiments in the simulation")
	return cmd
}

func readCases(files []string) ([]published.Case, error) {
	var cases []published.Case
	for _, name := range files {
		cs, err := published.ReadFile(name)
		if err != nil {
			return nil, err
		}
		cases = append(cases, cs...)
	}
	if len(files) > 0 {
		return cases, nil
	}
	names, err := fs.Glob(published.Shipped, "testdata/*.txtar")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := fs.ReadFile(published.Shipped, name)
		if err != nil {
			return nil, err
		}
		cs, err := published.Read(name, b)
		if err != nil {
			return nil, err
		}
		cases = append(cases, cs...)
	}
	return cases, nil
}
