package fix

import (
	"strings"
	"testing"

	"homenode/change/fix"
	"homenode/output/fix/script"
	"homenode/source/scenario"
)

// TestNotices: what a power cycle needs or a guest notices stands in the plan on the screen, and in every script.
func TestNotices(t *testing.T) {
	for _, word := range []string{"encrypted=yes", "tpm=yes"} {
		f, err := scenario.Read("test", []byte("release 8.0U3\nhost a nodes=2 cores=8 packages=2 memory=128GB\nvm v host=a vcpus=12 memory=32GB hw=20 hotAdd=on "+word+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := fix.Make(t.Context(), f, fix.Options{})
		if err != nil || len(p.Changes) != 1 {
			t.Fatalf("%d changes, %v", len(p.Changes), err)
		}
		const key, seen = "the key provider must be reachable", "instead of 1 NUMA node"
		shown := ""
		for _, table := range Plan(p, "", false, "x").Tables {
			for _, row := range table.Rows {
				for _, cell := range row {
					if !table.Long {
						shown += cell.Text + "\n"
					}
				}
			}
		}
		texts := map[string]string{"the plan": shown}
		for _, tool := range script.Tools {
			var b strings.Builder
			if err := script.Write(&b, tool, p, script.Options{}); err != nil {
				t.Fatal(err)
			}
			texts[tool] = b.String()
		}
		for name, text := range texts {
			if !strings.Contains(text, key) || !strings.Contains(text, seen) {
				t.Errorf("%s, %s: want %q and %q in\n%s", word, name, key, seen, text)
			}
		}
	}
}
