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
	cmd := &cobra.Command{
		Use:   "validate [FILE...]",
		Short: "Replays published topologies and prints the prediction beside the observation",
		Long: `validate predicts published cases and compares every field they state. Without FILE it
takes the cases that homenode ships. A FILE is a case in the text form (measure/published/testdata) or a JSON
list of cases. What a case leaves open is varied: a field is compared only when the prediction does not
depend on it.

With --simulations it replays published experiments in the twin of the NUMA scheduler instead, and puts each
figure beside what the model says. A FILE is a case in the text form of measure/published/testdata/sim.

Exit code 0: every comparable case is reproduced or its miss explained; 1: a miss is not; 2: usage or I/O.`,
		Example: `  homenode validate
  homenode validate my-cases.json --format json
  homenode validate --simulations`,
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
	}
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
