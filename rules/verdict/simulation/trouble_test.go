package simulation_test

import (
	"strings"
	"testing"

	"example.org/homenode/rules/simulate"
	"example.org/homenode/rules/verdict/simulation"
	"example.org/homenode/source/story"
)

// TestTemplateRests checks that a template is not expected to run.
func TestTemplateRests(t *testing.T) {
	s, err := story.Read("story.txt", []byte("release 7.0U3\nhost esx01 nodes=2 cores=8 nodeMemory=64GB\nvm a vcpus=4 memory=16GB\nvm t vcpus=4 memory=16GB power=on template=true\nrun 1h every=20s\nload * cpu=10%\n"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := simulate.Run(t.Context(), s, simulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if verdict, rest := simulation.Of(run).Verdict(); strings.Contains(verdict+rest, "never did") {
		t.Errorf("%s %s", verdict, rest)
	}
}
