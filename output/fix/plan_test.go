package fix

import (
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/fix/script"
	"example.org/homenode/source/scenario"
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

// TestAssumed: the stored size of a VM whose settings the source does not have is predicted. The plan says so, and its scripts neither compare nor restore it.
func TestAssumed(t *testing.T) {
	f, err := scenario.Read("test", []byte("release 7.0U3\nhost p1 nodes=2 cores=18 memory=512GB\nvm a host=p1 vcpus=16 coresPerSocket=16 memory=384GB settings=?\n"))
	if err != nil {
		t.Fatal(err)
	}
	vnuma.AssumeStored(f, vnuma.Choices{})
	p, err := fix.Make(t.Context(), f, fix.Options{})
	if err != nil || len(p.Changes) != 1 {
		t.Fatalf("%v, %v", p, err)
	}
	p.Changes[0].VM.ID, p.Changes[0].VM.Named = "vm-1", false
	const want = "numa.autosize.cookie 160162 (assumed) → absent"
	if text := edits(p.Changes[0].Edits); !strings.Contains(text, want) {
		t.Errorf("found %s, want %s", text, want)
	}
	for _, tool := range script.Tools {
		for _, undo := range []bool{false, true} {
			var b strings.Builder
			if err := script.Write(&b, tool, p, script.Options{Undo: undo}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "160162") {
				t.Errorf("%s, undo %t: the script has the assumed cookie\n%s", tool, undo, b.String())
			}
		}
	}
}

// TestSides marks the side of a change on which the guest does not see its nodes, or has memory on another node.
func TestSides(t *testing.T) {
	blind, whole, far := fix.Layout{Text: "2×16 blind", VPDs: []int{32}, PPDs: []int{16, 16}}, fix.Layout{Text: "2×16", VPDs: []int{16, 16}, PPDs: []int{16, 16}}, fix.Layout{Text: "1×8 +10 %", VPDs: []int{8}, PPDs: []int{8}, FarShare: 0.1}
	for _, tt := range []struct {
		before, after fix.Layout
		want          [2]answer.Tone
	}{
		{blind, whole, [2]answer.Tone{answer.Bad, answer.Plain}},
		{far, blind, [2]answer.Tone{answer.Bad, answer.Bad}},
		{blind, blind, [2]answer.Tone{answer.Faint, answer.Faint}},
	} {
		before, after := sides(&fix.Effect{Now: tt.before, After: tt.after})
		if got := [2]answer.Tone{before.Tone, after.Tone}; got != tt.want || before.Text != tt.before.Text || after.Text != tt.after.Text {
			t.Errorf("%s → %s: %v %v, tones want %v", tt.before.Text, tt.after.Text, before, after, tt.want)
		}
	}
}
