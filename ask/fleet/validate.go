package fleet

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"

	"example.org/homenode/ask"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/measure/experiment"
	"example.org/homenode/measure/published"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/truth"
	"example.org/homenode/source/evidence"
	"example.org/homenode/source/text"
)

// Validate asks whether the prediction agrees with published topologies.
type Validate struct {
	ask.Asked
	Args        []string `ask:"file,arg,local"`
	Simulations bool     `ask:"simulations" group:"Simulation" help:"replay published experiments in the simulation"`
	Vary        bool     `ask:"vary" help:"with --simulations: play every number that no source states with other values (about a minute)"`
	ask.Choice  `group:"Judge"`
}

// Answer answers the question.
func (v *Validate) Answer(ctx context.Context, _ *ask.Env) (*ask.Reply, error) {
	choices, err := v.Choices()
	switch {
	case err != nil:
		return nil, err
	case v.Simulations || v.Vary:
		return v.simulated(ctx, choices)
	}
	cases, err := readEach(v.Args, published.Shipped, "testdata/*.txtar", published.Read)
	if err != nil {
		return nil, err
	}
	score := published.NewScore(slices.Concat(cases...), choices)
	return &ask.Reply{Answers: []*answer.Answer{truth.Score(score)}, Found: score.Unexplained() > 0}, nil
}

// simulated compares the model with published experiments. Without Vary it uses recorded worlds if the
// record covers these cases and this version of the model.
func (v *Validate) simulated(ctx context.Context, choices vnuma.Choices) (*ask.Reply, error) {
	cases, err := readEach(v.Args, published.Simulations, "testdata/sim/*.txtar", experiment.Read)
	if err != nil {
		return nil, err
	}
	record, err := experiment.ReadPlayed(published.Worlds)
	if err != nil {
		return nil, err
	}
	results := make([]*experiment.Result, len(cases))
	for i, c := range cases {
		if results[i], err = experiment.Judge(ctx, c, choices); err != nil {
			return nil, err
		}
		if v.Vary {
			worlds, impossible := c.Worlds()
			played, err := results[i].Play(ctx, choices, worlds, impossible)
			if err != nil {
				return nil, err
			}
			record = append([]*experiment.Played{played}, record...)
		}
	}
	stale := experiment.Recall(results, record)
	return &ask.Reply{Answers: []*answer.Answer{truth.Experiments(results, stale)}, Found: experiment.Unexplained(results) > 0}, nil
}

// readEach reads the files, or by default the cases that are part of homenode.
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
		if err != nil && !bytes.Contains(b, []byte("-- case --")) {
			return nil, fmt.Errorf("%s: %w: want cases in the form of measure/published/testdata", name, evidence.ErrUnknown)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}
