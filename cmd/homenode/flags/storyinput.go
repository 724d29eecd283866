package flags

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/simulate"
)

// StoryHelp says what optimise plays.
const StoryHelp = `SCENARIO is a story, or demo: a day of the demo fleet. A SOURCE (homenode help sources) runs for a day with a load that is
assumed, and the report says so. --load and --at add to the story, --what-if changes the fleet before it begins.`

// A StoryInput is what simulate and optimise share: a story, how it is judged, and
// the form of the answer.
type StoryInput struct {
	Src     Source
	Story   Story
	Out     Output
	Choose  Choice
	Config  Config
	Changes WhatIf
	FailOn  string
	Choices vnuma.Choices
}

// Outputs returns what registers the form of the answer.
func (f *StoryInput) Outputs(forms ...string) func(*cobra.Command) {
	return func(cmd *cobra.Command) { f.Out.Register(cmd, forms...) }
}

// Register adds the flags to a command.
func (f *StoryInput) Register(cmd *cobra.Command) {
	Group(cmd, "Story", f.Story.Register, f.Changes.Register)
	Group(cmd, "Judge", f.Choose.Register, f.Config.Register)
	Group(cmd, "Source", func(cmd *cobra.Command) { f.Src.RegisterOnly(cmd, SourceShapes...) })
	for flag, usage := range changedFirst {
		cmd.Flags().Lookup(flag).Usage = usage
	}
}

// Failing registers the severity that decides on the exit code.
func (f *StoryInput) Failing(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.FailOn, "fail-on", "medium", "least severity that makes the exit code 1: info, low, medium, high")
}

// Check looks at the flags before anything is read.
func (f *StoryInput) Check(cmd *cobra.Command) (least finding.Severity, err error) {
	if least, err = finding.ParseSeverity(cmp.Or(f.FailOn, "medium")); err != nil {
		return least, fmt.Errorf("--fail-on: %w", err)
	}
	f.Choices, err = f.Choose.Choices()
	return least, cmp.Or(f.Out.Check(cmd), err)
}

// Read reads the story that the argument names and how it is judged.
func (f *StoryInput) Read(cmd *cobra.Command, arg string) (*numa.Story, simulate.Options, error) {
	o := simulate.Options{Workers: runtime.GOMAXPROCS(0)}
	var err error
	if o.Rules, err = f.Config.Options(f.Choices); err != nil {
		return nil, o, err
	}
	s, err := f.Story.Read(cmd, &f.Src, arg, &f.Changes, f.Choices)
	o.Silent, o.Prices = f.Story.Silent, f.Story.Prices
	return s, o, err
}

// changedFirst are the flags of what-ifs as simulate takes them.
var changedFirst = map[string]string{
	"what-if": "change the fleet before the story begins: 'vm=sql* hotAdd=off', 'host=esx* nodesPerSocket=2', 'release=8.0U3 hw=21', 'lose-host=esx07', 'add-host=2x32c/1TB count=2', or @FILE with such lines (repeatable)",
}
