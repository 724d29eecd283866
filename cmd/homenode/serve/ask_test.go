package serve

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"homenode/cmd/homenode/fix"
	"homenode/rules"
	"homenode/rules/policy"
	"homenode/serve/held"
	"homenode/serve/site"
	"homenode/source/scenario"
)

// TestAskFix lets pages ask for a plan: it cures nothing that is accepted, and nothing of a vCenter is written or opened.
func TestAskFix(t *testing.T) {
	f, err := scenario.Read("fleet.txt", []byte("release 7.0U3\ncluster prod\nhost esx01 nodes=2 cores=18 memory=512GB\nvm sql01 host=esx01 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\n"))
	if err != nil {
		t.Fatal(err)
	}
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{})}
	root := func() *cobra.Command {
		cmd := &cobra.Command{Use: "homenode", SilenceErrors: true, SilenceUsage: true}
		one := fix.New()
		one.Use = "fix SOURCE"
		cmd.AddCommand(one)
		return cmd
	}
	accepted := &policy.Policy{Suppress: []policy.Suppression{{Rules: []string{"N001"}, VM: []string{"sql01"}, Reason: "agreed", Until: "2099-12-31"}}}
	for _, p := range []*policy.Policy{nil, accepted} {
		answers, err := asker(root, p)(t.Context(), fleet, []string{"fix", site.Source, "--rule=N001"})
		if err != nil || len(answers) != 1 {
			t.Fatal(answers, err)
		}
		if got := strings.Join(answers[0].Verdict, " "); strings.Contains(got, "Nothing to change") != (p != nil) {
			t.Errorf("accepted %v: %s", p != nil, got)
		}
	}
	for _, words := range []string{"fix SOURCE --apply", "fix SOURCE --apply=true", "fix SOURCE --vm=sql01 --apply --power=guest --yes=1", "fix https://vc01.example.com --apply", "fix SOURCE --rollback=a.journal", "fix SOURCE --rollback a.journal",
		"fix SOURCE --resume=a.journal", "fix --resume=a.journal SOURCE", "fix SOURCE --verify=a.journal"} {
		args := strings.Fields(words)
		if _, err := asker(root, nil)(t.Context(), fleet, args); err == nil || !strings.Contains(err.Error(), "a page changes nothing") {
			t.Errorf("%s: %v", words, err)
		}
	}
}
