package script_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/output/answer"
	show "example.org/homenode/output/fix"
	"example.org/homenode/output/fix/script"
	"example.org/homenode/source/scenario"
)

// TestUnjudged: where nothing could be judged there is no plan, and where a part could not, every form of the plan says how much and why.
func TestUnjudged(t *testing.T) {
	const judged = "release 7.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB\nvm wide vcpus=24 coresPerSocket=24 hotAdd=on memory=64GB hw=19\n"
	for text, want := range map[string]string{
		"vm a vcpus=24 hotAdd=on memory=64GB\n":                                                  "none of 1 VM could be judged: no host that it can run on is known",
		"release 7.0U3\ncluster c\nhost h memory=512GB\nvm a vcpus=24 hotAdd=on\nvm b vcpus=2\n": "none of 2 VMs could be judged: its host h is known, and the NUMA nodes of that are not",
		"release 7.0U3\nhost h nodes=2 cores=16 memory=512GB\n":                                  "The inventory is empty",
		judged: "",
		judged + "cluster other\nvm lost vcpus=4\nvm lost2 vcpus=4\n": "2 VMs could not be judged, and nothing is planned for them: no host that it can run on is known",
	} {
		f, err := scenario.Read("a.txt", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Now: time.Unix(0, 0)})
		if !strings.Contains(text, "wide") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: found %v, want %s", text, err, want)
			}
			continue
		}
		if err != nil || len(p.Changes) != 1 {
			t.Fatalf("%s: %+v, %v", text, p, err)
		}
		var out bytes.Buffer
		for _, form := range script.Formats {
			out.Reset()
			if err := script.Print(&out, form, p, false); err != nil || strings.Contains(out.String(), "could not be judged") != (want != "") {
				t.Errorf("%s: %v:\n%s", form, err, out.String())
			}
		}
		a := show.Plan(p, "", false, "a.txt")
		if all := strings.Join(a.Verdict, " ") + notes(a); strings.Count(all, "could not be judged") != map[bool]int{true: 2}[want != ""] || !strings.Contains(all, want) {
			t.Errorf("found %s", all)
		}
		if p.Unjudged != map[bool]int{true: 2}[want != ""] {
			t.Errorf("%d unjudged", p.Unjudged)
		}
	}
}

func notes(a *answer.Answer) (all string) {
	for _, n := range a.Notes {
		all += n.Text + "\n"
	}
	return all
}
