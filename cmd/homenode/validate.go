package main

import (
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/flags"
	"homenode/esxi/vnuma"
	"homenode/measure/experiment"
	"homenode/measure/published"
	"homenode/output/format"
	"homenode/output/measure"
	"homenode/source/text"
)

func newValidate() *cobra.Command {
	var (
		out         flags.Output
		choose      flags.Choice
		simulations bool
		own         ownFleet
		vary        bool
	)
	cmd := described("validate", &cobra.Command{
		RunE: func(cmd *cobra.Command, args []string) error {
			choices, err := choose.Choices()
			if err != nil {
				return err
			}
			if err := out.Check(cmd); err != nil {
				return err
			}
			if simulations || vary {
				return validateSimulations(cmd, &out, choices, args, vary)
			}
			if own.asked(args) {
				return own.validate(cmd, &out, choices, args)
			}
			cases, err := readEach(args, published.Shipped, "testdata/*.txtar", published.Read)
			if err != nil {
				return err
			}
			score := published.NewScore(slices.Concat(cases...), choices)
			err = out.Print(cmd, measure.Score(score))
			if err == nil && score.Unexplained() > 0 {
				return flags.ErrFindings
			}
			return err
		},
	})
	out.Register(cmd, format.Tables...)
	choose.Register(cmd)
	own.register(cmd)
	cmd.Flags().BoolVar(&simulations, "simulations", false, "replay published experiments in the simulation")
	cmd.Flags().BoolVar(&vary, "vary", false, "with --simulations: play every number that no source states with other values (about a minute)")
	return cmd
}

// validateSimulations prints published experiments beside the model. Without vary the worlds
// are those of the record, as far as it is of these cases and of this model.
func validateSimulations(cmd *cobra.Command, out *flags.Output, choices vnuma.Choices, files []string, vary bool) error {
	cases, err := readEach(files, published.Simulations, "testdata/sim/*.txtar", experiment.Read)
	if err != nil {
		return err
	}
	record, err := experiment.ReadPlayed(published.Worlds)
	if err != nil {
		return err
	}
	results := make([]*experiment.Result, len(cases))
	for i, c := range cases {
		if results[i], err = experiment.Judge(cmd.Context(), c, choices); err != nil {
			return err
		}
		if vary {
			worlds, impossible := c.Worlds()
			played, err := results[i].Play(cmd.Context(), choices, worlds, impossible)
			if err != nil {
				return err
			}
			record = append([]*experiment.Played{played}, record...)
		}
	}
	stale := experiment.Recall(results, record)
	err = out.Print(cmd, measure.Experiments(results, stale))
	if err == nil && experiment.Unexplained(results) > 0 {
		return flags.ErrFindings
	}
	return err
}

// readEach reads the files, or without any the cases that homenode ships.
func readEach[T any](files []string, shipped fs.FS, pattern string, read func(name string, data []byte) (T, error)) (out []T, err error) {
	file := text.File
	if len(files) == 0 {
		file = func(name string) ([]byte, error) { return fs.ReadFile(shipped, name) }
		if files, err = fs.Glob(shipped, pattern); err != nil {
			return nil, err
		}
	}
	for _, name := range files {
		b, err := file(name)
		if err != nil {
			return nil, err
		}
		one, err := read(name, b)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}
