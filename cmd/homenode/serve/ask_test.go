package serve

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/fix"
	"homenode/rules/policy"
)

// TestFixerPolicy checks that a plan that is kept cures nothing that is accepted.
func TestFixerPolicy(t *testing.T) {
	root := func() *cobra.Command {
		cmd := &cobra.Command{Use: "homenode", SilenceErrors: true, SilenceUsage: true}
		one := fix.New()
		one.Use = "fix SOURCE"
		cmd.AddCommand(one)
		return cmd
	}
	for _, accepted := range []bool{false, true} {
		p := &policy.Policy{}
		if accepted {
			p.Suppress = []policy.Suppression{{Rules: []string{"N032"}, VM: []string{"ci03"}, Reason: "agreed", Until: "2099-12-31"}}
		}
		do := fixer(root, func(string) (string, error) { return "demo", nil }, "", func() *policy.Policy { return p }, nil)
		answers, err := do(t.Context(), "demo", "--rule=N032", "--vm=ci03")
		if err != nil || len(answers) != 1 {
			t.Fatal(answers, err)
		}
		if got := strings.Join(answers[0].Verdict, " "); strings.Contains(got, "Nothing to change") != accepted {
			t.Errorf("accepted %v: %s", accepted, got)
		}
	}
}
